"""Knockout: tables of K, the best half of each goes on, until one table is left for the final."""

from __future__ import annotations

from harness.core.chance import Chance
from harness.core.format import Format, GamePlan, Outcome, Plan, Rounds
from harness.schedule.rounds import Tally, play_round


def rounds(game: GamePlan, plan: Plan, luck: Chance) -> Rounds:
    """A round of tables at a time; the outcome is the order in which bots were beaten, last first."""
    seats = game.players
    seeds = luck.shuffled(game.entrants, "lots", game.name)
    byes = dict.fromkeys(seeds, 0)
    beaten: list[str] = []
    number = 0
    while True:
        number += 1
        # Who is left over sits out and goes on; the best seeds first, but nobody again before the others.
        idle = sorted(seeds, key=lambda name: byes[name])[: len(seeds) % seats]
        for name in idle:
            byes[name] += 1
        tables = _snake([name for name in seeds if name not in idle], seats)
        played = yield from play_round(number, tables, game, plan, luck)
        places = [_placed(table, played, seeds) for table in tables]
        if len(seeds) == seats:
            standing = (*places[0], *beaten)
            return Outcome(standing, f"{standing[0]} wins the final.")
        # Place by place over all tables, the better result first: so winners are the next round's first seeds.
        order = [name for place in zip(*places, strict=True) for name in _placed(place, played, seeds)]
        through = max(len(tables) * (seats // 2), seats - len(idle))
        beaten = order[through:] + beaten
        seeds = idle + order[:through]


def _snake(seeds: list[str], seats: int) -> list[list[str]]:
    """Tables of equal strength: first seeds one to a table, second seeds in the opposite order, and so on."""
    tables = len(seeds) // seats
    rows = [seeds[row * tables : (row + 1) * tables] for row in range(seats)]
    return [list(table) for table in zip(*[row[:: -1 if i % 2 else 1] for i, row in enumerate(rows)], strict=True)]


def _placed(bots: list[str] | tuple[str, ...], played: dict[str, Tally], seeds: list[str]) -> list[str]:
    """Best first: points, then fewer faults, then the sum of scores, then the better seed."""
    return sorted(
        bots, key=lambda name: (-played[name].points, played[name].faults, -played[name].score, seeds.index(name))
    )


def count(game: GamePlan, plan: Plan) -> int:
    """Exact: how many go on does not depend on who."""
    return sum(_tables(game)) * game.players * plan.deals


def stages(game: GamePlan, _plan: Plan) -> int:
    """Rounds down to the final."""
    return len(_tables(game))


def _tables(game: GamePlan) -> list[int]:
    """How many tables each round has."""
    left, seats = len(game.entrants), game.players
    tables = []
    while left > seats:
        tables.append(left // seats)
        left = max(left % seats + left // seats * (seats // 2), seats)
    return [*tables, 1]


KNOCKOUT = Format(
    "knockout",
    "tables of which the best half goes on, down to a final",
    rounds,
    count,
    adaptive=True,
    stages=stages,
)
