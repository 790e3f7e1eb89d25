"""Which choice somebody means by what they typed."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from harness.core.action import Action
from harness.core.errors import ArenaError

SHOWN = 6


class Unclear(ArenaError):
    """What was typed is no choice, or could be several; the text says how to do better."""


def parse_choice(typed: str, actions: Sequence[Action]) -> Action:
    """The action meant by its number in the list (from 1), its text, or words of its text that fit no other."""
    if typed.isdecimal():
        number = int(typed)
        if not 1 <= number <= len(actions):
            raise Unclear(f"There is no choice number {typed}: the numbers go from 1 to {len(actions)}.")
        return actions[number - 1]
    words = typed.lower().split()
    for fits in (_is, _begins, _has_words, _has_beginnings):
        found = [action for action in actions if words and fits(words, action.text.lower().split())]
        if len(found) == 1:
            return found[0]
        if found:
            raise Unclear(f"{typed!r} could be {_either(found)}: type more of it, or its number.")
    near = get_close_matches(" ".join(words), [action.text.lower() for action in actions], n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    example = actions[0].text
    raise Unclear(f"{typed!r} is no choice here.{hint} Type a number, words such as {example!r}, or ? for help.")


def _is(typed: Sequence[str], text: Sequence[str]) -> bool:
    return typed == text


def _begins(typed: Sequence[str], text: Sequence[str]) -> bool:
    return " ".join(text).startswith(" ".join(typed))


def _has_words(typed: Sequence[str], text: Sequence[str]) -> bool:
    """All typed words are there, in this order."""
    rest = iter(text)
    return all(any(word == other for other in rest) for word in typed)


def _has_beginnings(typed: Sequence[str], text: Sequence[str]) -> bool:
    """All typed words begin a word that is there, in this order."""
    rest = iter(text)
    return all(any(other.startswith(word) for other in rest) for word in typed)


def _either(found: Sequence[Action]) -> str:
    texts = [repr(action.text) for action in found[:SHOWN]]
    more = len(found) - len(texts)
    return " or ".join(texts) + (f" or {more} more" if more else "")
