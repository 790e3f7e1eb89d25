"""For learning programs: views as numbers, and Arena's games in PettingZoo, Gymnasium and OpenSpiel.

Their libraries are extras: import `harness.adapters.pettingzoo`, `.gymnasium` or `.openspiel` for the one you use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.adapters.policy import PolicyBot, policy_bot

__all__ = ["PolicyBot", "policy_bot"]


def __getattr__(name: str) -> object:
    # Loaded on first use: a learned bot needs the encoding only.
    if name in __all__:
        value: object = getattr(import_module("harness.adapters.policy"), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
