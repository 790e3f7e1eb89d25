"""A compact numeric encoding of a view: a place for each company instead of padded lists.

What it merges: the order in which companies were founded; the order of the cards at the bottom of the pile; and in
which order seats have put theirs there, beyond how many.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engines.x_pasch.components import CARDS
from engines.x_pasch.dice import DICE, FACES
from harness import EncodingPart, Number

if TYPE_CHECKING:
    from engines.x_pasch.game import XPasch


def encoding(game: XPasch, players: int) -> tuple[EncodingPart | str, ...]:
    """Return the parts of the encoding."""
    return (
        "phase", "seat", "turn", "round", "stage",
        EncodingPart("dice", ("dice",), tuple([Number(f"dice {face}", 0, DICE) for face in FACES]), _faces),
        "second_chance", "euros", "income", "supply", "hand_sizes", _cards("hand", game),
        _table(), _members(game), _placed(game), "pile", _under(players), _cards("sunk", game), "swapped",
    )  # fmt: skip


def _faces(dice: tuple[int, ...]) -> list[int]:
    return [dice.count(face) for face in FACES]


def _number(members: int) -> Sequence[int]:
    return (members,)


def _cards(name: str, game: XPasch) -> EncodingPart:
    """Return how many cards there are of each print."""
    prints = {card: place for place, card in enumerate(sorted({each.card for each in game.companies}))}

    def encode(cards: tuple[int, ...]) -> Sequence[int]:
        counts = [0] * len(prints)
        for card in cards:
            counts[prints[card]] += 1
        return counts

    copies = [each.card for each in game.companies]
    numbers = tuple([Number(f"{name} {game.companies[card].requirement}", 0, copies.count(card)) for card in prints])
    return EncodingPart(name, (name,), numbers, encode, cached=False)


def _table() -> EncodingPart:
    """Return for each company: 0 if it is not on the table, 2 if it was founded this turn, otherwise 1."""

    def encode(table: tuple[int, ...], fresh: int) -> Sequence[int]:
        found = [0] * CARDS
        old = len(table) - fresh
        for place, company in enumerate(table):
            found[company] = 1 if place < old else 2
        return found

    numbers = tuple([Number(f"company {company}", 0, 2) for company in range(CARDS)])
    return EncodingPart("table", ("table", "fresh"), numbers, encode)


def _members(game: XPasch) -> EncodingPart:
    """Return the members of each seat on each company, company by company."""
    numbers = tuple([Number(f"members {company}", 0, game.tables.members) for company in range(CARDS)])
    return EncodingPart("members", ("table", "members"), numbers, _number, by_seat=True, items=CARDS)


def _placed(game: XPasch) -> EncodingPart:
    """Return for each company the members that came from the supply this turn."""

    numbers = tuple([Number(f"placed {company}", 0, game.tables.members) for company in range(CARDS)])
    return EncodingPart("placed", ("table", "placed"), numbers, _number, items=CARDS)


def _under(players: int) -> EncodingPart:
    """Return how many of the lowest cards of the pile each seat has put there."""

    orders = [[*range(owner, players), *range(owner)] for owner in range(players)]

    def encode(owner: int, under: tuple[int, ...]) -> Sequence[int]:
        return [*map(bytes(under).count, orders[owner])]  # bytes count faster

    numbers = tuple([Number(f"under[{place}]", 0, CARDS) for place in ["me", *[f"+{n}" for n in range(1, players)]]])
    return EncodingPart("under", ("under",), numbers, encode, relative=True, cached=False)
