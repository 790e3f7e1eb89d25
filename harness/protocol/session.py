"""One program at the referee's table: hello, then match after match, and every way in which it can fail."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, NoReturn, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct

from harness._version import VERSION
from harness.core.game import Action, Game
from harness.core.types import Event, FaultKind, GameRecord, Value
from harness.match.faults import BotFault, illegal_answer
from harness.match.referee import NO_LIMITS, Limits
from harness.protocol.messages import (
    LONGEST_HELLO,
    LONGEST_LINE,
    PROTOCOL,
    Bye,
    Choice,
    Choose,
    Engine,
    Failed,
    GameOver,
    Garbage,
    Hello,
    Introduction,
    NewGame,
    Ready,
    Reply,
    decode_reply,
    encode,
    shown,
)  # fmt: skip
from harness.sandbox.process import Ended, Launch, Process, TooLate, TooLong

Isolation = Literal["off", "on", "strict"]
R = TypeVar("R", bound=Reply)

MEMORY = 4096
START_TIME = 20.0
PARTING = 1.0
"""Seconds that a program's exit code is waited for once it has closed its pipe."""
_STARVED = re.compile(r"MemoryError|out of memory|cannot allocate|bad_alloc", re.IGNORECASE)


HELLO = encode(Hello(PROTOCOL, VERSION)) + b"\n"


class IsolationPolicy(Struct, frozen=True):
    """How an organiser runs other people's programs."""

    isolate: Isolation = "off"
    limits: Limits = NO_LIMITS
    memory: int = MEMORY
    """Megabytes for each bot's process; 0 is no limit."""
    start_time: float = START_TIME
    """Seconds from the start of a program to its hello."""
    logs: str = ""
    """The folder for what programs write to stderr; none if empty."""
    engines: tuple[str, ...] = ()
    """The classes of the games to be played, as module:name, so that Python bots have them loaded in time."""

    @property
    def terms(self) -> dict[str, object]:
        """The terms that a process is started on."""
        return {"confined": self.isolate != "off", "strict": self.isolate == "strict", "memory": self.memory}


class Session:
    """A program that has said hello. After a fault that leaves it in an unknown state it is dead: start another."""

    def __init__(self, launch: Launch, home: str, policy: IsolationPolicy, name: str) -> None:
        self.policy, self._id, self.born = policy, 0, perf_counter()
        log = Path(policy.logs, re.sub(r"[^\w.=,-]+", "_", name) + ".log") if policy.logs else None
        self.process = Process(launch, home, log, **policy.terms)
        try:
            deadline = perf_counter() + (policy.start_time or inf)
            line = exchange(self.process, HELLO, deadline, LONGEST_HELLO, "said hello")
            self.introduction = self._read(line, Introduction, "hello")
            if self.introduction.protocol != PROTOCOL:
                self._fail("illegal", f"speaks protocol {self.introduction.protocol}; this arena speaks {PROTOCOL}")
        except BotFault:
            self.close()
            raise
        self.wants = frozenset(self.introduction.wants)

    @property
    def alive(self) -> bool:
        """Whether it can play."""
        return self.process.alive

    def new_game(self, game: Game[Any], seat: int, players: int, seed: int, options: dict[str, Value]) -> None:
        """Begins a match; comes back when the program is ready for it."""
        limits, wants = self.policy.limits, self.wants
        self._id = 0
        message = NewGame(
            0, game.name, game.version, dict(game.settings), seat, players, seed, options,
            limits.move_time or None, limits.game_time or None,
            _components(game) if "components" in wants else UNSET,
            Engine(class_path(type(game)), dict(game.files)) if "engine" in wants else UNSET,
        )  # fmt: skip
        self._expect_ready(message)

    def choose(self, view: Any, legal: Sequence[Action], allowed: float, events: list[Event] | None) -> Action:
        """The program's choice among these actions, within so many seconds."""
        self._id += 1
        codes = [action.code for action in legal]
        message = Choose(
            self._id, codes, None if allowed == inf else round(allowed, 3), view,
            [action.text for action in legal] if "texts" in self.wants else UNSET,
            UNSET if events is None else events,
        )  # fmt: skip
        deadline = perf_counter() + allowed + self.policy.limits.margin
        line = exchange(self.process, encode(message) + b"\n", deadline, LONGEST_LINE, "answered")
        reply = self._read(line, Choice, "choice")
        self._check_id(reply.id)
        if reply.code not in codes:
            self._fail("illegal", illegal_answer(reply.code, legal))
        return legal[codes.index(reply.code)]

    def game_over(self, record: GameRecord) -> None:
        """Ends a match; comes back when the program is ready for another."""
        self._id += 1
        self._expect_ready(GameOver(self._id, record.ending, record.scores, record.ranks, record.decisions))

    def close(self) -> None:
        """Says bye to a program that can still hear it, and ends it."""
        if self.process.alive:
            with suppress(Ended, TooLate):
                self.process.send(encode(Bye()) + b"\n", perf_counter() + 0.1)
            self.process.kill()

    def _expect_ready(self, message: NewGame | GameOver) -> None:
        limits = self.policy.limits
        deadline = perf_counter() + (limits.move_time + limits.margin if limits.move_time else inf)
        line = exchange(self.process, encode(message) + b"\n", deadline, LONGEST_LINE, "been ready")
        self._check_id(self._read(line, Ready, "ready").id)

    def _read(self, line: bytes, kind: type[R], name: str) -> R:
        try:
            reply = decode_reply(line)
        except Garbage as garbage:
            self._fail("illegal", f"sent what is no message: {garbage}")
        if isinstance(reply, kind):
            return reply
        if isinstance(reply, Failed):
            self._check_id(reply.id)
            if reply.kind == "memory":  # what it has eaten is still eaten
                self.process.kill()
            raise BotFault(reply.kind, reply.detail)
        return self._fail("illegal", f"sent {shown(line)} when {name} was due")

    def _check_id(self, answered: int) -> None:
        if answered != self._id:
            self._fail("illegal", f"answered message {answered} when message {self._id} was waiting for an answer")

    def _fail(self, kind: FaultKind, detail: str) -> NoReturn:
        self.process.kill()
        raise BotFault(kind, detail)


def exchange(process: Process, data: bytes, deadline: float, longest: int, what: str) -> bytes:
    """Sends a line and returns the next one; where none comes, kills the process and raises the fault that this is."""
    began = perf_counter()
    try:
        return process.ask(data, deadline, longest)
    except TooLate as late:
        process.kill()
        half = f"; {late.unfinished} bytes without an end of line had come" if late.unfinished else ""
        raise BotFault(
            "timeout", f"had not {what} after {deadline - began:.3g} s; its process was killed{half}"
        ) from None
    except TooLong:
        process.kill()
        raise BotFault("illegal", f"sent more than {longest} bytes without an end of line") from None
    except Ended:
        ending = process.kill(PARTING)
        words = process.last_words()
        kind: FaultKind = "memory" if _STARVED.search(words) else "crash"
        raise BotFault(kind, f"its process ended: {ending}" + (f": {words}" if words else "")) from None


_described: dict[Game[Any], Raw] = {}


def _components(game: Game[Any]) -> Raw:
    """What `describe` tells, encoded once: it is the same in every match."""
    if game not in _described:
        _described[game] = Raw(msgspec.json.encode(game.describe()))
    return _described[game]


def class_path(cls: type) -> str:
    """Where to import a class from, as module:name."""
    return f"{cls.__module__}:{cls.__qualname__}"
