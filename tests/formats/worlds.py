"""Ladders and round-robins of bots whose truth is known, played fast: results come from a few normal numbers.

python -m tests.formats.worlds            # the figures of docs/formats.md, in a few minutes
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from random import Random

from harness.core.records import ranks_of
from harness.formats.ladder import Knowledge

from .support import game as game_of
from .support import names, of_games

Match = tuple[tuple[str, ...], tuple[int, ...]]


@dataclass
class World:
    """A bot performs as its skill, the deal's taste for it, the seat and its own luck say."""

    skills: Sequence[float]
    seats: int
    taste: float = 0.5
    place: float = 0.7
    spreads: Sequence[float] = ()
    """How much each bot's own luck varies; 1 if left out."""
    boom: Sequence[int] = ()
    """Bots that are either far ahead or far behind, with equal chances."""
    cycle: float = 0.0
    """How much each bot is the better against the next two of a circle, and the worse against the two before it."""
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.names = names(len(self.skills))

    def play(self, table: Sequence[str], rng: Random) -> list[Match]:
        """A duplicate set."""
        gauss, number = rng.gauss, {name: int(name[3:]) for name in table}
        seated = rng.sample(list(table), len(table))
        level = {name: self.skills[bot] + gauss(0, self.taste) for name, bot in number.items()}
        if self.cycle:
            for one, other in combinations(table, 2):
                step = (number[other] - number[one]) % len(self.skills)
                edge = self.cycle if 2 * step < len(self.skills) else -self.cycle
                level[one] += edge
                level[other] -= edge
        places = [gauss(0, self.place) for _ in table]
        found = []
        for turn in range(len(table)):
            seats = seated[turn:] + seated[:turn]
            scores = []
            for seat, name in enumerate(seats):
                bot = number[name]
                if bot in self.boom:
                    luck = 4.0 if rng.random() < 0.5 else -4.0
                else:
                    luck = gauss(0, self.spreads[bot] if self.spreads else 1.0)
                scores.append(round(1000 * (level[name] + places[seat] + luck)))
            found.append((tuple(seats), ranks_of(tuple(scores))))
        return found

    def wrong(self, claims: set[tuple[str, str]]) -> set[tuple[str, str]]:
        """The claims (better, worse) that are not true."""
        skill = dict(zip(self.names, self.skills, strict=True))
        return {(better, worse) for better, worse in claims if skill[better] <= skill[worse]}


@dataclass
class Played:
    """A run that has ended."""

    knowledge: Knowledge
    matches: int
    reached: bool

    @property
    def claims(self) -> set[tuple[str, str]]:
        return self.knowledge.claims.claims(self.knowledge.level)


def ladder(world: World, goal: str, most: int, seed: int, sure: float = 0.0, plain: bool = False) -> Played:
    """A ladder of at most so many matches; `plain`: tables of a round-robin, or of a gauntlet, with the same claims."""
    rng, seats = Random(f"{seed} {goal} {plain}"), world.seats
    candidates = (world.names[0],) if goal == "newcomer" else ()
    games = (game_of(len(world.names), seats),)
    plan = of_games(games, 1, seed, "ladder", candidates, goal=goal, until_separated=sure)
    knowledge = Knowledge(games[0], plan)
    evenly = even_tables(world, rng, candidates)
    played = deal = 0
    while played + seats <= most:
        count = min(-(-len(world.names) // seats), (most - played) // seats)
        tables = [next(evenly) for _ in range(count)] if plain else knowledge.tables(count, rng)
        for table in tables:
            deal += 1
            for bots, ranks in world.play(table, rng):
                knowledge.add_match(bots, ranks, f"game-{played}.{deal}", deal, played)
        played += count * seats
        if sure and knowledge.reached:
            return Played(knowledge, played, True)
    return Played(knowledge, played, knowledge.reached)


def even_tables(world: World, rng: Random, candidates: Sequence[str]) -> Iterator[list[str]]:
    """The tables of a round-robin, or those of a gauntlet if there are candidates, in an even order without end."""
    field_ = [name for name in world.names if name not in candidates]
    size = world.seats - len(candidates)
    while True:
        if comb(len(field_), size) <= 1000:
            tables = [list(table) for table in combinations(field_, size)]
            rng.shuffle(tables)
        else:
            rng.shuffle(field_)
            tables = [field_[at : at + size] for at in range(0, len(field_) - size + 1, size)]
        for table in tables:
            yield [*candidates, *table]


def kendall(order: Sequence[str], world: World) -> float:
    """How well an order agrees with the true one: 1 is wholly, 0 is by chance."""
    pairs = list(combinations(order, 2))
    return 1 - 2 * len(world.wrong(set(pairs))) / len(pairs)


def drawn(bots: int, spread: float, seats: int, seed: int) -> World:
    """A field of normal skills."""
    rng = Random(f"field {seed}")
    return World([rng.gauss(0, spread) for _ in range(bots)], seats)


def compared(goal: str, bots: int, seats: int, spread: float, matches: int, seeds: range) -> list[float]:
    """How good a ladder and tables by lot are at a goal, in as many matches, over fields of normal skills.

    For the best: how often it is found. For the order: Kendall's tau. For a newcomer: by how much its place is missed.
    """
    figures = []
    for plain in (False, True):
        total = 0.0
        for seed in seeds:
            world = drawn(bots, spread, seats, seed)
            order = ladder(world, goal, matches, seed, plain=plain).knowledge.order()
            if goal == "order":
                total += kendall(order, world)
            elif goal == "best":
                total += world.skills[world.names.index(order[0])] == max(world.skills)
            else:
                place = sum(skill > world.skills[0] for skill in world.skills)
                total += abs(order.index(world.names[0]) - place)
        figures.append(total / len(seeds))
    return figures


def lengths(goal: str, world: World, most: int, seeds: range) -> list[float]:
    """Mean matches until a goal is reached with 95%, by a ladder and by tables by lot, with the same claims."""
    return [
        sum(ladder(world, goal, most, seed, 0.95, plain).matches for seed in seeds) / len(seeds)
        for plain in (False, True)
    ]


SAME_SIZE = (
    *(("best", 8, seats, 0.3, matches) for seats in (2, 4) for matches in (280, 560, 1120)),
    *(("order", 8, seats, 0.3, 1120) for seats in (2, 3, 4)),
    ("order", 24, 2, 0.5, 2400),
    ("newcomer", 8, 2, 0.4, 280),
    ("newcomer", 8, 2, 0.4, 560),
    ("newcomer", 20, 2, 0.6, 760),
    ("newcomer", 12, 4, 0.5, 400),
)
MOST = 10_000
"""Matches after which a run ends whose goal has not been reached."""


def figures() -> Iterator[str]:
    """The lines of the tables in docs/formats.md: a ladder's figure, then that of tables by lot."""
    for asked in SAME_SIZE:
        found = compared(*asked, range(200 if asked[1] < 12 else 60))
        yield " ".join(map(str, [*asked, *(f"{each:.3f}" for each in found)]))
    for gap in (1.2, 0.6):
        for seats in (2, 4):
            evenly = World([gap * bot for bot in range(6)], seats)
            middle = World([gap * bot for bot in (2.5, 0, 1, 2, 3, 4)], seats)
            for goal, world in (("best", evenly), ("order", evenly), ("newcomer", middle)):
                found = lengths(goal, world, MOST, range(20))
                yield " ".join([goal, f"gap {gap}, {seats} seats", *(f"{each:,.0f}" for each in found)])


if __name__ == "__main__":
    for line in figures():
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
