"""The table of all actions of El Paso, with look-ups for the rules."""

# mypyc compiles this module: plain classes with typed attributes, because it silently loses what makes structs and
# dataclasses frozen, and reads typed attributes like fields of a C struct.

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from engines.el_paso.actions import Carry, Draw, Leave, Play, Sell, Stay
from engines.el_paso.components import SITES, Components
from harness import Action

if TYPE_CHECKING:
    from engines.el_paso.game import ElPaso


class ElPasoActions:
    """All actions of one set of components, in the order of their codes, with look-ups for the rules."""

    def __init__(self, game: ElPaso, figures: Components) -> None:
        table: list[Action] = []
        self.stay: Action = game.add(table, Stay, "stay")
        self.leave: Action = game.add(table, Leave, "leave")
        self.answers: tuple[Action, ...] = (self.stay, self.leave)
        self.draw: tuple[Action, ...] = tuple([game.add(table, Draw, f"draw {site.label}", site) for site in SITES])
        self.sell: Action = game.add(table, Sell, "sell the rest")
        # Tiles of one site and value are the same at the table: one action. The order of this table is EP-19's
        # fixed order of sites and values, so each set of tiles can be carried in one way only.
        carries = [
            {value: game.add(table, Carry, f"carry {site.label} {value}", site, value) for value in sorted(set(values))}
            for site, values in zip(SITES, figures.tiles.by_site(), strict=True)
        ]
        plays = [
            {
                value: game.add(table, Play, f"play {site.label} {value}", site, value)
                for value in sorted(figures.cards.values)
            }
            for site in SITES
        ]
        self.carry: tuple[list[Action], ...] = tuple([self._by_value(actions) for actions in carries])
        """The action for each tile, by site and value."""
        self.play: tuple[list[Action], ...] = tuple([self._by_value(actions) for actions in plays])
        """The action for each card, by site and value."""
        self.all: tuple[Action, ...] = tuple(table)
        self.named: tuple[tuple[int, int], ...] = tuple([_named(action) for action in table])
        """Site and value of the card or the tile that an action names, by its code; -1 for what it does not name."""

    def _by_value(self, actions: Mapping[int, Action]) -> list[Action]:
        """Return the actions by value as a list, which is seven times as fast as a dict if compiled; what it has for
        other values is never read."""
        return [actions.get(value, self.sell) for value in range(max(actions) + 1)]


def _named(action: Action) -> tuple[int, int]:
    return int(getattr(action, "site", -1)), int(getattr(action, "value", -1))
