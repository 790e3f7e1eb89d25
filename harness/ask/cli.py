"""The `arena ask` command."""

from __future__ import annotations

import json
import shlex
import sys
from bdb import BdbQuit
from pathlib import Path
from pdb import Pdb, post_mortem
from typing import Any, cast

import click

from harness.ask.answers import Asked, ask_bot
from harness.cli.options import BOT, RUN, load_plugins, note, open_folder, results_option, run_option, show
from harness.core.action import Action
from harness.core.bot import Bot
from harness.core.options import BotLimits
from harness.core.records import Isolation
from harness.match.replay import seat_names
from harness.output.text import Console
from harness.runs.setup import game_of


@click.command("ask")
@click.argument("bot", type=BOT)
@click.argument("run", type=RUN)
@click.argument("match")
@click.option("--decision", type=int, metavar="N", help="The decision, by its number in the match, from 0.")
@click.option("--fault", is_flag=True, help="The decision at which the bot of the seat failed.")
@click.option("--worst", is_flag=True, help="The decision that seems to have cost the seat most; see docs/replay.md.")
@click.option(
    "--seat",
    metavar="SEAT",
    help="The seat in which it is asked: a number, or the name of a bot. Default: its own place, or the seat whose "
    "decision or fault it is.",
)
@click.option("--pdb", "debug", is_flag=True, help="Stop in the debugger where the bot chooses, and where it raises.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output (docs/replay.md).")
@run_option(
    "isolate",
    "Ask the bot in a process without rights (on, strict), or not (off). Default: as in a tournament.",
    default="auto",
)
@run_option("move_time", "Seconds for an answer; the bot gets a process, as with --isolate.", default=0.0)
@results_option
def command(
    bot: str,
    run: str,
    match: str,
    decision: int | None,
    fault: bool,
    worst: bool,
    seat: str | None,
    debug: bool,
    as_json: bool,
    isolate: Isolation,
    move_time: float,
    results: Path,
) -> None:
    """Ask a BOT what it chooses now at decisions of a MATCH of a RUN.

    It can be any bot: the one that played, a newer version of it, a search, a program. It gets everything that the bot
    in its seat got, from the deal on, and the same random numbers. Without a decision, it is asked at all decisions of
    the seat, and those at which the two bots differ are listed. The exit code is 1 if the bot fails now, otherwise 0.

    \b
    arena ask sprinter.py my-run el-paso-3.1.2
    arena ask sprinter.py my-run el-paso-3.1.2 --fault --pdb
    arena ask ismcts my-run el-paso-3.1.2 --seat sprinter --worst
    arena ask "cmd:node my_bot.js" my-run el-paso-3.1.2 --seat 0 --decision 17
    """
    if move_time and isolate == "auto":
        isolate = "on"  # a time limit needs a process that can be killed
    if debug and as_json:
        raise click.UsageError("--pdb talks to a person, --json to a program: use only one of them.")
    opened = open_folder(results, run)
    record = opened.record(match)
    registry = load_plugins(isolate=isolate)
    game = game_of(opened, registry, record)
    debugger = PdbDebugger(record.seats) if debug else None
    limits = BotLimits(move_time, isolate=isolate)
    try:
        answered = ask_bot(
            bot, game, record, opened.notes(record.id), registry, limits, debugger,
            decision=decision, fault=fault, worst=worst, seat=seat,
        )  # fmt: skip
    except BdbQuit:
        note("You have left the debugger.")
        return
    if as_json:
        show(json.dumps(answered.data(), indent=2))
    else:
        console = Console(sys.stdin, sys.stdout)
        console.say(answered.story(console.width))
        _hint(answered, bot, str(opened.folder), match)
    if answered.failure:
        click.get_current_context().exit(1)


class PdbDebugger:
    """Starts pdb at the first line of `choose`, and where the bot has raised."""

    def __init__(self, seats: tuple[str, ...]) -> None:
        self.seats = seats

    def choose(self, bot: Bot, view: Any, legal: tuple[Action, ...]) -> Action:
        """Ask the bot under the debugger and return its answer; raise BdbQuit if the user quits."""

        class Watching(Pdb):
            left = False

            def set_quit(self) -> None:  # for 'q' and at the end of input; `runcall` swallows BdbQuit
                self.left = True
                super().set_quit()

        note(f"{type(bot).__name__}.choose: 's' steps, 'c' continues to the answer, 'q' leaves, 'h' is help.")
        table = bot.game.render(view, seat_names(self.seats))
        show(f"{table}\n\n{', '.join(map(str, legal))}\n")
        watching = Watching()
        answer = watching.runcall(bot.choose, view, legal)
        if watching.left:
            raise BdbQuit
        return cast("Action", answer)

    def failed(self, error: BaseException) -> None:
        """Start the debugger where the bot raised."""
        note(f"The bot has raised {type(error).__name__}: {error}. 'u' goes up to its callers, 'q' leaves.")
        post_mortem(error.__traceback__)


def _hint(asked: Asked, bot: str, run: str, match: str) -> None:
    """Print what to type to see one of the decisions that differ."""
    shown = [one for one in asked.decisions if one.differs]
    if asked.target is None and shown:
        typed = shlex.join(["arena", "ask", bot, run, match, "--seat", str(asked.seat)])
        note(f"Look at one: {typed} --decision {shown[-1 if asked.failure else 0].position.decision}")
