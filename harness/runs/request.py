"""What is asked for: the one frozen value that the command line, a TOML file and a notebook make to play a run."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from types import NoneType
from typing import Any, get_args

from msgspec import Struct, field
from msgspec.structs import force_setattr

from harness.core.action import Action
from harness.core.bot import Bot
from harness.core.errors import UnknownName, UsageError
from harness.core.types import Clock, Isolation, Value
from harness.executors.jobs import MOST_WORKERS, ClusterChoice
from harness.plugins.entrants import BotEntry
from harness.runs.file_places import FilePlaces

BotLike = str | type[Bot] | Bot | Callable[[Any, Sequence[Action]], Action] | tuple[str, Any] | BotEntry
"""A bot's name, class, object (its class plays), or a function `(view, actions) -> action`; or a pair of a name that
it is to have, and one of these; or a BotEntry, with team and author."""

DEALS = 10
MOVE_TIME = 10.0
MEMORY = 4096
MOST_DEALS = 10**12
MOST_SEED = 2**128 - 1
"""Luck is keyed with sixteen bytes."""
SAFE_BITS = 48
"""A seed with fewer bits can be found out by trial within a run."""
RESULTS, RESULTS_VARIABLE = "results", "ARENA_RESULTS"
"""The folder that holds runs, and what names another one in the environment."""
LIMITS = (
    "move_time", "game_time", "clock", "memory", "threads", "isolate", "keep_processes", "ponder", "max_faults",
)  # fmt: skip
"""What bots may use and how they are kept: part of what a run is, kept in its run.json."""


def default_results() -> str:
    """The folder that holds runs where nobody names one."""
    return os.environ.get(RESULTS_VARIABLE) or RESULTS


class RunRequest(Struct, frozen=True, kw_only=True, rename="kebab", forbid_unknown_fields=True):
    """Everything that can be said about a run before it is played. A bad value is refused with what is allowed."""

    games: tuple[str, ...] = ()
    """Names of games; none is all that are installed."""
    bots: tuple[Any, ...] = ()
    """Who plays (see BotLike), or a mapping of names to bots; none is all quick ones that are installed."""
    options: dict[str, Value] = {}
    """Options of the games."""
    players: int | None = None
    """Bots at a table; None is up to four, as the game and the field allow."""
    deals: int = DEALS
    seed: int | None = None
    """The luck of the run; None is drawn, and kept."""
    format: str = "round-robin"
    """A format, with its options behind a colon: `swiss:rounds=5`."""
    candidates: tuple[Any, ...] = ()
    """Whom the run is about, in formats that have candidates."""
    move_time: float | None = None
    """Seconds of wall-clock time for one decision; 0 is no limit, None is 10, or no limit with 0 workers: whoever
    debugs takes time."""
    game_time: float = 0.0
    """Seconds for all decisions of a bot in a match; 0 is no limit."""
    memory: int = MEMORY
    """Megabytes for a worker, or for an isolated bot; 0 is no limit."""
    threads: int = 1
    """Threads of a native pool (OpenMP, BLAS, torch) in a worker, or in an isolated bot; 0 is as many as it likes."""
    isolate: Isolation = "auto"
    """Which bots play in processes without rights: programs and other people's files (auto), none (off), all (on);
    strict is on with a new process for each match, and refuses what this machine cannot enforce."""
    clock: Clock = "fair"
    """Whether a late answer that took little processor time is tried once more; "wall" is the hard line."""
    keep_processes: bool = False
    """Whether programs that are slow to start play on, in matches of other deals, instead of being started for each."""
    ponder: bool = False
    """Whether bots in processes of their own may go on thinking while others are asked."""
    max_faults: int = 0
    """Faults after which a bot is disqualified; 0 is never."""
    workers: int | None = None
    """Processes that play; 0 plays in this one, None is as many as ARENA_WORKERS says, or one for each core. On a
    cluster: for each node, None is one for each thread of its Dask worker."""
    cluster: str | None = None
    """A Dask cluster whose nodes play: a scheduler's address or file, `local:4`, or `module:function`; None is this
    machine."""
    ship: bool = False
    """Whether packages of games and bots, and arena itself, are sent along to the nodes of the cluster."""
    name: str | None = None
    """The name of the run's folder; None is the time."""
    results: str = field(default_factory=default_results)
    """The folder that holds runs; by default what ARENA_RESULTS names, or `results`."""
    strict: bool = False
    """Whether a broken plugin is an error, instead of a warning."""
    file: FilePlaces | None = None
    """The file that it was read from, if it was: whatever is wrong is told with its line."""

    def __post_init__(self) -> None:
        if isinstance(self.bots, Mapping):
            force_setattr(self, "bots", tuple(self.bots.items()))
        for name in ("games", "bots", "candidates"):
            if isinstance(getattr(self, name), list):
                force_setattr(self, name, tuple(getattr(self, name)))
        if isinstance(self.options, Mapping):
            force_setattr(self, "options", dict(self.options))  # nobody else's, who might change it
        for name in self.__struct_fields__:
            check_field(name, getattr(self, name))
        if self.cluster and self.workers == 0:
            why = "On a cluster the nodes play: leave out --workers 0 (workers=0), or --cluster."
            raise self._refused("workers", why)
        if self.ship and not self.cluster:
            why = "Packages are sent along (--ship) to the nodes of a cluster: name one (--cluster)."
            raise self._refused("ship", why)

    def _refused(self, name: str, why: str) -> UsageError:
        error = UsageError(why)
        if self.file is not None:
            self.file.blame(error, self, name)
        return error

    @property
    def on_cluster(self) -> ClusterChoice:
        """Where it is played, if not on this machine."""
        return ClusterChoice(self.cluster or "", self.ship)

    @property
    def limits(self) -> dict[str, Value]:
        """What bots may use and how they are kept, as run.json has it."""
        unlimited = self.workers == 0
        move_time = (0.0 if unlimited else MOVE_TIME) if self.move_time is None else self.move_time
        return {name: move_time if name == "move_time" else getattr(self, name) for name in LIMITS}

    @classmethod
    def from_file(cls, path: str | Path, **given: Any) -> RunRequest:
        """The request that a TOML file makes, or that a run was made by, given by its folder or its run.json; what is
        `given` here counts instead of what the file says."""
        from harness.runs.event_file import asked_in

        return cls(**{**asked_in(Path(path)), **given})

    def save(self, path: str | Path, force: bool = False) -> None:
        """Writes a TOML file that asks for the same; refuses to replace one that exists, unless told to (`force`)."""
        from harness.runs.event_writing import write_event

        write_event(self, Path(path), force)


_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "games": ((tuple,), "a list of names"),
    "bots": ((tuple,), "a list of bots"),
    "candidates": ((tuple,), "a list of bots"),
    "options": ((Mapping,), "a mapping of names to values"),
    "players": ((int, NoneType), "a whole number"),
    "deals": ((int,), "a whole number"),
    "seed": ((int, NoneType), "a whole number"),
    "format": ((str,), "a text like 'swiss:rounds=5'"),
    "memory": ((int,), "a whole number of megabytes"),
    "threads": ((int,), "a whole number"),
    "max_faults": ((int,), "a whole number"),
    "workers": ((int, NoneType), "a whole number"),
    "cluster": ((str, NoneType), "a text like 'tcp://10.0.0.1:8786' or 'local:4'"),
    "ship": ((bool,), "true or false"),
    "name": ((str, NoneType), "a text"),
    "results": ((str, Path), "a folder"),
    "strict": ((bool, NoneType), "true or false"),
    "keep_processes": ((bool,), "true or false"),
    "ponder": ((bool,), "true or false"),
    "move_time": ((int, float, NoneType), "a number of seconds"),
    "game_time": ((int, float), "a number of seconds"),
    "file": ((FilePlaces, NoneType), "what a file was read into"),
}
"""What fields must be that Python callers may get wrong."""
_RANGES: Mapping[str, tuple[int, int | None]] = {
    "deals": (1, MOST_DEALS),
    "seed": (0, MOST_SEED),
    "move_time": (0, None),
    "game_time": (0, None),
    "memory": (0, None),
    "threads": (0, None),
    "max_faults": (0, None),
    "workers": (0, MOST_WORKERS),
}
_WORDS: Mapping[str, tuple[str, ...]] = {"isolate": get_args(Isolation), "clock": get_args(Clock)}


def check_field(name: str, value: Any, shown: str = "") -> None:
    """Refuses what a field of a RunRequest cannot be, whatever the others are; `shown` is what a file calls it."""
    if name in _KINDS:
        kinds, what = _KINDS[name]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise UsageError(f"The field {shown or name} of a run is {what}, not {value!r}.")
    if name in _RANGES and value is not None:
        _check_number(name, value, *_RANGES[name])
    elif name in _WORDS and value not in _WORDS[name]:
        raise UnknownName({"isolate": "isolation"}.get(name, name), str(value), _WORDS[name])
    elif name == "games" and not all(isinstance(game, str) for game in value):
        raise UsageError(f"The games of a run are names, not {value!r}.")
    elif name in ("bots", "candidates"):
        for bot in value:
            _check_bot(bot)


def _check_bot(bot: Any) -> None:
    plain = bot.bot if isinstance(bot, BotEntry) else bot
    one = plain[1] if isinstance(plain, tuple) and len(plain) == 2 else plain
    if not (isinstance(one, str | Bot) or callable(one)):
        raise UsageError(f"{bot!r} is no bot: give a name, a class, or a function (view, actions) -> action.")


def _check_number(name: str, value: Any, least: int, most: int | None = None) -> None:
    if not isinstance(value, int | float) or not isfinite(value) or value < least:
        if name == "deals":
            raise UsageError(f"There must be at least one deal, not {value}.")
        raise UsageError(f"{name.replace('_', ' ').capitalize()} must be at least {least}, not {value}.")
    if most is not None and value > most:
        raise UsageError(f"{name.replace('_', ' ').capitalize()} can be {most} at most, not {value}.")


def draw_seed(bits: int = MOST_SEED.bit_length()) -> int:
    """A seed that no bot can know beforehand: a known one is an open deck.

    A run's has all the bits that luck is keyed with. A bot is told a number that follows from it, and sees what it was
    dealt: of a short seed it could try them all until one fits, and know the rest of the run.
    """
    return secrets.randbits(bits)
