"""The hooks through which bots, games and formats come in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pluggy

from harness.core.bot import Bot
from harness.core.format import Format
from harness.core.game import Game

PROJECT = "arena"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def arena_bots() -> Sequence[type[Bot]]:  # type: ignore[empty-body]  # a hook specification has no body
    """The bot classes that this plugin offers."""


@hookspec
def arena_games() -> Sequence[type[Game[Any]]]:  # type: ignore[empty-body]  # likewise
    """The game classes that this plugin offers."""


@hookspec
def arena_formats() -> Sequence[Format]:  # type: ignore[empty-body]  # likewise
    """The tournament formats that this plugin offers."""
