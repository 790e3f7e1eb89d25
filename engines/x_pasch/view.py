"""What one seat may know (XP-23)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from engines.x_pasch.boards import leader
from engines.x_pasch.components import CARDS, MAX_INCOME, MAX_TARGET
from engines.x_pasch.dice import DICE
from harness import PerSeat, Seat, View, words

# Bounds that hold for any components file; `XPasch.view_bounds` narrows those with a title.

Phase = Annotated[str, words("dice", "reroll", "swap", "over")]
"""Use the dice (XP-8), the second chance (XP-7), swap a card (XP-16), or the game is over."""
Face = Annotated[int, Meta(ge=1, le=6)]
"""The face of a die."""
Income = Annotated[int, Meta(ge=0, le=CARDS * MAX_INCOME, title="income")]
"""Euros that a seat collects at once."""
Euros = Annotated[int, Meta(ge=0, le=MAX_TARGET + CARDS * MAX_INCOME, title="euros")]
"""Money."""
Members = Annotated[int, Meta(ge=0, le=99, title="members")]
"""A number of members."""
CardCount = Annotated[int, Meta(ge=0, le=CARDS)]
"""A number of cards."""
HandSize = Annotated[int, Meta(ge=0, le=CARDS, title="hand")]
"""A number of cards in a hand."""
Company = Annotated[int, Meta(ge=0, lt=CARDS)]
"""The number of a company, or of the first one that is printed like a card."""
Companies = Annotated[tuple[Company, ...], Meta(max_length=CARDS)]
"""Companies or cards."""


class XPaschView(View, frozen=True):
    """The table as one seat sees it.

    Companies go by their number in `game.companies`. Cards in hands and in the pile go by the lowest number of the
    companies that are printed alike: `game.companies[card]` has the print.
    """

    phase: Phase
    """The kind of choice that is due."""
    round: Annotated[int, Meta(ge=1, le=100)]
    """The round being played, from 1."""
    stage: Annotated[str, words("found", "place", "move", "draw")]
    """The first kind of dice use still open: "found", "place", "move" or "draw" (XP-8)."""
    dice: Annotated[tuple[Face, ...], Meta(max_length=DICE)]
    """Faces of the dice that the player on turn has not used, in ascending order."""
    second_chance: Seat
    """The seat that may re-roll a die this round (XP-7); -1 if there is none."""
    euros: PerSeat[Euros]
    """Money of each seat."""
    income: PerSeat[Income]
    """The income of each seat with the boards as they are."""
    supply: PerSeat[Members]
    """Members that each seat still has off the table."""
    hand_sizes: PerSeat[HandSize]
    """How many cards each seat holds."""
    hand: Annotated[tuple[Company, ...], Meta(max_length=CARDS, title="hand")]
    """The cards that this seat holds, in ascending order."""
    table: Companies
    """The companies on the table, in the order of their founding."""
    members: Annotated[tuple[PerSeat[Members], ...], Meta(max_length=CARDS)]
    """For each company on the table, in the same order, the members of each seat."""
    placed: Annotated[tuple[Members, ...], Meta(max_length=CARDS)]
    """For each company on the table, how many members came from the supply this turn: they do not move (XP-14)."""
    fresh: Annotated[int, Meta(ge=0, le=DICE)]
    """How many companies were founded this turn: the last ones on the table."""
    pile: CardCount
    """How many cards the pile holds."""
    under: Annotated[tuple[Seat, ...], Meta(max_length=CARDS)]
    """Who put the lowest cards of the pile there, seat by seat, the bottom card last."""
    sunk: Companies
    """The cards that this seat put under the pile and that are still there, the lowest last."""
    swapped: PerSeat[Annotated[int, Meta(ge=0, le=100)]]
    """How many cards each seat has put under the pile in the whole game."""

    @property
    def players(self) -> int:
        """How many play."""
        return len(self.euros)

    def on(self, company: int) -> tuple[int, ...]:
        """Return the members of each seat on a company that is on the table."""
        return self.members[self.table.index(company)]

    def leader(self, company: int) -> int:
        """Return the seat that collects a company's income now; -1 if there is none."""
        return leader(self.on(company))
