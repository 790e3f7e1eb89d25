"""Options that games, bots and formats declare, and the options of a run with its limits."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from math import isfinite
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from msgspec import NODEFAULT, Meta, Struct, field
from msgspec.structs import fields

from harness.core.errors import BadOption, PluginError, UnknownName, UsageError
from harness.core.files import UnreadableFile, read_regular_file
from harness.core.records import Clock, Isolation, Option, Value

# Options of games, bots and formats: defaults, types, allowed values, files by digest


DIGEST = "sha256:"
NO_FILES: Mapping[str, str] = {}
MAX_FILE_BYTES = 1_000_000
"""Maximum size of a file option: the run stores its content and sends it to processes with each match."""


def digest_of(content: str) -> str:
    """Return the name under which a file's content is recorded."""
    return DIGEST + sha256(content.encode()).hexdigest()[:16]


def resolve(
    owner: str, declared: Iterable[Option], given: Mapping[str, object], kept: Mapping[str, str] | None = None
) -> tuple[dict[str, Value], dict[str, str]]:
    """Return all declared options with their values, and the contents of files among them by digest.

    `kept` has the contents of files that are given by digest, as in records. Without it they are given by path, as a
    user types them.
    """
    # All declared options are returned, not only those that were given: records must not depend on later defaults.
    by_name = {option.name: option for option in declared}
    for name in given:
        if name not in by_name:
            raise UnknownName(f"option of {owner}", name, by_name)
    settings: dict[str, Value] = {}
    files: dict[str, str] = {}
    for name, option in by_name.items():
        value = _parse(owner, option, given.get(name, option.default))
        if option.kind == "file" and value:
            value = _read_file(owner, option, str(value), kept if name in given else None, files)
        settings[name] = value
    return settings, files


def _parse(owner: str, option: Option, raw: object) -> Value:
    # Values come as text from the command line and as any type from Python and TOML files.
    value = _typed(owner, option, raw)
    if option.choices and value not in option.choices:
        if isinstance(value, str):
            raise UnknownName(f"value of {owner}'s option {option.name}", value, map(str, option.choices))
        raise _error(owner, option, raw)
    if not isinstance(value, str):
        low, high = option.minimum, option.maximum
        if (low is not None and value < low) or (high is not None and value > high):
            raise _error(owner, option, raw)
    return value


def check_defaults(owner: str, options: Iterable[Option]) -> None:
    """Raise PluginError if an option does not allow its own default. Files are not read."""
    for option in options:
        try:
            _parse(owner, option, option.default)
        except UsageError:
            raise PluginError(
                f"{owner}: option {option.name} does not allow its own default {option.default!r}: it takes "
                f"{allowed_text(option)}."
            ) from None


def _typed(owner: str, option: Option, raw: object) -> Value:
    if option.kind in _NUMBERS:
        try:
            number: int | float = _NUMBERS[option.kind](str(raw))
        except ValueError:
            raise _error(owner, option, raw) from None
        if not isfinite(number):
            raise _error(owner, option, raw)
        return number
    if option.kind == "bool":
        word = str(raw).lower()
        if word not in _WORDS:
            raise _error(owner, option, raw)
        return _WORDS[word]
    return str(raw)


_NUMBERS: Mapping[str, type[int] | type[float]] = {"int": int, "float": float}
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def allowed_text(option: Option) -> str:
    """Return what an option allows, for help texts and errors."""
    if option.choices:
        return " | ".join(map(str, option.choices))
    if option.kind == "bool":
        return "true | false"
    if option.kind in ("file", "bot"):
        return f"a {option.kind}"
    if option.kind in _NUMBERS:
        kind = "a whole number" if option.kind == "int" else "a number"
        low, high = option.minimum, option.maximum
        if low is not None and high is not None:
            return f"{kind} from {low} to {high}"
        if low is not None:
            return f"{kind} of at least {low}"
        return kind if high is None else f"{kind} of at most {high}"
    return "any text"


def _error(owner: str, option: Option, raw: object) -> BadOption:
    return BadOption(f"{owner}'s option {option.name} cannot be {str(raw)!r}: it takes {allowed_text(option)}.")


def _read_file(owner: str, option: Option, value: str, kept: Mapping[str, str] | None, files: dict[str, str]) -> str:
    # A record may be untrusted: it must not make us read a file by its path.
    if value.startswith(DIGEST) or kept is not None:
        if kept is None or value not in kept:
            raise BadOption(f"{owner}'s option {option.name}: no content is kept for {value}.")
        if value != digest_of(kept[value]):
            raise BadOption(f"The content kept for {value} does not fit its digest: it was changed.")
        files[value] = kept[value]
        return value
    try:
        content = read_regular_file(Path(value), MAX_FILE_BYTES).decode()
    except (UnreadableFile, UnicodeDecodeError) as error:
        why = error if isinstance(error, UnreadableFile) else f"it is not UTF-8 text ({error})"
        raise BadOption(f"{owner}'s option {option.name}: cannot read {value}: {why}.") from error
    digest = digest_of(content)
    files[digest] = content
    return digest


# Options of a run. Each is one field, annotated with its type, its help text, and a `Meta` with its range, what its
# values are called in messages (title) and more for click (extra). Click options, TOML keys and the checks of Python
# arguments are derived from the fields. They are here, and not with RunRequest, because a shell waits while they load.


DEFAULT_DEALS = 10
DEFAULT_MOVE_TIME_S = 10.0
DEFAULT_MEMORY_MB = 4096
MAX_DEALS = 10**12
MAX_SEED = 2**128 - 1
"""A seed has at most 16 bytes, the length of the key with which Chance computes its hashes."""
MAX_WORKERS = 1024
RESULTS, RESULTS_VARIABLE = "results", "ARENA_RESULTS"
"""Default folder that holds runs, and the environment variable that names another one."""


_TIME = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?", re.ASCII)


def seconds_of(text: str) -> float:
    """Return the seconds of a time like `1h30m`; raise UsageError for any other text."""
    found = _TIME.fullmatch(text.replace(" ", ""))
    parts = [float(part or 0) for part in found.groups()] if found else []
    seconds = sum([part * unit for part, unit in zip(parts, (3600, 60, 1), strict=False)])
    if not 0 < seconds < 1e9:
        raise UsageError(f"{text!r} is not a length of time: write 2h, 1h30m or 45s.")
    return seconds


def default_results() -> str:
    """Return the folder that holds runs if none is given."""
    return os.environ.get(RESULTS_VARIABLE) or RESULTS


class RunOption(NamedTuple):
    """One option of a run, derived from its field."""

    name: str
    key: str
    """The name in a TOML file, and on the command line unless the option can be repeated."""
    kind: type
    optional: bool
    """Whether it may be None."""
    choices: tuple[str, ...]
    minimum: int | float | None
    maximum: int | float | None
    what: str
    """Description of its values, for messages."""
    help: str
    """The help text; empty for a field that only Python callers can set."""
    extra: Mapping[str, Any]
    """Further arguments of the click option; `completes` is the kind of names for shell completion."""

    def check(self, value: object, shown: str = "") -> None:
        """Raise UsageError for a value that is never allowed; `shown` is the option's name as the user wrote it."""
        if value is None and self.optional:
            return
        if self.choices:
            if value not in self.choices:
                raise UnknownName(f"value of {shown or self.name}", str(value), self.choices)
            return
        # An int is fine for a float; a bool is an int in Python, but not for a user.
        kinds = (int, float) if self.kind is float else (self.kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and self.kind is not bool):
            raise UsageError(f"The field {shown or self.name} of a run is {self.what}, not {value!r}.")
        if not isinstance(value, int | float):
            return
        name = self.name.replace("_", " ").capitalize()
        if (isinstance(value, float) and not isfinite(value)) or (self.minimum is not None and value < self.minimum):
            raise UsageError(f"{name} must be at least {self.minimum}, not {value}.")
        if self.maximum is not None and value > self.maximum:
            raise UsageError(f"{name} can be {self.maximum} at most, not {value}.")


_KINDS: Mapping[type, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}


@cache
def run_options(cls: type[Struct]) -> Mapping[str, RunOption]:
    """Return the fields of a class as options by name; inherited fields come last."""
    # msgspec lists inherited fields first; help texts are better read the other way round.
    by_name = {each.name: each for each in fields(cls)}
    order = dict.fromkeys(name for each in cls.__mro__ for name in getattr(each, "__annotations__", ()))
    return {name: _run_option(by_name[name]) for name in order}


def _run_option(declared: Any) -> RunOption:
    hint, optional, text = declared.type, False, ""
    said: dict[str, Any] = {}
    while (origin := get_origin(hint)) in (Annotated, Union, UnionType):
        if origin is Annotated:
            for meta in reversed(hint.__metadata__):  # the outermost annotation takes precedence
                text = text or (meta if isinstance(meta, str) else "")
                said = {**_constraints(meta), **said}
            hint = hint.__origin__
        else:
            optional = True
            [hint] = [each for each in get_args(hint) if each is not NoneType]
    choices = get_args(hint) if origin is Literal else ()
    kind = str if choices else origin or hint
    if text and kind in (int, float, str) and declared.default not in (None, NODEFAULT) and "efault" not in text:
        text += f" Default: {declared.default}."
    return RunOption(
        name=declared.name,
        key=declared.name.removesuffix("_").replace("_", "-"),  # for_: `for` is a keyword of Python
        kind=kind,
        optional=optional,
        choices=choices,
        minimum=said.get("ge"),
        maximum=said.get("le"),
        what=said.get("title") or _KINDS.get(kind, f"a {kind.__name__}"),
        help=text,
        extra=said.get("extra", {}),
    )


def _constraints(meta: object) -> dict[str, Any]:
    found = {key: getattr(meta, key, None) for key in ("ge", "le", "title", "extra")} if isinstance(meta, Meta) else {}
    return {key: value for key, value in found.items() if value is not None}


Seconds = Annotated[float, Meta(ge=0, title="a number of seconds")]
Count = Annotated[int, Meta(ge=0)]
MoveTime = Annotated[
    Seconds,
    "Seconds (wall clock) a bot may take for one decision; 0 is no limit. Default: 10, and no limit with --workers 0.",
]
Games = Annotated[tuple[str, ...], Meta(title="a list of names", extra={"completes": "game"})]
Bots = Annotated[tuple[Any, ...], Meta(title="a list of bots", extra={"completes": "bot"})]


class CommonLimits(Struct, frozen=True, kw_only=True):
    """Limits with the same meaning in a request and in a run; the default time for a move depends on the workers."""

    game_time: Annotated[Seconds, "Seconds a bot may take for a whole match. Default: no limit."] = 0.0
    clock: Annotated[
        Clock,
        "fair plays a match again, once, if an answer came late but took little processor time; wall makes every late "
        "answer a fault.",
    ] = "fair"
    memory: Annotated[
        Count,
        Meta(title="a whole number of megabytes"),
        "Megabytes of memory a worker, or an isolated bot, may use; 0 is no limit.",
    ] = DEFAULT_MEMORY_MB
    threads: Annotated[Count, "Threads of OpenMP, BLAS or torch in a worker, or in an isolated bot; 0 is no limit."] = 1
    isolate: Annotated[
        Isolation,
        Meta(extra={"is_flag": False, "flag_value": "on"}),  # --isolate may stand alone
        "Run bots in sandboxed processes: all (on), none (off), or programs and files of other users (auto, the "
        "default). strict is on with a new process for each match, and fails if this machine cannot enforce "
        "everything: see arena doctor.",
    ] = "auto"
    keep_processes: Annotated[
        bool,
        "Keep programs that are slow to start for matches of other deals, instead of starting one for each match.",
    ] = False
    ponder: Annotated[bool, "Let bots in separate processes think while others are asked."] = False
    max_faults: Annotated[Count, "Disqualify a bot after this many faults. Default: never."] = 0

    def __post_init__(self) -> None:
        for option in run_options(type(self)).values():  # msgspec checks only what it decodes
            option.check(getattr(self, option.name))


class BotLimits(CommonLimits, frozen=True):
    """What the bots of a run may use and how they are run: stored in run.json."""

    move_time: MoveTime = DEFAULT_MOVE_TIME_S  # not keyword-only, so it comes first, as in run.json


class RunOptions(CommonLimits, frozen=True, kw_only=True):
    """All options of a run. A value that is not allowed raises UsageError with the values that are."""

    games: Annotated[Games, "A game to play; may be repeated. Default: all."] = ()
    bots: Annotated[
        Bots,
        "NAME, NAME:key=value, file.py, folder/, '*.py', @list.txt or cmd:COMMAND; with another name: "
        "v2=file.py. May be repeated. Default: all quick ones.",
    ] = ()
    options: Annotated[
        dict[str, Value],
        Meta(title="a mapping of names to values", extra={"metavar": "KEY=VALUE"}),
        "An option of the games, e.g. edition=nl.",
    ] = {}
    players: Annotated[int | None, "Bots at a table. Default: up to 4, as the game and the field allow."] = None
    deals: Annotated[
        Annotated[int, Meta(ge=1, le=MAX_DEALS)] | None,
        f"Deals; every table plays each in every seating. Default: {DEFAULT_DEALS}.",
    ] = None
    for_: Annotated[
        str | None,
        Meta(title="a time like '2h' or '1h30m'", extra={"metavar": "TIME"}),
        "Instead of --deals: as many deals as fit into this time (2h, 1h30m, 45s), by trial matches on this machine.",
    ] = None
    matches_each: Annotated[
        Annotated[int, Meta(ge=1, le=MAX_DEALS)] | None,
        "Instead of --deals: as many deals as it takes for each bot to play this many matches of each game.",
    ] = None
    seed: Annotated[
        Annotated[int, Meta(ge=0, le=MAX_SEED)] | None, "Seed of all luck of the run. Default: random, and recorded."
    ] = None  # fmt: skip
    format: Annotated[
        str,
        Meta(title="a string like 'swiss:rounds=5'", extra={"completes": "format"}),
        "Who meets whom, with options: swiss:rounds=5. Default: round-robin; 'arena formats' lists them.",
    ] = "round-robin"
    candidates: Annotated[
        Bots, "A bot that a gauntlet, compare or a ladder for newcomers is about; may be repeated."
    ] = ()  # fmt: skip
    workers: Annotated[
        Annotated[int, Meta(ge=0, le=MAX_WORKERS)] | None,
        "Processes that play; 0 plays in this one, where breakpoint() works. Default: ARENA_WORKERS in the "
        "environment, or one for each core; on a cluster, one for each thread of a node.",
    ] = None
    cluster: Annotated[
        str | None,
        Meta(title="a string like 'tcp://10.0.0.1:8786' or 'local:4'"),
        "Play on the nodes of a Dask cluster: a scheduler's address (tcp://10.0.0.1:8786) or file, local:4 for four "
        "workers on this machine, or module:function, which returns a cluster.",
    ] = None
    ship: Annotated[
        bool,
        "With --cluster: send arena and the packages of its games and bots along, instead of finding the same ones "
        "installed on each node.",
    ] = False
    name: Annotated[str | None, "Name of the run's folder. Default: the time."] = None
    results: Annotated[str, Meta(title="a folder"), "The folder that holds runs."] = field(
        default_factory=default_results
    )
    show_output: Annotated[
        bool, "Print what bots print, besides keeping it in the run's folder (logs/BOT.log)."
    ] = False  # fmt: skip
    strict: Annotated[
        bool, "Fail when a plugin is broken or a bot commits a fault, instead of warning."
    ] = False  # fmt: skip
    move_time: MoveTime | None = None

    @property
    def limits(self) -> BotLimits:
        """What bots may use and how they are run; by default a bot in this process has no time limit."""
        default = 0.0 if self.workers == 0 else DEFAULT_MOVE_TIME_S
        common = {name: getattr(self, name) for name in CommonLimits.__struct_fields__}
        return BotLimits(default if self.move_time is None else self.move_time, **common)


SIZES = ("deals", "for_", "matches_each")
"""Fields that say how long a run is: one of them, if any, has a value."""
