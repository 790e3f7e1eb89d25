"""The one value that the command line, a config file and Python calls make: what a run should be."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import force_setattr

from harness.core.action import Action
from harness.core.bot import Bot
from harness.core.errors import ArenaError, UsageError
from harness.core.options import MAX_SEED, RunOptions
from harness.executors.base import ClusterChoice
from harness.plugins.entrants import BotEntry

# Line and column of each key of a config file, so that a message about a mistake can name them.


KeyPath = tuple[str | int, ...]
"""The keys that lead to a value, and the places in lists, counted from 0."""


class Place(NamedTuple):
    """A place in a text, counted from 1."""

    line: int
    column: int

    def of(self, path: object) -> str:
        """What stands before a sentence about this place of a file."""
        return f"{path}, line {self.line}, column {self.column}:"


@dataclass(frozen=True, slots=True, eq=False)
class FilePlaces:
    """Where each thing that was asked for stands in a file."""

    path: str
    given: Mapping[str, Any] = dataclasses.field(repr=False)
    """What the file says, field by field."""
    places: Mapping[KeyPath, Place] = dataclasses.field(repr=False)
    """Fields, and items of those that have several, by their number in the request or by their key."""
    left_out: str = ""
    """What it says and may not, in a sentence: the file is a stranger's, and would let bots play with our rights."""

    def blame(self, error: ArenaError, request: object, name: str, *item: str | int) -> None:
        """Lets an error begin with where that stands which it is about, if the request has it from the file."""
        place = self.places.get((name, *item)) or self.places.get((name,))
        if place is not None and self._is_from_here(getattr(request, name), name, item):
            error.args = (f"{place.of(self.path)} {error}",)

    def _is_from_here(self, asked: Any, name: str, item: KeyPath) -> bool:
        given = self.given.get(name)
        if name == "options" and item and isinstance(given, Mapping):
            return item[0] in given and bool(given[item[0]] == asked.get(item[0]))
        return bool(given == asked)


# What is asked for: the one frozen value that the command line, a TOML file and a notebook make to play a run.


BotLike = str | type[Bot] | Bot | Callable[[Any, Sequence[Action]], Action] | tuple[str, Any] | BotEntry
"""A bot's name, class, object (its class plays), or a function `(view, actions) -> action`; or a pair of a name that
it is to have, and one of these; or a BotEntry, with team and author."""

SAFE_BITS = 48
"""A seed with fewer bits can be found out by trial within a run."""


class RunRequest(RunOptions, frozen=True, kw_only=True):
    """Everything that can be said about a run before it is played. A bad value is refused with what is allowed.

    Each field is documented where it is declared, in RunOptions; `arena tournament --help` shows them all.
    """

    file: FilePlaces | None = None
    """The file that it was read from, if any, so that a message about a mistake can name the line; not for users."""

    def __post_init__(self) -> None:
        if isinstance(self.bots, Mapping):
            force_setattr(self, "bots", tuple(self.bots.items()))
        for name in ("games", "bots", "candidates"):
            if isinstance(getattr(self, name), list):
                force_setattr(self, name, tuple(getattr(self, name)))
        if isinstance(self.options, Mapping):
            force_setattr(self, "options", dict(self.options))  # the caller may change theirs later
        if isinstance(self.results, Path):
            force_setattr(self, "results", str(self.results))
        super().__post_init__()
        if not all(isinstance(game, str) for game in self.games):
            raise UsageError(f"The games of a run are names, not {self.games!r}.")
        for bot in (*self.bots, *self.candidates):
            check_bot(bot)
        if self.cluster and self.workers == 0:
            raise self._refused(
                "workers", "On a cluster the nodes play: workers=0 is not possible.", fix="cluster-workers"
            )
        if self.ship and not self.cluster:
            raise self._refused(
                "ship", "Packages are shipped to the nodes of a cluster, and none is named.", fix="cluster"
            )

    def _refused(self, name: str, why: str, fix: str) -> UsageError:
        error = UsageError(why, fix)
        if self.file is not None:
            self.file.blame(error, self, name)
        return error

    @property
    def on_cluster(self) -> ClusterChoice:
        """Where it is played, if not on this machine."""
        return ClusterChoice(self.cluster or "", self.ship)

    @classmethod
    def from_file(cls, path: str | Path, **given: Any) -> RunRequest:
        """The request that a TOML file makes, or that a run was made by, given by its folder or its run.json; what is
        `given` here counts instead of what the file says."""
        from harness.runs.config_file import asked_in

        return cls(**{**asked_in(Path(path)), **given})

    def save(self, path: str | Path, force: bool = False) -> None:
        """Writes a TOML file that asks for the same; refuses to replace one that exists, unless told to (`force`)."""
        from harness.runs.config_file import write_event

        write_event(self, Path(path), force)


def check_bot(bot: Any) -> None:
    """Refuse what is no BotLike."""
    plain = bot.bot if isinstance(bot, BotEntry) else bot
    one = plain[1] if isinstance(plain, tuple) and len(plain) == 2 else plain
    if not (isinstance(one, str | Bot) or callable(one)):
        raise UsageError(f"{bot!r} is no bot: give a name, a class, or a function (view, actions) -> action.")


def draw_seed(bits: int = MAX_SEED.bit_length()) -> int:
    """A seed that no bot can know beforehand: a known one is an open deck.

    A run's has all the bits that luck is keyed with. A bot is told a number that follows from it, and sees what it was
    dealt: of a short seed it could try them all until one fits, and know the rest of the run.
    """
    return secrets.randbits(bits)
