"""The hooks that plugins implement, the values that listeners receive, and the threads that call them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any, NamedTuple, Protocol, Self

import pluggy
from msgspec import Struct

from harness.core.bot import Bot
from harness.core.errors import reason_of
from harness.core.game import Game
from harness.core.plan import Format
from harness.core.records import Fault, GameRecord

# What listeners are told: small values made for plugins, which stay as they are when the house is rebuilt.


class RunStatus(Struct, frozen=True, kw_only=True):
    """A run at one moment, as a listener sees it."""

    name: str
    folder: str
    """Where its records are."""
    format: str
    games: tuple[str, ...]
    bots: tuple[str, ...]
    """The names of its entrants."""
    matches: int
    """Recorded so far, also by those who played before."""
    planned: int | None = None
    """Matches of the whole schedule, or the most that there may be; None if only the results can tell."""
    started: str = ""
    """When it began, as ISO 8601."""
    finished: str = ""
    """When its last match was recorded; empty as long as something is missing."""


class LeagueStatus(Struct, frozen=True, kw_only=True):
    """A league at one moment, as a listener sees it."""

    name: str
    folder: str
    era: int = 1
    bots: tuple[str, ...] = ()
    """Those who play, with their versions: `sprinter@3`."""
    matches: int = 0
    """Recorded so far, in all eras."""


class LeagueChange(Struct, frozen=True, kw_only=True):
    """Something changed in a league: `what` is a word like "joined", "left", "banned", "readmitted" or "era"."""

    what: str
    bot: str = ""
    """Whom it is about; empty if it is about all."""
    version: int | None = None
    """Which version of it."""
    at: str = ""
    """When, as ISO 8601."""
    reason: str = ""
    """In the words of whoever did it."""


# The hooks through which bots, games and formats come in, and by which listeners hear of what happens.


PROJECT = "arena"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
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
    """The bot classes that this plugin offers."""


@hookspec
def arena_games() -> Sequence[type[Game[Any]]]:  # type: ignore[empty-body]  # likewise
    """The game classes that this plugin offers."""


@hookspec
def arena_formats() -> Sequence[Format]:  # type: ignore[empty-body]  # likewise
    """The tournament formats that this plugin offers."""


@hookspec
def arena_run_started(run: RunStatus) -> None:
    """A run begins to be played, or goes on."""


@hookspec
def arena_match_finished(run: RunStatus, record: GameRecord) -> None:
    """A match has ended, and its record is kept. A record has the seed of its deal: that is not for everybody."""


@hookspec
def arena_fault(run: RunStatus, record: GameRecord, fault: Fault) -> None:
    """A bot failed in a match: called after `arena_match_finished`, once for each fault."""


@hookspec
def arena_run_finished(run: RunStatus) -> None:
    """Nobody plays the run any more; `run.finished` is empty if it was stopped before its end."""


@hookspec
def arena_league_changed(league: LeagueStatus, change: LeagueChange) -> None:
    """Somebody joined or left a league, was banned from it or let in again, or an era began."""


@hookspec
def arena_events_ended() -> str | None:
    """Nothing more will be heard: time to close what is open. A sentence that is returned is told to whoever waits."""


# Tells plugins what happens. Each listens in a thread of its own: who is slow, hangs or raises holds nobody up.


MOST_WAITING = 10_000
"""Matches and faults that wait for one listener; it hears of no more until it has caught up."""
GRACE = 5.0
"""Seconds for which listeners may catch up when all is over."""
MANY = ("arena_match_finished", "arena_fault")
"""What there may be any number of."""
ENDED = "arena_events_ended"
LONGEST_SENTENCE = 500
"""Characters of what a listener has to say in the end."""


class ListenerPlugin(NamedTuple):
    """A plugin that wants to hear of what happens: where it comes from, and the module or object with the hooks."""

    source: str
    plugin: object


class HasListeners(Protocol):
    """What knows the plugins: a registry."""

    @property
    def listeners(self) -> list[ListenerPlugin]:
        """The plugins that want to hear of what happens."""


class Listeners:
    """Those who are told what happens, in the order in which it does. Whoever makes one closes it in the end."""

    def __init__(self, plugins: Sequence[ListenerPlugin], grace: float | None = None) -> None:
        """They may catch up for `grace` seconds when all is over, by default a few."""
        self._grace = GRACE if grace is None else grace
        self._ears = [_Ear(*each) for each in plugins]

    @classmethod
    def of(cls, registry: HasListeners) -> Self:
        """The listeners among the plugins that are installed."""
        return cls(registry.listeners)

    @property
    def problems(self) -> list[str]:
        """What went wrong so far: a sentence for each plugin and hook, which was not called again."""
        return [problem for ear in self._ears for problem in ear.problems]

    def run_started(self, run: RunStatus) -> None:
        """A run begins to be played."""
        self._tell("arena_run_started", run=run)

    def match_finished(self, run: RunStatus, record: GameRecord) -> None:
        """A match has ended, with the faults of its bots."""
        self._tell("arena_match_finished", run=run, record=record)
        for fault in record.failures:
            self.fault(run, record, fault)

    def fault(self, run: RunStatus, record: GameRecord, fault: Fault) -> None:
        """A bot failed; `match_finished` tells it, too."""
        self._tell("arena_fault", run=run, record=record, fault=fault)

    def run_finished(self, run: RunStatus) -> None:
        """Nobody plays the run any more."""
        self._tell("arena_run_finished", run=run)

    def league_changed(self, league: LeagueStatus, change: LeagueChange) -> None:
        """Something changed in a league."""
        self._tell("arena_league_changed", league=league, change=change)

    def close(self, grace: float | None = None) -> list[str]:
        """Lets listeners catch up, for a few seconds at most, and says what went wrong with them."""
        until = monotonic() + (self._grace if grace is None else grace)
        for ear in self._ears:
            ear.end()
        for ear in self._ears:
            ear.leave(until)
        return self.problems

    def _tell(self, hook: str, **told: Any) -> None:
        for ear in self._ears:
            ear.hear(hook, told)


class _Ear:
    """One plugin, what it is still to be told, and the thread that tells it."""

    def __init__(self, source: str, plugin: object) -> None:
        self.source = source
        self.problems: list[str] = []
        self._waiting: SimpleQueue[tuple[str, dict[str, Any]] | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._missed, self._left = 0, False
        self._calls = self._hooks_of(plugin)

    def _hooks_of(self, plugin: object) -> dict[str, Callable[..., list[Any]]]:
        """The hooks of listeners that the plugin has, in a manager of its own: so it is known who raised what."""
        import pluggy

        manager = pluggy.PluginManager(PROJECT)
        manager.add_hookspecs(sys.modules[__name__])
        try:
            manager.register(plugin, self.source)
        except BaseException as error:  # it may raise anything when it is looked at
            if isinstance(error, KeyboardInterrupt):
                raise
            self.problems.append(f"Plugin {self.source} hears nothing: {reason_of(error)}.")
            return {}
        callers = {name: getattr(manager.hook, name) for name in LISTENING}
        return {name: caller for name, caller in callers.items() if caller.get_hookimpls()}

    def hear(self, hook: str, told: dict[str, Any]) -> None:
        """Has the plugin told; at once, whatever it does meanwhile."""
        if hook not in self._calls:
            return
        if hook in MANY and self._waiting.qsize() >= MOST_WAITING:
            self._missed += 1
            return
        self._waiting.put((hook, told))
        if self._thread is None:
            # Whoever hangs is left behind when the process ends.
            self._thread = Thread(target=self._listen, name=f"listener {self.source}", daemon=True)
            self._thread.start()

    def _listen(self) -> None:
        while (event := self._waiting.get()) is not None and not self._left:
            self._call(*event)
        if not self._left:
            for sentence in self._call(ENDED, {}):
                if isinstance(sentence, str):
                    plain = (letter if letter.isprintable() else "?" for letter in sentence[:LONGEST_SENTENCE])
                    self.problems.append("".join(plain))

    def _call(self, hook: str, told: dict[str, Any]) -> list[Any]:
        if hook not in self._calls:  # it has failed meanwhile, or was never there
            return []
        try:
            return self._calls[hook](**told)
        except BaseException as error:  # a plugin may raise anything, SystemExit included; the run goes on
            del self._calls[hook]
            if not self._left:
                failed = f"{hook} of the plugin {self.source} failed, and was not called again"
                self.problems.append(f"{failed}: {reason_of(error)}.")
            return []

    def end(self) -> None:
        """Says that nothing more comes."""
        self._waiting.put(None)

    def leave(self, until: float) -> None:
        """Waits for the plugin to catch up, until then; what it has not heard by then it will not hear."""
        if self._thread is not None:
            self._thread.join(max(0.0, until - monotonic()))
            if self._thread.is_alive():
                self._left = True
                late = max(1, self._waiting.qsize())  # what it hears now, and all that waits but for the end
                self.problems.append(f"The plugin {self.source} was still busy in the end: {_events(late)}.")
        if self._missed:
            too_many = f"more than {MOST_WAITING:,} were waiting"
            self.problems.append(f"The plugin {self.source} was too slow: {_events(self._missed)}, for {too_many}.")


def _events(number: int) -> str:
    return f"{number:,} event{' was' if number == 1 else 's were'} not heard"
