"""What a bot author writes against: one class, one method."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from random import Random
from typing import Any, ClassVar

from harness.core.game import Action, Game
from harness.core.types import Event, GameRecord, Option, Value


class Bot:
    """A player. Subclass it, list the games it plays, write `choose`.

    One object plays one match in one seat. arena makes it, sets the attributes below, calls `start`, then `choose`
    for each decision, and `finish` at the end. Whatever it raises is a fault of the bot, never of the run.
    """

    name: ClassVar[str] = ""
    """The name on the command line; by default the class's name in kebab-case."""
    games: ClassVar[tuple[str, ...]] = ()
    """Names of the games it plays; empty means any game."""
    version: ClassVar[str] = ""
    """By default the version of the package it comes in."""
    options: ClassVar[tuple[Option, ...]] = ()
    """What can be set in its name, as in `sprinter:stars=2`."""
    by_default: ClassVar[bool] = True
    """Whether `arena tournament` enters it when no bot is named; a slow bot says False."""

    game: Game[Any]
    """The rules being played: `self.game.actions`, `self.game.imagine(view, self.rng)`, `self.game.settings`."""
    seat: int
    players: int
    settings: Mapping[str, Value]
    """Its options with their values."""
    seed: int
    """Belongs to this bot in this seat of this match."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = kebab(cls.__name__)

    @cached_property
    def rng(self) -> Random:
        """This bot's own luck in this match: use it, and the match can be repeated."""
        return Random(self.seed)

    def start(self) -> None:
        """Called once, when game, seat and players are known."""

    def observe(self, events: Sequence[Event]) -> None:
        """What this seat could see since its last decision, before each `choose`; override it to be sent events."""

    def choose(self, view: Any, actions: Sequence[Action]) -> Action:
        """One of `actions` (there are always at least two)."""
        raise NotImplementedError(f"{type(self).__name__} has no choose() method.")

    def finish(self, record: GameRecord) -> None:
        """Called once, when the match is over; the record does not say which deal it was."""


def kebab(name: str) -> str:
    """`StayToTheLast` -> `stay-to-the-last`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()
