"""Runs of any format with a known truth: real schedules, played by simulated bots.

The performance of a bot is the sum of its skill, the luck of the deal, the luck of the seat, and noise. It does not
depend on the other bots, so the truth is known pair by pair: how often one performs better than another. The true skill
is what the same fit gives if the results of each pair are replaced by what is expected of a thousand times as many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import erf
from random import Random

import numpy as np

from harness.core.plan import GamePlan, Plan
from harness.core.records import GameRecord, MatchSpec, ranks_of
from harness.plugins.features import FORMATS
from harness.ratings.counts import GameCounts
from harness.ratings.skill import PairGraph, fit_skills
from harness.runs.scheduler import Schedule
from tests.support.schedules import follow

SCALE = 1000
SAMPLES = 250_000
"""Samples from which the truth about a pair is computed."""
EQUAL_SKILL, EQUAL_SHARE = 0.07, 0.005
"""Skills and shares that differ by at most this count as equal: the truth is known to about a fifth of it."""
TRUE_WEIGHT = 1000
"""The true skill is fitted to this many times the matches of a run, so the prior has no weight."""

LUCK: dict[str, tuple[Callable[[Random], float], Callable[[np.random.Generator], np.ndarray], float]] = {
    "normal": (lambda rng: rng.gauss(0, 1), lambda rng: rng.normal(size=SAMPLES), 0.0),
    "heavy": (  # Student's t with two degrees of freedom: no variance
        lambda rng: rng.gauss(0, 1) / rng.expovariate(1) ** 0.5,
        lambda rng: rng.normal(size=SAMPLES) / rng.exponential(size=SAMPLES) ** 0.5,
        0.0,
    ),
    "triple": (lambda rng: rng.gauss(0, 3), lambda rng: rng.normal(size=SAMPLES) * 3, 0.0),
    "boom-or-bust": (
        lambda rng: 8.0 if rng.random() < 0.5 else -8.0,
        lambda rng: np.where(rng.random(SAMPLES) < 0.5, 8.0, -8.0),
        0.0,
    ),
    "jackpot": (
        lambda rng: 30.0 if rng.random() < 0.1 else rng.gauss(0, 1),
        lambda rng: np.where(rng.random(SAMPLES) < 0.1, 30.0, rng.normal(size=SAMPLES)),
        3.0,
    ),
}
"""Name -> function for one sample, function for many samples, and mean."""


@dataclass
class Field:
    """Bots whose true strength is known."""

    skills: Sequence[float]
    luck: Sequence[str] = ()
    """The kind of noise of each bot; the last one applies to all further bots."""
    taste: float = 0.5
    """How much a deal suits a bot, in all of its matches."""
    place: float = 0.7
    """How much it favours a seat."""
    faults: float = 0.0
    """The probability that a bot fails and comes last."""
    ties: float = 0.0
    """Performances are rounded to multiples of this."""
    circle: float = 0.0
    """Each bot is better by this against the next one, and worse against the one before; at tables of two only."""
    _odds: dict[tuple[object, ...], tuple[float, float]] = field(default_factory=dict)
    _skills: dict[tuple[object, ...], dict[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kinds = list(self.luck) or ["normal"]
        self.kinds = [kinds[min(bot, len(kinds) - 1)] for bot in range(len(self.skills))]
        self.draws = [LUCK[kind][0] for kind in self.kinds]
        self.bots = [f"bot{number}" for number in range(len(self.skills))]

    def deal(self, rng: Random) -> tuple[list[float], list[float]]:
        """Return how much a deal suits each bot, and how much it favours each seat."""
        gauss = rng.gauss
        return [gauss(0, self.taste) for _ in self.skills], [gauss(0, self.place) for _ in range(6)]

    def played(
        self, seats: Sequence[int], deal: tuple[list[float], list[float]], rng: Random
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return scores and ranks of one match."""
        tastes, places = deal
        values = [
            self.skills[bot] + tastes[bot] + places[seat] + self.draws[bot](rng) for seat, bot in enumerate(seats)
        ]
        if self.circle:
            values[0] += self.bonus(seats[0], seats[1])
        scores = tuple([round(SCALE * value) for value in values])
        ranks = ranks_of([round(value / self.ties) for value in values] if self.ties else scores)
        if self.faults:
            failed = [rng.random() < self.faults for _ in seats]
            if any(failed):
                fine = iter(ranks_of([-rank for rank, out in zip(ranks, failed, strict=True) if not out]))
                ranks = tuple([len(seats) - sum(failed) + 1 if out else next(fine) for out in failed])
        return scores, ranks

    def bonus(self, one: int, other: int) -> float:
        if not self.circle:
            return 0.0
        size = len(self.skills)
        return self.circle * (((other - one) % size == 1) - ((one - other) % size == 1))

    def odds(self, one: int, other: int) -> tuple[float, float]:
        """Return the true probabilities that one bot finishes ahead of the other, and that they tie."""
        if one > other:
            ahead, tied = self.odds(other, one)
            return 1 - ahead - tied, tied
        gap = round(self.skills[one] - self.skills[other] + self.bonus(one, other), 9)
        offset = self.skills[other] if self.ties else 0.0
        key = gap, self.kinds[one], self.kinds[other], offset
        if key not in self._odds:
            ahead, tied = self._drawn(one, other, gap, offset)
            if (self.kinds[one], gap) == (self.kinds[other], 0):
                ahead = (1 - tied) / 2  # exactly
            fine = 1 - self.faults
            self._odds[key] = fine * fine * ahead + fine * self.faults, fine * fine * tied + self.faults**2
        return self._odds[key]

    def chance(self, one: int, other: int) -> float:
        """Return the true probability that one finishes ahead of the other; a tie is one half."""
        ahead, tied = self.odds(one, other)
        return ahead + tied / 2

    def _drawn(self, one: int, other: int, gap: float, offset: float) -> tuple[float, float]:
        """Return how often one performs better and how often both are equal, without faults."""
        spread = (self.taste**2 + self.place**2) ** 0.5
        if self.kinds[one] == self.kinds[other] == "normal" and not self.ties:
            return 0.5 * (1 + erf(gap / (2 * (1 + spread**2) ** 0.5))), 0.0
        rng = np.random.default_rng(7)
        a, b = (LUCK[self.kinds[bot]][1](rng) + rng.normal(size=SAMPLES) * spread for bot in (one, other))
        a, b = a + gap + offset, b + offset
        if self.ties:
            a, b = np.round(a / self.ties), np.round(b / self.ties)
        return float((a > b).mean()), float((a == b).mean())

    def mean_score(self, bot: int) -> float:
        return SCALE * (self.skills[bot] + LUCK[self.kinds[bot]][2])

    def true_skills(self, counts: GameCounts) -> dict[str, float]:
        """Return the skills that an infinite number of deals at the tables of this run would give."""
        numbers = {one.number: number_of(name) for name, one in counts.totals.items()}
        met = [
            (players, numbers[one], numbers[other], round(a + t + b)) for players, one, other, a, t, b in counts.pairs
        ]
        key = tuple(sorted([(k, min(one, other), max(one, other), n) for k, one, other, n in met]))
        if key not in self._skills:  # the same for every run of a fixed schedule
            pairs = []
            for players, one, other, matches in key:
                ahead, tied = self.odds(one, other)
                weight = TRUE_WEIGHT * matches
                pairs.append((players, one, other, weight * ahead, weight * tied, weight * (1 - ahead - tied)))
            mu = fit_skills(PairGraph(pairs, len(self.skills))).mu
            if len(self._skills) > 10:
                self._skills.clear()
            self._skills[key] = dict(zip(self.bots, mu, strict=True))
        return self._skills[key]


def number_of(name: str) -> int:
    return int(name.removeprefix("bot"))


def spaced(gap: float, bots: int) -> list[float]:
    return [gap * (bot - (bots - 1) / 2) for bot in range(bots)]


def play(
    world: Field, seed: int, *, kind: str = "round-robin", players: int = 2, deals: int = 12, tables: int = 0,
    rounds: int = 0, candidates: int = 0,
) -> Iterator[GameRecord]:  # fmt: skip
    """Return the records of a run of this kind, in schedule order."""
    settings = {"round-robin": {"tables": tables}, "gauntlet": {"tables": tables}, "swiss": {"rounds": rounds}}
    game = GamePlan("sim", "1", {}, players, tuple(world.bots))
    plan = Plan((game,), deals, seed, kind, settings.get(kind, {}), tuple(world.bots[:candidates]))
    rng, schedule = Random(seed), Schedule(plan, FORMATS)
    numbers = {name: number for number, name in enumerate(world.bots)}
    last, deal = -1, world.deal(rng)
    found: list[GameRecord] = []

    def record(spec: MatchSpec) -> GameRecord:
        nonlocal last, deal
        if spec.seed != last:
            last, deal = spec.seed, world.deal(rng)
        scores, ranks = world.played([numbers[name] for name in spec.seats], deal, rng)
        return GameRecord(
            spec.id, spec.index, spec.set, "sim", "1", {}, spec.seed, spec.seats, scores, ranks, "played", (),
            decisions=(1,) * len(ranks),
        )  # fmt: skip

    def records(specs: Iterable[MatchSpec]) -> list[GameRecord]:
        new = [record(spec) for spec in specs]
        found.extend(new)
        return new

    if schedule.adaptive:
        for _ in follow(schedule, records):
            pass
        return iter(found)
    return map(record, schedule.matches())


def run(world: Field, seed: int, **how: object) -> GameCounts:
    """Return the counts of a run of this kind."""
    counts = GameCounts()
    for one in play(world, seed, **how):  # type: ignore[arg-type]  # as `play` takes them
        counts.add(one)
    return counts
