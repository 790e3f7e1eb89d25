"""What a bot does when it is loaded, tried in a process like those that will load it in a tournament."""

from __future__ import annotations

import io
import os
import select
import sys
from collections.abc import Sequence
from time import perf_counter

import msgspec

from harness.core.types import MatchSpec
from harness.executors import nursery, system
from harness.executors.jobs import Roster
from harness.executors.parcels import RosterParcel, pack, unpack
from harness.executors.threads import thread_variables
from harness.executors.worker import LOAD_TIME
from harness.match.referee import play

SLOW_IMPORT = 1.0
"""Seconds of an import that an author should know of: every worker takes them, and every isolated process."""
SHOWN = 60


class ImportTrial(msgspec.Struct, frozen=True):
    """What happened when a bot was loaded."""

    seconds: float
    threads: int
    """Threads that were there afterwards and not before, native ones counted."""
    printed: str
    """What it wrote to stdout, the beginning of it."""
    printed_in_play: str = ""
    """And what it wrote in the course of a match."""

    def warnings(self) -> list[str]:
        """What its author should know."""
        found = []
        if self.seconds > SLOW_IMPORT:
            found.append(
                f"Loading it takes {self.seconds:.1f} s: every worker, and each of its own processes, begins with that."
            )
        if self.threads:
            threads = "a thread" if self.threads == 1 else f"{self.threads} threads"
            found.append(
                f"Loading it starts {threads}: they go on while others think, and share their processor with it."
            )
        if self.printed:
            found.append(f"Loading it prints to stdout ({self.printed!r}), which goes to stderr, once a worker.")
        if self.printed_in_play:
            found.append(
                f"It prints to stdout while it plays ({self.printed_in_play!r}), which goes to stderr and takes time."
            )
        return found


def try_import(roster: Roster, name: str, threads: int = 1) -> ImportTrial | None:
    """Loads one entrant of a roster in a fresh process, and lets it play a match; None if that does not end."""
    ours, theirs = os.pipe()
    process = nursery.start(_try, [theirs], pack(roster), name, threads)
    os.close(theirs)
    with open(ours, "rb") as told:  # noqa: PTH123 - it is a descriptor
        if select.select([told], [], [], LOAD_TIME)[0]:
            data = told.read()
        else:
            data = b""
            os.kill(process.pid, 9)
    process.join()
    return msgspec.json.decode(data, type=ImportTrial) if data else None


def _try(handles: Sequence[int], parcel: RosterParcel, name: str, threads: int) -> None:
    """In the fresh process."""
    system.die_with_parent()
    os.environ.update(thread_variables(threads))
    prints = io.StringIO()
    sys.stdout = prints
    before, began = system.native_threads(), perf_counter()
    roster = unpack(parcel, prints)
    entrant = roster.entrants[name]
    trial = ImportTrial(perf_counter() - began, max(0, system.native_threads() - before), _beginning(prints))
    game = next(game for game in roster.games.values() if entrant.plays(game.name))
    spec = MatchSpec.single("trial", game.name, game.settings, 1, [name] * game.min_players)
    play(spec, game, [entrant] * game.min_players)
    trial = msgspec.structs.replace(trial, printed_in_play=_beginning(prints))
    os.write(handles[0], msgspec.json.encode(trial))


def _beginning(prints: io.StringIO) -> str:
    """The first of what was printed, which is forgotten then."""
    said = prints.getvalue().strip()[:SHOWN]
    prints.seek(0)
    prints.truncate()
    return said
