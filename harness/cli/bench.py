"""arena bench."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from tabulate import tabulate

from harness.cli.bench_comparisons import show_comparisons, show_shares
from harness.cli.bench_idle import show_idle
from harness.cli.bench_start import show_start
from harness.cli.parameter_types import BOT, GAME
from harness.cli.shared import load_plugins, note

if TYPE_CHECKING:
    from harness.core.game import Game
    from harness.plugins.registry import Registry

PEER_NAMES = ("catanatron", "open_spiel", "pettingzoo", "rlcard", "chess")
"""As in harness.bench.peers, which a shell that completes a name need not wait for."""


@click.command("bench", short_help="Measure games and decisions a second on this machine.")
@click.option("--game", "games", type=GAME, multiple=True, help="A game to measure; may be repeated. Default: all.")
@click.option("--players", type=int, help="Bots at a table. Default: 4, or the nearest the game allows.")
@click.option("--seconds", type=click.FloatRange(min=0.1), default=4.0, show_default=True, help="Time for each game.")
@click.option("--workers", type=click.IntRange(min=1, max=1024), help="Measure executors too, with so many workers.")
@click.option(
    "--bot", "bots", type=BOT, multiple=True, metavar="BOT", help="Measure how fast this bot thinks, too; repeatable."
)
@click.option("--costs", is_flag=True, help="Measure what a bot pays for instead, in microseconds: see docs/bots.md.")
@click.option("--shares", is_flag=True, help="Measure instead what steps, legal lists, luck, views and referee take.")
@click.option("--instructions", is_flag=True, help="Count machine instructions a decision, too; needs valgrind.")
@click.option(
    "--against-python",
    "pythons",
    type=click.Path(exists=True, dir_okay=False),
    multiple=True,
    metavar="PYTHON",
    help="Compare this arena with the one that is installed for another interpreter: the same matches, in turns.",
)
@click.option(
    "--against",
    "peers",
    type=click.Choice([*PEER_NAMES, "all"]),
    multiple=True,
    help="Compare with this program's own loop, in an environment made for it; may be repeated.",
)
@click.option(
    "--peers-folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where environments of --against are made and kept. Default: arena/peers in your cache folder.",
)
@click.option("--repeat", type=click.IntRange(min=1), help="Pairs of a comparison. Default: 7.")
@click.option("--start", is_flag=True, help="Measure instead how long arena takes to start, and a run of one deal.")
@click.option(
    "--idle",
    is_flag=True,
    help="Simulate instead, format by format, how much of the time of 2, 8 and 32 nodes is idle.",
)
@click.option(
    "--records",
    type=click.IntRange(min=1000),
    help="Measure instead what commands take that read a run of so many records, and of a tenth of them.",
)
@click.option(
    "--entrants",
    type=click.IntRange(min=10),
    help="With --records: what commands take that read a league of so many bots and so many records.",
)
@click.option(
    "--nodes",
    type=click.IntRange(min=1, max=64),
    help="Measure instead what a cluster of so many nodes on this machine plays beside as many workers, and what the "
    "driver of a run takes; needs Dask.",
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def command(
    games: tuple[str, ...],
    players: int | None,
    seconds: float,
    workers: int | None,
    bots: tuple[str, ...],
    costs: bool,
    shares: bool,
    instructions: bool,
    pythons: tuple[str, ...],
    peers: tuple[str, ...],
    peers_folder: Path | None,
    repeat: int | None,
    start: bool,
    idle: bool,
    records: int | None,
    entrants: int | None,
    nodes: int | None,
    as_json: bool,
) -> None:
    """Measure games and decisions a second on one core, with random bots and a view for each decision.

    Machines differ and are noisy: compare ratios taken in one run. The last line of the games' table divides by the
    speed of a plain Python loop measured at the same time. See docs/performance.md.

    \b
    arena bench
    arena bench --game el-paso --seconds 10
    arena bench --workers 2
    arena bench --bot ismcts:iterations=200 --bot outlaw
    arena bench --costs --game x-pasch
    arena bench --against catanatron --against open_spiel
    arena bench --shares --instructions
    arena bench --against-python ../before/venv/bin/python --instructions
    arena bench --start
    arena bench --records 1000000 --game el-paso
    arena bench --records 1000000 --entrants 1000
    arena bench --nodes 2 --game el-paso --seconds 10
    arena bench --idle
    """
    if entrants and not records:
        raise click.UsageError("--entrants goes with --records: how many records a league of so many bots has.")
    if idle or start:
        others = any((players, workers, bots, costs, shares, instructions, pythons, peers, repeat, records, nodes))
        return _alone(idle, start, games, others, as_json)
    from harness.bench import measure, measure_bot, measure_costs, measure_executors
    from harness.bench.against import SpeedPlan
    from harness.bench.instructions import counter
    from harness.bench.instructions import instructions as count_instructions
    from harness.bench.loop_process import OURS
    from harness.bench.pairs import PAIRS
    from harness.core.compiled import form

    compares = bool(pythons or peers or shares)
    _refuse(costs, bool(bots or workers), compares, instructions, shares and bool(peers), bool(records or nodes))
    if instructions:
        counter()  # better told now than after the measurements
    registry = load_plugins()
    tables = {name: _seats(registry.game(name), players) for name in games or sorted(registry.games)}
    if records or nodes:
        found = _instead(registry, tables, records, entrants, nodes, seconds, players)
        return _print(found, as_json, form() if nodes else "")
    if compares:
        plan = SpeedPlan(tables, repeat or PAIRS, seconds, instructions)
        if shares:
            show_shares(plan, pythons, as_json)
        else:
            show_comparisons(plan, pythons, peers, peers_folder, as_json)
        return None
    measured = registry.entrants(bots)
    results: dict[str, dict[str, float]] = {}
    for name, seats in tables.items():
        game = registry.game(name).configure()
        note(f"Measuring {game.title} with {seats} players for {seconds:g} s ...")
        results[name] = (measure_costs if costs else measure)(game, seats, seconds)
        for bot in measured:
            if bot.plays(name):
                note(f"Measuring {bot.name} at {game.title} ...")
                results[name][f"{bot.name}, decisions/s"] = measure_bot(bot, game, seats, seconds)
        if workers:
            note(f"Measuring executors with {workers} workers for {2 * seconds:g} s ...")
            results[name] |= measure_executors(game, seats, workers, 2 * seconds)
        if instructions:
            note(f"Counting instructions of {game.title} ...")
            results[name]["instructions/decision"] = count_instructions(None, OURS, f"{name}/{seats}")
    return _print(results, as_json, "microseconds" if costs else form())


def _instead(
    registry: Registry,
    tables: Mapping[str, int],
    records: int | None,
    entrants: int | None,
    nodes: int | None,
    seconds: float,
    players: int | None,
) -> Mapping[str, Mapping[str, float]]:
    """What reading many records takes, of the first game; or what a cluster plays."""
    if records:
        from harness.bench import measure_records

        name = "el-paso" if len(tables) > 1 and "el-paso" in tables else next(iter(tables))
        if entrants:
            from harness.bench.league_speed import measure_league

            note(f"Making leagues of {entrants:,} bots with {records:,} records of {name} and fewer ...")
            return measure_league(entrants, records, registry, name)
        note(f"Making runs of {records:,} records of {name} and fewer, and reading them ...")
        return measure_records(records, registry, name, players)
    from harness.executors.jobs import load_cluster

    speed = load_cluster("harness.bench.cluster_speed")
    note(f"Measuring {nodes} nodes beside {nodes} workers, and {speed.STUBS} stub nodes: minutes for each game ...")
    return {
        name: speed.measure_cluster(registry.game(name).configure(), seats, nodes, seconds)
        for name, seats in tables.items()
    }


def _alone(idle: bool, start: bool, games: tuple[str, ...], others: bool, as_json: bool) -> None:
    """What is measured by itself."""
    if idle and (start or others):
        raise click.UsageError("--idle simulates runs of games; leave out what else is measured.")
    if start and (games or others):
        raise click.UsageError("--start measures arena itself; leave out what else is measured.")
    if idle:
        show_idle(games or sorted(load_plugins().games), as_json)
    else:
        show_start(as_json)


def _refuse(costs: bool, bots: bool, compares: bool, counts: bool, apart: bool, records: bool) -> None:
    """Measurements that do not go together."""
    from harness.core.errors import UsageError

    if costs and (bots or compares or counts):
        raise UsageError(
            "--costs measures what the games ask of any bot; leave out --bot, --workers and what else is measured."
        )
    if compares and bots:
        raise UsageError("A comparison plays with random bots on one core; leave out --bot and --workers.")
    if records and (bots or costs or compares or counts):
        raise UsageError("--records and --nodes are measured by themselves; leave out what else is measured.")
    if apart:
        raise UsageError("--shares takes arenas apart, this one and others by --against-python; leave out --against.")


def _seats(game: type[Game[Any]], players: int | None) -> int:
    from harness.core.errors import UsageError

    seats = players if players is not None else max(game.min_players, min(game.max_players, 4))
    if not game.min_players <= seats <= game.max_players:
        raise UsageError(f"{game.title} is for {game.min_players} to {game.max_players} players, not {seats}.")
    return seats


def _print(results: Mapping[str, Mapping[str, float]], as_json: bool, corner: str = "") -> None:
    """A column for each thing that was measured."""
    if as_json:
        click.echo(json.dumps(results, indent=2))
        return
    measures = dict.fromkeys(what for measured in results.values() for what in measured)
    rows = [[what, *(_shown(what, measured.get(what)) for measured in results.values())] for what in measures]
    click.echo(
        tabulate(
            rows,
            headers=[corner, *results],
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
