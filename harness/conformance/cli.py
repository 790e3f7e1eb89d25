"""arena check."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from harness.cli.options import BOT, GAME, load_plugins, make_ready, note, run_option, show
from harness.conformance.bot_check import BotReport, check_bot, try_import
from harness.core.errors import UsageError
from harness.core.options import BotLimits
from harness.core.records import Isolation
from harness.executors.base import CAN_FORK, Roster, choose_executor, isolated
from harness.match.faults import Limits
from harness.match.stdio import no_breakpoints
from harness.output.columns import duration
from harness.output.text import counted, fault_fields, warn_about_isolation, wrapped

PLACES = {"off": "in a worker", "on": "isolated", "strict": "isolated strictly"}


@click.command("check")
@click.argument("bot", type=BOT)
@click.option(
    "--game", "games", type=GAME, multiple=True, help="A game to try; may be repeated. Default: all it plays."
)
@click.option(
    "--matches", type=click.IntRange(min=1), default=2, show_default=True, help="Deals for each number of players."
)
@click.option(
    "--move-time",
    type=click.FloatRange(min=0),
    default=10.0,
    show_default=True,
    help="Time limit for a decision, in seconds.",
)
@click.option("--memory", type=click.IntRange(min=0), default=4096, show_default=True, help="Megabytes it may use.")
@click.option(
    "--threads",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Threads of OpenMP, BLAS or PyTorch; 0: no limit.",
)
@run_option(
    "isolate",
    "Where it plays: in a worker (off), or in a sandboxed process (on, strict). Default: in both, one after the "
    "other; a program, or a file of another user, only sandboxed.",
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def command(bot: str, games: tuple[str, ...], as_json: bool, **asked: Any) -> None:
    """Try a bot at all its games, at every player count, as a tournament would, and say whether it is fit to play.

    Reports faults, one for each cause with its traceback; time and memory; whether the same seed leads to the same
    decisions, with likely causes if not; and what happens when it is loaded: a long import, threads, printing. The
    exit code is 0 for a bot that is fit, 1 for one that is not. In the tests of a package the same check is
    harness.conformance.check_bot.

    \b
    arena check skittish
    arena check my_bot.py
    arena check "cmd:node my_bot.js" --game el-paso
    """
    make_ready(None, None)
    alone = None if asked["isolate"] == "auto" else asked["isolate"]
    registry = load_plugins(isolate=alone or ("on" if CAN_FORK else "off"))
    offered = {name: registry.game(name).configure() for name in sorted({*registry.games, *games})}
    entrant = registry.entrant(bot)
    if games and not any(entrant.plays(game) for game in games):
        raise UsageError(f"{entrant.name} does not say that it plays {' or '.join(games)}.")
    roster = Roster(offered, {entrant.name: entrant})
    places: list[Isolation] = [alone] if alone else ["on"] if entrant.untrusted else ["off", "on"]
    places = places if CAN_FORK else ["off"]
    reports: dict[str, BotReport] = {}
    with redirect_stdout(sys.stderr), no_breakpoints():  # bots must not print to stdout or read from stdin
        warn_about_isolation(roster.entrants, alone or "auto")  # a trusted bot is only tried in a sandbox
        for place in places:
            note(f"Checking {entrant.name} {PLACES[place]} ...")
            reports[place] = _check(roster, {**asked, "isolate": place}, games)
    _show(reports, as_json)
    if not all(report.fit for report in reports.values()):
        click.get_current_context().exit(1)


def _check(roster: Roster, asked: dict[str, Any], games: tuple[str, ...]) -> BotReport:
    terms = BotLimits(
        asked["move_time"],
        memory=asked["memory"],
        threads=asked["threads"],
        isolate=asked["isolate"],
        keep_processes=True,  # to look at them after a match
    )
    with TemporaryDirectory() as unread:  # what it prints would bury the report, which says that it prints
        logs = Path(unread, "logs")
        [placed] = isolated(roster, terms, logs).entrants.values()
        in_worker = CAN_FORK and not placed.isolated
        report = check_bot(
            placed,
            roster.games.values(),
            range(1, asked["matches"] + 1),
            Limits(asked["move_time"]),
            games,
            executor=(lambda table: choose_executor(table, terms, 1, logs=logs)) if in_worker else None,
            quiet=False,
        )
    if in_worker and report.fit:
        trial = try_import(roster, placed.name, asked["threads"])
        report.warnings += trial.warnings() if trial else []
    return report


def _show(reports: dict[str, BotReport], as_json: bool) -> None:
    if as_json:
        data = [
            {"isolate": place, **asdict(report), "faults": fault_fields(report.faults)["causes"], "fit": report.fit}
            for place, report in reports.items()
        ]
        show(json.dumps({"fit": all(report["fit"] for report in data), "checks": data}, indent=2))
        return
    first = next(iter(reports.values()))
    for game, counts in first.games.items():
        show(f"{game}: {', '.join(map(str, counts))} players")
    for place, report in reports.items():
        played = f"{PLACES[place]}: {counted(report.matches, 'match')}"
        if report.decisions:
            pace = f"{duration(report.seconds / report.decisions)} each, at most {duration(report.slowest)}"
            played += f", {counted(report.decisions, 'decision')}; {pace}"
        show(played)
        if report.memory:
            show(f"{report.memory:.0f} MB of memory at most")
    for problem in dict.fromkeys(problem for report in reports.values() for problem in report.problems):
        places = [PLACES[place] for place, report in reports.items() if problem in report.problems]
        only = f" ({places[0]})" if len(places) < len(reports) else ""
        what, *details = problem.splitlines()
        show("\n".join(wrapped(f"PROBLEM{only}  {what}")))
        for line in details:
            show("\n".join(wrapped(line, "    ")))
    for warning in dict.fromkeys(warning for report in reports.values() for warning in report.warnings):
        show("\n".join(wrapped(f"WARNING  {warning}")))
    fit = all(report.fit for report in reports.values())
    show(f"{first.bot} is {'fit' if fit else 'NOT fit'} to play.")
