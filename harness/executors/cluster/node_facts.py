"""What must be the same on every node: versions and digests of Python, arena, rules and bots, and who differs."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from shutil import which
from typing import NamedTuple

from tabulate import tabulate

from harness._version import VERSION
from harness.core.bot import Bot
from harness.core.errors import ArenaError
from harness.executors.cluster.node_messages import NodeFacts
from harness.executors.cluster.travel import by_value
from harness.executors.jobs import Roster
from harness.executors.launches import files_of_command
from harness.executors.remote import RemoteEntrant
from harness.plugins.entrants import Entrant
from harness.plugins.identity import class_digest

SENT = "sent along"
"""What a bot is that every node gets from us."""
MISSING = "missing"
NO_FILES = "none of its files"
"""What there is of a program whose command names no file that is there."""
SHOWN = 40
"""Characters of a value in a table; digests are shorter."""


class NodeDifference(NamedTuple):
    """Something that is not the same on a node as it is here."""

    node: str
    what: str
    here: str
    there: str


def python_here() -> str:
    """This Python: another one may give other records."""
    return f"{platform.python_implementation()} {platform.python_version()}"


def arena_here() -> str:
    """This arena: its version, and the digest of its source."""
    return f"{VERSION} {class_digest(Roster)}"


def facts_of(roster: Roster, missing: Mapping[str, str] | None = None) -> dict[str, str]:
    """What this machine has of what a run needs; `missing` is what could not be loaded, and why."""
    facts = {"python": python_here(), "arena": arena_here()}
    for name, game in roster.games.items():
        facts[f"game {name}"] = f"rules {game.version}, {_digest(type(game))}"
    for name, entrant in roster.entrants.items():
        facts[f"bot {name}"] = _of_entrant(entrant)
    return facts | {what: f"{MISSING} ({why})" for what, why in (missing or {}).items()}


def differences(here: Mapping[str, str], node: str, facts: NodeFacts) -> list[NodeDifference]:
    """In what a node differs from this machine. With another Python nothing else is compared, nor is what a node that
    has a problem does not speak of."""
    there = facts.same
    if there.get("python") != here["python"]:
        return [NodeDifference(node, "python", here["python"], there.get("python", MISSING))]
    found = ((what, ours, there.get(what, "" if facts.problem else MISSING)) for what, ours in here.items())
    return [NodeDifference(node, *one) for one in found if one[2] and one[1] != one[2]]


def difference_table(found: Iterable[NodeDifference]) -> str:
    """Who differs in what, for a person."""
    rows = [[one.node, one.what, _short(one.here), _short(one.there)] for one in found]
    return tabulate(rows, headers=["node", "what", "here", "there"], disable_numparse=True)


def remedy(found: Iterable[NodeDifference]) -> str:
    """What to do about it."""
    kinds = {one.what.partition(" ")[0] for one in found}
    told = []
    if "python" in kinds:
        told.append("start its Dask worker with the same Python")
    if kinds - {"python"}:
        told.append("install the same versions there, or send yours along with --ship (programs must be there)")
    return f"To go on, {'; '.join(told)}; or take the node out of the cluster."


def _of_entrant(entrant: Entrant) -> str:
    if isinstance(entrant, RemoteEntrant) and entrant.launch.argv:
        return _of_program(entrant.source)
    if entrant.sources:
        return SENT
    classes: tuple[type[Bot], ...] = (entrant.bot, *entrant.consulted)
    return ", ".join(dict.fromkeys(_digest(cls) for cls in classes))


def _of_program(command: str) -> str:
    """The files that it names; what it is run by need not be the same everywhere, but must be there."""
    try:
        program = files_of_command(command)
        if which(program.argv[0]) is None:
            return f"{MISSING} (no {program.argv[0]})"
        return program.digest() if program.own else NO_FILES
    except (ArenaError, OSError) as error:
        return f"{MISSING} ({error})"


def _digest(cls: type) -> str:
    return SENT if by_value(cls) else class_digest(cls)


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."
