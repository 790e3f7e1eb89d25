"""arena league run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from harness.cli.shared import given, layout, league_option, load_plugins, make_ready, note

UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)")


class Duration(click.ParamType):  # type: ignore[type-arg]  # what it gives is said by convert
    """A time as people write it: `90s`, `20m`, `2h`, `1d`."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """So many seconds."""
        if isinstance(value, float):
            return value
        found = _TIME.fullmatch(str(value).strip().lower())
        if not found or found[2] not in UNITS or not float(found[1]):
            self.fail(f"{value!r} is no time: write 90s, 20m, 2h or 1d.", param, ctx)
        return float(found[1]) * UNITS[found[2]]


@click.command("run", short_help="Play on: until it is enough, or until Ctrl-C.")
@click.option("--for", "seconds", type=Duration(), help="Play so long: 90s, 20m, 2h, 1d.")
@click.option("--matches", type=click.IntRange(min=1), help="Play so many matches.")
@click.option("--until-settled", is_flag=True, help="Play until everybody is about equally well known.")
@click.option("--workers", type=click.IntRange(min=0, max=1024), help="Processes that play; 0 plays in this one.")
@click.option("--cluster", metavar="CLUSTER", help="Play on the nodes of a Dask cluster.")
@click.option("--ship", is_flag=True, default=None, help="With --cluster: send packages along.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no notes.")
@league_option
def run_command(
    seconds: float | None, matches: int | None, until_settled: bool, quiet: bool, league: Path, **asked: Any
) -> None:
    """Play on, until it is enough or until Ctrl-C; who joins or leaves meanwhile is heeded from the next round on.

    Newcomers are seated where most is learned of them, until they are as well known as the others. A change of rules,
    options or time control (in arena.toml, or by an update of arena) begins an era with a table of its own.

    \b
    arena league run --until-settled
    arena league run --for 2h --workers 4
    arena league run --matches 1000 --league autumn
    """
    from harness.api.leagues import play_league
    from harness.league.league_folder import LeagueFolder
    from harness.league.runner import HowLong
    from harness.output.data_table import text_of
    from harness.output.league_table import standings_tables

    opened = LeagueFolder.open(league)
    request = opened.request(**given(asked, "workers", "cluster", "ship"))
    make_ready(request.workers, request.threads, request, bool(request.cluster))
    registry = load_plugins(isolate=request.isolate)
    done, standings = play_league(opened, registry, request, HowLong(matches, seconds, until_settled), quiet=quiet)
    if standings is not None:
        click.echo(text_of(standings_tables(standings), "simple", layout(False)))
    if not quiet:
        note("")
        settled = " Everybody is about equally well known now." if done.settled else ""
        note(f"{done.played:,} matches were played in era {done.era}.{settled}")
        note(f"Go on: arena league run --league {league}")
