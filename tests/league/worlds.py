"""Leagues with a known truth: bots that are made up play at the tables that the matchmaking seats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random

import numpy as np

from harness.core.records import ranks_of
from harness.league.matchmaking import RunningRatings, seat_tables
from harness.league.skills import LeagueCounts

SAMPLES = 250_000
"""Samples from which the truth about a pair is computed."""
LUCK: dict[str, tuple[Callable[[Random], float], Callable[[np.random.Generator], np.ndarray]]] = {
    "normal": (lambda rng: rng.gauss(0, 1), lambda rng: rng.normal(size=SAMPLES)),
    "heavy": (  # Student's t with two degrees of freedom: no variance
        lambda rng: rng.gauss(0, 1) / rng.expovariate(1) ** 0.5,
        lambda rng: rng.normal(size=SAMPLES) / rng.exponential(size=SAMPLES) ** 0.5,
    ),
    "triple": (lambda rng: rng.gauss(0, 3), lambda rng: rng.normal(size=SAMPLES) * 3),
    "boom-or-bust": (
        lambda rng: 8.0 if rng.random() < 0.5 else -8.0,
        lambda rng: np.where(rng.random(SAMPLES) < 0.5, 8.0, -8.0),
    ),
}
"""Kinds of luck: a function for one sample, and one for many."""
MIN_TABLES, MAX_TABLES = 4, 64
Seater = Callable[..., list[tuple[str, ...]]]


@lru_cache(maxsize=64)
def differences(one: str, other: str) -> np.ndarray:
    """By how much luck of two kinds may differ, in order."""
    rng = np.random.default_rng(7)
    return np.sort(LUCK[one][1](rng) - LUCK[other][1](rng))


@dataclass
class Bots:
    """Bots whose strength is known: a performance is skill and luck; `ties`: performances are rounded to this."""

    skills: dict[str, float]
    kinds: dict[str, str] = field(default_factory=dict)
    ties: float = 0.0

    def kind(self, bot: str) -> str:
        return self.kinds.get(bot, "normal")

    def play(self, seats: Sequence[str], rng: Random) -> tuple[int, ...]:
        """The ranks of one match."""
        values = [self.skills[bot] + LUCK[self.kind(bot)][0](rng) for bot in seats]
        if self.ties:
            values = [round(value / self.ties) for value in values]
        return ranks_of(values)

    def chances(self, one: str, other: str) -> tuple[float, float, float]:
        """How often one finishes ahead of another, level with it and behind it."""
        gap = self.skills[one] - self.skills[other]
        if self.ties:
            a, b = (performances(self.kind(bot), self.skills[bot], self.ties, bot == one) for bot in (one, other))
            return float((a > b).mean()), float((a == b).mean()), float((a < b).mean())
        behind = float(np.searchsorted(differences(self.kind(one), self.kind(other)), -gap)) / SAMPLES
        return 1 - behind, 0.0, behind

    def truth(self, counts: LeagueCounts) -> dict[str, float]:
        """The skills that the same fit gives if every pair has the results that are expected, and many of them."""
        names, expected = list(counts.numbers), LeagueCounts()
        expected.restore(counts.state())
        for players, one, other, *seen in counts.pairs:
            at = expected.pairs.slot(players, one, other)
            for place, chance in enumerate(self.chances(names[one], names[other])):
                expected.pairs.counts[at + place] = 1000 * sum(seen) * chance
        return dict(zip(sorted(names), expected.mode().mu, strict=True))


@lru_cache(maxsize=64)
def performances(kind: str, skill: float, ties: float, first: bool) -> np.ndarray:
    return np.round((LUCK[kind][1](np.random.default_rng(11 + first)) + skill) / ties)


class League:
    """Bots that are being matched and rated, round by round; results come one round late."""

    def __init__(self, bots: Bots, seats: int, seed: int, seater: Seater = seat_tables) -> None:
        self.bots, self.seats, self.seater = bots, seats, seater
        self.luck, self.rng = Random(seed), Random(-seed - 1)
        self.ratings, self.counts = RunningRatings(), LeagueCounts()
        self.late: list[tuple[tuple[str, ...], tuple[int, ...]]] = []
        self.matches = 0

    def rounds(self, playing: Sequence[str], opponents: Sequence[str] = ()) -> Iterator[list[tuple[str, ...]]]:
        """Plays on; yields the tables of each round once their results are known to the ratings."""
        while True:
            active = len(playing) + len(opponents)
            count = max(MIN_TABLES, min(MAX_TABLES, active // self.seats))
            tables = self.seater(self.ratings, playing, opponents, self.seats, count, self.luck)
            for seats, ranks in self.late:
                self.ratings.add_match(seats, ranks)
            self.late = []
            for seats in tables:
                ranks = self.bots.play(seats, self.rng)
                self.counts.add_match(seats, ranks)
                self.late.append((seats, ranks))
                self.matches += 1
            yield tables

    def copy(self, seater: Seater) -> League:
        """The same league, to be seated in this way from here on."""
        made = League(self.bots, self.seats, self.luck.getrandbits(32), seater)
        made.ratings.restore(self.ratings.state())
        made.counts.restore(self.counts.state())
        made.late, made.matches = list(self.late), self.matches
        return made

    def play(self, matches: int, playing: Sequence[str], opponents: Sequence[str] = ()) -> None:
        """Plays so many matches more, or a few more than that."""
        until = self.matches + matches
        for _ in self.rounds(playing, opponents):
            if self.matches >= until:
                break


def random_tables(
    ratings: RunningRatings, playing: Sequence[str], opponents: Sequence[str], seats: int, count: int, luck: Random
) -> list[tuple[str, ...]]:
    """Tables of anybody with anybody."""
    return [tuple(luck.sample([*playing, *opponents], seats)) for _ in range(count)]


def neighbours(
    ratings: RunningRatings, playing: Sequence[str], opponents: Sequence[str], seats: int, count: int, luck: Random
) -> list[tuple[str, ...]]:
    """Tables of those who are next to each other, as results say: what one might think is the best."""
    names = luck.sample([*playing, *opponents], len(playing) + len(opponents))
    found = []
    for _ in range(count):
        host = ratings.mean(luck.choice(names))
        found.append(tuple(luck.sample(sorted(names, key=lambda name: abs(ratings.mean(name) - host))[:seats], seats)))
    return found
