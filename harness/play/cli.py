"""arena play."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from shlex import join
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import (
    BOT,
    GAME,
    RUN,
    given,
    load_plugins,
    note,
    open_folder,
    options_option,
    results_option,
    run_option,
    seed_option,
)

# Functions import what they need: shell completion and `arena play --help` load this file, and must not wait for the
# referee, the tables and the dialogue (0.3 s).
if TYPE_CHECKING:
    from harness.output.text import Console
    from harness.play.session import SavedMatch
    from harness.plugins.entrants import Entrant


@click.command("play", short_help="Play against bots at this terminal.")
@click.argument("game", type=GAME, required=False)
@click.option(
    "--bot", "bots", type=BOT, multiple=True, metavar="BOT", help="An opponent. Default: bots made for the game."
)
@click.option("--seat", type=int, help="Where you sit, from 0. Default: 0, and one farther with each deal of a run.")
@options_option
@seed_option
@click.option(
    "--hint-bot", type=BOT, metavar="BOT", help="The bot that gives hints. Default: the strongest that plays the game."
)
@run_option("isolate", "Which bots play in sandboxed processes, as in a tournament. Default: auto.")
@click.option("--name", help="Name of the run's folder. Default: the time.")
@click.option(
    "--resume", type=RUN, metavar="RUN", help="Go on with a match that was left, or play another deal at that table."
)
@click.option("--force", is_flag=True, help="With --resume: go on although bots or rules have changed.")
@results_option
def command(**asked: Any) -> None:
    """Play GAME against bots at this terminal.

    Choose by number or by words; ? explains the commands and the rules behind a choice. What you choose counts when
    you press Enter once more, until then undo takes it back. The match becomes a record like any other; one
    that you leave is kept and can be continued.

    \b
    arena play el-paso
    arena play x-pasch --bot ismcts --bot raider --seat 1
    arena play gnadenlos --option variant=experienced --name evening
    arena play --resume evening
    """
    from harness.match.stdio import no_breakpoints
    from harness.output.text import Console, warn_about_isolation

    saved, adviser = _resumed(asked) if asked["resume"] else _new(asked)
    warn_about_isolation(saved.opponents, saved.isolate, run=saved.run)
    for warning in saved.run.warnings:
        note(f"Warning: {warning}")
    console = Console(sys.stdin, sys.stdout)
    with redirect_stdout(sys.stderr), no_breakpoints():  # what bots print must not get into the dialogue
        code = _play(console, saved, adviser)
    click.get_current_context().exit(code)


def _new(asked: dict[str, Any]) -> tuple[SavedMatch, Entrant | None]:
    from harness.play.session import new_match
    from harness.play.terminal import hint_bot
    from harness.runs.request import RunRequest

    registry = load_plugins(isolate=asked["isolate"] or "auto")
    if not asked["game"]:
        raise click.UsageError(f"Which game? Choose from: {', '.join(sorted(registry.games))}.")
    adviser = hint_bot(registry, registry.game(asked["game"]).name, asked["hint_bot"])
    fields = given(asked, "bots", "options", "seed", "name", "isolate")
    request = RunRequest(games=(asked["game"],), results=str(asked["results"]), **fields)
    return new_match(request, registry, asked["seat"], join(["arena", *sys.argv[1:]])), adviser


def _resumed(asked: dict[str, Any]) -> tuple[SavedMatch, Entrant | None]:
    from harness.play.session import continue_match
    from harness.play.terminal import hint_bot
    from harness.runs.setup import resumed_limits

    named = {"game": "GAME", "bots": "--bot", "options": "--option", "seed": "--seed", "name": "--name"}
    fixed = [name for key, name in named.items() if asked[key] not in (None, ())]
    if fixed:
        raise click.UsageError(f"--resume continues at the same table; leave out {', '.join(fixed)}.")
    run = open_folder(asked["results"], asked["resume"])
    limits = resumed_limits(run, given(asked, "isolate"), asked["force"])
    registry = load_plugins(isolate=limits.isolate)
    adviser = hint_bot(registry, run.info.plan.games[0].name, asked["hint_bot"])
    return continue_match(run, registry, asked["seat"], asked["force"], limits.isolate), adviser


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
                f"Your match is saved. Continue with: arena play --resume {saved.run.folder}"
                if saved.match.choices
                else "You chose nothing, so nothing is saved."
            )
        else:
            write_leaderboard(saved.run)
            session.farewell(record)
            console.say(f"Recorded in {folder}: arena replay {folder} {record.id}")
            console.say(f"Another deal at this table: arena play --resume {folder}")
    return code
