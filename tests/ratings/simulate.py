"""Tournaments with a known truth (Thurstone's model): performance is skill plus luck of the deal and of the match."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import erf, sqrt
from random import Random

from harness.core.records import GameRecord, in_schedule_order, ranks_of
from harness.ratings.counts import GameCounts, by_game
from harness.ratings.leaderboard import CountsByGame


@dataclass(frozen=True)
class World:
    """The model of a match. `taste` is how much a deal suits a bot, `place` how much it favours a seat."""

    skills: Sequence[float]
    players: int
    taste: float = 0.5
    place: float = 0.7
    wealth: float = 1.0
    """A rich deal is rich for all seats: it changes scores, not ranks."""

    @property
    def bots(self) -> list[str]:
        return [f"bot{number}" for number in range(len(self.skills))]

    def chance_ahead(self, one: int, other: int) -> float:
        """Return the true probability that one finishes ahead of the other."""
        spread = sqrt(2 * (1 + self.taste**2 + self.place**2))
        return 0.5 * (1 + erf((self.skills[one] - self.skills[other]) / spread / sqrt(2)))

    def share_ahead(self, one: int) -> float:
        """Return the true share of the table that a bot finishes ahead of, if it meets all others equally often."""
        others = [other for other in range(len(self.skills)) if other != one]
        return sum(self.chance_ahead(one, other) for other in others) / len(others)

    def mean_score(self, one: int) -> float:
        return SCALE * self.skills[one]


SCALE = 100


def tournament(world: World, deals: int, rng: Random, shared: bool = True) -> Iterator[GameRecord]:
    """Return a round-robin: every table plays each deal in every rotation of its seats.

    `shared`: all tables of a deal share its luck, which is the hardest case for intervals (Arena itself gives every
    table separate deals).
    """
    field = range(len(world.skills))
    tables = list(combinations(field, world.players))
    index = 0
    for deal in range(deals):
        for number, table in enumerate(tables):
            if number == 0 or not shared:
                seed = rng.getrandbits(48)
                wealth = rng.gauss(0, world.wealth)
                tastes = [rng.gauss(0, world.taste) for _ in field]
                places = [rng.gauss(0, world.place) for _ in range(world.players)]
            seating = rng.sample(table, len(table))
            for turn in range(len(table)):
                seats = seating[turn:] + seating[:turn]
                played = [
                    world.skills[bot] + tastes[bot] + places[seat] + rng.gauss(0, 1) for seat, bot in enumerate(seats)
                ]
                scores = tuple(round(SCALE * (one + wealth)) for one in played)
                names = tuple(f"bot{bot}" for bot in seats)
                yield record(names, scores, index=index, seed=seed, set_=f"sim-{deal}.{number}")
                index += 1


def record(
    seats: Sequence[str],
    scores: Sequence[int],
    ranks: Sequence[int] | None = None,
    *,
    index: int = 0,
    seed: int = 1,
    set_: str = "sim-1.1",
    game: str = "sim",
    **more: object,
) -> GameRecord:
    """Return a record of a match that was not played."""
    given: dict[str, object] = {"decisions": (1,) * len(seats), **more}
    return GameRecord(
        f"{set_}.{index}", index, set_, game, "1", {}, seed, tuple(seats), tuple(scores),
        tuple(ranks) if ranks is not None else ranks_of(scores), "played", (),
        **given,  # type: ignore[arg-type]  # what a test wants to be different
    )  # fmt: skip


def count_records(records: Iterable[GameRecord], by: Callable[[GameRecord], str] = by_game) -> dict[str, GameCounts]:
    """Return the counts for each game, or for each value of the key `by`."""
    found = CountsByGame(by)
    for record in in_schedule_order(records):
        found.add(record)
    return found.counts()
