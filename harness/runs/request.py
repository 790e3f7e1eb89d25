"""What is asked for: the one frozen value that the command line, a TOML file and a notebook make to play a run."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from types import NoneType
from typing import Any, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from harness.core.bot import Bot
from harness.core.errors import UnknownName, UsageError
from harness.core.game import Action
from harness.core.types import Clock, Isolation, Value

BotLike = str | type[Bot] | Bot | Callable[[Any, Sequence[Action]], Action] | tuple[str, Any]
"""A bot's name, class, object (its class plays), or a function `(view, actions) -> action`; or a pair of a name that
it is to have, and one of these."""

DEALS = 10
MOVE_TIME = 10.0
MEMORY = 4096
MOST_WORKERS = 1024
MOST_SEED = 2**128 - 1
"""Luck is keyed with sixteen bytes."""
SAFE_BITS = 48
"""A seed with fewer bits can be found out by trial within a run."""
LIMITS = (
    "move_time", "game_time", "clock", "memory", "threads", "isolate", "keep_processes", "ponder", "max_faults",
)  # fmt: skip
"""What bots may use and how they are kept: part of what a run is, kept in its run.json."""


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
    """Processes that play; 0 plays in this one, None is one for each core."""
    name: str | None = None
    """The name of the run's folder; None is the time."""
    results: str = "results"
    """The folder that holds runs."""
    strict: bool = False
    """Whether a broken plugin is an error, instead of a warning."""

    def __post_init__(self) -> None:
        if isinstance(self.bots, Mapping):
            force_setattr(self, "bots", tuple(self.bots.items()))
        for field in ("games", "bots", "candidates"):
            if isinstance(getattr(self, field), list):
                force_setattr(self, field, tuple(getattr(self, field)))
        if isinstance(self.options, Mapping):
            force_setattr(self, "options", dict(self.options))  # nobody else's, who might change it
        for field, kinds, what in _KINDS:
            if not isinstance(getattr(self, field), kinds):
                raise UsageError(f"The field {field} of a run is {what}, not {getattr(self, field)!r}.")
        self._check_values()

    def _check_values(self) -> None:
        for field, least, most in _RANGES:
            if getattr(self, field) is not None:
                _check_number(field, getattr(self, field), least, most)
        if self.isolate not in get_args(Isolation):
            raise UnknownName("isolation", str(self.isolate), get_args(Isolation))
        if self.clock not in get_args(Clock):
            raise UnknownName("clock", str(self.clock), get_args(Clock))
        if not all(isinstance(game, str) for game in self.games):
            raise UsageError(f"The games of a run are names, not {self.games!r}.")
        for bot in (*self.bots, *self.candidates):
            one = bot[1] if isinstance(bot, tuple) and len(bot) == 2 else bot
            if not (isinstance(one, str | Bot) or callable(one)):
                raise UsageError(f"{bot!r} is no bot: give a name, a class, or a function (view, actions) -> action.")

    @property
    def limits(self) -> dict[str, Value]:
        """What bots may use and how they are kept, as run.json has it."""
        unlimited = self.workers == 0
        move_time = (0.0 if unlimited else MOVE_TIME) if self.move_time is None else self.move_time
        return {name: move_time if name == "move_time" else getattr(self, name) for name in LIMITS}

    @classmethod
    def from_file(cls, path: str | Path, **given: Any) -> RunRequest:
        """The request that a TOML file makes; what is `given` here counts instead of what the file says."""
        return cls(**{**cls.read(Path(path)), **given})

    @classmethod
    def read(cls, path: Path) -> dict[str, Any]:
        """The fields that a TOML file gives; they are named like the options of `arena tournament`."""
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"Cannot read {path}: {error}.") from error
        try:
            given = msgspec.toml.decode(text)
            if isinstance(given.get("bots"), dict):  # a table: names of one's own
                given["bots"] = [f"{name}={bot}" for name, bot in given["bots"].items()]
            asked = msgspec.convert(given, type=cls)
        except msgspec.DecodeError as error:
            raise UsageError(f"{path} does not ask for a run that can be played: {error}.") from error
        fields = dict(zip(cls.__struct_encode_fields__, cls.__struct_fields__, strict=True))
        return {fields[name]: getattr(asked, fields[name]) for name in given}


_KINDS: tuple[tuple[str, tuple[type, ...], str], ...] = (
    ("games", (tuple,), "a list of names"),
    ("bots", (tuple,), "a list of bots"),
    ("candidates", (tuple,), "a list of bots"),
    ("options", (Mapping,), "a mapping of names to values"),
    ("players", (int, NoneType), "a whole number"),
    ("deals", (int,), "a whole number"),
    ("seed", (int, NoneType), "a whole number"),
    ("format", (str,), "a text like 'swiss:rounds=5'"),
    ("memory", (int,), "a whole number of megabytes"),
    ("threads", (int,), "a whole number"),
    ("max_faults", (int,), "a whole number"),
    ("workers", (int, NoneType), "a whole number"),
    ("name", (str, NoneType), "a text"),
    ("results", (str, Path), "a folder"),
    ("strict", (bool, NoneType), "true or false"),
    ("keep_processes", (bool,), "true or false"),
    ("ponder", (bool,), "true or false"),
    ("move_time", (int, float, NoneType), "a number of seconds"),
    ("game_time", (int, float), "a number of seconds"),
)
"""What fields must be that Python callers may get wrong."""
_RANGES: tuple[tuple[str, int, int | None], ...] = (
    ("deals", 1, None),
    ("seed", 0, MOST_SEED),
    ("move_time", 0, None),
    ("game_time", 0, None),
    ("memory", 0, None),
    ("threads", 0, None),
    ("max_faults", 0, None),
    ("workers", 0, MOST_WORKERS),
)


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
