"""A text of everything in a state: two states are the same if and only if their fingerprints are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import Enum
from typing import Any

from harness.core.action import Action
from harness.core.chance import Chance
from harness.core.game import Game, State
from harness.core.native import attribute_names


def fingerprint(state: State[Any]) -> str:
    """Everything in the state as text; its caches and who listens to it are left out."""
    parts = ", ".join(f"{name}={text}" for name, text in attributes(state).items())
    return f"{type(state).__name__}({parts})"


def attributes(state: State[Any]) -> dict[str, str]:
    """The attributes of a state as texts, by name; its caches and who listens to it are left out."""
    left_out = {"log", *state.caches}
    found = {name: _text(value) for name, value in _parts(state) if name not in left_out}
    if not {"seat", "phase", "legal"} <= found.keys():  # then two states would be the same, whatever is in them
        raise TypeError(f"What is in a {type(state).__name__} cannot be seen: it has neither __slots__ nor a __dict__.")
    return found


Fact = tuple[str, str]
"""A place in a state and what is there: `("hands[2]", "17")`."""


def facts(state: State[Any], names: Collection[str]) -> set[Fact]:
    """What is where in these attributes of a state: what each place holds, and for collections also all that they
    contain."""
    found: set[Fact] = set()
    for name in names:
        _collect(getattr(state, name), name, found)
    return found


def varying(states: Sequence[State[Any]]) -> set[str]:
    """The attributes in which these states differ, except luck, what only follows from the rest, and what the rules
    let seats forget."""
    one, *others = states
    return {
        name
        for name, value in _substance(one)
        if name not in one.forgets and any(getattr(other, name) != value for other in others)
    }


def _collect(value: object, path: str, found: set[Fact]) -> str:
    inside = None if hasattr(value, "_fields") else _inside(value, path)  # a named tuple is a thing, as a card
    if inside is None:
        text = _text(value)
        found.add((path, text))
    else:
        texts = [_collect(each, place, found) for place, each in inside]
        found.update((path, each) for each in texts)
        text = f"[{', '.join(texts)}]"
    return text


def contents(thing: object, path: str = "") -> dict[str, str]:
    """Each place in a state, or in the data of an event, with all the plain values that it holds, in no order."""
    found: dict[str, str] = {}
    if isinstance(thing, State):
        for name, value in _substance(thing):
            _gather(value, name, found)
    else:
        _gather(thing, path, found)
    return found


def _gather(value: object, path: str, found: dict[str, str]) -> list[str]:
    inside = _inside(value, path)
    if inside is None:
        texts = [_text(value)]
    else:
        texts = sorted(text for place, each in inside for text in _gather(each, place, found))
    found[path] = " ".join(texts)
    return texts


def _substance(state: State[Any]) -> list[tuple[str, object]]:
    left_out = {"log", "chance", "game", "legal", *state.caches}
    return [(name, value) for name, value in _parts(state) if name not in left_out]


def _inside(value: object, path: str) -> list[tuple[str, object]] | None:
    """What is inside of a value, place by place; None for what has no inside."""
    match value:
        case None | bool() | int() | float() | str() | bytes() | Enum() | Action() | Game() | Chance():
            return None
        case tuple() | list():
            return [(f"{path}[{place}]", each) for place, each in enumerate(value)]
        case set() | frozenset():
            return [(f"{path}[{place}]", each) for place, each in enumerate(sorted(value, key=_text))]
        case dict():
            return [(f"{path}.{key}", each) for key, each in value.items()]
    return [(f"{path}.{name}", part) for name, part in _parts(value) if not name.startswith("__")]


def _parts(thing: object) -> Iterable[tuple[str, object]]:
    return [(name, getattr(thing, name)) for name in attribute_names(thing)]


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
