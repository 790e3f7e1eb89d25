"""For learning programs: views as numbers, and Arena's games in PettingZoo, Gymnasium and OpenSpiel.

Their libraries are extras: import `harness.adapters.pettingzoo`, `.gymnasium` or `.openspiel` for the one you use.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Import libraries of an extra; if one is missing, the error says what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        fix = f"pip install 'arena-harness[{name}]'"
        raise ModuleNotFoundError(f"This needs {error.name}, which is not installed: {fix}.") from None
