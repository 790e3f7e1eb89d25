"""How many matches a comparison takes, against whole duplicate sets as earlier arenas played them: with real bots.

python -m tests.ratings.savings            40 seeds of three pairs a game: matches of either way, and the verdicts
python -m tests.ratings.savings --equal    100 comparisons of a bot with itself for each game: wrong answers
python -m tests.ratings.savings --gain     what exchanging seats is worth, for pairs that are alike or not
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

import click

from harness.core.types import GameRecord, MatchSpec
from harness.match.referee import play
from harness.plugins.registry import Registry
from harness.runs.questions import prepare_comparison, question_settings, verdicts
from harness.runs.request import RunRequest
from harness.runs.run_setup import installed

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
        ("tycoon", "hustler", "random"),
    ],
}
EQUAL = {
    "el-paso": ("one=skittish", "other=skittish", "diehard", "random"),
    "gnadenlos": ("one=debtor", "other=debtor", "miser", "random"),
    "x-pasch": ("one=hustler", "other=hustler", "raider", "random"),
}


def compared(registry: Registry, game: str, table: Sequence[str], seed: int, way: str, most: int = 6000, **more: float):
    """The verdict on the first two at this table, in this process."""
    one, other, *company = table
    settings = {**question_settings(more.get("margin"), more.get("indifference"), None, False), "way": way}
    deals = most // (2 * len(table)) if way == "sets" else most
    request = RunRequest(games=(game,), bots=tuple(company), seed=seed, deals=deals)
    setup = prepare_comparison(one, other, request, registry, settings)
    records: list[GameRecord] = []

    def results(asked: Sequence[MatchSpec]) -> list[GameRecord]:
        played = [play(spec, setup.games[game], setup.roster.seats(spec)) for spec in asked]
        records.extend(played)
        return played

    for _ in setup.schedule.follow(results):
        pass
    [verdict] = verdicts(setup.plan, records)
    return verdict


@click.command()
@click.option("--seeds", default=40)
@click.option("--first", default=1001)
@click.option("--game", "games", multiple=True)
@click.option("--most", default=6000)
@click.option("--way", default="auto")
@click.option("--equal", is_flag=True)
def main(seeds: int, first: int, games: Sequence[str], most: int, way: str, equal: bool) -> None:
    """Plays and prints."""
    registry = installed()
    for game in games or PAIRS:
        if equal:
            _equal(registry, game, range(first, first + seeds), way, most)
            continue
        for table in PAIRS[game]:
            _save(registry, game, table, range(first, first + seeds), way, most)


def _save(registry: Registry, game: str, table: Sequence[str], seeds: range, way: str, most: int) -> None:
    by_sets, now = ([compared(registry, game, table, seed, each, most) for seed in seeds] for each in ("sets", way))
    before, after = (median(one.matches for one in found) for found in (by_sets, now))
    said = [dict(Counter(one.answer for one in found)) for found in (by_sets, now)]
    chosen = dict(Counter(one.pilot.chosen if one.pilot else "none needed" for one in now))
    click.echo(
        f"{game} {' '.join(table)}: {before:.0f} by sets {said[0]}, {after:.0f} {said[1]}, "
        f"{before / after:.2f} times fewer; pilot {chosen}"
    )


def _equal(registry: Registry, game: str, seeds: range, way: str, most: int) -> None:
    found = [compared(registry, game, EQUAL[game], seed, way, most) for seed in seeds]
    said = Counter(one.answer for one in found)
    click.echo(f"{game} {' '.join(EQUAL[game])}: {dict(said)}, {sum(one.matches for one in found):,} matches")


if __name__ == "__main__":
    main()
