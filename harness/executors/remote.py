"""Entrants that play in a process of their own: where the sandbox and the protocol are put together."""

from __future__ import annotations

import atexit
import os
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

from msgspec import Struct

from harness.core.bot import Bot
from harness.core.game import Game
from harness.core.types import Isolation
from harness.executors.kept_programs import kept_here
from harness.executors.launches import private_folders
from harness.executors.threads import thread_variables
from harness.match.bot_prints import log_of
from harness.match.faults import BotFault
from harness.match.time_limits import NO_LIMITS, Limits
from harness.plugins.entrants import Entrant
from harness.protocol.messages import Introduction
from harness.protocol.remote_bot import ListeningRemoteBot, RemoteBot
from harness.protocol.session import Session
from harness.sandbox.launch import Launch
from harness.sandbox.process import Process
from harness.sandbox.scratch import new_folder, remove_folder

MEMORY = 4096
START_TIME = 20.0
RETIREMENT_AGE = 900.0
"""Seconds after which a process is replaced between two matches, long before its processor time is used up."""


class IsolationPolicy(Struct, frozen=True):
    """How an organiser runs other people's programs."""

    isolate: Isolation = "auto"
    limits: Limits = NO_LIMITS
    memory: int = MEMORY
    """Megabytes for each bot's process; 0 is no limit."""
    start_time: float = START_TIME
    """Seconds from the start of a program to its hello; 0 is no limit."""
    threads: int = 1
    """Of each native pool (OpenMP, BLAS) in such a process; 0 is as many as it likes."""
    logs: str = ""
    """The folder for what programs write to stderr; none if empty."""
    keep: bool = False
    """Whether a process that cannot be copied plays further matches, of other deals, instead of one."""
    ponder: bool = False
    """Whether programs may go on thinking while nobody asks them."""

    def start(self, launch: Launch, home: str, name: str = "") -> Process:
        """Starts a process on these terms; without a name no log is kept of it."""
        log = log_of(Path(self.logs), name) if self.logs and name else None
        told = replace(launch, environment=thread_variables(self.threads))
        return Process(
            told,
            home,
            log,
            self.ponder,
            confined=self.isolate != "off",
            strict=self.isolate == "strict",
            lenient=self.isolate == "auto",
            memory=self.memory,
            hidden=private_folders(self.logs),
        )


@dataclass(frozen=True, slots=True)
class RunningProgram:
    """A program in its process, and the conversation with it."""

    process: Process
    session: Session
    started_at: float
    """In perf_counter's time."""
    deals: set[Hashable] = field(default_factory=set)
    """The deals that this process, and not a copy of it, has played."""

    @classmethod
    def start(cls, launch: Launch, home: str, policy: IsolationPolicy, name: str) -> RunningProgram:
        """Starts a program and waits for its hello; raises BotFault if that does not come."""
        started_at = perf_counter()
        process = policy.start(launch, home, name)
        return cls(process, Session(process, policy.limits, policy.start_time), started_at)

    @property
    def fit(self) -> bool:
        """Whether it can play another match."""
        return self.session.alive and perf_counter() - self.started_at < RETIREMENT_AGE

    def may_play(self, deal: Hashable) -> bool:
        """Whether nothing in this process has seen that deal."""
        return deal not in self.deals


class SessionPool:
    """The programs of one entrant in this process: as many as it has seats in one match, which is one as a rule."""

    def __init__(self, home: str = "") -> None:
        self.idle: deque[RunningProgram] = deque()
        self.failed_starts: deque[BotFault] = deque()
        """Starts that failed, for the seats that they were meant for."""
        self.unasked_exits = 0
        """How many have ended between two matches, unasked."""
        self.copied = True
        """Whether a loaded program may be copied: no more once one was not as it had been, or a copy has ended."""
        self.deal: Hashable = None
        """What is being played."""
        self._home = home
        self._owner = 0

    def __reduce__(self) -> tuple[type[SessionPool], tuple[str]]:
        return SessionPool, (self._home,)  # processes stay where they are, and the folder is ours to remove

    @property
    def home(self) -> str:
        """A folder for the folders of all its processes, made in the process that asks first."""
        if not self._home:
            self._home, self._owner = new_folder(), os.getpid()
            atexit.register(self.close)  # for those who play without an executor that closes its table
        return self._home

    def take(self) -> RunningProgram | None:
        """A program that waits for a match; raises the fault of one that did not start."""
        for program in self.idle:
            if program.may_play(self.deal):
                self.idle.remove(program)
                return program
        if self.failed_starts:
            raise self.failed_starts.popleft()
        return None

    def give_back(self, program: RunningProgram, keep: bool) -> None:
        """Keeps a program for the next match, if another copy of it can play, or if processes are kept."""
        fresh = program.process.end_match()
        if not fresh:
            program.deals.add(self.deal)
        if program.process.unfit:
            self.copied = False
        if program.fit and (fresh or (keep and not program.process.loaded)):
            self.idle.append(program)
            kept_here().used(self)
        else:
            program.session.close()

    @property
    def waiting(self) -> int:
        """How many programs wait for a match."""
        return len(self.idle)

    def close_one(self) -> None:
        """Ends the program that has waited longest."""
        self.idle.popleft().session.close()

    def dismiss(self) -> None:
        """Ends all programs; the next match gets fresh ones."""
        while self.idle:
            self.idle.popleft().session.close()
        self.failed_starts.clear()

    def close(self) -> None:
        """Ends all programs; the process that made the folder removes it."""
        self.dismiss()
        if self._home and self._owner == os.getpid():
            remove_folder(self._home)
            self._home = ""


@dataclass(frozen=True, slots=True)
class RemoteEntrant(Entrant):
    """An entrant in a process of its own, for each worker: nothing of a match is left in it when the next begins."""

    isolated: ClassVar[bool] = True
    launch: Launch
    expected: Introduction | None = None
    """How a program introduced itself when it was entered; it must go on saying so."""
    policy: IsolationPolicy = field(default_factory=IsolationPolicy)
    sessions: SessionPool = field(default_factory=SessionPool, compare=False)

    def warm_up(self, seats: int = 1, deal: Hashable = None) -> None:
        """Starts as many processes as are needed; a failure to start is kept for the match."""
        sessions = self.sessions
        sessions.deal = deal
        if deal is None:  # it is asked about something once: how a process ends that is no copy is known better
            sessions.copied = False
        for program in [one for one in sessions.idle if not one.process.running]:
            sessions.idle.remove(program)
            program.session.close()  # it left between two matches: a fresh one plays the next
            sessions.unasked_exits += 1
        while sum(one.may_play(deal) for one in sessions.idle) + len(sessions.failed_starts) < seats:
            try:
                sessions.idle.append(self._start())
            except BotFault as fault:
                sessions.failed_starts.append(fault)
        for program in [one for one in sessions.idle if one.may_play(deal)][:seats]:
            program.process.begin_match()
        kept_here().used(sessions)

    def seat(self, game: Game[Any], seat: int, players: int, seed: int) -> Bot:
        """A bot object that asks the program."""
        program = self.sessions.take() or self._start()
        kind = ListeningRemoteBot if "events" in program.session.wants else RemoteBot
        bot = kind(program.session, partial(self.sessions.give_back, program, self.policy.keep))
        bot._contents = self.contents
        return bot.seated(game, seat, players, seed, self.settings)

    def start_afresh(self) -> None:
        """Ends what waits for a match."""
        self.sessions.dismiss()

    def close(self) -> None:
        """Ends its processes."""
        self.sessions.close()

    def _start(self) -> RunningProgram:
        copied = self.launch.copied and self.sessions.copied and self.policy.isolate != "strict"
        launch = replace(self.launch, copied=copied)
        program = RunningProgram.start(launch, self.sessions.home, self.policy, self.name)
        if copied and not program.process.loaded:  # it has threads, or shares something
            self.sessions.copied = False
            program.session.close()
            return self._start()
        if self.expected is not None and program.session.introduction != self.expected:
            program.session.close()
            raise BotFault("illegal", "introduces itself otherwise than when it was entered")
        return program
