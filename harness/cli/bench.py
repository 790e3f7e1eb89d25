"""arena bench."""

from __future__ import annotations

import json

import click
from tabulate import tabulate

from harness.cli.parameter_types import BOT, GAME
from harness.cli.shared import load_plugins, note


@click.command("bench", short_help="Measure games and decisions a second on this machine.")
@click.option("--game", "games", type=GAME, multiple=True, help="A game to measure; may be repeated. Default: all.")
@click.option("--players", type=int, help="Bots at a table. Default: 4, or the nearest the game allows.")
@click.option("--seconds", type=click.FloatRange(min=0.1), default=4.0, show_default=True, help="Time for each game.")
@click.option("--workers", type=click.IntRange(min=1, max=1024), help="Measure executors too, with so many workers.")
@click.option(
    "--bot", "bots", type=BOT, multiple=True, metavar="BOT", help="Measure how fast this bot thinks, too; repeatable."
)
@click.option("--costs", is_flag=True, help="Measure what a bot pays for instead, in microseconds: see docs/bots.md.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def command(
    games: tuple[str, ...],
    players: int | None,
    seconds: float,
    workers: int | None,
    bots: tuple[str, ...],
    costs: bool,
    as_json: bool,
) -> None:
    """Measure games and decisions a second on one core, with random bots and a view for each decision.

    Machines differ and are noisy: compare ratios taken in one run. The last line of the games' table divides by the
    speed of a plain Python loop measured at the same time.

    \b
    arena bench
    arena bench --game el-paso --seconds 10
    arena bench --workers 2
    arena bench --bot ismcts:iterations=200 --bot outlaw
    arena bench --costs --game x-pasch
    """
    from harness.bench import measure, measure_bot, measure_costs, measure_executors
    from harness.core.errors import UsageError

    if costs and (bots or workers):
        raise UsageError("--costs measures what the games ask of any bot; leave out --bot and --workers.")
    registry = load_plugins()
    entrants = registry.entrants(bots)
    results: dict[str, dict[str, float]] = {}
    for name in games or sorted(registry.games):
        game = registry.game(name).configure()
        seats = players if players is not None else max(game.min_players, min(game.max_players, 4))
        if not game.min_players <= seats <= game.max_players:
            raise UsageError(f"{game.title} is for {game.min_players} to {game.max_players} players, not {seats}.")
        note(f"Measuring {game.title} with {seats} players for {seconds:g} s ...")
        results[name] = (measure_costs if costs else measure)(game, seats, seconds)
        for bot in entrants:
            if bot.plays(name):
                note(f"Measuring {bot.name} at {game.title} ...")
                results[name][f"{bot.name}, decisions/s"] = measure_bot(bot, game, seats, seconds)
        if workers:
            note(f"Measuring executors with {workers} workers for {2 * seconds:g} s ...")
            results[name] |= measure_executors(game, seats, workers, 2 * seconds)
    if as_json:
        click.echo(json.dumps(results, indent=2))
        return
    measures = dict.fromkeys(what for measured in results.values() for what in measured)
    rows = [[what, *(_shown(what, measured.get(what)) for measured in results.values())] for what in measures]
    click.echo(
        tabulate(
            rows,
            headers=["microseconds" if costs else "", *results],
            disable_numparse=True,
            colalign=["left", *["right"] * len(results)],
        )
    )


def _shown(what: str, value: float | None) -> str:
    if value is None:
        return "-"
    if what == "referee overhead":
        return f"{value:.0%}"
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
