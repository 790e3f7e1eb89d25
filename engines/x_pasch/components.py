"""The figures of the game: what a components file must hold, and the companies made from it."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from engines.x_pasch.dice import DICE, PAIRS, Dice, all_dice, meets
from harness import BadComponents, read_components

TITLE = "X-Pasch"
CARDS = 55  # XP-1
MAX_INCOME = 9  # XP-1
MAX_NUMBER = 18  # three sixes
MAX_PLAYERS = 6


class Figures(Struct, frozen=True, forbid_unknown_fields=True):
    """The [game] block."""

    source: str
    target: int
    hand_at_start: int
    hand_limit: int
    triple_members: int
    dice: int


class Members(Struct, frozen=True, forbid_unknown_fields=True):
    """The [members] block."""

    source: str
    per_player: int


class Card(Struct, frozen=True, forbid_unknown_fields=True):
    """One company card as the file has it."""

    income: int
    founding: int
    number: int | None = None
    pair: str | None = None
    source: str = ""


class Deck(Struct, frozen=True, forbid_unknown_fields=True):
    """The [deck] block."""

    source: str
    cards: tuple[Card, ...]


class Components(Struct, frozen=True, forbid_unknown_fields=True):
    """A whole components file."""

    game: Figures
    members: Members
    deck: Deck


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
    """What the dice must add up to, if it has a number."""
    pair: str | None
    """The pasch that serves it, if any: "1" to "6", or "x" for any."""
    income: int
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
    components = read_components(TITLE, text, Components)
    _check_figures(components)
    for place, card in enumerate(components.deck.cards, start=1):
        _check_card(f"card {place}", card, components.members.per_player)
    return components


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


def _check_figures(components: Components) -> None:
    game, members, cards = components.game, components.members, components.deck.cards
    _require(len(cards) == CARDS, f"there are {CARDS} cards (XP-1), the file has {len(cards)}")
    _require(game.dice == DICE, f"it is played with {DICE} dice (XP-2), the file has {game.dice}")
    _require(game.target >= 1, f"target must be at least 1, not {game.target}")
    _require(game.hand_at_start >= 0, f"hand_at_start cannot be negative ({game.hand_at_start})")
    _require(
        game.hand_at_start * MAX_PLAYERS <= CARDS,
        f"{MAX_PLAYERS} players cannot be dealt {game.hand_at_start} of {CARDS} cards each",
    )
    _require(
        game.hand_limit >= max(game.hand_at_start, 1),
        f"hand_limit ({game.hand_limit}) must be at least 1 and at least hand_at_start ({game.hand_at_start})",
    )
    _require(game.triple_members >= 1, f"triple_members must be at least 1, not {game.triple_members}")
    _require(members.per_player >= 1, f"per_player must be at least 1, not {members.per_player}")


def _check_card(which: str, card: Card, members: int) -> None:
    _require(card.number is not None or card.pair is not None, f"{which} has neither a number nor a pair")
    if card.number is not None:
        _require(1 <= card.number <= MAX_NUMBER, f"{which}: no dice add up to {card.number}, only to 1 to {MAX_NUMBER}")
    if card.pair is not None:
        _require(card.pair in PAIRS, f"{which}: pair is one of {', '.join(PAIRS)}, not {card.pair!r}")
    _require(1 <= card.income <= MAX_INCOME, f"{which}: income goes from 1 to {MAX_INCOME} (XP-1), not {card.income}")
    _require(
        1 <= card.founding <= members,
        f"{which}: founding goes from 1 to the {members} members of a player, not {card.founding}",
    )


def _require(fine: bool, otherwise: str) -> None:
    if not fine:
        raise BadComponents(f"{TITLE}'s components break the game: {otherwise}.")
