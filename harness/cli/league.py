"""arena league."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.league_play import run_command
from harness.cli.league_show import history_command, publish_command, show_command, verify_command
from harness.cli.parameter_types import BOT, EVENT, GAME
from harness.cli.shared import given, league_option, load_plugins, note, options_option, playing_options, seed_option

if TYPE_CHECKING:
    from harness.league.journal import JournalEntry
    from harness.league.league_folder import LeagueFolder
    from harness.plugins.registry import Registry

REQUESTED = (
    "games", "options", "players", "seed", "move_time", "game_time", "clock", "memory", "threads", "isolate",
    "keep_processes", "ponder", "max_faults", "workers", "cluster", "ship",
)  # fmt: skip


@click.group("league", short_help="Keep a league: versions of bots join, play and leave.")
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
@click.option("--game", "games", type=GAME, multiple=True, help="A game to play; may be repeated. Default: all.")
@options_option
@click.option("--players", type=int, help="Bots at a table. Default: up to 4, as the game allows.")
@seed_option
@click.option("--max-faults", type=click.IntRange(min=1), help="Retire a version after so many faults. Default: never.")
@playing_options
def init_command(folder: Path, event: str | None, **asked: Any) -> None:
    """Begin a league in a new FOLDER. What it plays is written to its arena.toml, where it can be changed.

    \b
    arena league init autumn
    arena league init autumn --game el-paso --game x-pasch --move-time 2 --isolate
    arena league init autumn --from event.toml
    """
    from harness.league.league_folder import NOT_FOR_LEAGUES, LeagueFolder
    from harness.runs.request import RunRequest

    fields: dict[str, Any] = {}
    bots: tuple[Any, ...] = ()
    if event:
        from harness.runs.event_file import asked_in

        fields = asked_in(Path(event))
        bots = fields.get("bots", ())
        fields = {name: value for name, value in fields.items() if name not in NOT_FOR_LEAGUES and name != "file"}
    request = RunRequest(**{**fields, **given(asked, *REQUESTED)})
    registry = load_plugins(isolate=request.isolate)
    registry.entrants(bots)  # whoever cannot join is told before there is a folder
    league = LeagueFolder.create(folder, request, registry)
    note(f"A league begins in {folder}: {folder / 'arena.toml'} says what it plays.")
    if bots:
        _tell(league, league.add(bots, registry), registry)
    else:
        note(f"Let bots join: arena league add BOT --league {folder}")


@command.command("add", short_help="Let a bot join, or the next version of one.")
@click.argument("bots", type=BOT, nargs=-1, required=True, metavar="BOT...")
@click.option("--as", "name", default="", help="The name that it has in the league. Default: its own.")
@click.option("--team", default="", help="Whose it is.")
@click.option("--author", default="", help="Who wrote it.")
@league_option
def add_command(bots: tuple[str, ...], name: str, team: str, author: str, league: Path) -> None:
    """Let a BOT join: a name, a file, a folder, or cmd:COMMAND, as behind --bot of arena tournament.

    A bot that is in already joins as its next version: sprinter@2. The newest plays on, older ones are kept as
    opponents. Its files are copied now; what happens to them later changes nothing. Works while the league is played.

    \b
    arena league add sprinter.py
    arena league add sprinter.py --as dash --team red --author Ada
    arena league add ismcts:guide=outlaw --as searcher
    """
    from harness.league.league_folder import LeagueFolder
    from harness.plugins.entrants import BotEntry

    opened = LeagueFolder.open(league)
    request = opened.request()
    registry = load_plugins(isolate=request.isolate)
    joined = opened.add([BotEntry(bot, team, author) for bot in bots], registry, name)
    _tell(opened, joined, registry)


def _tell(league: LeagueFolder, joined: list[JournalEntry], registry: Registry) -> None:
    from harness.league.announce import announce

    for entry in joined:
        click.echo(f"{entry.name} {'joins' if entry.what == 'joined' else 'is whole again'}.")
        if any(one.banned for one in league.membership.versions(entry.bot)):
            note(f"Warning: an earlier version of {entry.bot} is banned.")
    for problem in announce(league, joined, registry):
        note(f"Warning: {problem}")


def _change(what: Any, name: str, reason: str, league: Path, told: str) -> None:
    from harness.core.errors import ArenaError
    from harness.league.announce import announce
    from harness.league.league_folder import LeagueFolder
    from harness.output.league_files import write_standings

    opened = LeagueFolder.open(league)
    entry = opened.change(what, name, reason)
    click.echo(f"{entry.name} {told}")
    if what != "retired":
        with suppress(ArenaError):  # nothing was played, or it is written just now: the next run writes it
            write_standings(opened)
    for problem in announce(opened, [entry], load_plugins()):
        note(f"Warning: {problem}")


@command.command("retire", short_help="Seat a bot, or one of its versions, no more.")
@click.argument("bot")
@click.option("--reason", default="", help="Why, for the journal.")
@league_option
def retire_command(bot: str, reason: str, league: Path) -> None:
    """Seat a BOT no more, or one of its versions (sprinter@2). What it has played still counts.

    \b
    arena league retire sprinter@1
    arena league retire sprinter --reason "its author left"
    """
    _change("retired", bot, reason, league, "is retired.")


@command.command("ban", short_help="Take a cheater out, with all its matches.")
@click.argument("bot")
@click.option("--reason", default="", help="Why, for the journal.")
@league_option
def ban_command(bot: str, reason: str, league: Path) -> None:
    """Seat a BOT no more, and let none of its matches count, nor be shown. The records keep them.

    \b
    arena league ban sprinter --reason "reads its opponents' memory"
    arena league ban sprinter@3
    """
    _change("banned", bot, reason, league, "is banned: its matches no longer count.")


@command.command("readmit", short_help="Let a bot play again that was retired or banned.")
@click.argument("bot")
@click.option("--reason", default="", help="Why, for the journal.")
@league_option
def readmit_command(bot: str, reason: str, league: Path) -> None:
    """Let a BOT play again that was retired or banned; all its matches count again.

    \b
    arena league readmit sprinter@2
    """
    _change("readmitted", bot, reason, league, "plays again.")


for each in (run_command, show_command, history_command, publish_command, verify_command):
    command.add_command(each)
