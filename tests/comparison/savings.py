"""How many matches a comparison takes, with real bots.

python -m tests.comparison.savings                40 seeds of some pairs a game: matches, verdicts
python -m tests.comparison.savings --equal        100 comparisons of a bot with itself for each game: wrong answers
python -m tests.comparison.savings --gain         what sharing deals is worth, for bots that are alike or not
python -m tests.comparison.savings --simulated    200 comparisons by coin tosses for each of some shares of A
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import mean, median

import click

from harness.comparison.format import verdicts
from harness.comparison.run import prepare_comparison, question_settings
from harness.comparison.sampling_units import ComparisonSpec, pair_score
from harness.comparison.sequential_test import Verdict
from harness.core.records import GameRecord, MatchSpec
from harness.match.referee import play
from harness.plugins.registry import Registry
from harness.runs.request import RunRequest
from harness.runs.setup import installed
from tests.comparison.gain import shared_deal_gain
from tests.comparison.test_sequential_test import tossed
from tests.support.schedules import follow

PAIRS = {
    "el-paso": [
        ("skittish:stars=3", "skittish", "diehard", "random"),
        ("diehard", "skittish:stars=3", "outlaw", "random"),
        ("outlaw", "skittish:stars=3", "diehard"),
    ],
    "gnadenlos": [
        ("broker", "miser", "debtor", "random"),
        ("broker", "debtor", "random"),
        ("debtor", "random", "miser"),
    ],
    "x-pasch": [
        ("tycoon", "founder", "random"),
        ("hustler", "founder", "raider", "random"),
        ("hustler", "founder", "random"),
        ("tycoon", "hustler", "random"),
    ],
}
EQUAL = {
    "el-paso": ("one=skittish", "other=skittish", "diehard", "random"),
    "gnadenlos": ("one=debtor", "other=debtor", "miser", "random"),
    "x-pasch": ("one=hustler", "other=hustler", "raider", "random"),
}
GAIN = {
    "el-paso": [
        ("skittish:stars=3", "skittish"),
        ("skittish:stars=3", "skittish", "random", "diehard"),
        ("one=skittish", "other=skittish", "random", "diehard"),
    ],
    "gnadenlos": [("debtor", "miser", "random"), ("one=debtor", "other=debtor", "random")],
    "x-pasch": [
        ("tycoon", "hustler", "random"),
        ("one=tycoon", "other=tycoon", "random"),
        ("founder", "raider", "random"),
    ],
}
SHARES = (0.5, 0.53, 0.55, 0.6)


def compared(
    registry: Registry, game: str, table: Sequence[str], seed: int, way: str, most: int, thorough: bool = False
) -> tuple[Verdict, list[GameRecord]]:
    """Return the verdict on the first two bots of this table, played in this process, and the records."""
    one, other, *company = table
    settings = question_settings(0.0 if thorough else None, way, thorough)
    request = RunRequest(games=(game,), bots=tuple(company), seed=seed, deals=most)
    setup = prepare_comparison(one, other, request, registry, settings)
    records: list[GameRecord] = []

    def results(asked: Sequence[MatchSpec]) -> list[GameRecord]:
        played = [play(spec, setup.games[game], setup.roster.seats(spec)) for spec in asked]
        records.extend(played)
        return played

    for _ in follow(setup.schedule, results):
        pass
    [verdict] = verdicts(setup.plan, records)
    return verdict, records


@click.command()
@click.option("--seeds", type=int)
@click.option("--first", default=1001)
@click.option("--game", "games", multiple=True)
@click.option("--most", type=int)
@click.option("--way", default="auto")
@click.option("--equal", "what", flag_value="equal")
@click.option("--gain", "what", flag_value="gain")
@click.option("--simulated", "what", flag_value="simulated")
def main(seeds: int | None, first: int, games: Sequence[str], most: int | None, way: str, what: str | None) -> None:
    """Play and print."""
    registry = installed()
    if what == "simulated":
        _simulate(seeds or 200)
        return
    for game in games or PAIRS:
        if what == "equal":
            _equal(registry, game, range(first, first + (seeds or 100)), way, most or 600)
        elif what == "gain":
            _gain(registry, game, range(first, first + (seeds or 2)), most or 800)
        else:
            _length(registry, game, range(first, first + (seeds or 40)), way, most or 6000)


def _length(registry: Registry, game: str, seeds: range, way: str, most: int) -> None:
    for table in PAIRS[game]:
        found = [compared(registry, game, table, seed, way, most)[0] for seed in seeds]
        said = dict(Counter(one.answer for one in found))
        chosen = dict(Counter(one.pilot.chosen if one.pilot else "none needed" for one in found))
        matches = median(one.matches for one in found)
        click.echo(f"{game} {' '.join(table)}: {said}, {matches:.0f} matches; pilot {chosen}")


def _equal(registry: Registry, game: str, seeds: range, way: str, most: int) -> None:
    found = [compared(registry, game, EQUAL[game], seed, way, most)[0] for seed in seeds]
    said = dict(Counter(one.answer for one in found))
    click.echo(f"{game} {' '.join(EQUAL[game])}: {said}, {sum(one.matches for one in found):,} matches")


def _gain(registry: Registry, game: str, seeds: range, most: int) -> None:
    for table in GAIN[game]:
        told = []
        for seed in seeds:
            verdict, records = compared(registry, game, table, seed, "pairs", most, thorough=True)
            results = [pair_score(record, verdict.question.one, verdict.question.other) for record in records]
            gain = shared_deal_gain(list(zip(*[iter(results)] * 2, strict=True)))
            told.append(f"{gain.shared:.4f} for {gain.unshared:.4f} ({gain.saved:+.0%})")
        click.echo(f"{game} {' '.join(table)}: {', '.join(told)}")


def _simulate(runs: int) -> None:
    for share in SHARES:
        found = list(tossed(ComparisonSpec("a", "b", "sim", {}), share, runs))
        said = dict(Counter(one.answer for one in found))
        click.echo(f"{share:.1%}: {said}, {mean(one.matches for one in found):,.0f} matches")


if __name__ == "__main__":
    main()
