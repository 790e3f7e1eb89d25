"""RunRequest: the description of a run that the command line, a config file or a Python call creates."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import force_setattr

from harness.core.action import Action
from harness.core.bot import Bot
from harness.core.errors import UsageError
from harness.core.options import MAX_SEED, SIZES, RunOptions, seconds_of
from harness.executors.base import ClusterChoice
from harness.plugins.entrants import BotEntry
from harness.runs.config_file import FilePlaces, read_config_file, write_config_file
from harness.runs.store import RUN, RunFolder

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
    """The config file or run.json that the request was read from, if any: errors name the line, and Python files that
    it names are untrusted. For internal use."""

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
        self._check_size()
        if self.cluster and self.workers == 0:
            raise self._refused(
                "workers", "On a cluster the nodes play: workers=0 is not possible.", fix="cluster-workers"
            )
        if self.ship and not self.cluster:
            raise self._refused(
                "ship", "Packages are shipped to the nodes of a cluster, and none is named.", fix="cluster"
            )

    def _check_size(self) -> None:
        given = [name for name in SIZES if getattr(self, name) is not None]
        if len(given) > 1:
            raise self._refused(
                given[1], "The length of a run is given once: by deals, a time, or matches of each bot."
            )
        if self.for_ is None:
            return
        try:
            seconds_of(self.for_)
        except UsageError as error:
            raise self._refused("for_", str(error)) from None
        if self.cluster:
            raise self._refused("for_", "A run on a cluster cannot be planned by time: trial matches are played here.")

    def _refused(self, name: str, why: str, fix: str = "") -> UsageError:
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
        return cls(**{**asked_in(Path(path)), **instead(given)})

    def save(self, path: str | Path, force: bool = False) -> None:
        """Write the request to a TOML file. Raise UsageError if the file exists, unless `force` is set."""
        write_config_file(self, Path(path), force)


def instead(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields that replace those of a file or another request: one that says how long a run is replaces all."""
    return {**(dict.fromkeys(SIZES) if any(given.get(name) is not None for name in SIZES) else {}), **given}


def check_bot(bot: Any) -> None:
    """Raise UsageError if the value is not a BotLike."""
    plain = bot.bot if isinstance(bot, BotEntry) else bot
    one = plain[1] if isinstance(plain, tuple) and len(plain) == 2 else plain
    if not (isinstance(one, str | Bot) or callable(one)):
        raise UsageError(f"{bot!r} is not a bot: give a name, a class, or a function (view, actions) -> action.")


def draw_seed(bits: int = MAX_SEED.bit_length()) -> int:
    """Return a random seed that bots cannot predict: a bot that knows the seed knows all cards.

    By default it has as many bits as the random numbers of a run are keyed with. A bot receives a number derived from
    the seed and sees its own cards. If the seed were short, it could try all seeds until one matches, and then know the
    cards of the rest of the run.
    """
    return secrets.randbits(bits)


def asked_in(path: Path) -> dict[str, Any]:
    """Return the fields of the RunRequest in a TOML file, or of the one that a run was created by.

    A run is given by its folder or its run.json.
    """
    if is_run(path):
        from harness.runs.resume import fields_of_run  # that module imports this one

        return fields_of_run(run_at(path))
    return read_config_file(path)


def is_run(path: Path) -> bool:
    """Return whether this is the folder of a run or its run.json, and no config file."""
    return path.name == RUN or path.is_dir()


def run_at(path: Path) -> RunFolder:
    """Return the run in this folder, or the run of this run.json."""
    return RunFolder.open(path.parent if path.name == RUN else path)
