"""What one seat may know in El Paso (EP-28)."""

from __future__ import annotations

from harness import View

Values = tuple[int, ...]
"""Values of one site."""
BySite = tuple[Values, ...]
"""Values of cards or tiles, site by site in the order of `Site`."""


class ElPasoView(View, frozen=True):
    """One seat's knowledge. A card value of 0 is a card that this seat cannot see."""

    town: int
    """Number of the town, from 0; `game.figures.towns[view.town]` has its name, rate and sites."""
    round: int
    """Round of plunder in this town, from 1; 0 while a town is closed before its first round."""
    lookout: int
    """The seat that is asked first and rolls; the next town has another."""
    stars: int
    """Dice on the sheriff field; when all dice are there the sheriffs come."""
    roll: tuple[str, ...]
    """The newest roll in this town, as faces."""
    left: tuple[int, ...]
    """Which group each seat left this town with, from 1; 0 for those still in town."""
    groups: int
    """How many groups have left this town."""
    leaving: tuple[int, ...]
    """Seats that have answered `leave` in this round and have not gone yet."""
    queue: tuple[int, ...]
    """Seats whose turn comes after this one in the same phase, in order."""
    limit: int
    """How many tiles the leavers may carry; 0 when no seat is leaving."""
    carried: BySite
    """What the leaver on turn has chosen to carry so far."""
    money: tuple[int, ...]
    """The money of each seat; what it will get for its tiles is not in it."""
    tiles: tuple[BySite, ...]
    """The tiles in front of each seat."""
    stacks: BySite
    """The tiles in town; the top one of a stack comes first."""
    bag: BySite
    """The tiles in the bag (what is in it is public, the order of drawing is not)."""
    hand: BySite
    """This seat's own cards, one laid face down included."""
    laid: tuple[int, int] | None
    """Site and value of the card this seat has laid face down in this round."""
    hands: tuple[BySite, ...]
    """What is public of each hand: the value where it is known, else 0."""
    piles: BySite
    """The piles, top card first: the value where it is public, else 0."""
    discards: BySite
    """The discards, first-laid card first."""
    played: tuple[tuple[int, int] | None, ...]
    """Site and value of the card each seat played in the newest round of this town."""

    @property
    def players(self) -> int:
        """How many sit at the table."""
        return len(self.money)

    @property
    def in_town(self) -> tuple[int, ...]:
        """The seats still in town."""
        return tuple(seat for seat, group in enumerate(self.left) if not group)

    @property
    def my_tiles(self) -> BySite:
        """The tiles in front of this seat."""
        return self.tiles[self.seat]

    @property
    def next_limit(self) -> int:
        """How many tiles the next group to leave may carry (EP-18)."""
        return self.groups + 1
