"""arena league."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from harness.cli.main import CommandGroup
from harness.cli.options import (
    BOT,
    EVENT,
    GAME,
    check_bot_options,
    check_table_options,
    given,
    key_file_option,
    layout,
    league_option,
    load_plugins,
    make_ready,
    note,
    note_warnings,
    print_faults,
    request_options,
    run_option,
    say,
    show,
    table_format_option,
    verify_options,
)
from harness.core.errors import ArenaError, UnknownName, UsageError, printable

# Functions import what they need: shell completion and `arena league --help` load this file, and must not wait for the
# executors, the ratings and the pages (0.1 s).
if TYPE_CHECKING:
    from harness.core.records import Isolation
    from harness.core.table import Table
    from harness.league.folder import LeagueFolder
    from harness.league.journal import BotEvent
    from harness.league.standings import Differences
    from harness.plugins.registry import Registry


# Functions import what they need: shell completion and `arena league --help` load this file, and must not wait for
# ratings, tables and the runner (0.5 s).

UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)")


class Duration(click.ParamType):  # type: ignore[type-arg]  # convert() has the type
    """A duration: `90s`, `20m`, `2h`, `1d`."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds."""
        if isinstance(value, float):
            return value
        found = _TIME.fullmatch(str(value).strip().lower())
        if not found or found[2] not in UNITS or not float(found[1]):
            self.fail(f"{value!r} is not a duration: write 90s, 20m, 2h or 1d.", param, ctx)
        return float(found[1]) * UNITS[found[2]]


isolate_option = run_option(
    "isolate", "How to isolate bots, as in a tournament. Default: sandbox those whose files the league stores."
)
reason_option = click.option("--reason", default="", help="Why, for the journal.")


def _open(folder: Path) -> LeagueFolder:
    from harness.league.folder import LeagueFolder

    return LeagueFolder.open(folder)


def _print_tables(tables: Sequence[Table], table_format: str = "simple", wide: bool = False) -> None:
    from harness.output.tables import text_of

    click.echo(text_of(tables, table_format, layout(wide)))


@click.command("run", short_help="Play until a limit is reached, or until Ctrl-C.")
@click.option("--for", "seconds", type=Duration(), help="Stop after this time: 90s, 20m, 2h, 1d.")
@click.option("--matches", type=click.IntRange(min=1), help="Stop after this number of matches.")
@click.option("--until-settled", is_flag=True, help="Stop when all bots are known about equally well.")
@run_option("workers", "Processes that play; 0 plays in this one.")
@run_option("cluster", "Play on the nodes of a Dask cluster.")
@run_option("ship", "With --cluster: send packages along.")
@isolate_option
@click.option("--quiet", "-q", is_flag=True, help="No progress and no notes.")
@league_option
def run_command(
    seconds: float | None,
    matches: int | None,
    until_settled: bool,
    workers: int | None,
    cluster: str | None,
    ship: bool | None,
    isolate: Isolation | None,
    quiet: bool,
    league: Path,
) -> None:
    """Play until a limit is reached or until Ctrl-C; bots that join or leave meanwhile count from the next round on.

    Newcomers are seated where a match says most about them, until they are known as well as the others. A change of
    rules, options or time control (in arena.toml, or by an update of arena) begins an era with a separate table. Bots
    whose files the league stores are sandboxed.

    \b
    arena league run --until-settled
    arena league run --for 2h --workers 4
    arena league run --matches 1000 --league autumn
    """
    from harness.league.api import play_league
    from harness.league.folder import open_era
    from harness.league.runner import StopCondition
    from harness.league.standings import standings_tables

    opened = _open(league)
    request = opened.request_with(workers=workers, cluster=cluster, ship=ship, isolate=isolate)
    make_ready(request.workers, request.threads, request, bool(request.cluster))
    registry = load_plugins(isolate=request.isolate)
    until = StopCondition(matches, seconds, until_settled)
    done, standings = play_league(opened, registry, request, until, quiet=quiet)
    if standings is not None:
        _print_tables(standings_tables(standings))
    if not quiet:
        note("")
        print_faults(open_era(opened.folder, done.era), done.faults)
        settled = " All bots are known about equally well now." if done.settled else ""
        note(f"{done.played:,} matches were played in era {done.era}.{settled}")
        note(f"Continue with: arena league run --league {league}")


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
    """Print the table of a league, from all matches that count.

    \b
    arena league show
    arena league show --all --game el-paso
    arena league show --era 1 -f csv
    """
    from harness.league.standings import standings_of, standings_tables
    from harness.output.progress import shown_work

    check_table_options(table_format, ())
    if era and across:
        raise UsageError("Use either --era or --across, not both.")
    with shown_work():
        standings = standings_of(_open(league), era, across=across)
        tables = standings_tables(standings, everybody)
    if game is not None:
        if game not in standings.games:
            raise UnknownName("game of this league", game, standings.games)
        tables = [table for table in tables if table.title == game]
    _print_tables(tables, table_format, wide)
    if table_format == "simple":
        eras = "era" if len(standings.eras) == 1 else "eras"
        note(f"\n{standings.matches:,} matches, {eras} {', '.join(map(str, standings.eras))}.")


@click.command("history", short_help="Show the results of each version of a bot, and what changed.")
@click.argument("bot")
@click.option(
    "--decisions/--no-decisions", default=True, help="Ask the newest version about decisions of the one before."
)
@isolate_option
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@league_option
def history_command(bot: str, decisions: bool, isolate: Isolation | None, as_json: bool, league: Path) -> None:
    """Show each version of a BOT: its skill, its results, and what it decides differently.

    The newest version is asked at decisions of the one before it, in a sandbox if the league stores its files; phases
    with the most differences come first.

    \b
    arena league history sprinter
    arena league history sprinter --no-decisions
    """
    from harness.league.standings import differences, history_table, standings_of, versions_of
    from harness.output.progress import shown_work

    opened = _open(league)
    request = opened.request_with(isolate=isolate)
    with shown_work():
        versions = versions_of(opened, bot, standings_of(opened))
    tables = [history_table(bot, game, rows) for game, rows in versions.items()]
    ask = decisions and any(len(rows) > 1 for rows in versions.values())
    if not as_json:
        _print_tables(tables)
    found: list[Differences] = []
    if ask:
        try:
            registry = load_plugins(isolate=request.isolate)
            with shown_work():
                found = differences(opened, bot, registry, request.isolate)
        except UsageError as error:
            note(f"The newest version cannot be asked: {error}")
    if as_json:
        versions_data = {"versions": {table.title.partition(", ")[2]: table.rows for table in tables}}
        show(json.dumps({**versions_data, "differences": msgspec.to_builtins(found)}, indent=2))
        return
    for each in found:
        show("\n" + "\n".join(_difference_lines(each)))


def _difference_lines(found: Differences) -> list[str]:
    """Return what the newer version decides differently, as lines of text."""
    other = sum(differ for differ, _ in found.by_phase.values())
    share = f"{other / found.asked:.0%}" if found.asked else "none"
    what = f"{found.newer} decides differently from {found.older}"
    lines = [f"{found.game}: {what} at {share} of {found.asked:,} decisions."]
    lines += [f"  {phase}: {differ} of {total}" for phase, (differ, total) in found.by_phase.items() if differ]
    lines += [f"  {one.match}, decision {one.decision}: {one.now} instead of {one.then}" for one in found.examples]
    if found.failed:
        lines.append(f"  It failed: {found.failed}")
    return lines


@click.command("publish", short_help="Make a web site of a league.")
@click.option("--to", type=click.Path(path_type=Path, file_okay=False), required=True, help="The folder of the site.")
@click.option("--url", default="", help="Where the site will be, for feeds and link previews; kept for the next time.")
@click.option("--title", help="What the site is called; kept for the next time.")
@click.option("--next", "due", help="When the next update is due, in your own words; kept for the next time.")
@click.option("--replays", type=click.IntRange(min=0), default=200, show_default=True,
              help="Store replays of this many matches of each game.")  # fmt: skip
@league_option
def publish_command(to: Path, url: str, title: str | None, due: str | None, replays: int, league: Path) -> None:
    """Make a web site of a league: its table, and a page for each era with charts and matches to step through.

    Matches of banned bots are left out; seeds of the current era are withheld.

    \b
    arena league publish --to site
    """
    from harness.league.standings import publish_league
    from harness.output.progress import shown_work
    from harness.report import SiteOptions

    opened, registry = _open(league), load_plugins()
    with shown_work():
        problems = publish_league(opened, registry, to, SiteOptions(url, title, None, due, replays))
    note_warnings(problems)
    show(to / "index.html")


@click.command("verify", short_help="Check that all of a league follows from its journal.")
@click.option("--every", type=click.IntRange(min=1), default=1, help="Replay one in N records.  [default: all]")
@verify_options("league")
@league_option
def verify_command(
    every: int,
    ask_bots: bool,
    isolate: str | None,
    workers: int | None,
    keys: tuple[str, ...],
    as_json: bool,
    league: Path,
) -> None:
    """Check a league: every match follows from the journal and the records before it, records are played again by the
    rules, and all bots that may play are what they were when they joined.

    Also checks the signature of the league. With --bots, the bots play these matches again in sandboxed processes,
    whatever the league's file says. The exit code is 1 if anything differs.

    \b
    arena league verify
    arena league verify --every 20
    arena league verify --bots
    arena league verify --key ed25519:l3XyR...
    """
    from harness.league.verify import check_league, check_league_bots, signable_league
    from harness.output.progress import at_terminal, shown_work
    from harness.verify.cli import show_bots, show_uncovered, signature_data
    from harness.verify.signing import check_signature, trusted_keys

    check_bot_options(ask_bots, isolate, workers)
    trusted, opened = trusted_keys(keys), _open(league)
    if ask_bots:
        make_ready(workers, None)  # before plugins are loaded
    placed: Isolation = isolate or "on"  # type: ignore[assignment]  # click has checked it
    registry = load_plugins(isolate=placed if ask_bots else opened.request().isolate)
    with shown_work():
        found = check_league(opened, registry, every)
    if ask_bots:
        with at_terminal("asked again", found.replayed, False, workers) as (stop, progress):
            check_league_bots(opened, registry, found, placed, workers, stop, progress.step)
    signed = check_signature(signable_league(opened), trusted)
    fine = found.fine and signed.is_fine(bool(trusted))
    if as_json:
        names = ("records", "replayed", "open", "problems", "notes", "bots")
        data = {name: msgspec.to_builtins(getattr(found, name)) for name in names}
        fields = {"league": str(league), "fine": fine, **data, "signature": signature_data(signed)}
        show(json.dumps(fields, indent=2))
    else:
        for sentence in [*found.notes, *found.problems]:
            say(printable(sentence))
        open_ = f", {found.open:,} matches of the last rounds are still to be played" if found.open else ""
        count = len(found.problems)
        verdict = "no problems" if not count else f"{count:,} problem{'' if count == 1 else 's'}"
        say(f"{found.records:,} records, {found.replayed:,} replayed: {verdict}{open_}. {signed}")
        show_uncovered(signed, ("journal",))
        if not ask_bots:
            say("  Not checked: whether bots chose these moves. Use --bots.")
        for era, asked in found.bots.items():
            show_bots(found.eras[era].folder, asked)
    if not fine:
        click.get_current_context().exit(1)


@click.command("sign", short_help="Sign a league with your key, so that others can verify it.")
@key_file_option
@click.option("--json", "as_json", is_flag=True, help="Print key and signature as JSON.")
@league_option
def sign_command(key: Path | None, as_json: bool, league: Path) -> None:
    """Sign a league as it is now with an Ed25519 key: its journal, the records of all eras and the stored bots.

    'arena sign --new-key' makes a key. The signature is a file in the league's folder, which 'arena league verify'
    checks; sign it again when more was played. Needs pip install 'arena-harness[sign]'.

    \b
    arena league sign
    arena league verify --key ed25519:l3XyR...
    """
    from harness.league.verify import sign_league
    from harness.verify.cli import report_signature

    signed = sign_league(_open(league), key)
    report_signature("league", league, signed, f"arena league verify --league {league} --key {signed.key}", as_json)


NOT_ASKED = (
    "bots",
    "candidates",
    "deals",
    "for_",
    "format",
    "matches_each",
    "name",
    "results",
    "show_output",
    "strict",
)
"""Options of a run that a new league does not have: see NOT_FOR_LEAGUES; a league's file may say `strict`."""


@click.group("league", cls=CommandGroup)
def command() -> None:
    """Keep a league: a folder in which versions of bots join, play and leave, for weeks or for years.

    \b
    arena league init autumn --game el-paso
    cd autumn
    arena league add ../sprinter.py --team red
    arena league add outlaw
    arena league add diehard
    arena league add skittish
    arena league run --until-settled
    arena league show
    """


@command.command("init", short_help="Begin a league in a new folder.")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--from", "event", type=EVENT, metavar="FILE", help="Take games, options and limits from this TOML file.")
@request_options(
    NOT_ASKED,
    players="Bots at a table. Default: up to 4, as the game allows.",
    max_faults="Retire a version after this many faults. Default: never.",
)
def init_command(folder: Path, event: str | None, **asked: Any) -> None:
    """Begin a league in a new FOLDER. What it plays is written to its arena.toml, where it can be changed.

    \b
    arena league init autumn
    arena league init autumn --game el-paso --game x-pasch --move-time 2 --isolate
    arena league init autumn --from event.toml
    """
    from harness.league.bots import add_bots
    from harness.league.folder import NOT_FOR_LEAGUES, LeagueFolder
    from harness.runs.request import RunRequest, asked_in, is_run, run_at
    from harness.runs.resume import request_of_run

    fields: dict[str, Any] = {}
    bots: tuple[Any, ...] = ()
    if event:
        fields = asked_in(Path(event))
        bots = fields.get("bots", ())
        fields = {name: value for name, value in fields.items() if name not in NOT_FOR_LEAGUES and name != "file"}
    request = RunRequest(**{**fields, **given(asked)})
    registry = load_plugins(isolate=request.isolate)
    if event and is_run(Path(event)):
        request_of_run(run_at(Path(event)), registry)  # refuses programs with other files
    named = registry.for_names_in(Path(event).name) if event else registry
    named.entrants(bots)  # report unknown bots before there is a folder
    league = LeagueFolder.create(folder, request, registry)
    note(f"Created the league {folder}. What it plays is in {folder / 'arena.toml'}.")
    if bots:
        _report_joined(league, add_bots(league, bots, named), registry)
    else:
        note(f"Add bots with: arena league add BOT --league {folder}")


@command.command("add", short_help="Let a bot join, or the next version of one.")
@click.argument("bots", type=BOT, nargs=-1, required=True, metavar="BOT...")
@click.option("--as", "name", default="", help="Its name in the league. Default: its own.")
@click.option("--team", default="", help="Whose it is.")
@click.option("--author", default="", help="Who wrote it.")
@click.option(
    "--new-version-of",
    default="",
    metavar="NAME",
    help="Add it as the next version of this bot, even if --author and --team differ.",
)
@league_option
def add_command(bots: tuple[str, ...], name: str, team: str, author: str, new_version_of: str, league: Path) -> None:
    """Let a BOT join: a name, a file, a folder, or cmd:COMMAND, as for --bot of arena tournament.

    A bot whose name is in the league joins as its next version, sprinter@2, if it has the same --author or --team, or
    with --new-version-of. The newest plays on, older ones are kept as opponents. Its files are copied now; what happens
    to them later changes nothing. Works while the league is played.

    \b
    arena league add sprinter.py
    arena league add sprinter.py --as dash --team red --author Ada
    arena league add sprinter_2.py --new-version-of sprinter
    arena league add ismcts:guide=outlaw --as searcher
    """
    from harness.league.bots import add_bots
    from harness.plugins.entrants import BotEntry

    opened = _open(league)
    registry = load_plugins(isolate=opened.request().isolate)
    joined = add_bots(opened, [BotEntry(bot, team, author) for bot in bots], registry, name, new_version_of)
    _report_joined(opened, joined, registry)


def _report_joined(league: LeagueFolder, joined: list[BotEvent], registry: Registry) -> None:
    from harness.league.folder import announce_changes
    from harness.league.journal import BotJoined

    for entry in joined:
        show(f"{entry.name} {'joins' if isinstance(entry, BotJoined) else 'is restored and plays again'}.")
        if any(one.banned for one in league.membership.versions(entry.bot)):
            note(f"Warning: an earlier version of {entry.bot} is banned.")
    note_warnings(announce_changes(league, joined, registry))


def _decide(command_name: str, bot: str, reason: str, league: Path) -> None:
    from harness.league.folder import announce_changes
    from harness.league.journal import BotBanned, BotReadmitted, BotRetired
    from harness.league.standings import write_standings

    kinds = {"retire": BotRetired, "ban": BotBanned, "readmit": BotReadmitted}
    opened = _open(league)
    entry = opened.add_decision(kinds[command_name], bot, reason)
    show(f"{bot} {entry.notice}.")
    if entry.what != "retired":  # else all matches count as before
        with suppress(ArenaError):  # nothing was played, or a run is writing it: the next run writes it again
            write_standings(opened)
    note_warnings(announce_changes(opened, [entry], load_plugins()))


@command.command("retire", short_help="Stop seating a bot, or one of its versions; its matches still count.")
@click.argument("bot")
@reason_option
@league_option
def retire_command(bot: str, reason: str, league: Path) -> None:
    """Stop seating a BOT, or one of its versions (sprinter@2). What it has played still counts.

    \b
    arena league retire sprinter@1
    arena league retire sprinter --reason "its author left"
    """
    _decide("retire", bot, reason, league)


@command.command("ban", short_help="Ban a bot and remove all its matches from the table.")
@click.argument("bot")
@reason_option
@league_option
def ban_command(bot: str, reason: str, league: Path) -> None:
    """Stop seating a BOT, and neither count nor show its matches. The records keep them.

    \b
    arena league ban sprinter --reason "reads its opponents' memory"
    arena league ban sprinter@3
    """
    _decide("ban", bot, reason, league)


@command.command("readmit", short_help="Let a retired or banned bot play again.")
@click.argument("bot")
@reason_option
@league_option
def readmit_command(bot: str, reason: str, league: Path) -> None:
    """Let a retired or banned BOT play again; all its matches count again.

    \b
    arena league readmit sprinter@2
    """
    _decide("readmit", bot, reason, league)


for each in (run_command, show_command, history_command, publish_command, verify_command, sign_command):
    command.add_command(each)
