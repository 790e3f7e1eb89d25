"""arena bench."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click
import msgspec

from harness.cli.options import BOT, GAME, load_plugins, note
from harness.core.errors import UsageError
from harness.core.table import Table, columns
from harness.output.tables import grid_text
from harness.report import require_libraries

# Functions import what they measure: shell completion and `arena bench --help` load this file, and must not wait for
# engines and executors (0.3 s).
if TYPE_CHECKING:
    from harness.bench.engine import TimeBreakdown
    from harness.bench.timing import SpeedPlan, SpeedRow
    from harness.core.game import Game
    from harness.plugins.registry import Registry


# Tables.


def arenas_table(rows: Sequence[SpeedRow]) -> str:
    """Return a table of this Arena versus others: a line for each game."""
    lines = [
        [row.game, f"{row.speed.ours:,.0f}", f"{row.speed.theirs:,.0f}", str(row.speed.ratio), *_count_cells(row)]
        for row in rows
    ]
    counted = ["instructions/decision here", "there", "ratio"] if any(row.counts for row in rows) else []
    table = _table(lines, ["", "decisions/s here", "there", "ratio", *counted])
    here = {f"here: {row.ours}" for row in rows}
    there = dict.fromkeys(f"there: {row.theirs} ({row.against})" for row in rows)
    return "\n".join([table, "", *sorted(here), *there])


def peers_table(rows: Sequence[SpeedRow]) -> str:
    """Return a table of our games versus other programs: a line for each of their loops."""
    games = list(dict.fromkeys(row.game for row in rows))
    found = {(_loop_name(row), row.game): row for row in rows}
    lines = []
    for loop in dict.fromkeys(_loop_name(row) for row in rows):
        beside = [found[loop, game] for game in games]
        lines.append([loop, f"{beside[0].speed.theirs:,.0f}", *(str(row.speed.ratio) for row in beside)])
    parts = [_table(lines, ["ratio of decisions/s", "theirs", *games])]
    if any(row.counts for row in rows):
        parts += ["", _counts_table(found, games)]
    versions = dict.fromkeys(f"{row.against}: {row.theirs}" for row in rows)
    mine = ", ".join(f"{game} {median(row.speed.ours for row in rows if row.game == game):,.0f}" for game in games)
    return "\n".join([*parts, "", f"ours: {mine} decisions/s; {rows[0].ours}", *versions])


def breakdown_table(found: Sequence[TimeBreakdown]) -> str:
    """Return a table of time breakdowns: a column for each game in each installation."""
    parts = dict.fromkeys(part for each in found for part in each.shares)
    lines = [[part, *(f"{each.shares[part]:.0%}" if part in each.shares else "-" for each in found)] for part in parts]
    lines.append([f"{found[0].unit} a decision", *(_format_number(each.whole) for each in found)])
    arenas = list(dict.fromkeys(each.python for each in found))
    heads = [each.game + (f" [{arenas.index(each.python)}]" if each.python else "") for each in found]
    where = dict.fromkeys(
        f"[{arenas.index(each.python)}]: {each.versions} ({each.python})" for each in found if each.python
    )
    here = dict.fromkeys(f"here: {each.versions}" for each in found if not each.python)
    return "\n".join([_table(lines, ["share of a match", *heads]), "", *here, *where])


def _counts_table(found: dict[tuple[str, str], SpeedRow], games: Sequence[str]) -> str:
    lines = []
    for loop in dict.fromkeys(loop for loop, _ in found):
        pairs = [found[loop, game].counts or (0.0, 0.0) for game in games]
        lines.append([loop, f"{pairs[0][1]:,.0f}", *(f"{theirs / ours:.2f}" for ours, theirs in pairs)])
    return _table(lines, ["ratio of instructions/decision", "theirs", *games])


def _loop_name(row: SpeedRow) -> str:
    return f"{row.against}: {row.workload}"


def _count_cells(row: SpeedRow) -> tuple[str, ...]:
    if row.counts is None:
        return ()
    ours, theirs = row.counts
    return f"{ours:,.0f}", f"{theirs:,.0f}", f"{theirs / ours:.2f}"


def _format_number(value: float) -> str:
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"


def _table(lines: Sequence[Sequence[str]], headers: Sequence[str]) -> str:
    return grid_text(Table("bench", [headers[0], *columns("number", *headers[1:])], lines))


# Output of comparisons and breakdowns.


def show_comparisons(
    plan: SpeedPlan, pythons: tuple[str, ...], peers: tuple[str, ...], folder: Path | None, as_json: bool
) -> None:
    """Print comparisons with other Arenas and other programs; exit with code 1 if one could not be measured."""
    from harness.bench.timing import PEERS, peers_folder, versus_arenas, versus_peers

    arenas = list(versus_arenas(pythons, plan, note))
    named = [PEERS[name] for name in (PEERS if "all" in peers else dict.fromkeys(peers))]
    others, failed = versus_peers(named, folder or peers_folder(), plan, note)
    tables = [table(rows) for table, rows in ((arenas_table, arenas), (peers_table, others)) if rows]
    click.echo(_json(arenas + others) if as_json else "\n\n".join(tables))
    if failed:
        note(f"Not measured: {'; '.join(failed)}.")
        raise SystemExit(1)


def show_breakdowns(plan: SpeedPlan, pythons: tuple[str, ...], as_json: bool) -> None:
    """Print time breakdowns, here and in other installations."""
    from harness.bench.engine import measure_breakdowns

    found = list(measure_breakdowns([None, *pythons], plan, note))
    click.echo(_json(found) if as_json else breakdown_table(found))


def _json(rows: list[Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(rows)).decode()


# Output of --idle.


def show_idle(games: Sequence[str], as_json: bool) -> None:
    """Print how much time of many nodes each format leaves idle, in simulated runs."""
    from harness.bench.executors import NODE_CORES, measure_idle

    click.echo(f"Simulating runs of {', '.join(games)} on nodes of {NODE_CORES} cores ...", err=True)
    measured = measure_idle(games)
    if as_json:
        shown = {
            case: {many: share._asdict() for many, share in by_nodes.items()} for case, by_nodes in measured.items()
        }
        click.echo(json.dumps(shown, indent=2))
        return
    nodes = list(next(iter(measured.values())))
    rows = [
        [
            case,
            f"{shares[nodes[0]].matches:,.0f}",
            *(f"{each.live:.1%} ({each.in_step:.1%})" for each in shares.values()),
        ]
        for case, shares in measured.items()
    ]
    headers = ["idle (with games in step)", "matches", *(f"{many} nodes" for many in nodes)]
    click.echo(_table(rows, headers))


# Output of --start.


def show_start(as_json: bool) -> None:
    """Print how long Arena takes to start, and to play the shortest run."""
    from harness.bench.records import ROUNDS, measure_start

    click.echo(f"Starting arena {ROUNDS + 1} times in each way ...", err=True)
    measured = measure_start()
    if as_json:
        click.echo(json.dumps(measured, indent=2))
        return
    rows = [[what, *(f"{each[what]:,.0f}" for each in measured.values())] for what in next(iter(measured.values()))]
    click.echo(_table(rows, ["", *measured]))


PEER_NAMES = ("catanatron", "open_spiel", "pettingzoo", "rlcard", "chess")
"""Keys of PEERS; importing harness.bench.timing would slow down shell completion."""


@click.command("bench")
@click.option("--game", "games", type=GAME, multiple=True, help="A game to measure; may be repeated. Default: all.")
@click.option("--players", type=int, help="Bots at a table. Default: 4, or the nearest the game allows.")
@click.option("--seconds", type=click.FloatRange(min=0.1), default=4.0, show_default=True, help="Time for each game.")
@click.option("--workers", type=click.IntRange(min=1, max=1024), help="Measure executors too, with this many workers.")
@click.option(
    "--bot", "bots", type=BOT, multiple=True, metavar="BOT", help="Measure how fast this bot thinks, too; repeatable."
)
@click.option("--costs", is_flag=True, help="Measure instead what a bot pays for, in microseconds: see docs/bots.md.")
@click.option("--shares", is_flag=True, help="Measure instead what steps, legal lists, luck, views and referee take.")
@click.option("--instructions", is_flag=True, help="Count machine instructions a decision, too; needs valgrind.")
@click.option(
    "--against-python",
    "pythons",
    type=click.Path(exists=True, dir_okay=False),
    multiple=True,
    metavar="PYTHON",
    help="Compare this arena with the one that is installed for another interpreter: the same matches, alternately.",
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
    help="Measure instead the cost of commands that read a run of this many records, and of a tenth of them.",
)
@click.option(
    "--entrants",
    type=click.IntRange(min=10),
    help="With --records: the cost of commands that read a league of this many bots.",
)
@click.option(
    "--nodes",
    type=click.IntRange(min=1, max=64),
    help="Measure instead a cluster of this many nodes on this machine against as many workers, and the load of the "
    "driver; needs Dask.",
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def command(**given: Any) -> None:
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
    asked = SimpleNamespace(**given)
    _check_combination(asked)
    if asked.idle:
        return show_idle(asked.games or sorted(load_plugins().games), asked.as_json)
    if asked.start:
        return show_start(asked.as_json)
    from harness.bench.engine import measure, measure_bot, measure_costs
    from harness.bench.executors import measure_executors
    from harness.bench.timing import DEFAULT_PAIRS, OUR_LOOP, SpeedPlan, count_instructions
    from harness.core.compiled import build_form

    registry, seconds = load_plugins(), asked.seconds
    tables = {name: _seats(registry.game(name), asked.players) for name in asked.games or sorted(registry.games)}
    if asked.records or asked.nodes:
        found = (_measure_records if asked.records else _measure_nodes)(asked, registry, tables)
        return _print(found, asked.as_json, build_form() if asked.nodes else "")
    plan = SpeedPlan(tables, asked.repeat or DEFAULT_PAIRS, seconds, asked.instructions)
    if asked.shares:
        return show_breakdowns(plan, asked.pythons, asked.as_json)
    if asked.pythons or asked.peers:
        return show_comparisons(plan, asked.pythons, asked.peers, asked.peers_folder, asked.as_json)
    measured = registry.entrants(asked.bots)
    results: dict[str, dict[str, float]] = {}
    for name, seats in tables.items():
        game = registry.game(name).configure()
        note(f"Measuring {game.title} with {seats} players for {seconds:g} s ...")
        results[name] = (measure_costs if asked.costs else measure)(game, seats, seconds)
        for bot in measured:
            if bot.plays(name):
                note(f"Measuring {bot.name} at {game.title} ...")
                results[name][f"{bot.name}, decisions/s"] = measure_bot(bot, game, seats, seconds)
        if asked.workers:
            note(f"Measuring executors with {asked.workers} workers for {2 * seconds:g} s ...")
            results[name] |= measure_executors(game, seats, asked.workers, 2 * seconds)
        if asked.instructions:
            note(f"Counting instructions of {game.title} ...")
            results[name]["instructions/decision"] = count_instructions(None, OUR_LOOP, f"{name}/{seats}")
    return _print(results, asked.as_json, "microseconds" if asked.costs else build_form())


Measurements = Mapping[str, Mapping[str, float]]


def _measure_records(asked: SimpleNamespace, registry: Registry, tables: Mapping[str, int]) -> Measurements:
    """Return the measurements of --records, for one game."""
    from harness.bench.records import measure_league, measure_records

    name = "el-paso" if len(tables) > 1 and "el-paso" in tables else next(iter(tables))
    if asked.entrants:
        note(f"Making leagues of {asked.entrants:,} bots with {asked.records:,} records of {name} and fewer ...")
        return measure_league(asked.entrants, asked.records, registry, name)
    note(f"Making runs of {asked.records:,} records of {name} and fewer, and reading them ...")
    return measure_records(asked.records, registry, name, asked.players)


def _measure_nodes(asked: SimpleNamespace, registry: Registry, tables: Mapping[str, int]) -> Measurements:
    """Return the measurements of --nodes."""
    from harness.bench.executors import FAKE_NODES, measure_cluster
    from harness.executors.base import load_cluster

    load_cluster("harness.cluster.connect")  # a clear error if Dask is missing
    nodes = asked.nodes
    note(f"Measuring {nodes} nodes against {nodes} workers, and {FAKE_NODES} fake nodes: minutes for each game ...")
    games = {name: registry.game(name).configure() for name in tables}
    return {name: measure_cluster(games[name], seats, nodes, asked.seconds) for name, seats in tables.items()}


def _check_combination(asked: SimpleNamespace) -> None:
    """Raise UsageError for measurements that do not combine, or need what is not installed."""
    if asked.instructions:
        from harness.bench.timing import valgrind_command  # as in `command`: other commands must not load it

        valgrind_command()
    if asked.records and not asked.entrants:
        require_libraries()
    bots, counts, records = asked.bots or asked.workers, asked.instructions, asked.records or asked.nodes
    compares = asked.pythons or asked.peers or asked.shares
    others = bots or counts or records or compares or asked.costs or asked.players or asked.repeat
    if asked.entrants and not asked.records:
        raise click.UsageError("--entrants needs --records, the number of records in the league.")
    if asked.idle and (asked.start or others):
        raise click.UsageError("--idle simulates runs of games; leave out other measurements.")
    if asked.start and (asked.games or others):
        raise click.UsageError("--start measures arena itself; leave out other measurements.")
    if asked.costs and (bots or compares or counts):
        raise UsageError("--costs measures the costs for any bot; leave out --bot, --workers and other measurements.")
    if compares and bots:
        raise UsageError("A comparison plays with random bots on one core; leave out --bot and --workers.")
    if records and (bots or asked.costs or compares or counts):
        raise UsageError("--records and --nodes are measured alone; leave out other measurements.")
    if asked.shares and asked.peers:
        raise UsageError("--shares measures parts of arena, here and with --against-python; leave out --against.")


def _seats(game: type[Game[Any]], players: int | None) -> int:
    seats = players if players is not None else max(game.min_players, min(game.max_players, 4))
    if not game.min_players <= seats <= game.max_players:
        raise UsageError(f"{game.title} is for {game.min_players} to {game.max_players} players, not {seats}.")
    return seats


def _print(results: Mapping[str, Mapping[str, float]], as_json: bool, corner: str = "") -> None:
    """Print the results with a column for each game or other subject."""
    if as_json:
        click.echo(json.dumps(results, indent=2))
        return
    measures = dict.fromkeys(what for measured in results.values() for what in measured)
    rows = [[what, *(_format_value(what, measured.get(what)) for measured in results.values())] for what in measures]
    click.echo(_table(rows, [corner, *results]))


def _format_value(what: str, value: float | None) -> str:
    if value is None:
        return "-"
    if what == "referee overhead":
        return f"{value:.0%}"
    return _format_number(value)
