"""How many matches luck adjustment saves, and whether intervals hold, for bots that no value function has seen.

    python -m tests.luck.luck_gains [DEALS] [GAME ...]

Each pair plays runs of RUN deals with two others at the table, seats drawn for each deal. What is estimated is by how
much more of the table the first of the pair finishes ahead of than the second.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import sqrt
from random import Random
from statistics import fmean, stdev, variance
from time import process_time
from typing import NamedTuple

from harness.core.records import MatchSpec, shares_ahead
from harness.core.value_function import value_function_of
from harness.luck.adjustment import adjust_results
from harness.match.referee import play
from harness.plugins.registry import load
from harness.ratings.statistics import student_quantile

RUN = 40
PUBLISHED = 10**7
"""First seed of the published figures; no setting was chosen by them."""
SLIP_PROBABILITY = 0.1


class Pair(NamedTuple):
    game: str
    one: str
    other: str
    company: tuple[str, ...]


PAIRS = (
    Pair("el-paso", "outlaw", "slipping outlaw", ("diehard", "skittish")),
    Pair("el-paso", "outlaw", "slipping outlaw", ()),
    Pair("el-paso", "skittish:stars=4", "skittish:stars=1", ("outlaw", "diehard")),
    Pair("x-pasch", "tycoon", "hustler", ("raider", "founder")),
    Pair("x-pasch", "tycoon", "slipping tycoon", ("raider", "founder")),
    Pair("x-pasch", "tycoon", "raider", ("hustler",)),
    Pair("gnadenlos", "miser", "slipping miser", ("debtor", "broker")),
    Pair("gnadenlos", "miser", "slipping broker", ("debtor",)),
    Pair("gnadenlos", "miser", "debtor", ("broker", "random")),
)
"""In each pair is a bot that no value function was learned from: outlaw, tycoon, miser, these settings of skittish."""


class AdjustmentGain(NamedTuple):
    pair: Pair
    saved: float
    """The variance of a result as played, divided by the luck-adjusted variance."""
    held: float
    """The share of runs whose interval held the mean of all runs."""
    runs: int
    moved: float
    """The change of the mean, in standard errors."""
    cost: float
    """Processor time per match, in seconds."""


def entrant(registry, name):
    """Return a bot by name; a slipping one makes a random choice in some of its decisions."""
    if not name.startswith("slipping "):
        return registry.entrant(name)
    bot = registry.entrant(name.removeprefix("slipping ")).bot

    class Slipping(bot):
        def choose(self, view, actions):
            return self.rng.choice(actions) if self.rng.random() < SLIP_PROBABILITY else super().choose(view, actions)

    Slipping.name = name.replace(" ", "-")
    return registry.entrant(Slipping)


def measure(pair: Pair, deals: int, first: int = 0) -> AdjustmentGain:
    """Play `deals` deals of a pair and adjust their results, run by run."""
    registry = load()
    game = registry.game(pair.game).configure()
    function = value_function_of(game, {})
    table = [entrant(registry, name) for name in (pair.one, pair.other, *pair.company)]
    plain, adjusted, runs = [], [], []
    cost = 0.0
    for start in range(first, first + deals, RUN):
        records = [_match(game, table, number) for number in range(start, min(start + RUN, first + deals))]
        cost -= process_time()
        without = adjust_results(records, {game.name: game}, {game.name: function})
        cost += process_time()
        differences = [_difference(record, without[record.id], table) for record in records]
        plain += [_difference(record, shares_ahead(record.ranks), table) for record in records]
        adjusted += differences
        runs.append(differences)
    moves = [before - after for before, after in zip(plain, adjusted, strict=True)]
    return AdjustmentGain(
        pair,
        variance(plain) / variance(adjusted),
        fmean([_holds(run, fmean(adjusted)) for run in runs if len(run) > 1]),
        len(runs),
        fmean(moves) / (stdev(moves) / sqrt(len(moves))),
        cost / len(plain),
    )


def _match(game, table, number):
    seats = Random(number).sample(table, len(table))
    names = [bot.name for bot in seats]
    return play(
        MatchSpec.single(f"gain-{number}", game.name, game.settings, 10**6 + number, names, number), game, seats
    )


def _difference(record, shares, table) -> float:
    return shares[record.seats.index(table[0].name)] - shares[record.seats.index(table[1].name)]


def _holds(run: Sequence[float], truth: float) -> bool:
    reach = student_quantile(0.975, len(run) - 1) * stdev(run) / sqrt(len(run))
    return abs(fmean(run) - truth) <= reach


def main(deals: int, games: Sequence[str]) -> None:
    sys.stdout.write("| game | bots | table | times fewer matches | intervals hold | ms a match | mean moved |\n")
    sys.stdout.write("|---|---|---|---|---|---|---|\n")
    for pair in PAIRS:
        if not games or pair.game in games:
            gain = measure(pair, deals, PUBLISHED)
            bots, company = f"{pair.one}, {pair.other}", ", ".join(pair.company) or "-"
            sys.stdout.write(
                f"| {pair.game} | {bots} | {company} | {gain.saved:.2f} | {gain.held:.0%} of {gain.runs} | "
                f"{1000 * gain.cost:.0f} | {gain.moved:+.1f} errors |\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    if any(word.startswith("-") for word in sys.argv):
        sys.exit(__doc__)
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, sys.argv[2:])
