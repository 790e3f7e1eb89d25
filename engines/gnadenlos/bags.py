"""Cards in hand as sorted tuples, and what the whole table knows of them.

A known hand is the sorted tuple of the cards that everybody knows, followed by one None for each card that
only its holder knows. Copies of a card cannot be told apart: a card that is shown counts as a known copy
if there is one (GN-41).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

C = TypeVar("C", bound=tuple[int, ...])
T = TypeVar("T")


def put(values: tuple[T, ...], seat: int, value: T) -> tuple[T, ...]:
    """The values with another one for this seat."""
    after = list(values)
    after[seat] = value
    return tuple(after)


def plus(bag: tuple[C, ...], cards: Iterable[C]) -> tuple[C, ...]:
    """The bag with these cards added."""
    return tuple(sorted((*bag, *cards)))


def minus(bag: tuple[T, ...], cards: Iterable[T]) -> tuple[T, ...]:
    """The bag without these cards; each of them must be in it."""
    rest = list(bag)
    for card in cards:
        rest.remove(card)
    return tuple(rest)


def known_plus(known: tuple[C | None, ...], cards: Iterable[C]) -> tuple[C | None, ...]:
    """The known hand after cards were added that everybody knows."""
    open_cards = [card for card in known if card is not None]
    hidden = len(known) - len(open_cards)
    return (*sorted((*open_cards, *cards)), *(None,) * hidden)


def known_shown(known: tuple[C | None, ...], cards: Iterable[C]) -> tuple[tuple[C | None, ...], list[C]]:
    """The known hand after its holder showed these cards, and those of them that nobody else had known."""
    rest = list(known)
    news = []
    for card in cards:
        if card in rest:
            rest.remove(card)
        else:
            news.append(card)
    return (known_plus(known[: len(known) - len(news)], news) if news else known), news
