"""Reads a game's figures (cards, tiles, towns) from TOML into a typed value."""

from __future__ import annotations

from importlib import resources
from typing import TypeVar

import msgspec

from harness.core.errors import BadComponents

T = TypeVar("T")


def bundled(package: str, name: str) -> str:
    """The text of a data file inside an engine's own package, e.g. `bundled("engines.el_paso", "el_paso.toml")`."""
    return (resources.files(package) / "data" / name).read_text(encoding="utf-8")


def read_components(game: str, text: str, shape: type[T]) -> T:
    """The figures as `shape`; raises BadComponents with the place where they do not fit."""
    try:
        return msgspec.toml.decode(text, type=shape)
    except msgspec.ValidationError as error:
        raise BadComponents(f"{game}'s components do not fit: {error}.") from error
    except msgspec.DecodeError as error:
        raise BadComponents(f"{game}'s components are not TOML: {error}.") from error
