"""arena replay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from harness.cli.common import load_plugins, open_run, results_option
from harness.errors import UnknownName
from harness.store import Run
from harness.types import GameRecord


@click.command("replay", short_help="Print a match again, move by move.")
@click.argument("run")
@click.argument("match")
@click.option(
    "--json", "as_json", is_flag=True, help="Everything that happened, one JSON object a line (docs/replay.md)."
)
@click.option("--seat", type=int, help="Also show the table as this seat saw it at each of its decisions.")
@results_option
def command(run: str, match: str, as_json: bool, seat: int | None, results: Path) -> None:
    """Print a MATCH of a RUN again, move by move.

    \b
    arena replay my-run el-paso-3.1.2
    arena replay my-run el-paso-3.1.2 --seat 0
    arena replay my-run el-paso-3.1.2 --json | jq 'select(.type == "choice")'
    """
    from harness.replay import stream
    from harness.setup import configure_run

    opened = open_run(results, run)
    record = _find(opened, match)
    game = configure_run(opened, load_plugins())[record.game]
    if seat is not None and not 0 <= seat < len(record.seats):
        raise click.UsageError(f"{record.id} has seats 0 to {len(record.seats) - 1}, not {seat}.")
    if as_json:
        for line in stream(game, record):
            click.echo(msgspec.json.encode(line))
        return
    _print(game, record, seat)


def _find(run: Run, match: str) -> GameRecord:
    ids = []
    for record in run.records():
        if match in (record.id, str(record.index)):
            return record
        ids.append(record.id)
    shown = ids if len(ids) <= 20 else [*ids[:10], *ids[-10:]]
    raise UnknownName(f"match of {run.folder}", match, shown)


def _print(game: Any, record: GameRecord, seat: int | None) -> None:
    from harness.replay import Replay

    replay = Replay(game, record)
    click.echo(f"{record.id}: {game.title}, deal {record.seed}")
    for number, name in enumerate(record.seats):
        click.echo(f"  seat {number}: {name}")
    told = 0
    while True:
        for event in replay.log[told:]:
            hidden = "" if event.to is None else "  (hidden)" if not event.to else f"  (seat {event.to[0]} only)"
            facts = "  ".join(f"{key} {value}" for key, value in event.data.items())
            click.echo(f"      {event.kind}: {facts}{hidden}")
        told = len(replay.log)
        if replay.over:
            break
        _print_choice(replay, seat)
        replay.step()
    replay.check_end()
    click.echo(f"Ended: {record.ending}")
    for number in sorted(range(len(record.seats)), key=lambda s: record.ranks[s]):
        click.echo(f"  {record.ranks[number]}. {record.seats[number]} (seat {number}): {record.scores[number]}")
    for fault in record.faults:
        click.echo(f"Fault of seat {fault.seat} at decision {fault.decision}: {fault.kind}\n{fault.detail}")


def _print_choice(replay: Any, seat: int | None) -> None:
    state = replay.state
    if len(state.legal) == 1:
        click.echo(f"      seat {state.seat} must {state.legal[0]}")
        return
    if seat == state.seat:
        click.echo("\n" + replay.game.render(state.view(seat)) + "\n")
    among = ", ".join(map(str, state.legal))
    click.echo(f"{replay.decision:4}  seat {state.seat}: {replay.next_action()}  (of: {among})")
