"""One program at the referee's table: hello, then match after match, and every way in which it can fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from time import perf_counter
from typing import Any, NoReturn, Protocol, TypeVar

import msgspec
from msgspec import UNSET, Raw

from harness._version import VERSION
from harness.core.action import Action, action_fields
from harness.core.game import Game
from harness.core.options import NO_FILES
from harness.core.types import Event, FaultKind, GameRecord, Value
from harness.match.faults import BotFault, illegal_answer
from harness.match.time_limits import Limits
from harness.protocol.messages import (
    LONGEST_LINE,
    PROTOCOL,
    Bye,
    Choice,
    Choose,
    Engine,
    FaultReport,
    GameOver,
    Hello,
    Introduction,
    NewGame,
    NotAMessage,
    Ready,
    Reply,
    decode_reply,
    encode,
    printable,
)  # fmt: skip

R = TypeVar("R", bound=Reply)

HELLO = encode(Hello(PROTOCOL, VERSION)) + b"\n"
BYE = encode(Bye()) + b"\n"
PARTING_TIME = 0.5
"""Seconds for a program to end by itself once it was told bye."""


class Channel(Protocol):
    """What a session needs of the program at the other end, however it runs: lines out, lines in, and an end."""

    @property
    def alive(self) -> bool:
        """Whether the program can be asked: False once it was killed, for whatever reason."""

    def exchange(self, line: bytes, deadline: float, longest: int, awaited: str) -> bytes:
        """Sends a line and returns the program's next line, without its newline.

        `deadline` is in perf_counter's time, `longest` how many bytes the answer may have. Where no answer comes, kills
        the program and raises the BotFault that this is; `awaited` says what it "had not" done: "answered".
        """

    def dismiss(self, line: bytes, grace: float) -> None:
        """Sends a last line, gives the program up to `grace` seconds to end by itself, and kills what is left.

        Does nothing if it is not alive.
        """

    def processor_time(self) -> float:
        """Seconds of processor time that the program has used in this match."""

    def kill(self) -> object:
        """Ends the program at once, with everything that it has started."""


class Session:
    """A program that has said hello. After a fault that leaves it in an unknown state it is dead: start another."""

    def __init__(self, channel: Channel, limits: Limits, start_time: float) -> None:
        """Says hello; `start_time` is how many seconds the program has to answer, 0 is no limit."""
        self.channel, self.limits, self._id = channel, limits, 0
        self.note: Any = None
        """What came with the last answer, if anything did."""
        try:
            deadline = perf_counter() + (start_time or inf)
            line = channel.exchange(HELLO, deadline, LONGEST_LINE, "said hello")
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
        return self.channel.alive

    def new_game(
        self,
        game: Game[Any],
        seat: int,
        players: int,
        seed: int,
        options: dict[str, Value],
        contents: Mapping[str, str] = NO_FILES,
    ) -> None:
        """Begins a match; comes back when the program is ready for it.

        `contents` are those of files that the bot's options name, for a Python program.
        """
        files = {**game.files, **contents}
        self._id, limits = 0, self.limits
        message = NewGame(
            id=0,
            game=game.name,
            rules=game.version,
            settings=dict(game.settings),
            seat=seat,
            players=players,
            seed=seed,
            options=options,
            move_time=limits.move_time or None,
            game_time=limits.game_time or None,
            components=_components(game) if "components" in self.wants else UNSET,
            engine=Engine(cls=class_path(type(game)), files=files) if "engine" in self.wants else UNSET,
        )
        self._expect_ready(message, limits.game_time or inf)

    def choose(self, view: Any, legal: Sequence[Action], allowed: float, events: list[Event] | None) -> Action:
        """The program's choice among these actions, within so many seconds."""
        self._id += 1
        codes = [action.code for action in legal]
        message = Choose(  # by position: this is the hot path, and a test compares the fields by name
            self._id, codes, None if allowed == inf else round(allowed, 3), view,
            [action.text for action in legal] if "texts" in self.wants else UNSET,
            _fields(legal) if "actions" in self.wants else UNSET,
            UNSET if events is None else events,
        )  # fmt: skip
        deadline = perf_counter() + allowed + self.limits.margin
        line = self.channel.exchange(encode(message) + b"\n", deadline, LONGEST_LINE, "answered")
        reply = self._read(line, Choice, "choice")
        self._check_id(reply.id)
        self.note = reply.note
        if reply.code not in codes:
            self._fail("illegal", illegal_answer(reply.code, legal))
        return legal[codes.index(reply.code)]

    def game_over(self, record: GameRecord, allowed: float = inf) -> None:
        """Ends a match; comes back when the program is ready for another, within so many seconds."""
        if "engine" in self.wants and "result" not in self.wants:
            return  # a Python bot that does nothing with it
        self._id += 1
        message = GameOver(
            id=self._id,
            ending=record.ending,
            scores=record.scores,
            ranks=record.ranks,
            decisions=record.decisions,
        )
        self._expect_ready(message, allowed)

    def close(self) -> None:
        """Says bye to a program that can still hear it, and sees to its end."""
        self.channel.dismiss(BYE, PARTING_TIME)

    def _expect_ready(self, message: NewGame | GameOver, allowed: float) -> None:
        deadline = perf_counter() + min(self.limits.move_time or inf, allowed) + self.limits.margin
        line = self.channel.exchange(encode(message) + b"\n", deadline, LONGEST_LINE, "been ready")
        self._check_id(self._read(line, Ready, "ready").id)

    def _read(self, line: bytes, kind: type[R], name: str) -> R:
        try:
            reply = decode_reply(line)
        except NotAMessage as error:
            self._fail("illegal", f"sent what is no message: {error}")
        if isinstance(reply, kind):
            return reply
        if isinstance(reply, FaultReport):
            self._check_id(reply.id)
            self.note = reply.note
            if reply.kind == "memory":  # what it has eaten is still eaten
                self.channel.kill()
            raise BotFault(reply.kind, reply.detail)
        return self._fail("illegal", f"sent {printable(line)} when {name} was due")

    def _check_id(self, answered: int) -> None:
        if answered != self._id:
            self._fail("illegal", f"answered message {answered} when message {self._id} was waiting for an answer")

    def _fail(self, kind: FaultKind, detail: str) -> NoReturn:
        self.channel.kill()
        raise BotFault(kind, detail)


_described: dict[Game[Any], Raw] = {}


def _components(game: Game[Any]) -> Raw:
    """What `components` tells, encoded once: it is the same in every match."""
    if game not in _described:
        _described[game] = Raw(msgspec.json.encode(game.components()))
    return _described[game]


_tables: dict[Game[Any], tuple[Raw, ...]] = {}


def _fields(legal: Sequence[Action]) -> list[Raw]:
    """What `actions` tells, encoded once for the whole game: a decision costs a look-up for each action."""
    game = legal[0].game
    if game not in _tables:
        # A value that JSON has no word for goes as its text: the laws forbid it, but it must not be a bot's fault.
        _tables[game] = tuple(Raw(msgspec.json.encode(action_fields(each), enc_hook=str)) for each in game.actions)
    table = _tables[game]
    return [table[action.code] for action in legal]


def class_path(cls: type) -> str:
    """Where to import a class from, as module:name."""
    return f"{cls.__module__}:{cls.__qualname__}"
