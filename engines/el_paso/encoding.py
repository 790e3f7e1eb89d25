"""A compact numeric encoding of a view: counts and sums instead of padded lists.

What it merges: the order of the dice; the values of tiles beyond their number and sum at each site, of a stack also
beyond the top one, but for the seat's own; the values of known cards in hands beyond their number and sum, but for the
seat's own; the values of known cards in piles below the top; the order of the discards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engines.el_paso.components import SITES
from engines.el_paso.values import BySite, Values
from harness import EncodingPart, Number

if TYPE_CHECKING:
    from engines.el_paso.game import ElPaso

FACES = ("star", "brand", "six")


def encoding(game: ElPaso, players: int) -> tuple[EncodingPart | str, ...]:
    """Return the parts of the encoding."""
    most_tiles, most_cards = max([len(site) for site in game.tiles]), len(game.figures.cards.values)
    most_worth, best_card = max([sum(site) for site in game.tiles]), max(game.figures.cards.values)
    best_tile = max([max(site) for site in game.tiles])
    tiles, worth = ("tiles", most_tiles), ("worth", most_worth)
    return (
        "phase", "seat", "turn", "town", "round", "lookout", "stars",
        EncodingPart("roll", ("roll",), tuple([Number(face, 0, game.dice) for face in FACES]), _faces),
        "left", "groups",
        EncodingPart("leaving", ("leaving",), _by_seat(players, "leaving"), _Places(players), relative=True),
        EncodingPart("queue", ("queue",), _by_seat(players, "queue"), _Places(players), relative=True),
        "limit", "money",
        EncodingPart("carried", ("carried",), _by_site("carried", tiles, worth), _counts_and_sums, items=len(SITES)),
        EncodingPart("tiles", ("tiles",), _by_site("", tiles, worth), _counts_and_sums, by_seat=True, items=len(SITES)),
        _my_tiles(game),
        EncodingPart(
            "stacks", ("stacks",), _by_site("stacks", tiles, worth, ("top", best_tile)), _stacks, items=len(SITES),
        ),
        EncodingPart("bag", ("bag",), _by_site("bag", tiles, worth), _counts_and_sums, items=len(SITES)),
        _cards("hand", game),
        "laid",
        EncodingPart(
            "hands", ("hands",),
            _by_site("", ("cards", most_cards), ("known", most_cards), ("sum", sum(game.figures.cards.values))),
            _known, by_seat=True, items=len(SITES),
        ),
        EncodingPart(
            "piles", ("piles",),
            _by_site("piles", ("cards", most_cards), ("known", most_cards), ("top", best_card)),
            _piles, items=len(SITES),
        ),
        _cards("discards", game),
        "played",
    )  # fmt: skip


def _by_site(name: str, *numbers: tuple[str, int]) -> tuple[Number, ...]:
    return tuple([Number(f"{name} {site.label}.{label}", 0, high) for site in SITES for label, high in numbers])


def _by_seat(players: int, name: str) -> tuple[Number, ...]:
    labels = ["me", *[f"+{place}" for place in range(1, players)]]
    return tuple([Number(f"{name}[{label}]", 0, players) for label in labels])


class _Places:
    """The place of each seat in a list of seats, from 1; 0 for a seat that is not in it. The own seat comes first."""

    def __init__(self, players: int) -> None:
        self.players = players

    def __call__(self, owner: int, seats: tuple[int, ...]) -> list[int]:
        numbers = [0] * self.players
        for place, seat in enumerate(seats, start=1):
            numbers[seat - owner] = place
        return numbers


def _faces(roll: tuple[str, ...]) -> list[int]:
    return [roll.count(face) for face in FACES]


def _counts_and_sums(values: Values) -> tuple[int, ...]:
    return len(values), sum(values)


def _stacks(values: Values) -> tuple[int, ...]:
    return len(values), sum(values), values[0] if values else 0


def _known(values: Values) -> tuple[int, ...]:
    return len(values), len(values) - values.count(0), sum(values)


def _piles(values: Values) -> tuple[int, ...]:
    return len(values), len(values) - values.count(0), values[0] if values else 0


def _my_tiles(game: ElPaso) -> EncodingPart:
    """Return how many tiles of each kind the seat has."""
    places = {kind: place for place, kind in enumerate(game.kinds)}
    numbers = [
        Number(f"my_tiles {SITES[site].label} {value}", 0, game.tiles[site].count(value)) for site, value in game.kinds
    ]

    def encode(tiles: BySite) -> Sequence[int]:
        counts = [0] * len(places)
        for site, values in enumerate(tiles):
            for value in values:
                counts[places[site, value]] += 1
        return counts

    return EncodingPart("my_tiles", ("my_tiles",), tuple(numbers), encode)


def _cards(name: str, game: ElPaso) -> EncodingPart:
    """Return for each card whether it is there."""
    values = game.figures.cards.values
    numbers = [Number(f"{name} {site.label} {value}", 0, 1) for site in SITES for value in values]

    def encode(there: Values) -> Sequence[int]:
        return [int(value in there) for value in values]

    return EncodingPart(name, (name,), tuple(numbers), encode, items=len(SITES))
