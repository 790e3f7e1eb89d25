"""What stands in a run's files and is none of arena's fields: other readers may take it for something."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from harness.core.types import GameRecord
from harness.runs.run_files import with_sum
from harness.runs.store import GAMES, RUN, UNREADABLE, UNSUMMED, RunFolder, encode

SUM = "sum"
_decode = msgspec.json.Decoder(GameRecord).decode


def extra_fields(run: RunFolder) -> list[str]:
    """A sentence on each field of run.json that arena has not written, or not so."""
    data = (run.folder / RUN).read_bytes()
    if run.info.layout <= UNSUMMED:  # older arenas had others
        return []
    return [f"{run.folder / RUN} {what}." for what in _extras(data, run.info)]


def extras_of_line(run: RunFolder, number: int, line: bytes, record: GameRecord | None = None) -> list[str]:
    """The same for a line of games.jsonl; `record` is what was read in it, if it could be."""
    try:
        record = record or _decode(line)
    except UNREADABLE:
        return []  # told elsewhere
    if with_sum(encode(record)) == line:
        return []
    return [f"{run.folder / GAMES}, line {number}, {what}." for what in _extras(line, record, SUM)]


def _extras(data: bytes, read: Struct, besides: str = "") -> Iterator[str]:
    try:
        raw = json.loads(data, object_pairs_hook=_each_once)
    except _SaidTwiceError as twice:
        yield f"has the field {twice} twice"
    except (ValueError, RecursionError):
        yield "cannot be read by every program that reads JSON"
    else:
        yield from (f"has a field {name!r} that no arena writes" for name in _unknown(raw, read, "") if name != besides)


class _SaidTwiceError(Exception):
    pass


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise _SaidTwiceError(repr(name))
        found[name] = value
    return found


def _unknown(raw: Any, read: object, where: str) -> Iterator[str]:
    """The names in what was read that are none of its struct's, with where they stand."""
    if isinstance(read, Struct) and isinstance(raw, dict):
        fields = dict(zip(read.__struct_encode_fields__, read.__struct_fields__, strict=True))
        for name, value in raw.items():
            if name in fields:
                yield from _unknown(value, getattr(read, fields[name]), f"{where}{name}.")
            else:
                yield f"{where}{name}"
    elif isinstance(read, tuple) and isinstance(raw, list):
        for part, whole in zip(raw, read, strict=False):
            yield from _unknown(part, whole, where)
