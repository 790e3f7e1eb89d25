"""Data between driver and nodes: messages, facts about a node's code, bots, packages as wheels."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from shutil import which
from typing import Any, NamedTuple

import dill
import msgspec
from msgspec import Struct

from harness._version import VERSION
from harness.core.bot import Bot
from harness.core.errors import ArenaError, reason_of
from harness.core.game import Game
from harness.core.options import BotLimits
from harness.core.table import Table
from harness.executors.base import Job, Roster, WorkerLoss
from harness.executors.worker import dumps
from harness.isolation.entrants import RemoteEntrant, SessionPool, files_of_command
from harness.output.tables import grid_text
from harness.plugins.bot_files import class_digest
from harness.plugins.entrants import Entrant
from harness.plugins.snapshots import Bundle, make_bundle, unpack_bundle

# Messages between the driver and the agents on its nodes.


PROTOCOL = 1
"""Version of these messages; an agent refuses a driver with another version."""


class NodeSetup(Struct, frozen=True, kw_only=True):
    """Everything that a node needs to play matches of a run."""

    protocol: int = PROTOCOL
    python: str
    """The Python that every node must have; another one must not unpickle the roster."""
    roster: bytes
    """See `pack_for_nodes`."""
    limits: BotLimits
    workers: int
    """Worker processes on each node; 0 is one for each thread of its Dask worker."""


class NodeFacts(Struct, frozen=True, kw_only=True):
    """A node's report about itself before it plays."""

    same: dict[str, str]
    """What must be equal on all machines: versions and digests, by subject."""
    host: str = ""
    workers: int = 1
    """Worker processes on it."""
    form: str = ""
    """Whether Arena is compiled there: the records are the same either way."""
    lacking: tuple[str, ...] = ()
    """Guarantees that it does not enforce against confined bots, as sentences."""
    problem: str = ""
    """Why it cannot play."""


class Batch(Struct, frozen=True, tag="batch"):
    """Matches to play."""

    number: int
    jobs: list[Job]


class StopPlaying(Struct, frozen=True, tag="stop"):
    """Finish the matches that are being played, and start no other."""


class BatchDone(Struct, frozen=True, kw_only=True, tag="done"):
    """The result of a batch."""

    number: int
    lines: list[tuple[bytes, bytes]] = []
    """For each finished match its lines for games.jsonl and notes.jsonl."""
    given_up: list[str] = []
    losses: list[WorkerLoss] = []
    logs: dict[str, bytes] = {}
    """What isolated bots printed since the last batch, by log file."""


class Alive(Struct, frozen=True, tag="alive"):
    """Heartbeat of an agent that has nothing else to report."""


encode_message = msgspec.msgpack.Encoder().encode
decode_setup = msgspec.msgpack.Decoder(NodeSetup).decode
decode_facts = msgspec.msgpack.Decoder(NodeFacts).decode
decode_order = msgspec.msgpack.Decoder(Batch | StopPlaying).decode
decode_done = msgspec.msgpack.Decoder(BatchDone).decode
decode_report = msgspec.msgpack.Decoder(BatchDone | Alive).decode


# Rosters for other machines: installed classes by name, bots in files with all their files, programs by command,
# classes of a notebook pickled.
#
# Bundles for workers on the same machine leave out data files; here they are sent along.


OTHER_MACHINES = "other machines"


class UnpackedRoster(NamedTuple):
    """A roster on a node, without what could not be loaded."""

    roster: Roster
    missing: dict[str, str]
    """Why parts could not be loaded, by subject: `bot sprinter`, `game el-paso`."""


def pack_for_nodes(roster: Roster) -> bytes:
    """Return the roster as bytes; raise UsageError if a part of it cannot be pickled."""
    # Each part is pickled separately, so that a node can report everything that it cannot load at once.
    games = {name: dumps(f"The game {name}", game, OTHER_MACHINES) for name, game in roster.games.items()}
    bots = {}
    for name, entrant in roster.entrants.items():
        if isinstance(entrant, RemoteEntrant):
            entrant = replace(
                entrant, sessions=SessionPool()
            )  # a session is a running process; the node starts its own
        bots[name] = dumps(f"The bot {name}", make_bundle(entrant), OTHER_MACHINES)
    return dumps("The roster", (games, bots), OTHER_MACHINES)


def unpack_for_node(packed: bytes, home: str) -> UnpackedRoster:
    """Return the roster on this node; files of bots are written into a folder below `home`."""
    packed_games, packed_bots = dill.loads(packed)  # noqa: S301 - access to the cluster already allows running code
    missing: dict[str, str] = {}
    games: dict[str, Game[Any]] = {}
    bundles: dict[str, Bundle] = {}
    kinds: tuple[tuple[str, dict[str, bytes], dict[str, Any]], ...]
    kinds = (("game", packed_games, games), ("bot", packed_bots, bundles))
    for kind, packed_parts, found in kinds:
        for name, data in packed_parts.items():
            try:
                found[name] = dill.loads(data)  # noqa: S301 - as above
            except BaseException as error:  # importing a plugin may raise anything
                missing[f"{kind} {name}"] = reason_of(error)
    entrants = {name: unpack_bundle(bundle, home) for name, bundle in bundles.items()}
    return UnpackedRoster(Roster(games, entrants), missing)


def installed_modules(roster: Roster) -> set[str]:
    """Return the modules that a node must have installed: those of games, of bots, and Arena's own."""
    bots = [one for one in roster.entrants.values() if not one.sources and not one.isolated]
    classes = [*map(type, roster.games.values()), *(cls for one in bots for cls in (one.cls, *one.consulted))]
    return {"harness"} | {cls.__module__ for cls in classes if not by_value(cls)}


def by_value(cls: type) -> bool:
    """Return whether a class is pickled by value: it is from a notebook or script, or was made by a function, so no
    other machine can import it."""
    found: object = sys.modules.get(cls.__module__)
    for name in cls.__qualname__.split("."):
        found = getattr(found, name, None)
    return cls.__module__ == "__main__" or found is not cls


# Environment check: versions and digests that must be equal on every node, and the differences.


SENT = "sent along"
"""Fact about a bot that is sent along."""
MISSING = "missing"
NO_FILES = "none of its files"
"""Fact about a program whose command names no existing file."""
MAX_VALUE_CHARS = 40
"""Longest value in a table; digests are shorter."""


class NodeDifference(NamedTuple):
    """A fact that differs between a node and this machine."""

    node: str
    what: str
    here: str
    there: str


def python_here() -> str:
    """Return the name and version of this Python; another one may give other records."""
    return f"{platform.python_implementation()} {platform.python_version()}"


def arena_here() -> str:
    """Return the version of this Arena and the digest of its source."""
    return f"{VERSION} {class_digest(Roster)}"


def environment_facts(roster: Roster, missing: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the facts about this machine for a run; `missing` has the parts that could not be loaded, and why."""
    facts = {"python": python_here(), "arena": arena_here()}
    for name, game in roster.games.items():
        facts[f"game {name}"] = f"rules {game.version}, {_digest(type(game))}"
    for name, entrant in roster.entrants.items():
        facts[f"bot {name}"] = _entrant_fact(entrant)
    return facts | {what: f"{MISSING} ({why})" for what, why in (missing or {}).items()}


def differences(here: Mapping[str, str], node: str, facts: NodeFacts) -> list[NodeDifference]:
    """Return the differences between a node and this machine.

    With another Python nothing else is compared. Facts that a node with a problem did not report are skipped.
    """
    there = facts.same
    if there.get("python") != here["python"]:
        return [NodeDifference(node, "python", here["python"], there.get("python", MISSING))]
    found = ((what, ours, there.get(what, "" if facts.problem else MISSING)) for what, ours in here.items())
    return [NodeDifference(node, *one) for one in found if one[2] and one[1] != one[2]]


def difference_table(found: Iterable[NodeDifference]) -> str:
    """Return the differences as a table."""
    rows = [[one.node, one.what, _shorten(one.here), _shorten(one.there)] for one in found]
    return grid_text(Table("differences", ("node", "what", "here", "there"), rows))


def remedy(found: Iterable[NodeDifference]) -> str:
    """Return what the user can do about the differences."""
    kinds = {one.what.partition(" ")[0] for one in found}
    steps = []
    if "python" in kinds:
        steps.append("start its Dask worker with the same Python")
    if kinds - {"python"}:
        steps.append("install the same versions there, or send yours along (programs must be there)")
    return f"To continue, {'; '.join(steps)}; or remove the node from the cluster."


def _entrant_fact(entrant: Entrant) -> str:
    if isinstance(entrant, RemoteEntrant) and entrant.launch.argv:
        return _program_fact(entrant.source)
    if entrant.sources:
        return SENT
    classes: tuple[type[Bot], ...] = (entrant.cls, *entrant.consulted)
    return ", ".join(dict.fromkeys(_digest(cls) for cls in classes))


def _program_fact(command: str) -> str:
    """Return the digest of the files that a command names.

    Its interpreter must exist, but versions of it may differ.
    """
    try:
        program = files_of_command(command)
        if which(program.argv[0]) is None:
            return f"{MISSING} (no {program.argv[0]})"
        return program.digest() if program.own else NO_FILES
    except (ArenaError, OSError) as error:
        return f"{MISSING} ({error})"


def _digest(cls: type) -> str:
    return SENT if by_value(cls) else class_digest(cls)


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_VALUE_CHARS else text[: MAX_VALUE_CHARS - 3] + "..."
