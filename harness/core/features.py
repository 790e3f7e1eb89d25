"""How a seat stands, as numbers: what can be read from the views of any game, and what games say it with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from zlib import crc32

import msgspec

_TEXTS = 1000
"""Texts (phases, names of cards) become one of so many numbers: enough to tell those of one game apart."""


def beside(values: Sequence[float], seat: int) -> tuple[float, float, float]:
    """What this seat has of something, and how much that is more than the best and than the average of the others."""
    mine, others = values[seat], [*values[:seat], *values[seat + 1 :]] or [0.0]
    return mine, mine - max(others), mine - sum(others) / len(others)


def ahead_of(values: Sequence[float], seat: int) -> float:
    """The share of the other seats that have less of it; one that has as much is half of one."""
    mine = values[seat]
    return (sum([(mine > other) + 0.5 * (mine == other) for other in values]) - 0.5) / max(1, len(values) - 1)


def plain_features(views: Sequence[Any], scores: Sequence[int]) -> list[list[float]]:
    """A row for each seat: its score beside the others', then what its view holds, field by field."""
    return [
        [len(views), *beside(scores, seat), ahead_of(scores, seat), *_seen(view, len(views))]
        for seat, view in enumerate(views)
    ]


def _seen(view: msgspec.Struct, players: int) -> list[float]:
    """A number for each number or text of the view; of each list its length, its sum, and what stands in it for this
    seat and for the others, if it may be one with something for each seat."""
    row: list[float] = []
    seat: int = view.seat  # type: ignore[attr-defined]  # every View has one
    for name in view.__struct_fields__:
        value = getattr(view, name)
        if not isinstance(value, list | tuple):
            row.append(sum(_numbers(value)))
            continue
        sums = [sum(_numbers(each)) for each in value]
        for_seats = len(sums) == players
        mine = sums[seat] if for_seats else 0.0
        rest = sums[:seat] + sums[seat + 1 :] if for_seats else []
        row += [len(sums), sum(sums), mine, max(rest, default=0.0), mine - sum(rest) / max(1, len(rest))]
    return row


def _numbers(value: object) -> Iterator[float]:
    """All numbers in it, texts as numbers of their own."""
    if isinstance(value, bool | int | float):
        yield float(value)
    elif isinstance(value, str):
        yield float(crc32(value.encode()) % _TEXTS)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _numbers(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _numbers(key)
            yield from _numbers(each)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _numbers(getattr(value, name))
