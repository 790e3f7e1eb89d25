"""arena play."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING

import click

from harness.cli.options import (
    BOT,
    GAME,
    RUN,
    load_plugins,
    note,
    note_warnings,
    open_folder,
    options_option,
    parse_options,
    results_option,
    run_option,
    seed_option,
)
from harness.plugins.features import PLAY_IN_BROWSER, load_object

# Functions import what they need: shell completion and `arena play --help` load this file, and must not wait for the
# referee, the tables and the dialogue (0.3 s).
if TYPE_CHECKING:
    from harness.core.records import Isolation
    from harness.output.text import Console
    from harness.play.session import SavedMatch
    from harness.plugins.entrants import Entrant


@click.command("play")
@click.argument("game", type=GAME, required=False)
@click.option(
    "--bot", "bots", type=BOT, multiple=True, metavar="BOT", help="An opponent. Default: bots made for the game."
)
@click.option("--seat", type=int, help="Your seat, from 0. Default: 0, and the next seat with each deal of a run.")
@options_option
@seed_option
@click.option(
    "--hint-bot",
    type=BOT,
    metavar="BOT",
    help="The bot that gives hints. Default: an expert of the game, with its reasons, or a search bot.",
)
@run_option("isolate", "Which bots play in sandboxed processes, as in a tournament. Default: auto.")
@click.option("--name", help="Name of the run's folder. Default: the time.")
@click.option(
    "--resume", type=RUN, metavar="RUN", help="Continue an unfinished match, or play another deal at that table."
)
@click.option("--force", is_flag=True, help="With --resume: continue although bots or rules have changed.")
@click.option("--browser", is_flag=True, help="Play on the drawn board in a web browser; the page is on this machine.")
@click.option(
    "--runtime",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="With --browser: a folder with Pyodide. Default: it is fetched once with npm and pip.",
)
@results_option
def command(
    game: str | None,
    bots: tuple[str, ...],
    seat: int | None,
    options: tuple[str, ...],
    seed: int | None,
    hint_bot: str | None,
    isolate: Isolation | None,
    name: str | None,
    resume: str | None,
    force: bool,
    browser: bool,
    runtime: Path | None,
    results: Path,
) -> None:
    """Play GAME against bots at this terminal, or with --browser in a web browser.

    Where there are at most nine choices, one key plays. Otherwise choose by number or by words: a choice counts when
    you press Enter again; until then, undo takes it back. ? explains the commands and the rules behind a
    choice. The match becomes a record like any other; one that you leave is kept and can be continued.

    \b
    arena play el-paso
    arena play x-pasch --bot ismcts --bot raider --seat 1
    arena play gnadenlos --option variant=experienced --name evening
    arena play --resume evening
    arena play el-paso --browser
    """
    if browser:
        _play_in_browser(game, runtime, click.get_current_context())
        return
    from harness.match.stdio import no_breakpoints
    from harness.output.text import Console, warn_about_isolation
    from harness.play.person import hint_bot as choose_adviser
    from harness.play.session import continue_match, new_match
    from harness.runs.request import RunRequest
    from harness.runs.setup import resumed_limits

    if resume:
        fixed = {"GAME": game, "--bot": bots, "--option": options, "--seed": seed, "--name": name}
        if typed := [name for name, value in fixed.items() if value not in (None, ())]:
            raise click.UsageError(f"--resume continues at the same table; leave out {', '.join(typed)}.")
        run = open_folder(results, resume)
        limits = resumed_limits(run, {"isolate": isolate} if isolate else {}, force)
        registry = load_plugins(isolate=limits.isolate)
        adviser = choose_adviser(registry, run.info.plan.games[0].name, hint_bot)
        saved = continue_match(run, registry, seat, force, limits.isolate)
    else:
        registry = load_plugins(isolate=isolate or "auto")
        if not game:
            raise click.UsageError(f"Which game? Choose from: {', '.join(sorted(registry.games))}.")
        adviser = choose_adviser(registry, registry.game(game).name, hint_bot)
        request = RunRequest(
            games=(game,),
            bots=bots,
            options=parse_options(options),
            seed=seed,
            isolate=isolate or "auto",
            name=name,
            results=str(results),
        )
        saved = new_match(request, registry, seat, join(["arena", *sys.argv[1:]]))
    warn_about_isolation(saved.opponents, saved.isolate, run=saved.run)
    note_warnings(saved.run.warnings)
    console = Console(sys.stdin, sys.stdout)
    with redirect_stdout(sys.stderr), no_breakpoints():  # what bots print must not get into the dialogue
        code = _play(console, saved, adviser)
    click.get_current_context().exit(code)


def _play_in_browser(game: str | None, runtime: Path | None, context: click.Context) -> None:
    elsewhere = {"game", "browser", "runtime", "results"}
    given = (name for name, value in context.params.items() if value not in (None, (), False))
    if typed := [f"--{name.replace('_', '-')}" for name in given if name not in elsewhere]:
        raise click.UsageError(f"With --browser these are chosen in the page; leave out {', '.join(typed)}.")
    registry = load_plugins()
    load_object(PLAY_IN_BROWSER)(registry, registry.game(game).name if game else None, runtime, note)


def _play(console: Console, saved: SavedMatch, adviser: Entrant | None) -> int:
    from harness.output.leaderboard import write_leaderboard
    from harness.play.session import PlaySession
    from harness.play.terminal import INTERRUPTED, Interrupts, PlayerQuit

    folder, code = saved.run.folder, 0
    with saved.open_for_play(), Interrupts(console.say) as interrupts:
        session = PlaySession(console, interrupts, saved, adviser)
        session.greet()
        try:
            record = session.play()
        except (PlayerQuit, KeyboardInterrupt) as leaving:
            code = INTERRUPTED if isinstance(leaving, KeyboardInterrupt) else 0
            console.say(
                f"Your match is saved. Continue with: arena play --resume {folder}"
                if saved.match.choices
                else "You chose nothing, so nothing is saved."
            )
        else:
            write_leaderboard(saved.run)
            session.farewell(record)
            console.say(f"Recorded in {folder}: arena replay {folder} {record.id}")
            console.say(f"Another deal at this table: arena play --resume {folder}")
    return code
