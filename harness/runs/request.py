"""RunRequest: the description of a run that the command line, a config file or a Python call creates."""

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
"""The path to a value: keys of tables and indexes of lists, counted from 0."""


class Place(NamedTuple):
    """Line and column in a text, counted from 1."""

    line: int
    column: int

    def of(self, path: object) -> str:
        """Return the prefix of a message about this place in a file."""
        return f"{path}, line {self.line}, column {self.column}:"


@dataclass(frozen=True, slots=True, eq=False)
class FilePlaces:
    """The config file of a request: its values, and the line and column of each."""

    path: str
    given: Mapping[str, Any] = dataclasses.field(repr=False)
    """Values in the file, by field of the request."""
    places: Mapping[KeyPath, Place] = dataclasses.field(repr=False)
    """Places of fields and of their items; an item is found by its index in the request or by its key."""
    left_out: str = ""
    """Warning that `isolate = 'off'` was ignored because the file is untrusted; empty if nothing was ignored."""

    def blame(self, error: ArenaError, request: object, name: str, *item: str | int) -> None:
        """Prefix the message of an error with the place of the field or item that it is about.

        The error stays as it is if the request has another value than the file: an option of the command line, for
        example, replaces what the file says.
        """
        place = self.places.get((name, *item)) or self.places.get((name,))
        if place is not None and self._is_from_here(getattr(request, name), name, item):
            error.args = (f"{place.of(self.path)} {error}",)

    def _is_from_here(self, asked: Any, name: str, item: KeyPath) -> bool:
        given = self.given.get(name)
        if name == "options" and item and isinstance(given, Mapping):
            return item[0] in given and bool(given[item[0]] == asked.get(item[0]))
        return bool(given == asked)


# The request itself: one frozen value, whether it comes from the command line, a TOML file or a notebook.


BotLike = str | type[Bot] | Bot | Callable[[Any, Sequence[Action]], Action] | tuple[str, Any] | BotEntry
"""A bot: its name, a class, an instance (only its class is used), or a function `(view, actions) -> action`; or a pair
`(name, bot)` that renames one of these; or a BotEntry, with team and author."""

SAFE_BITS = 48
"""Bits of the shortest seed that a bot cannot find by brute force during a run."""


class RunRequest(RunOptions, frozen=True, kw_only=True):
    """Everything that can be specified about a run. A bad value raises an error that names the allowed ones.

    Each field is documented where it is declared, in RunOptions; `arena tournament --help` shows them all.
    """

    file: FilePlaces | None = None
    """The config file that the request was read from, if any, so that errors can name the line. For internal use."""

    def __post_init__(self) -> None:
        # Callers may pass lists, mappings and paths. They are converted before the fields are checked, and
        # force_setattr is needed because the struct is frozen.
        if isinstance(self.bots, Mapping):
            force_setattr(self, "bots", tuple(self.bots.items()))
        for name in ("games", "bots", "candidates"):
            if isinstance(getattr(self, name), list):
                force_setattr(self, name, tuple(getattr(self, name)))
        if isinstance(self.options, Mapping):
            force_setattr(self, "options", dict(self.options))  # a copy: the caller may change the original later
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
        """The cluster that plays the run, if it is not played on this machine."""
        return ClusterChoice(self.cluster or "", self.ship)

    @classmethod
    def from_file(cls, path: str | Path, **given: Any) -> RunRequest:
        """Return the request in a TOML file, or the one that an existing run was created by.

        A run is given by its folder or its run.json. Fields in `given` replace those of the file.
        """
        from harness.runs.config_file import asked_in

        return cls(**{**asked_in(Path(path)), **given})

    def save(self, path: str | Path, force: bool = False) -> None:
        """Write the request to a TOML file. Raise UsageError if the file exists, unless `force` is set."""
        from harness.runs.config_file import write_event

        write_event(self, Path(path), force)


def check_bot(bot: Any) -> None:
    """Raise UsageError if the value is not a BotLike."""
    plain = bot.bot if isinstance(bot, BotEntry) else bot
    one = plain[1] if isinstance(plain, tuple) and len(plain) == 2 else plain
    if not (isinstance(one, str | Bot) or callable(one)):
        raise UsageError(f"{bot!r} is no bot: give a name, a class, or a function (view, actions) -> action.")


def draw_seed(bits: int = MAX_SEED.bit_length()) -> int:
    """Return a random seed that bots cannot predict: a bot that knows the seed knows all cards.

    By default it has as many bits as the random numbers of a run are keyed with. A bot receives a number derived from
    the seed and sees its own cards. If the seed were short, it could try all seeds until one matches, and then know the
    cards of the rest of the run.
    """
    return secrets.randbits(bits)
