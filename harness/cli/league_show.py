"""arena league show, history and publish."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.parameter_types import GAME
from harness.cli.shared import layout, league_option, load_plugins, note

if TYPE_CHECKING:
    from harness.league.version_history import Differences

table_format_option = click.option(
    "--table-format", "-f", default="simple", show_default=True, help="github, csv, json, html, latex ..."
)


@click.command("show", short_help="Print the table of a league.")
@click.option("--game", type=GAME, help="Of this game only.")
@click.option("--era", type=click.IntRange(min=1), help="Of this era. Default: the newest.")
@click.option("--across", is_flag=True, help="Of all eras with the rules and options of the newest.")
@click.option("--all", "everybody", is_flag=True, help="Older and retired versions, too.")
@table_format_option
@click.option("--wide", is_flag=True, help="Every column, and names in full.")
@league_option
def show_command(
    game: str | None, era: int | None, across: bool, everybody: bool, table_format: str, wide: bool, league: Path
) -> None:
    """Print the table of a league: where everybody stands, by all matches that count.

    \b
    arena league show
    arena league show --all --game el-paso
    arena league show --era 1 -f csv
    """
    from harness.core.errors import UnknownName, UsageError
    from harness.league.league_folder import LeagueFolder
    from harness.league.standings import standings_of
    from harness.output.data_table import FORMATS, text_of
    from harness.output.league_table import standings_tables

    if table_format not in FORMATS:
        raise UnknownName("table format", table_format, FORMATS)
    if era and across:
        raise UsageError("Either one era (--era), or all that are alike (--across).")
    standings = standings_of(LeagueFolder.open(league), era, across=across)
    tables = standings_tables(standings, everybody)
    if game is not None:
        if game not in standings.games:
            raise UnknownName("game of this league", game, standings.games)
        tables = [table for table in tables if table.title == game]
    click.echo(text_of(tables, table_format, layout(wide)))
    if table_format == "simple":
        eras = "era" if len(standings.eras) == 1 else "eras"
        note(f"\n{standings.matches:,} matches, {eras} {', '.join(map(str, standings.eras))}.")


@click.command("history", short_help="Show how the versions of a bot fare, and what changed.")
@click.argument("bot")
@click.option("--decisions/--no-decisions", default=True, help="Ask the newest version at decisions of the one before.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@league_option
def history_command(bot: str, decisions: bool, as_json: bool, league: Path) -> None:
    """Show each version of a BOT: its rating, how sure it is that it beats the one before, what it does otherwise.

    The newest version is put before decisions that the one before it has made: where most differ comes first.

    \b
    arena league history sprinter
    arena league history sprinter --no-decisions
    """
    import msgspec

    from harness.core.errors import UsageError
    from harness.league.league_folder import LeagueFolder
    from harness.league.standings import standings_of
    from harness.league.version_history import differences, versions_of
    from harness.output.data_table import text_of
    from harness.output.league_table import history_table

    opened = LeagueFolder.open(league)
    request = opened.request()
    versions = versions_of(opened, bot, standings_of(opened))
    tables = [history_table(bot, game, rows) for game, rows in versions.items()]
    ask = decisions and any(len(rows) > 1 for rows in versions.values())
    if not as_json:
        click.echo(text_of(tables, "simple", layout(False)))
    found: list[Differences] = []
    if ask:
        try:
            found = differences(opened, bot, load_plugins(isolate=request.isolate), request.isolate)
        except UsageError as error:
            note(f"The newest version cannot be asked: {error}")
    if as_json:
        told = {"versions": {table.title.partition(", ")[2]: table.rows for table in tables}}
        click.echo(json.dumps({**told, "differences": msgspec.to_builtins(found)}, indent=2))
        return
    for each in found:
        click.echo("\n" + "\n".join(_told(each)))


def _told(found: Differences) -> list[str]:
    """What the newer version does otherwise, in lines."""
    other = sum(differ for differ, _ in found.by_phase.values())
    share = f"{other / found.asked:.0%}" if found.asked else "none"
    what = f"{found.newer} decides otherwise than {found.older}"
    lines = [f"{found.game}: {what} at {share} of {found.asked:,} decisions."]
    lines += [f"  {phase}: {differ} of {total}" for phase, (differ, total) in found.by_phase.items() if differ]
    lines += [f"  {one.match}, decision {one.decision}: {one.now} instead of {one.then}" for one in found.examples]
    if found.failed:
        lines.append(f"  It failed: {found.failed}")
    return lines


@click.command("publish", short_help="Make a web site of a league.")
@click.option("--to", type=click.Path(path_type=Path, file_okay=False), required=True, help="The folder of the site.")
@click.option("--url", default="", help="Where the site will be, for its feed.")
@league_option
def publish_command(to: Path, url: str, league: Path) -> None:
    """Make a web site of a league: its table, and a page for each era with charts and matches to step through.

    Matches of banned bots are left out; seeds of the era that goes on are withheld.

    \b
    arena league publish --to site
    """
    from harness.league.league_folder import LeagueFolder
    from harness.output.league_files import publish_league

    for problem in publish_league(LeagueFolder.open(league), load_plugins(), to, url):
        note(f"Warning: {problem}")
    click.echo(to / "index.html")


@click.command("verify", short_help="Check that all of a league follows from its journal.")
@click.option(
    "--every", type=click.IntRange(min=1), default=1, help="Play one in so many records again.  [default: all]"
)
@league_option
def verify_command(every: int, league: Path) -> None:
    """Check a league: every match follows from the journal and the records before it, records are played again by the
    rules, and all bots that may play are what they were when they joined.

    \b
    arena league verify
    arena league verify --every 20
    """
    from harness.league.league_check import check_league
    from harness.league.league_folder import LeagueFolder
    from harness.output.progress import Progress

    opened = LeagueFolder.open(league)
    with Progress("records") as progress:
        found = check_league(opened, load_plugins(isolate=opened.request().isolate), every, progress.step)
    for sentence in [*found.notes, *found.problems]:
        click.echo(sentence)
    open_ = f", {found.open:,} matches of the last rounds are open" if found.open else ""
    count = len(found.problems)
    told = "all as it should be" if not count else f"{count:,} problem{'' if count == 1 else 's'}"
    click.echo(f"{found.records:,} records, {found.replayed:,} played again: {told}{open_}.")
    if found.problems:
        click.get_current_context().exit(1)
