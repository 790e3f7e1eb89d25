"""What one seat may know (XP-23)."""

from __future__ import annotations

from engines.x_pasch.boards import leader
from harness import View


class XPaschView(View, frozen=True):
    """The table as one seat sees it.

    Companies go by their number in `game.companies`. Cards in hands and in the pile go by the lowest number of the
    companies that are printed alike: `game.companies[card]` has the print.
    """

    round: int
    """The round being played, from 1."""
    stage: str
    """The first kind of dice use still open: "found", "place", "move" or "draw" (XP-8)."""
    dice: tuple[int, ...]
    """Faces of the dice that the player on turn has not used, in ascending order."""
    second_chance: int
    """The seat that may re-roll a die this round (XP-7); -1 if there is none."""
    euros: tuple[int, ...]
    """Money of each seat."""
    income: tuple[int, ...]
    """What each seat would collect as the boards stand."""
    supply: tuple[int, ...]
    """Members that each seat still has off the table."""
    hand_sizes: tuple[int, ...]
    """How many cards each seat holds."""
    hand: tuple[int, ...]
    """The cards that this seat holds, in ascending order."""
    table: tuple[int, ...]
    """The companies on the table, in the order of their founding."""
    members: tuple[tuple[int, ...], ...]
    """For each company on the table, in the same order, the members of each seat."""
    placed: tuple[int, ...]
    """For each company on the table, how many members came from the supply this turn: they do not move (XP-14)."""
    fresh: int
    """How many companies were founded this turn: the last ones on the table."""
    pile: int
    """How many cards the pile holds."""
    under: tuple[int, ...]
    """Who put the lowest cards of the pile there, seat by seat, the bottom card last."""
    sunk: tuple[int, ...]
    """The cards that this seat put under the pile and that are still there, the lowest last."""
    swapped: tuple[int, ...]
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
