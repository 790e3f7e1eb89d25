"""How bots reach a worker: by name, as the text of their files, or pickled with dill."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from io import BytesIO
from types import ModuleType
from typing import Any, NamedTuple, TextIO

import dill

from harness.core.bot import Bot
from harness.core.errors import UsageError
from harness.core.game import Game
from harness.executors.base import Roster
from harness.match.faults import BotFault, detail_of, kind_of
from harness.plugins.bot_files import class_digest, load_file
from harness.plugins.discovery import plugin_contents
from harness.plugins.entrants import BotDescription, BotRef, Entrant
from harness.plugins.snapshots import Bundle, make_bundle

# Pickling: classes from a notebook by value, modules by name.


class _ByNamePickler(dill.Pickler):  # type: ignore[misc]  # dill has no types
    """Pickles modules by name. dill itself pickles the whole content of a module outside of site-packages."""

    dispatch = dill.Pickler.dispatch.copy()


def _save_module(pickler: Any, module: ModuleType) -> None:
    if sys.modules.get(module.__name__) is module and module.__name__ != "__main__":
        pickler.save_reduce(import_module, (module.__name__,), obj=module)
    else:
        dill.Pickler.dispatch[ModuleType](pickler, module)


_ByNamePickler.dispatch[ModuleType] = _save_module


def dumps(what: str, thing: object, to: str, fix: str = "") -> bytes:
    """Return the object as bytes for `dill.loads`.

    Raise UsageError if it cannot be pickled; `what`, `to` and `fix` complete its message.
    """
    file = BytesIO()
    try:
        _ByNamePickler(file, recurse=True).dump(thing)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise UsageError(f"{what} cannot be sent to {to} ({why}): put it into a file.", fix=fix) from error
    return file.getvalue()


# Rosters: installed classes by name, files as text, classes of a notebook pickled.
#
# Each entrant is packed separately and unpacked when it first plays. A bot that cannot be loaded therefore fails in its
# own matches only, and a worker does not load bots that it never plays.


WORKERS = "worker processes"


class RosterPayload(NamedTuple):
    """A roster as bytes, to be unpacked in another process."""

    games: bytes
    entrants: dict[str, bytes]


@dataclass(frozen=True, slots=True)
class FailedEntrant(Entrant):
    """A bot that could not be loaded: seating it raises the fault, so it loses its own matches only."""

    fault: BotFault

    def seat(self, game: Game[Any], seat: int, players: int, seed: int) -> Bot:
        """Raise the fault with which loading failed."""
        raise self.fault


def pack_roster(roster: Roster) -> RosterPayload:
    """Return the roster as bytes; raise UsageError if a part of it cannot be pickled."""
    return RosterPayload(
        dumps("A game", dict(roster.games), WORKERS, fix="no-workers"),
        {
            # A worker imports consulted bots when they are asked, and reads data files where they are.
            name: dumps(name, make_bundle(replace(entrant, consulted=()), with_files=False), WORKERS, fix="no-workers")
            for name, entrant in roster.entrants.items()
        },
    )


def unpack_roster(payload: RosterPayload, output: TextIO | None = None) -> Roster:
    """Return the roster, its entrants still packed; what files print when they are loaded goes to `output`."""
    return Roster(dill.loads(payload.games), LazyEntrants(payload.entrants, output))  # noqa: S301 - packed by our own parent


class LazyEntrants(Mapping[str, Entrant]):
    """Entrants by name, each loaded on first access."""

    def __init__(self, packed: Mapping[str, bytes], output: TextIO | None = None) -> None:
        self._packed, self._output = packed, output
        self._loaded: dict[str, Entrant] = {}

    def __getitem__(self, name: str) -> Entrant:
        if name not in self._loaded:
            self._loaded[name] = _load_entrant(name, self._packed[name], self._output)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)

    @property
    def loaded(self) -> Mapping[str, Entrant]:
        """The entrants that have been loaded."""
        return self._loaded


def _load_entrant(name: str, packed: bytes, output: TextIO | None) -> Entrant:
    try:
        loaded = set(sys.modules)
        bundle: Bundle = dill.loads(packed)  # noqa: S301 - packed by our own parent
        entrant = bundle.entrant
        if entrant.isolated:
            return entrant
        if not entrant.sources:
            _check_unchanged(entrant, loaded)
            return entrant
        offered = plugin_contents(load_file(entrant.source, entrant.sources, output), entrant.source)
        [bot] = [bot for bot in offered.bots if bot.name == entrant.bot.name]
        return replace(entrant, bot=bot)
    except BaseException as error:  # importing a bot may raise anything
        fault = BotFault(kind_of(error), f"cannot be loaded in a worker: {detail_of(error, __file__)}")
        return FailedEntrant(name, BotRef(), BotDescription(name, "", (), (), ""), {}, "", "", fault=fault)


def _check_unchanged(entrant: Entrant, before: set[str]) -> None:
    """Raise BotFault if an installed package was edited since the run began."""
    module = entrant.cls.__module__
    # Only a class that was imported just now, by name, can differ from what the parent digested. One that the fork
    # server preloaded, or that was pickled by value, is what the parent has.
    by_name = getattr(sys.modules.get(module), entrant.cls.__name__, None) is entrant.cls
    known = entrant.digest and by_name and module not in before
    if known and class_digest(entrant.cls) != entrant.own_digest:
        raise BotFault("exception", f"its package ({module}) has been changed since the run began")
