"""What a run has left on disk, for comparing it with another."""

from __future__ import annotations

from pathlib import Path

import msgspec

from harness.core.records import GameRecord


def written(name: str) -> int:
    """Records that are on disk, whole."""
    path = Path("results", name, "games.jsonl")
    return path.read_bytes().count(b"\n") if path.exists() else 0


def records(name: str) -> dict[str, GameRecord]:
    """Without timing; each is there once."""
    lines = Path("results", name, "games.jsonl").read_bytes().splitlines()
    found = [msgspec.json.decode(line, type=GameRecord) for line in lines]
    assert len({record.id for record in found}) == len(found)
    return {record.id: record.without_timing() for record in found}


def table(name: str) -> list[object]:
    """The leaderboards, without timing."""
    tables = msgspec.json.decode(Path("results", name, "leaderboard.json").read_bytes())
    assert isinstance(tables, dict)
    return [_untimed(game) for game in tables.values()]


def _untimed(value: object) -> object:
    if isinstance(value, dict):
        return {key: _untimed(part) for key, part in value.items() if "ms" not in key and "time" not in key}
    return [_untimed(part) for part in value] if isinstance(value, list) else value
