"""The actions of El Paso."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engines.el_paso.components import Site
from harness import Action


@dataclass(frozen=True, eq=False, slots=True)
class Stay(Action):
    """Stay in town and plunder again (EP-9)."""

    kind: ClassVar[str] = "stay"


@dataclass(frozen=True, eq=False, slots=True)
class Leave(Action):
    """Leave the town (EP-9)."""

    kind: ClassVar[str] = "leave"


@dataclass(frozen=True, eq=False, slots=True)
class Play(Action):
    """Lay a raid card face down (EP-12)."""

    kind: ClassVar[str] = "play"

    site: Site
    """The site on the card."""
    value: int
    """The number on the card."""


@dataclass(frozen=True, eq=False, slots=True)
class Draw(Action):
    """Draw a card from a site's pile (EP-17)."""

    kind: ClassVar[str] = "draw"

    site: Site
    """The site whose pile it is."""


@dataclass(frozen=True, eq=False, slots=True)
class Carry(Action):
    """Carry a tile on to the next town (EP-19)."""

    kind: ClassVar[str] = "carry"

    site: Site
    """The site that the tile comes from."""
    value: int
    """The value of the tile."""


@dataclass(frozen=True, eq=False, slots=True)
class Sell(Action):
    """Carry nothing more: sell the rest (EP-19, EP-20)."""

    kind: ClassVar[str] = "sell"
