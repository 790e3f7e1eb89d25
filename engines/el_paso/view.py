"""What one seat may know in El Paso (EP-28)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from engines.el_paso.components import (
    MAX_CARDS_PER_SITE,
    MAX_DICE,
    MAX_FIGURE,
    MAX_PLAYERS,
    MAX_TILES_PER_SITE,
    MAX_TOWNS,
    SITES,
)
from harness import PerSeat, Seat, View, words

# Bounds that hold for any components file; `ElPaso.view_bounds` narrows those with a title.

Phase = Annotated[str, words("answer", "play", "draw", "carry", "over")]
"""Stay or leave (EP-9), lay a card (EP-12), draw one (EP-17), choose tiles (EP-19), or the game is over."""
Face = Annotated[str, words("star", "brand", "six")]
"""A face of a die."""
SiteNumber = Annotated[int, Meta(ge=0, lt=len(SITES))]
"""The number of a `Site`."""
Group = Annotated[int, Meta(ge=0, le=MAX_PLAYERS)]
"""The number of a group of leavers."""
Money = Annotated[int, Meta(ge=0, le=MAX_TOWNS * len(SITES) * MAX_TILES_PER_SITE * MAX_FIGURE, title="money")]
"""Nuggets."""
Tile = Annotated[int, Meta(ge=1, le=MAX_FIGURE, title="tile")]
"""The value of a tile."""
Card = Annotated[int, Meta(ge=0, le=MAX_FIGURE, title="card")]
"""The value of a card; 0 is one that this seat cannot see."""
Tiles = Annotated[tuple[Tile, ...], Meta(max_length=MAX_TILES_PER_SITE, title="tiles of a site")]
"""Tiles of one site."""
Cards = Annotated[tuple[Card, ...], Meta(max_length=MAX_CARDS_PER_SITE, title="cards of a site")]
"""Cards of one site."""
TilesBySite = Annotated[tuple[Tiles, ...], Meta(min_length=len(SITES), max_length=len(SITES))]
"""Tiles site by site, in the order of `Site`."""
CardsBySite = Annotated[tuple[Cards, ...], Meta(min_length=len(SITES), max_length=len(SITES))]
"""Cards site by site, in the order of `Site`."""


class ElPasoView(View, frozen=True):
    """One seat's knowledge. A card value of 0 is a card that this seat cannot see."""

    phase: Phase
    """The kind of choice that is due."""
    town: Annotated[int, Meta(ge=0, lt=MAX_TOWNS, title="town")]
    """Number of the town, from 0; `game.figures.towns[view.town]` has its name, rate and sites."""
    round: Annotated[int, Meta(ge=0, le=250, title="round")]
    """Round of plunder in this town, from 1; 0 while a town is closed before its first round."""
    lookout: Seat
    """The seat that is asked first and rolls; the next town has another."""
    stars: Annotated[int, Meta(ge=0, le=MAX_DICE, title="dice")]
    """Dice on the sheriff field; when all dice are there the sheriffs come."""
    roll: Annotated[tuple[Face, ...], Meta(max_length=MAX_DICE, title="dice")]
    """The newest roll in this town, as faces."""
    left: PerSeat[Group]
    """Which group each seat left this town with, from 1; 0 for those still in town."""
    groups: Group
    """How many groups have left this town."""
    leaving: tuple[Seat, ...]
    """Seats that have answered `leave` in this round and have not gone yet."""
    queue: tuple[Seat, ...]
    """Seats whose turn comes after this one in the same phase, in order."""
    limit: Annotated[int, Meta(ge=0, le=MAX_PLAYERS)]
    """How many tiles the leavers may carry; 0 when no seat is leaving."""
    carried: TilesBySite
    """What the leaver on turn has chosen to carry so far."""
    money: PerSeat[Money]
    """The money of each seat; what it will get for its tiles is not in it."""
    tiles: PerSeat[TilesBySite]
    """The tiles in front of each seat."""
    stacks: TilesBySite
    """The tiles in town; the top one of a stack comes first."""
    bag: TilesBySite
    """The tiles in the bag (what is in it is public, the order of drawing is not)."""
    hand: CardsBySite
    """This seat's own cards, one laid face down included."""
    laid: tuple[SiteNumber, Card] | None
    """Site and value of the card this seat has laid face down in this round."""
    hands: PerSeat[CardsBySite]
    """What is public of each hand: the value where it is known, otherwise 0."""
    piles: CardsBySite
    """The piles, top card first: the value where it is public, otherwise 0."""
    discards: CardsBySite
    """The discards, first-laid card first."""
    played: PerSeat[tuple[SiteNumber, Card] | None]
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
    def my_tiles(self) -> TilesBySite:
        """The tiles in front of this seat."""
        return self.tiles[self.seat]

    @property
    def next_limit(self) -> int:
        """How many tiles the next group to leave may carry (EP-18)."""
        return self.groups + 1
