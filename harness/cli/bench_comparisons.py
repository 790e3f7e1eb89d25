"""What `arena bench` prints when it compares arenas, programs and parts of a match."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.shared import note

if TYPE_CHECKING:
    from harness.bench.against import SpeedPlan


def show_comparisons(
    plan: SpeedPlan, pythons: tuple[str, ...], peers: tuple[str, ...], folder: Path | None, as_json: bool
) -> None:
    """This arena beside others, and beside other programs; exit code 1 if one of those could not be measured."""
    from harness.bench.against import beside_arenas, beside_peers
    from harness.bench.peer_environments import peers_folder
    from harness.bench.peers import PEERS
    from harness.bench.speed_tables import arenas_table, peers_table

    arenas = list(beside_arenas(pythons, plan, note))
    named = [PEERS[name] for name in (PEERS if "all" in peers else dict.fromkeys(peers))]
    others, failed = beside_peers(named, folder or peers_folder(), plan, note)
    tables = [table(rows) for table, rows in ((arenas_table, arenas), (peers_table, others)) if rows]
    click.echo(_json(arenas + others) if as_json else "\n\n".join(tables))
    if failed:
        note(f"Not measured: {'; '.join(failed)}.")
        raise SystemExit(1)


def show_shares(plan: SpeedPlan, pythons: tuple[str, ...], as_json: bool) -> None:
    """What matches are made of, here and in other arenas."""
    from harness.bench.shares import measure_shares
    from harness.bench.speed_tables import shares_table

    found = list(measure_shares([None, *pythons], plan, note))
    click.echo(_json(found) if as_json else shares_table(found))


def _json(rows: list[Any]) -> str:
    from msgspec import json

    return json.format(json.encode(rows)).decode()
