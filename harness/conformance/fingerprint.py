"""A text of everything in a state: two states are the same if and only if their fingerprints are."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

from harness.core.chance import Chance
from harness.core.game import Action, Game, State


def fingerprint(state: State[Any]) -> str:
    """Everything in the state as text; its caches and who listens to it are left out."""
    left_out = {"log", *state.caches}
    parts = ", ".join(f"{name}={_text(value)}" for name, value in _parts(state) if name not in left_out)
    return f"{type(state).__name__}({parts})"


def _parts(thing: object) -> Iterable[tuple[str, object]]:
    names = {name for cls in type(thing).__mro__ for name in _slots(cls)} | set(getattr(thing, "__dict__", ()))
    return [(name, getattr(thing, name)) for name in sorted(names) if hasattr(thing, name)]


def _slots(cls: type) -> tuple[str, ...]:
    slots = cls.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _text(value: object) -> str:
    match value:
        case Action():
            return f"#{value.code}"
        case Game() | Chance():
            return repr(value)
        case Enum():
            return repr(value.value)
        case None | bool() | int() | float() | str() | bytes():
            return repr(value)
        case tuple() | list():
            return f"[{', '.join(map(_text, value))}]"
        case set() | frozenset():
            return f"{{{', '.join(sorted(map(_text, value)))}}}"
        case dict():
            return f"{{{', '.join(sorted(f'{_text(k)}: {_text(v)}' for k, v in value.items()))}}}"
    inner = ", ".join(f"{name}={_text(part)}" for name, part in _parts(value) if not name.startswith("__"))
    return f"{type(value).__name__}({inner})"
