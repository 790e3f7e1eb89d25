"""How a roster gets to another machine: what is installed by name, bots in files with all that is theirs, programs by
their commands, what a notebook has by dill.

Within one machine it goes on as `parcels`, which find a bot's file where it is; here the file goes along, too.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any, NamedTuple

import dill

from harness.core.bot import Bot
from harness.core.game import Game
from harness.executors.jobs import Roster
from harness.executors.remote import RemoteEntrant, SessionPool
from harness.executors.sending import dumps
from harness.plugins.entrants import Entrant
from harness.plugins.reasons import reason_of
from harness.plugins.snapshots import Snapshot, bot_snapshot

THERE = "other machines"


class Traveller(NamedTuple):
    """An entrant on its way."""

    entrant: Entrant
    """Of a bot in a file or a program without its class: nothing of it is loaded until a worker does, or a process
    without rights."""
    called: str = ""
    """What the bot in the file is called."""
    data: tuple[str, ...] = ()
    """The data files that it declares."""
    snapshot: Snapshot | None = None


class ArrivedRoster(NamedTuple):
    """A roster on another machine, as far as it got there."""

    roster: Roster
    missing: dict[str, str]
    """What could not be loaded, and why, by what it is: `bot sprinter`, `game el-paso`."""


def pack_for_nodes(roster: Roster) -> bytes:
    """The roster as bytes; UsageError for what cannot leave this machine."""
    games = {name: dumps(f"The game {name}", game, THERE) for name, game in roster.games.items()}
    bots = {name: dumps(f"The bot {name}", _leaving(entrant), THERE) for name, entrant in roster.entrants.items()}
    return dumps("The roster", (games, bots), THERE)


def arrive(packed: bytes, home: str) -> ArrivedRoster:
    """The roster on this machine; files of bots are written into a folder below `home`."""
    packed_games, packed_bots = dill.loads(packed)  # noqa: S301 - whoever may use the cluster may run code on it
    missing: dict[str, str] = {}
    games: dict[str, Game[Any]] = {}
    for name, data in packed_games.items():
        _load(f"game {name}", data, missing, games, name)
    travellers: dict[str, Traveller] = {}
    for name, data in packed_bots.items():
        _load(f"bot {name}", data, missing, travellers, name)
    return ArrivedRoster(Roster(games, {name: _settled(one, home) for name, one in travellers.items()}), missing)


def installed_modules(roster: Roster) -> set[str]:
    """Names of modules that a machine must have installed to play: of games, of bots, and arena's own."""
    bots = [one for one in roster.entrants.values() if not one.sources and not one.isolated]
    classes = [*map(type, roster.games.values()), *(cls for one in bots for cls in (one.bot, *one.consulted))]
    return {"harness"} | {cls.__module__ for cls in classes if not by_value(cls)}


def by_value(cls: type) -> bool:
    """Whether a class goes along itself: it was typed in a notebook or a script, or made of a function, and no other
    machine can import it."""
    found: object = sys.modules.get(cls.__module__)
    for name in cls.__qualname__.split("."):
        found = getattr(found, name, None)
    return cls.__module__ == "__main__" or found is not cls


def _leaving(entrant: Entrant) -> Traveller:
    if isinstance(entrant, RemoteEntrant):
        return Traveller(replace(entrant, bot=Bot, sessions=SessionPool(), consulted=()))
    if not entrant.sources:
        return Traveller(entrant)
    bot = entrant.bot
    snapshot = bot_snapshot(entrant.source, entrant.sources, bot.files)
    return Traveller(replace(entrant, bot=Bot), bot.name, bot.files, snapshot)


def _settled(traveller: Traveller, home: str) -> Entrant:
    if traveller.snapshot is None:
        return traveller.entrant
    place = traveller.snapshot.write(home)
    stand_in = type("Travelled", (Bot,), {"name": traveller.called, "files": traveller.data, "choose": _not_here})
    return replace(traveller.entrant, bot=stand_in, source=str(place / traveller.snapshot.start))


def _not_here(_self: Bot, _view: object, _actions: object) -> Any:
    raise AssertionError("this bot plays in a worker")


def _load(what: str, data: bytes, missing: dict[str, str], found: dict[str, Any], name: str) -> None:
    try:
        found[name] = dill.loads(data)  # noqa: S301 - likewise
    except BaseException as error:  # importing a plugin may raise anything
        missing[what] = reason_of(error)
