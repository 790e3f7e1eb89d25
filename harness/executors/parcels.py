"""How a roster gets into another process: what is installed by name, files by their texts, what a notebook has by dill.

Each entrant is a parcel of its own that is opened when it is first asked to play: a bot that cannot be loaded fails in
its own matches, and nobody waits for bots that play elsewhere.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TextIO

import dill

from harness.core.bot import Bot
from harness.core.game import Game
from harness.executors.jobs import Roster
from harness.executors.sending import dumps
from harness.match.faults import BotFault, detail_of, kind_of
from harness.plugins.bot_files import load_file
from harness.plugins.entrants import Entrant
from harness.plugins.identity import class_digest
from harness.plugins.loading import offers_of


class RosterParcel(NamedTuple):
    """A roster on its way."""

    games: bytes
    entrants: dict[str, bytes]


@dataclass(frozen=True, slots=True)
class UnfitEntrant(Entrant):
    """A bot that could not be loaded: it fails when it is to play."""

    fault: BotFault

    def seat(self, game: Game[Any], seat: int, players: int, seed: int) -> Bot:
        """Says why not."""
        raise self.fault


def pack(roster: Roster) -> RosterParcel:
    """The roster as bytes; raises UsageError for what cannot leave this process."""
    return RosterParcel(
        _packed("A game", dict(roster.games)),
        {name: _packed(name, (entrant.bot.name, _for_the_way(entrant))) for name, entrant in roster.entrants.items()},
    )


def unpack(parcel: RosterParcel, prints: TextIO | None = None) -> Roster:
    """The roster in another process, its entrants still packed; `prints` takes what files print when loaded."""
    return Roster(dill.loads(parcel.games), ArrivingEntrants(parcel.entrants, prints))  # noqa: S301 - packed by our own parent


class ArrivingEntrants(Mapping[str, Entrant]):
    """Entrants by name, each loaded when it is first looked at."""

    def __init__(self, packed: Mapping[str, bytes], prints: TextIO | None = None) -> None:
        self._packed, self._prints = packed, prints
        self._loaded: dict[str, Entrant] = {}

    def __getitem__(self, name: str) -> Entrant:
        if name not in self._loaded:
            self._loaded[name] = _arrived(name, self._packed[name], self._prints)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)

    @property
    def loaded(self) -> Mapping[str, Entrant]:
        """Those that have been looked at."""
        return self._loaded


def _for_the_way(entrant: Entrant) -> Entrant:
    """The entrant without what the other process finds by itself, or must not have: of a bot in a process of its own,
    no text and no class."""
    if entrant.isolated:
        return replace(entrant, bot=Bot, sources={}, consulted=())
    return replace(entrant, bot=Bot if entrant.sources else entrant.bot, consulted=())


def _arrived(name: str, packed: bytes, prints: TextIO | None) -> Entrant:
    try:
        entrant: Entrant
        loaded = set(sys.modules)
        called, entrant = dill.loads(packed)  # noqa: S301 - packed by our own parent
        if entrant.isolated:
            return entrant
        if not entrant.sources:
            _check_unchanged(entrant, loaded)
            return entrant
        offered = offers_of(load_file(entrant.source, entrant.sources, prints), entrant.source)
        [bot] = [bot for bot in offered.bots if bot.name == called]
        return replace(entrant, bot=bot)
    except BaseException as error:  # importing a bot may raise anything
        fault = BotFault(kind_of(error), f"cannot be loaded in a worker: {detail_of(error, __file__)}")
        return UnfitEntrant(name, name, Bot, {}, "", "", fault=fault)


def _check_unchanged(entrant: Entrant, before: set[str]) -> None:
    """An author may edit an installed package while a run goes on; a worker that begins later must not play the new
    text under the old name."""
    module = entrant.bot.__module__
    by_name = getattr(sys.modules.get(module), entrant.bot.__name__, None) is entrant.bot
    known = entrant.digest and by_name and module not in before
    if known and class_digest(entrant.bot) != entrant.own_digest:
        raise BotFault("exception", f"its package ({module}) has been changed since the run began")


def _packed(what: str, thing: object) -> bytes:
    return dumps(what, thing, "worker processes", "play with no workers (--workers 0), or ")
