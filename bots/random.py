"""The bot that everyone must beat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness import Action, Bot


class Random(Bot):
    """Takes any legal action, all equally likely."""

    def choose(self, view: Any, actions: Sequence[Action]) -> Action:
        """Return one of them."""
        return actions[int(self.rng.random() * len(actions))]
