"""Flat Monte Carlo search, for any game."""

# mypyc compiles this module. `mypyc_attr` keeps methods overridable for plain Python subclasses. Structs and
# dataclasses are in other modules: mypyc silently loses what makes them frozen.

from __future__ import annotations

from collections.abc import Sequence

from mypy_extensions import mypyc_attr

from bots.search.base import OPTIONS, SearchBot
from bots.search.race import NEVER
from harness import Action, View


@mypyc_attr(allow_interpreted_subclasses=True)
class FlatMc(SearchBot):
    """Tries every action in the same imagined worlds, plays on, and takes the one that does best on average."""

    options = OPTIONS

    def choose(self, view: View, actions: Sequence[Action]) -> Action:
        """Return the action with the highest average reward; with a guide, its advice unless it is refuted."""
        return self.race(view, actions, self.doubt or NEVER)
