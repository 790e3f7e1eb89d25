"""Cards in hand as sorted tuples, and what the whole table knows of them.

A known hand is the sorted tuple of the public cards, followed by one None for each card that
only its holder knows. Copies of a card cannot be distinguished: a card that is shown counts as a known copy
if there is one (GN-41).
"""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeVar

C = TypeVar("C", bound=tuple[int, ...])
T = TypeVar("T")

NOWHERE: Final = -1


def put(values: tuple[T, ...], seat: int, value: T) -> tuple[T, ...]:
    """Return the values with another one for this seat."""
    if len(values) == 4:  # written out for four seats: called several times at every decision
        first, second, third, fourth = values
        if seat == 0:
            return value, second, third, fourth
        if seat == 1:
            return first, value, third, fourth
        return (first, second, value, fourth) if seat == 2 else (first, second, third, value)
    return (*values[:seat], value, *values[seat + 1 :])


def place_of(bag: tuple[T, ...], card: T) -> int:
    """Return where a copy of the card lies in the bag; NOWHERE if there is none."""
    for place, other in enumerate(bag):  # a game has one object for each card, and identity is fast to compare
        if other is card:
            return place
    return bag.index(card) if card in bag else NOWHERE


def with_card(bag: tuple[C, ...], card: C) -> tuple[C, ...]:
    """Return the bag with this card added."""
    return plus(bag, (card,))


def without(bag: tuple[T, ...], card: T) -> tuple[T, ...]:
    """Return the bag without this card, which must be in it."""
    for place, other in enumerate(bag):
        if other is card:
            return bag[:place] + bag[place + 1 :]
    # An equal card that is another object, as after unpickling: compare by value.
    return minus(bag, (card,))


def without_all(bag: tuple[T, ...], cards: tuple[T, ...]) -> tuple[T, ...]:
    """Return the bag without these cards, which must be in it and come in its order."""
    rest: list[T] = []
    gone, wanted = 0, len(cards)
    for card in bag:
        if gone < wanted and card is cards[gone]:
            gone += 1
        else:
            rest.append(card)
    return tuple(rest) if gone == wanted else minus(bag, cards)


def plus(bag: tuple[C, ...], cards: tuple[C, ...]) -> tuple[C, ...]:
    """Return the bag with these cards added."""
    if not cards:
        return bag
    more = list(bag)
    for card in cards:
        place, first = len(more), card[0]
        while place and first < more[place - 1][0]:  # numbers are faster to compare than cards
            place -= 1
        while place and card < more[place - 1]:
            place -= 1
        more.insert(place, card)
    return tuple(more)


def minus(bag: tuple[T, ...], cards: Iterable[T]) -> tuple[T, ...]:
    """Return the bag without these cards; each of them must be in it."""
    rest = list(bag)
    for card in cards:
        rest.remove(card)
    return tuple(rest)


def debt_of(ious: Iterable[tuple[int, int]]) -> int:
    """Return the sum of these IOUs."""
    total = 0
    for value, _ in ious:
        total += value
    return total


def debt_in(market: Iterable[tuple[int, int] | None], seat: int) -> int:
    """Return what this seat has to pay for the IOUs that are known."""
    total = 0
    for iou in market:
        if iou is not None:
            value, colour = iou
            if colour == seat:
                total += value
    return total


def known_plus(known: tuple[C | None, ...], cards: tuple[C, ...]) -> tuple[C | None, ...]:
    """Return the known hand after public cards were added."""
    open_cards = [card for card in known if card is not None]
    return plus(tuple(open_cards), cards) + known[len(open_cards) :]


def news_in(known: tuple[C | None, ...], cards: tuple[C, ...]) -> tuple[C, ...]:
    """Return those of the shown cards that were not public before."""
    rest = list(known)
    news = []
    for card in cards:
        if card in rest:
            rest.remove(card)
        else:
            news.append(card)
    return tuple(news)


def known_shown(known: tuple[C | None, ...], news: tuple[C, ...]) -> tuple[C | None, ...]:
    """Return the known hand after its holder showed cards that were not public before."""
    return known_plus(known[: len(known) - len(news)], news) if news else known


def shared(known: tuple[C | None, ...], bag: tuple[C, ...]) -> tuple[C | None, ...]:
    """Return the known hand, as the same object as the whole hand where all of it is known: then one change serves
    both."""
    return bag if known == bag else known
