"""The figures of El Paso: what a components file must hold, and what it may not break."""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Literal

from msgspec import Meta, Struct

from harness import read_components

TITLE = "El Paso"
MAX_PLAYERS = 5


class Site(IntEnum):
    """The six sites (EP-1). Everything that is kept per site is a tuple in this order."""

    BANK = 0
    SALOON = 1
    GOLD_MINE = 2
    CATTLE = 3
    HOTEL = 4
    HORSES = 5

    @property
    def label(self) -> str:
        """The site's name for people."""
        return self.name.lower().replace("_", " ")


SITES = tuple(Site)
SiteName = Literal["bank", "saloon", "gold_mine", "cattle", "hotel", "horses"]

# Bounds that leave room for a box of another size, and keep matches as short as the printed ones: a file may come from
# anyone. Messages about them name the key.
MAX_TILES_PER_SITE = MAX_CARDS_PER_SITE = 30
MAX_DICE = MAX_TOWNS = 20
MAX_FIGURE = 99
FACES_PER_STAR = 6
"""At least one die face in this many is a star: the dice end a town in which no player leaves and no tile is taken."""
Figure = Annotated[int, Meta(ge=1, le=MAX_FIGURE)]
Source = Annotated[str, Meta(max_length=200)]
TileValues = Annotated[tuple[Figure, ...], Meta(min_length=1, max_length=MAX_TILES_PER_SITE)]


class Dice(Struct, frozen=True, forbid_unknown_fields=True):
    """EP-3."""

    count: Annotated[int, Meta(ge=1, le=MAX_DICE)]
    faces: Annotated[tuple[Literal["star", "brand", "six"], ...], Meta(min_length=1, max_length=20)]
    source: Source = ""

    def __post_init__(self) -> None:
        if self.faces.count("star") * FACES_PER_STAR < len(self.faces):
            raise ValueError(f"the sheriffs need at least one star in {FACES_PER_STAR} die faces")


class Cards(Struct, frozen=True, forbid_unknown_fields=True):
    """EP-1: the raid cards of every site, enough to deal one to each player."""

    values: Annotated[tuple[Figure, ...], Meta(min_length=MAX_PLAYERS, max_length=MAX_CARDS_PER_SITE)]
    """The values of the raid cards of each site (EP-1)."""
    source: Source = ""

    def __post_init__(self) -> None:
        if len(set(self.values)) < len(self.values):
            raise ValueError("two raid cards of one site have the same value")


class Tiles(Struct, frozen=True, forbid_unknown_fields=True):
    """EP-2: the values of each site's tiles."""

    bank: TileValues
    saloon: TileValues
    gold_mine: TileValues
    cattle: TileValues
    hotel: TileValues
    horses: TileValues
    source: Source = ""

    def by_site(self) -> tuple[tuple[int, ...], ...]:
        """Return sorted values, site by site."""
        return tuple(tuple(sorted(getattr(self, site.name.lower()))) for site in SITES)


class Town(Struct, frozen=True, forbid_unknown_fields=True):
    """EP-4: one town."""

    name: Annotated[str, Meta(max_length=40)]
    """Its name."""
    rate: Figure
    sites: Annotated[tuple[SiteName, ...], Meta(min_length=1)]

    def __post_init__(self) -> None:
        if len(set(self.sites)) < len(self.sites):
            raise ValueError("the town has a site twice")

    def has(self, site: Site) -> bool:
        """Return whether the town has this site."""
        return site.name.lower() in self.sites


class Edition(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the printed rule sheets differ."""

    tiles_per_town: Annotated[int, Meta(ge=1, le=MAX_TILES_PER_SITE * len(SITES))]
    """Tiles that are drawn when a town is stocked (EP-7)."""
    may_leave_in_first_round: bool
    """Whether players are asked in the first round of a town (EP-9)."""
    tiles_return_to: Literal["bag", "box"]
    """Where sold and lost tiles go (EP-21, EP-24)."""
    carry_when_empty: Literal["next_group", "two"]
    """What may be carried from a town that was emptied (EP-23)."""
    source: Source = ""


class Editions(Struct, frozen=True, forbid_unknown_fields=True):
    """The three printed editions."""

    de: Edition
    nl: Edition
    bg: Edition


class Components(Struct, frozen=True, forbid_unknown_fields=True):
    """A whole components file."""

    dice: Dice
    cards: Cards
    """The raid cards."""
    tiles: Tiles
    towns: Annotated[tuple[Town, ...], Meta(min_length=1, max_length=MAX_TOWNS)]
    """The towns, in order."""
    editions: Editions


def load(text: str) -> Components:
    """Return the figures in this TOML text; raises BadComponents where they break the game."""
    return read_components(TITLE, text, Components)
