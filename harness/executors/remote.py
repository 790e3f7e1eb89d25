"""Entrants that play in a process of their own, and the bot objects that the referee asks in their place."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from time import perf_counter
from typing import Any, ClassVar

from msgspec import Raw

from harness.core.bot import Bot
from harness.core.game import Action, Game
from harness.core.types import Event, GameRecord
from harness.match.faults import BotFault
from harness.plugins.entrants import Entrant
from harness.protocol.messages import Introduction
from harness.protocol.session import IsolationPolicy, Session
from harness.sandbox.process import Launch

RETIREMENT = 900.0
"""Seconds after which a process is replaced between two matches, long before its processor time is used up."""


class RemoteBot(Bot):
    """Sits at the table for a program: asks it, and raises BotFault where it fails."""

    def __init__(self, session: Session, give_back: Callable[[Session], None]) -> None:
        self._session: Session | None = session
        self._give_back = give_back
        self._events: list[Event] | None = None
        self._used = 0.0

    def start(self) -> None:
        """Tells the program about the match."""
        assert self._session is not None
        limits = self._session.policy.limits
        self._move_time, self._bank = limits.move_time or inf, limits.game_time or inf
        self._ask = self._session.choose
        # Most games write views as msgspec does: then the view is encoded with the message, in one go.
        own_way = type(self.game).view_to_json is not Game.view_to_json
        self._raw = (lambda view: Raw(self.game.view_to_json(view))) if own_way else None
        self._session.new_game(self.game, self.seat, self.players, self.seed, dict(self.settings))

    def choose(self, view: Any, actions: Sequence[Action]) -> Action:
        """What the program chooses."""
        began = perf_counter()
        events, self._events = self._events, None
        allowed = min(self._move_time, self._bank - self._used)
        action = self._ask(self._raw(view) if self._raw else view, actions, allowed, events)
        self._used += perf_counter() - began
        return action

    def finish(self, record: GameRecord) -> None:
        """Tells the program the result; from then on it is free for another match."""
        session, self._session = self._session, None
        assert session is not None
        try:
            session.game_over(record)
        finally:
            self._give_back(session)

    def __del__(self) -> None:
        # A bot that is dropped in the middle of a match has failed. Its program goes on only if it owned up to it.
        if getattr(self, "_session", None) is not None:
            assert self._session is not None
            self._give_back(self._session)


class ListeningRemoteBot(RemoteBot):
    """A Remote whose program wants events."""

    def observe(self, events: Sequence[Event]) -> None:
        """Kept for the next question."""
        self._events = list(events)


class SessionPool:
    """The processes of one entrant in this process: as many as it has seats in one match, which is one as a rule."""

    def __init__(self) -> None:
        self.idle: deque[Session] = deque()
        self.refused: deque[BotFault] = deque()
        """Starts that failed, for the seats that they were meant for."""
        self.left = 0
        """How many have ended between two matches, unasked."""
        self._home = ""
        self._owner = 0

    def __reduce__(self) -> tuple[type[SessionPool], tuple[()]]:
        return SessionPool, ()  # processes stay where they are

    @property
    def home(self) -> str:
        """A folder for the folders of all its processes, made in the process that asks first."""
        if not self._home:
            self._home, self._owner = tempfile.mkdtemp(prefix="arena-"), os.getpid()
            atexit.register(self.close)  # for those who play without an executor that closes its table
            os.chmod(self._home, 0o711)  # noqa: PTH101, S103 - a confined process owns a folder in it, as another user
        return self._home

    def take(self) -> Session | None:
        """A process that waits for a match; raises the fault of one that did not start."""
        if self.idle:
            return self.idle.popleft()
        if self.refused:
            raise self.refused.popleft()
        return None

    def give_back(self, session: Session) -> None:
        """Keeps a process for the next match, if it is fit for one."""
        if session.alive and perf_counter() - session.born < RETIREMENT:
            self.idle.append(session)
        else:
            session.close()

    def dismiss(self) -> None:
        """Ends all processes; the next match gets fresh ones."""
        while self.idle:
            self.idle.popleft().close()
        self.refused.clear()

    def close(self) -> None:
        """Ends all processes; the one who made the folder removes it."""
        self.dismiss()
        if self._home and self._owner == os.getpid():
            shutil.rmtree(self._home, ignore_errors=True)
            self._home = ""


@dataclass(frozen=True, slots=True)
class RemoteEntrant(Entrant):
    """An entrant in a process of its own: one for each worker, which serves match after match."""

    isolated: ClassVar[bool] = True
    launch: Launch
    expected: Introduction | None = None
    """How a program introduced itself when it was entered; it must go on saying so."""
    policy: IsolationPolicy = field(default_factory=IsolationPolicy)
    sessions: SessionPool = field(default_factory=SessionPool, compare=False)

    def warm_up(self, seats: int = 1) -> None:
        """Starts as many processes as are needed; a failure to start is kept for the match."""
        sessions = self.sessions
        while sessions.idle and not sessions.idle[0].process.running:
            sessions.idle.popleft().close()  # it left between two matches: a fresh one plays the next
            sessions.left += 1
        while len(sessions.idle) + len(sessions.refused) < seats:
            try:
                sessions.idle.append(self._start())
            except BotFault as fault:
                sessions.refused.append(fault)

    def seat(self, game: Game[Any], seat: int, players: int, seed: int) -> Bot:
        """A bot object that asks the program."""
        session = self.sessions.take() or self._start()
        kind = ListeningRemoteBot if "events" in session.wants else RemoteBot
        return kind(session, self.sessions.give_back).seated(game, seat, players, seed, self.settings)

    def close(self) -> None:
        """Ends its processes."""
        self.sessions.close()

    def _start(self) -> Session:
        session = Session(self.launch, self.sessions.home, self.policy, self.name)
        if self.expected is not None and session.introduction != self.expected:
            session.close()
            raise BotFault("illegal", "introduces itself otherwise than when it was entered")
        return session
