"""The actions of El Paso, and the table of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from engines.el_paso.components import SITES, Components, Site
from harness import Action

if TYPE_CHECKING:
    from engines.el_paso.game import ElPaso


@dataclass(frozen=True, eq=False, slots=True)
class Stay(Action):
    """Go on plundering (EP-9)."""

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
    """What the tile is worth."""


@dataclass(frozen=True, eq=False, slots=True)
class Sell(Action):
    """Carry nothing more: sell the rest (EP-19, EP-20)."""

    kind: ClassVar[str] = "sell"


class ElPasoActions:
    """All actions of one set of components, in the order of their codes, with look-ups for the rules."""

    def __init__(self, game: ElPaso, figures: Components) -> None:
        table: list[Action] = []
        self.stay = game.add(table, Stay, "stay")
        self.leave = game.add(table, Leave, "leave")
        self.answers: tuple[Action, ...] = (self.stay, self.leave)
        self.draw = tuple(game.add(table, Draw, f"draw {site.label}", site) for site in SITES)
        self.sell = game.add(table, Sell, "sell the rest")
        # Tiles of one site and value are the same at the table: one action. The order of this table is EP-19's
        # fixed order of sites and values, so each set of tiles can be carried in one way only.
        self.carry: dict[tuple[int, int], Action] = {
            (int(site), value): game.add(table, Carry, f"carry {site.label} {value}", site, value)
            for site, values in zip(SITES, figures.tiles.by_site(), strict=True)
            for value in sorted(set(values))
        }
        self.play = tuple(
            {
                value: game.add(table, Play, f"play {site.label} {value}", site, value)
                for value in sorted(figures.cards.values)
            }
            for site in SITES
        )
        self.all = tuple(table)
