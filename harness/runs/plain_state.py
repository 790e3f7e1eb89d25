"""Objects of known classes as bytes, and back: MessagePack and a list of classes, so that reading runs no code."""

from __future__ import annotations

from array import array
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

Known = Mapping[type, Sequence[str]]
"""Classes, and what of their objects is kept."""

SMALL = 2**63
"""Whole numbers from minus this to below it are MessagePack's own."""
_PLAIN = (str, bytes, float, bool, type(None))


def packed(value: object, known: Known) -> bytes:
    """The value as bytes; TypeError if something in it is of no known class."""
    return msgspec.msgpack.encode(_packed(value, known))


def unpacked(data: bytes, known: Known) -> Any:
    """What was packed; ValueError if these are no such bytes."""
    by_name = {cls.__name__: (cls, fields) for cls, fields in known.items()}
    try:
        return _unpacked(msgspec.msgpack.decode(data), by_name)
    except (msgspec.MsgspecError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"no packed state: {error}") from error


def _packed(value: Any, known: Known) -> object:
    """Lists are what MessagePack has no word for, with a letter that says what it is."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is int:
        return value if -SMALL <= value < SMALL else ["i", str(value)]
    if kind in (list, tuple):
        return [kind.__name__[0], *[_packed(each, known) for each in value]]
    if kind is set:  # in an order of its own: equal states are equal bytes, in whatever order they grew
        return ["s", *sorted((_packed(each, known) for each in value), key=msgspec.msgpack.encode)]
    if kind in (dict, Counter):
        return [kind.__name__[0], *[_packed(each, known) for pair in value.items() for each in pair]]
    if kind is deque:
        return ["q", value.maxlen, *[_packed(each, known) for each in value]]
    if kind is array:
        return ["a", value.typecode, value.tobytes()]
    return ["o", kind.__name__, *[_packed(getattr(value, name), known) for name in known[kind]]]


def _unpacked(value: Any, known: Mapping[str, tuple[type, Sequence[str]]]) -> Any:
    if type(value) is not list:
        return value
    kind, *parts = value
    if kind == "i":
        return int(parts[0])
    if kind == "a":
        found = array(parts[0])
        found.frombytes(parts[1])
        return found
    if kind == "o":
        cls, fields = known[parts[0]]
        values = [_unpacked(each, known) for each in parts[1:]]
        if issubclass(cls, tuple):
            return cls(*values)
        made = object.__new__(cls)
        for name, each in zip(fields, values, strict=True):
            object.__setattr__(made, name, each)
        return made
    if kind == "q":
        return deque([_unpacked(each, known) for each in parts[1:]], maxlen=parts[0])
    inside = [_unpacked(each, known) for each in parts]
    if kind in ("d", "C"):
        pairs = dict(zip(inside[::2], inside[1::2], strict=True))
        return pairs if kind == "d" else Counter(pairs)
    return {"l": list, "t": tuple, "s": set}[kind](inside)
