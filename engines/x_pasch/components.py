"""The figures of the game: what a components file must hold, and the companies made from it."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal

from msgspec import Meta, Struct

from engines.x_pasch.dice import DICE, Dice, all_dice, meets
from harness import read_components

TITLE = "X-Pasch"
CARDS = 55  # XP-1
MAX_INCOME = 9  # XP-1
MAX_NUMBER = 18  # three sixes
MAX_PLAYERS = 6
MAX_TARGET = 1000

# Bounds that leave room for a box of another size: a file may come from anyone. Messages about them name the key.
Positive = Annotated[int, Meta(ge=1, le=99)]
Source = Annotated[str, Meta(max_length=200)]


class Figures(Struct, frozen=True, forbid_unknown_fields=True):
    """The [game] block."""

    source: Source
    target: Annotated[int, Meta(ge=1, le=MAX_TARGET)]
    hand_at_start: Annotated[int, Meta(ge=0, le=CARDS // MAX_PLAYERS)]
    """Cards that each player is dealt (XP-4)."""
    hand_limit: Annotated[int, Meta(ge=1, le=CARDS)]
    """Cards that a hand may hold (XP-15)."""
    triple_members: Positive
    """Members that a triple puts on any company (XP-13)."""
    dice: Annotated[int, Meta(ge=DICE, le=DICE)]

    def __post_init__(self) -> None:
        if self.hand_limit < self.hand_at_start:
            raise ValueError(f"hand_limit ({self.hand_limit}) is below hand_at_start ({self.hand_at_start})")


class Members(Struct, frozen=True, forbid_unknown_fields=True):
    """The [members] block."""

    source: Source
    per_player: Positive
    """Members of each player (XP-2)."""


class Card(Struct, frozen=True, forbid_unknown_fields=True):
    """One company card as the file has it."""

    income: Annotated[int, Meta(ge=1, le=MAX_INCOME)]
    founding: Positive
    number: Annotated[int, Meta(ge=1, le=MAX_NUMBER)] | None = None
    pair: Literal["1", "2", "3", "4", "5", "6", "x"] | None = None
    source: Source = ""

    def __post_init__(self) -> None:
        if self.number is None and self.pair is None:
            raise ValueError("the card has neither a number nor a pair")


class Deck(Struct, frozen=True, forbid_unknown_fields=True):
    """The [deck] block."""

    source: Source
    cards: Annotated[tuple[Card, ...], Meta(min_length=CARDS, max_length=CARDS)]


class Components(Struct, frozen=True, forbid_unknown_fields=True):
    """A whole components file."""

    game: Figures
    """The limits."""
    members: Members
    """The members."""
    deck: Deck

    def __post_init__(self) -> None:
        for at, card in enumerate(self.deck.cards):
            if card.founding > self.members.per_player:
                raise ValueError(
                    f"`deck.cards[{at}].founding` is {card.founding}, a player has {self.members.per_player} members "
                    f"(`members.per_player`)"
                )


class Company(Struct, frozen=True):
    """One of the 55 companies.

    Cards that are printed alike cannot be distinguished in hands and in the pile. There each goes by the lowest
    company number of its print, `card`; the first of them to be founded becomes that company, the second the next.
    """

    company: int
    """Its number on the table, 0 to 54."""
    card: int
    """What its card is called in hands and in the pile."""
    number: int | None
    """The required sum of the dice, if it has a number."""
    pair: str | None
    """The pasch that serves it, if any: "1" to "6", or "x" for any."""
    income: int
    """Euros that it pays to the player with most members."""
    founding: int
    """How many members its founder puts on it."""
    ways: tuple[Dice, ...]
    """Every set of dice that meets the requirement in the ordinary way."""

    @property
    def requirement(self) -> str:
        """The requirement as people say it: 8, 5-pasch, 10/3-pasch."""
        either = [] if self.number is None else [str(self.number)]
        if self.pair is not None:
            either.append(f"{self.pair}-pasch")
        return "/".join(either)


def load(text: str) -> Components:
    """Return the components in a file's text; anything that breaks the game is refused."""
    return read_components(TITLE, text, Components)


def companies_of(components: Components) -> tuple[Company, ...]:
    """Return the companies in the order of the file, with cards that are printed alike side by side."""
    prints = Counter((card.number, card.pair, card.income, card.founding) for card in components.deck.cards)
    companies: list[Company] = []
    for (number, pair, income, founding), copies in prints.items():
        ways = tuple(dice for dice in all_dice() if dice and meets(dice, number, pair))
        first = len(companies)
        companies += (
            Company(company, first, number, pair, income, founding, ways) for company in range(first, first + copies)
        )
    return tuple(companies)
