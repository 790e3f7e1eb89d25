"""The figures of El Paso: what a components file must hold, and what it may not break."""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Literal

from msgspec import Meta, Struct

from harness import BadComponents, read_components

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
Positive = Annotated[int, Meta(ge=1)]
SiteName = Literal["bank", "saloon", "gold_mine", "cattle", "hotel", "horses"]


class Dice(Struct, frozen=True, forbid_unknown_fields=True):
    """EP-3."""

    count: Positive
    faces: tuple[Literal["star", "brand", "six"], ...]
    source: str = ""


class Cards(Struct, frozen=True, forbid_unknown_fields=True):
    """EP-1: the raid cards of every site."""

    values: tuple[Positive, ...]
    source: str = ""


class Tiles(Struct, frozen=True, forbid_unknown_fields=True):
    """EP-2: the values of each site's tiles."""

    bank: tuple[Positive, ...]
    saloon: tuple[Positive, ...]
    gold_mine: tuple[Positive, ...]
    cattle: tuple[Positive, ...]
    hotel: tuple[Positive, ...]
    horses: tuple[Positive, ...]
    source: str = ""

    def by_site(self) -> tuple[tuple[int, ...], ...]:
        """Return sorted values, site by site."""
        return tuple(tuple(sorted(getattr(self, site.name.lower()))) for site in SITES)


class Town(Struct, frozen=True, forbid_unknown_fields=True):
    """EP-4: one town."""

    name: str
    rate: Positive
    sites: tuple[SiteName, ...]

    def has(self, site: Site) -> bool:
        """Return whether the town has this site."""
        return site.name.lower() in self.sites


class Edition(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the printed rule sheets differ."""

    tiles_per_town: Positive
    may_leave_in_first_round: bool
    tiles_return_to: Literal["bag", "box"]
    carry_when_empty: Literal["next_group", "two"]
    source: str = ""


class Editions(Struct, frozen=True, forbid_unknown_fields=True):
    """The three printed editions."""

    de: Edition
    nl: Edition
    bg: Edition


class Components(Struct, frozen=True, forbid_unknown_fields=True):
    """A whole components file."""

    dice: Dice
    cards: Cards
    tiles: Tiles
    towns: tuple[Town, ...]
    editions: Editions


def load(text: str) -> Components:
    """Return the figures in this TOML text; raises BadComponents where they break the game."""
    figures = read_components(TITLE, text, Components)
    for sound, complaint in (
        ("star" in figures.dice.faces, "no die face is a star, so the sheriffs could never come"),
        (len(set(figures.cards.values)) == len(figures.cards.values), "two raid cards of one site have the same value"),
        (len(figures.cards.values) >= MAX_PLAYERS, f"a site needs at least {MAX_PLAYERS} raid cards to deal from"),
        (all(figures.tiles.by_site()), "a site has no tiles"),
        (figures.towns, "there are no towns"),
        (all(town.sites for town in figures.towns), "a town has no sites"),
        (all(len(set(t.sites)) == len(t.sites) for t in figures.towns), "a town has a site twice"),
    ):
        if not sound:
            raise BadComponents(f"{TITLE}'s components break the game: {complaint}.")
    return figures
