"""The hooks that plugins implement, the values that listeners receive, and the threads that call them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any, NamedTuple

import pluggy
from msgspec import Struct

from harness.core.bot import Bot
from harness.core.errors import printable, reason_of
from harness.core.game import Game
from harness.core.plan import Format
from harness.core.records import Fault, GameRecord
from harness.core.table import Table

# What listeners receive: small values made for plugins, independent of how the rest of Arena is built.


class RunStatus(Struct, frozen=True, kw_only=True):
    """The state of a run when an event happens."""

    name: str
    folder: str
    """Where its records are."""
    format: str
    games: tuple[str, ...]
    bots: tuple[str, ...]
    """The names of its entrants."""
    matches: int
    """Recorded so far, including those of earlier sessions."""
    planned: int | None = None
    """Matches of the whole schedule, or their maximum; None if that depends on results."""
    started: str = ""
    """When it started, as ISO 8601."""
    finished: str = ""
    """When its last match was recorded; empty while matches are missing."""
    tables: tuple[Table, ...] = ()
    """When it is no longer played: the table of each game, whose `summary` says which bot won or leads."""


class LeagueStatus(Struct, frozen=True, kw_only=True):
    """The state of a league when an event happens."""

    name: str
    folder: str
    era: int = 1
    bots: tuple[str, ...] = ()
    """The bots that play, with their versions: `sprinter@3`."""
    matches: int = 0
    """Recorded so far, in all eras."""


class LeagueChange(Struct, frozen=True, kw_only=True):
    """A change of a league: `what` is a word like "joined", "left", "banned", "readmitted" or "era"."""

    what: str
    bot: str = ""
    """The bot that it is about; empty if it is about all."""
    version: int | None = None
    """The version of the bot."""
    at: str = ""
    """When, as ISO 8601."""
    reason: str = ""
    """The reason that the organiser gave."""
    together: tuple[str, ...] = ()
    """All versions that joined at once, as `bot@2`, this one among them. Each of them is a change."""


# The hooks by which plugins provide bots, games and formats, and receive events.


PROJECT = "arena"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
OFFERING = ("arena_bots", "arena_games", "arena_formats")
"""The hooks that say what a plugin offers."""
LISTENING = (
    "arena_run_started",
    "arena_match_finished",
    "arena_fault",
    "arena_run_finished",
    "arena_league_changed",
    "arena_events_ended",
)
"""The hooks of listeners."""


@hookspec
def arena_bots() -> Sequence[type[Bot]]:  # type: ignore[empty-body]  # a hook specification has no body
    """Return the bot classes of this plugin."""


@hookspec
def arena_games() -> Sequence[type[Game[Any]]]:  # type: ignore[empty-body]  # likewise
    """Return the game classes of this plugin."""


@hookspec
def arena_formats() -> Sequence[Format]:  # type: ignore[empty-body]  # likewise
    """Return the tournament formats of this plugin."""


@hookspec
def arena_run_started(run: RunStatus) -> None:
    """Called when a run is started or resumed."""


@hookspec
def arena_match_finished(run: RunStatus, record: GameRecord) -> None:
    """Called when a match has ended and is recorded. The record has the seed of its deal: do not publish it."""


@hookspec
def arena_fault(run: RunStatus, record: GameRecord, fault: Fault) -> None:
    """Called for each fault of a match, after `arena_match_finished`."""


@hookspec
def arena_run_finished(run: RunStatus) -> None:
    """Called when a run is no longer played; `run.finished` is empty if it was stopped before its end."""


@hookspec
def arena_league_changed(league: LeagueStatus, change: LeagueChange) -> None:
    """Called when a bot joins or leaves a league, is banned or readmitted, or when an era begins."""


@hookspec
def arena_events_ended() -> str | None:
    """Called last: release resources. A sentence that is returned is printed as a warning."""


# Calls listeners. Each plugin has its own thread, so that one that is slow, hangs or raises delays nothing else.


MAX_QUEUED = 10_000
"""Matches and faults that are queued for one listener; further ones are dropped until it has caught up."""
GRACE_S = 5.0
"""Time for listeners to catch up at the end."""
FREQUENT = ("arena_match_finished", "arena_fault")
"""Hooks that are called often: their events may be dropped."""
MAX_SENTENCE_CHARS = 500
"""Characters of the sentence that `arena_events_ended` returns."""


class ListenerPlugin(NamedTuple):
    """A plugin with hooks for events: its name for messages, and the module or object."""

    source: str
    plugin: object


class Listeners:
    """Sends events to plugins, in order. The caller must close it."""

    def __init__(self, plugins: Sequence[ListenerPlugin], grace: float | None = None) -> None:
        """`grace` is the time in seconds for listeners to catch up at the end, by default GRACE_S."""
        self._grace = GRACE_S if grace is None else grace
        self._threads = [_ListenerThread(*each) for each in plugins]

    @property
    def problems(self) -> list[str]:
        """A sentence for each hook that failed; it was not called again."""
        return [problem for thread in self._threads for problem in thread.problems]

    def run_started(self, run: RunStatus) -> None:
        """Send that a run is started or resumed."""
        self._send("arena_run_started", run=run)

    def match_finished(self, run: RunStatus, record: GameRecord) -> None:
        """Send that a match has ended, and its faults."""
        self._send("arena_match_finished", run=run, record=record)
        for fault in record.failures:
            self._send("arena_fault", run=run, record=record, fault=fault)

    def run_finished(self, run: RunStatus) -> None:
        """Send that a run is no longer played."""
        self._send("arena_run_finished", run=run)

    @property
    def has_plugins(self) -> bool:
        """Whether there is any listener."""
        return bool(self._threads)

    def league_changed(self, league: LeagueStatus, change: LeagueChange) -> None:
        """Send a change of a league."""
        self._send("arena_league_changed", league=league, change=change)

    def close(self, grace: float | None = None) -> list[str]:
        """Wait for listeners to catch up, for a few seconds at most, and return their problems."""
        until = monotonic() + (self._grace if grace is None else grace)
        # The end is queued for all plugins before waiting for any, so that they catch up at the same time.
        for thread in self._threads:
            thread.queue.put(None)
        for thread in self._threads:
            thread.wait_until(until)
        return self.problems

    def _send(self, hook: str, **arguments: Any) -> None:
        for thread in self._threads:
            thread.queue_event(hook, arguments)


class _ListenerThread:
    """One plugin, its queue of events, and the thread that calls it."""

    def __init__(self, source: str, plugin: object) -> None:
        self.source = source
        self.problems: list[str] = []
        self.queue: SimpleQueue[tuple[str, dict[str, Any]] | None] = SimpleQueue()
        """Events to deliver; None is the end."""
        self._thread: Thread | None = None
        self._missed, self._abandoned = 0, False
        self._calls = self._hooks_of(plugin)

    def _hooks_of(self, plugin: object) -> dict[str, Callable[..., list[Any]]]:
        """Return the event hooks of the plugin. Its own manager makes known which plugin raised an error."""
        manager = pluggy.PluginManager(PROJECT)
        manager.add_hookspecs(sys.modules[__name__])
        try:
            manager.register(plugin, self.source)
        except BaseException as error:  # inspecting a plugin runs its code, which may raise anything
            if isinstance(error, KeyboardInterrupt):
                raise
            self.problems.append(f"Plugin {self.source} receives no events: {reason_of(error)}.")
            return {}
        callers = {name: getattr(manager.hook, name) for name in LISTENING}
        return {name: caller for name, caller in callers.items() if caller.get_hookimpls()}

    def queue_event(self, hook: str, arguments: dict[str, Any]) -> None:
        """Queue an event for the plugin; returns at once."""
        if hook not in self._calls:
            return
        # Starts and ends are never dropped: a listener could not make sense of the rest.
        if hook in FREQUENT and self.queue.qsize() >= MAX_QUEUED:
            self._missed += 1
            return
        self.queue.put((hook, arguments))
        if self._thread is None:
            # A daemon: a plugin that hangs must not keep the process alive.
            self._thread = Thread(target=self._call_hooks, name=f"listener {self.source}", daemon=True)
            self._thread.start()

    def _call_hooks(self) -> None:
        while (event := self.queue.get()) is not None and not self._abandoned:
            self._call(*event)
        if not self._abandoned:
            said = self._call("arena_events_ended", {})
            self.problems += [printable(each, MAX_SENTENCE_CHARS) for each in said if isinstance(each, str)]

    def _call(self, hook: str, arguments: dict[str, Any]) -> list[Any]:
        if hook not in self._calls:  # it has failed, or the plugin does not have it
            return []
        try:
            return self._calls[hook](**arguments)
        except BaseException as error:  # a plugin may raise anything, SystemExit included; the run continues
            del self._calls[hook]
            if not self._abandoned:
                failed = f"{hook} of the plugin {self.source} failed, and was not called again"
                self.problems.append(f"{failed}: {reason_of(error)}.")
            return []

    def wait_until(self, until: float) -> None:
        """Wait until then for the plugin to catch up; events that are still queued are dropped."""
        if self._thread is not None:
            self._thread.join(max(0.0, until - monotonic()))
            if self._thread.is_alive():
                self._abandoned = True
                late = max(1, self.queue.qsize())  # the current event and the queued ones, without the end mark
                self.problems.append(f"The plugin {self.source} was still busy at the end: {_events(late)}.")
        if self._missed:
            too_many = f"more than {MAX_QUEUED:,} were queued"
            self.problems.append(f"The plugin {self.source} was too slow: {_events(self._missed)}: {too_many}.")


def _events(number: int) -> str:
    return f"{number:,} event{' was' if number == 1 else 's were'} not delivered"
