"""Changed data: a tree of values with a few nodes replaced, moved, copied or deleted, and text with damaged bytes."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

Path = tuple[str | int, ...]

OUTSIDE = "../../outside/kept.txt"
"""A file next to the folder of a case, which no command may touch."""

DEEP = "<deep>"
"""Becomes a list in a list in a list, deeper than Python can write."""

TEXTS = (
    "", " ", ".", "..", "/", "a", "0", "-1", "nan", "true", "\x00", "@everyone", "=cmd|1", "a\nb\r\x85",
    "\x1b]0;x\x07\x1b[31m", "\u202e", "\u2028", "\ud800",
    "x" * 3_000, "é" * 300, "=" * 50, "%s%n{0}{x}", "<script>", "'\"`", OUTSIDE, f"a/../{OUTSIDE}", "/etc/passwd",
    "../a", "evil.py", "./evil.py", "evil:make", "cmd:./evil.py", "x=evil.py", "file:evil.py", "random", "skittish",
    "outlaw", "outlaw@1", "el-paso", "gnadenlos", "el-paso-1.1.1", "sha256:", "sha256:018c739cd1578e7f", "round-robin",
    "swiss:rounds=999999999", "knockout", "ladder", "strict", "off", "2026-11-18T11:55:49+00:00",
    "9999999999999999999", DEEP, "results/plain", "games.jsonl", "tls://127.0.0.1:1", "local:2",
)  # fmt: skip
NUMBERS: tuple[int | float, ...] = (
    0, 1, -1, 2, 7, 100, 255, 65_536, 10**6, 2**31, 2**40, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63), 10**30, 10**400,
    0.5, -0.0, 1e-320, 1e308, -1e308, 1e16,
)  # fmt: skip
NOT_FINITE = (float("nan"), float("inf"), float("-inf"))
OTHERS: tuple[Any, ...] = (None, True, False, [], {}, [[]], {"": None}, [None], {"a": {"b": {}}})


def odd_value(rng: Random) -> Any:
    """Return a value that a program may not expect, of any type."""
    match rng.randrange(12):
        case 0 | 1 | 2 | 3:
            return rng.choice(TEXTS)
        case 4 | 5 | 6 | 7:
            return rng.choice(NUMBERS)
        case 8:
            return rng.choice(NOT_FINITE)
        case 9:
            return rng.randrange(-(10 ** rng.randrange(1, 25)), 10 ** rng.randrange(1, 25))
        case 10:
            deep: Any = rng.choice(OTHERS)
            for _ in range(rng.choice((3, 30, 150))):
                deep = [deep] if rng.random() < 0.5 else {"a": deep}
            return deep
        case _:
            return copy.deepcopy(rng.choice(OTHERS))


def mutated(tree: Any, rng: Random) -> Any:
    """Return a copy of a JSON-like tree with one change, now and then several."""
    box = [copy.deepcopy(tree)]  # so that the root can be replaced, too
    for _ in range(1 if rng.random() < 0.6 else rng.randrange(2, 6)):
        _change(box, rng)
    return box[0]


def _change(box: list[Any], rng: Random) -> None:
    paths = [path for path in _paths(box) if path]
    path = rng.choice(paths)
    if len(path) == 1 and rng.random() < 0.9:  # the whole tree: most changes should be smaller
        path = rng.choice(paths)
    if len(path) > 1 and rng.random() < 0.5:  # every field alike: a long list has most of the places of a record
        field = rng.choice(list(dict.fromkeys(each[1] for each in paths if len(each) > 1)))
        path = rng.choice([each for each in paths if each[1:2] == (field,)])
    parent, key = _at(box, path[:-1]), path[-1]
    value = parent[key]
    match rng.randrange(14):
        case 0 if len(path) > 1:
            del parent[key]
        case 1 if isinstance(parent, dict):
            parent[_some_key(paths, rng)] = parent.pop(key)
        case 2 if isinstance(value, dict):
            value[_some_key(paths, rng)] = odd_value(rng)
        case 3 if isinstance(value, list):
            more = [copy.deepcopy(each) for _ in range(rng.choice((1, 3, 200))) for each in value[:50]]
            value.extend(more or [odd_value(rng)])
        case 4 if isinstance(value, list):
            rng.shuffle(value)
        case 5:
            other = rng.choice(paths)
            there = _at(box, other[:-1])
            if not _within(path, other):
                parent[key], there[other[-1]] = there[other[-1]], value
        case _:
            parent[key] = _replacement(value, box, paths, rng)


def _replacement(value: Any, box: list[Any], paths: list[Path], rng: Random) -> Any:
    match rng.randrange(10):
        case 0 | 1 | 2:
            return odd_value(rng)
        case 3 | 4:
            return _near(value, rng)
        case 5:
            return [value] if rng.random() < 0.5 else {"a": value}
        case 6:
            return copy.deepcopy(_at(box, rng.choice(paths)))
        case _:  # another value of the same type: what passes the first checks reaches more code
            alike = [one for one in paths if type(_at(box, one)) is type(value)]
            return copy.deepcopy(_at(box, rng.choice(alike)))


def _near(value: Any, rng: Random) -> Any:
    """Return a value of the same type that is not far away."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return rng.choice((value + 1, value - 1, -value, value * 2, value * 1000, str(value)))
    if isinstance(value, str):
        at = rng.randrange(len(value) + 1)
        return rng.choice((value[:at], value[at:], value * 2, value + rng.choice(TEXTS), rng.choice(TEXTS) + value))
    return odd_value(rng)


def _paths(tree: Any, path: Path = ()) -> list[Path]:
    found, waiting = [], [(path, tree)]
    while waiting:
        here, value = waiting.pop()
        found.append(here)
        if isinstance(value, dict):
            waiting += [((*here, key), one) for key, one in value.items()]
        elif isinstance(value, list):
            waiting += [((*here, at), one) for at, one in enumerate(value[:300])]
        if len(found) > 3_000:
            break
    return found


def _at(box: Any, path: Path) -> Any:
    for key in path:
        box = box[key]
    return box


def _within(one: Path, other: Path) -> bool:
    size = min(len(one), len(other))
    return one[:size] == other[:size]


def _some_key(paths: list[Path], rng: Random) -> str:
    """Return a key of the tree, or another text."""
    keys = [key for path in paths for key in path[-1:] if isinstance(key, str)]
    return rng.choice(keys) if keys and rng.random() < 0.5 else str(odd_value(rng))[:50]


PIECES = (b'"', b"\\", b"{", b"[", b"]", b"}", b"\xff", b"1e999", b"null", b"\n", b"\r\n", b"\x00", b",", b":", b"NaN",
          b"=", b"'''", b"#", b"\\ud800", b"-", b"\xef\xbb\xbf", b"\xe2\x80\xae")  # fmt: skip


def damaged(data: bytes, rng: Random) -> bytes:
    """Return the bytes with a few of them inserted, deleted, repeated or replaced."""
    changed = bytearray(data)
    for _ in range(rng.randrange(1, 5)):
        at, size = rng.randrange(len(changed) + 1), rng.choice((1, 2, 5, 40))
        match rng.randrange(7):
            case 0:
                changed[at:at] = rng.randbytes(size)
            case 1:
                del changed[at : at + size]
            case 2:
                changed[at:at] = rng.choice(PIECES) * rng.randrange(1, 9)
            case 3:
                changed[at:at] = changed[at : at + rng.choice((size, 400))] * rng.randrange(1, 5)
            case 4:
                changed[at : at + size] = rng.randbytes(size)
            case 5:
                del changed[at:]
            case _:
                changed[at:at] = rng.choice((b"[", b'{"a":', b"a.", b"9", b" ", b"\n")) * rng.choice(
                    (10, 1_000, 60_000)
                )
    return bytes(changed)


def json_text(tree: Any, indent: int | None = None) -> bytes:
    """Return the tree as JSON; numbers that are not finite as Python writes them."""
    separators = (",", ":") if indent is None else None
    text = json.dumps(tree, indent=indent, separators=separators).encode()
    return text.replace(json.dumps(DEEP).encode(), b"[" * 100_000 + b"]" * 100_000)


def toml_text(data: Any) -> bytes:
    """Return a table as TOML, one line for each of its keys; values that TOML cannot have are left out."""
    if not isinstance(data, dict):
        return f"key = {toml_value(data)}".encode(errors="surrogatepass")
    lines = [f"{json.dumps(key)} = {toml_value(value)}" for key, value in data.items() if value is not None]
    return "\n".join(lines).encode(errors="surrogatepass") + b"\n"


def toml_value(value: Any) -> str:
    """Return a value as TOML writes it on one line."""
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{json.dumps(key)} = {toml_value(one)}" for key, one in value.items() if one is not None)
            + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(toml_value(one) for one in value if one is not None) + "]"
    if isinstance(value, float) and value != value:
        return "nan"
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return json.dumps(value)
