"""arena check."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

import click

from harness.cli.shared import load_plugins, note

if TYPE_CHECKING:
    from harness.conformance import BotReport


@click.command("check", short_help="Try a bot at all its games and say whether it is fit to play.")
@click.argument("bot")
@click.option("--game", "games", multiple=True, help="A game to try; may be repeated. Default: all it plays.")
@click.option("--matches", type=click.IntRange(min=1), default=2, show_default=True, help="Deals a player count.")
@click.option("--move-time", type=click.FloatRange(min=0), default=10.0, show_default=True, help="Seconds a decision.")
@click.option("--memory", type=click.IntRange(min=0), default=4096, show_default=True, help="Megabytes it may use.")
@click.option(
    "--isolate",
    type=click.Choice(["off", "on", "strict"]),
    default="on",
    show_default=True,
    help="Where it plays: in arena's own process, or in one without rights.",
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def command(bot: str, games: tuple[str, ...], as_json: bool, **asked: Any) -> None:
    """Try a bot at all its games, at every player count, and say whether it is fit to play.

    Reports faults, time, memory, and whether the same seed leads to the same decisions. The exit code is 0 for a bot
    that is fit, 1 for one that is not. In the tests of a package the same check is harness.conformance.check_bot.

    \b
    arena check skittish
    arena check my_bot.py
    arena check "cmd:node my_bot.js" --game el-paso
    """
    from harness.conformance import check_bot
    from harness.core.errors import UsageError
    from harness.executors.jobs import Roster, isolated
    from harness.match.breakpoints import no_breakpoints
    from harness.match.referee import Limits

    registry = load_plugins(isolate=asked["isolate"])
    offered = {name: registry.game(name).configure() for name in sorted({*registry.games, *games})}
    entrants = registry.entrants([bot])
    if len(entrants) > 1:
        names = ", ".join(entrant.spec for entrant in entrants)
        raise UsageError(f"{bot} has several bots; say which one to check: {names}.")
    limits = Limits(asked["move_time"])
    terms = {**asked, "game_time": 0.0}
    [entrant] = isolated(Roster(offered, {entrants[0].name: entrants[0]}), terms).entrants.values()
    if games and not any(entrant.plays(game) for game in games):
        raise UsageError(f"{entrant.name} does not say that it plays {' or '.join(games)}.")
    with redirect_stdout(sys.stderr), no_breakpoints():  # what a bot prints, and whom it asks
        note(f"Checking {entrant.name} ...")
        report = check_bot(entrant, offered.values(), range(1, asked["matches"] + 1), limits, games)
    _show(report, as_json)
    if not report.fit:
        click.get_current_context().exit(1)


def _show(report: BotReport, as_json: bool) -> None:
    from dataclasses import asdict

    if as_json:
        click.echo(json.dumps({**asdict(report), "fit": report.fit}, indent=2))
        return
    for game, counts in report.games.items():
        click.echo(f"{game}: {', '.join(map(str, counts))} players")
    pace = 1000 * report.seconds / max(1, report.decisions)
    click.echo(f"{report.matches:,} matches, {report.decisions:,} decisions; {pace:.3g} ms each, at most "
               f"{1000 * report.slowest:.3g} ms")  # fmt: skip
    if report.memory:
        click.echo(f"{report.memory:.0f} MB of memory at most")
    for problem in report.problems:
        click.echo(f"PROBLEM  {problem}")
    click.echo(f"{report.bot} is {'fit' if report.fit else 'NOT fit'} to play.")
