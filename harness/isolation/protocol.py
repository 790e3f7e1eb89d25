"""The wire protocol: messages, Arena's side of a session, and the bot object that stands for a remote program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from harness._version import VERSION
from harness.core.action import Action, action_fields
from harness.core.bot import Bot
from harness.core.errors import printable
from harness.core.game import Game
from harness.core.options import NO_FILES
from harness.core.records import Event, FaultKind, GameRecord, Value
from harness.match.faults import BotFault, Limits, illegal_answer
from harness.plugins.entrants import BotDescription

if TYPE_CHECKING:  # the bot's own process uses only the messages, and need not load how processes are started
    from harness.isolation.process import Process

# Messages: one JSON object per line
#
# docs/protocol.md describes them for authors of bots.


PROTOCOL = 1
MAX_LINE_BYTES = 1 << 16
"""Maximum length of a bot's line; honest ones are far shorter."""
MAX_DESCRIPTIONS_BYTES = 1 << 20
"""A Python file describes all its bots in one line, written by Arena's own code and not by an author."""

Want = Literal["actions", "components", "engine", "events", "result", "texts"]


class Hello(Struct, tag_field="type", tag="hello", frozen=True):
    """Arena's first line."""

    protocol: int
    arena: str


class Engine(Struct, frozen=True):
    """Where a Python program finds the rules: a class, and the files that game settings and bot options name, by
    digest.
    """

    cls: str
    files: dict[str, str]


class NewGame(Struct, tag_field="type", tag="new-game", frozen=True):
    """Start of a match."""

    id: int
    game: str
    rules: str
    settings: dict[str, Value]
    seat: int
    players: int
    seed: int
    options: dict[str, Value]
    move_time: float | None
    game_time: float | None
    components: Raw | UnsetType = UNSET
    engine: Engine | UnsetType = UNSET


class Choose(Struct, tag_field="type", tag="choose", frozen=True):
    """Request for a decision. Small and simple fields come first, for programs that read no further."""

    id: int
    legal: list[int]
    time: float | None
    view: Raw
    """Decoded by the game. Encoded from a Raw, or from a view directly."""
    texts: list[str] | UnsetType = UNSET
    actions: list[Raw] | UnsetType = UNSET
    """The fields of each legal action, in the order of `legal`."""
    events: list[Event] | UnsetType = UNSET


class GameOver(Struct, tag_field="type", tag="game-over", frozen=True):
    """End of a match. The deal stays secret: other seatings of it may still be played."""

    id: int
    ending: str
    scores: tuple[int, ...]
    ranks: tuple[int, ...]
    decisions: tuple[int, ...]


class Bye(Struct, tag_field="type", tag="bye", frozen=True):
    """The last line; needs no answer."""


Request = Hello | NewGame | Choose | GameOver | Bye


class Introduction(Struct, tag_field="type", tag="hello", frozen=True):
    """A program's answer to hello: its name, its games (none: any), and the fields that it wants to receive."""

    protocol: int
    name: str = ""
    version: str = ""
    games: tuple[str, ...] = ()
    wants: tuple[Want, ...] = ("components", "events", "texts")


class Ready(Struct, tag_field="type", tag="ready", frozen=True):
    """The answer to new-game and to game-over."""

    id: int


class Choice(Struct, tag_field="type", tag="choice", frozen=True, omit_defaults=True):
    """The answer to choose."""

    id: int
    code: int
    note: Any = None
    """Notes for the bot's author: one, or a list."""


class FaultReport(Struct, tag_field="type", tag="fault", frozen=True, omit_defaults=True):
    """A program may report its own fault: it loses the match, but its process continues."""

    id: int
    kind: Literal["exception", "illegal", "memory"] = "exception"
    detail: str = ""
    note: Any = None
    """As in a choice."""


Reply = Introduction | Ready | Choice | FaultReport


encode = msgspec.json.Encoder().encode
decode_request = msgspec.json.Decoder(Request).decode
_reply_decoder: msgspec.json.Decoder[Reply] = msgspec.json.Decoder(Reply)
_descriptions_decoder: msgspec.json.Decoder[list[BotDescription] | FaultReport] = msgspec.json.Decoder(
    list[BotDescription] | FaultReport
)
_DECODE_ERRORS = (msgspec.MsgspecError, RecursionError, MemoryError, ValueError)


T = TypeVar("T")


class InvalidMessage(Exception):
    """A line that is not a message of this protocol."""


def decode_reply(line: bytes) -> Reply:
    """Return the message in a line; raises InvalidMessage, and nothing else."""
    return _decode(_reply_decoder, line)


def decode_descriptions(line: bytes) -> list[BotDescription]:
    """Return the bots that a line describes; raises BotFault if it reports why there are none, or InvalidMessage."""
    found = _decode(_descriptions_decoder, line)
    if isinstance(found, FaultReport):
        raise BotFault(found.kind, found.detail)
    return found


def _decode(decoder: msgspec.json.Decoder[T], line: bytes) -> T:
    try:
        return decoder.decode(line)
    except _DECODE_ERRORS as error:  # its text may quote the line, so it is made printable, too
        raise InvalidMessage(f"{quoted(line)} ({printable(str(error), 200)})") from None


def quoted(line: bytes) -> str:
    """Return a line for display: short, and without control characters."""
    text = line[:120].decode(errors="replace")
    return repr(text) + ("..." if len(line) > 120 else "")


# Session: hello, match after match, and every way to fail


R = TypeVar("R", bound=Reply)

HELLO = encode(Hello(PROTOCOL, VERSION)) + b"\n"
BYE = encode(Bye()) + b"\n"
BYE_GRACE_S = 0.5
"""Time for a program to exit by itself after bye."""


class Session:
    """A program that has said hello. It is dead after a fault that leaves it in an unknown state: start another."""

    def __init__(self, channel: Process, limits: Limits, start_time: float) -> None:
        """Say hello to the program; `start_time` is how many seconds it has to answer, 0 for no limit."""
        self.channel, self.limits, self._id = channel, limits, 0
        self.note: Any = None
        """The note that came with the last answer."""
        try:
            deadline = perf_counter() + (start_time or inf)
            line = channel.exchange(HELLO, deadline, awaited="said hello")
            self.introduction = self._read_reply(line, Introduction, "hello")
            if self.introduction.protocol != PROTOCOL:
                # Checked before anything else is read: later fields may differ between versions.
                self._fail("illegal", f"speaks protocol {self.introduction.protocol}; this arena speaks {PROTOCOL}")
        except BotFault:
            self.close()
            raise
        self.wants = frozenset(self.introduction.wants)

    @property
    def alive(self) -> bool:
        """Whether the program can be asked."""
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
        """Start a match; returns when the program is ready.

        `contents` has the files that the bot's options name, for a Python program.
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
        """Return the program's choice among these actions, within `allowed` seconds."""
        self._id += 1
        codes = [action.code for action in legal]
        fields = _action_table(legal[0].game) if "actions" in self.wants else ()
        message = Choose(  # by position, which is faster on this hot path; a test compares the fields by name
            self._id, codes, None if allowed == inf else round(allowed, 3), view,
            [action.text for action in legal] if "texts" in self.wants else UNSET,
            [fields[code] for code in codes] if fields else UNSET,
            UNSET if events is None else events,
        )  # fmt: skip
        # The margin covers the delay of pipes and scheduler. The referee allows the same margin for its own
        # measurement.
        deadline = perf_counter() + allowed + self.limits.margin
        line = self.channel.exchange(encode(message) + b"\n", deadline)
        reply = self._read_reply(line, Choice, "choice")
        self._check_id(reply.id)
        self.note = reply.note
        # Programs answer with codes, never with objects: there is nothing else to compare.
        if reply.code not in codes:
            self._fail("illegal", illegal_answer(reply.code, legal))
        return legal[codes.index(reply.code)]

    def game_over(self, record: GameRecord, allowed: float = inf) -> None:
        """End a match; returns when the program is ready for another, within `allowed` seconds."""
        if "engine" in self.wants and "result" not in self.wants:
            return  # a Python bot without `finish`
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
        """Say bye to a program that is still alive, and end it."""
        self.channel.dismiss(BYE, BYE_GRACE_S)

    def _expect_ready(self, message: NewGame | GameOver, allowed: float) -> None:
        deadline = perf_counter() + min(self.limits.move_time or inf, allowed) + self.limits.margin
        line = self.channel.exchange(encode(message) + b"\n", deadline, awaited="been ready")
        # Both limits apply to start and end of a match: the time for one move, and what is left for the game.
        self._check_id(self._read_reply(line, Ready, "ready").id)

    def _read_reply(self, line: bytes, kind: type[R], name: str) -> R:
        try:
            reply = decode_reply(line)
        except InvalidMessage as error:
            self._fail("illegal", f"sent what is no message: {error}")
        if isinstance(reply, kind):
            return reply
        if isinstance(reply, FaultReport):
            self._check_id(reply.id)
            self.note = reply.note
            if reply.kind == "memory":  # its memory is still in use
                self.channel.kill()
            raise BotFault(reply.kind, reply.detail)
        return self._fail("illegal", f"sent {quoted(line)} when {name} was due")

    def _check_id(self, answered: int) -> None:
        # A late answer to an earlier request must not count for this one.
        if answered != self._id:
            self._fail("illegal", f"answered message {answered} when message {self._id} was waiting for an answer")

    def _fail(self, kind: FaultKind, detail: str) -> NoReturn:
        self.channel.kill()
        raise BotFault(kind, detail)


@cache
def _components(game: Game[Any]) -> Raw:
    """Return the components, encoded once: they are the same in every match."""
    return Raw(msgspec.json.encode(game.components()))


@cache
def _action_table(game: Game[Any]) -> tuple[Raw, ...]:
    """Return the encoded fields of all actions, encoded once: a decision costs one look-up an action."""
    # A value without a JSON form is sent as text: the laws forbid it, but it must not become a bot's fault.
    return tuple(Raw(msgspec.json.encode(action_fields(each), enc_hook=str)) for each in game.actions)


def class_path(cls: type) -> str:
    """Return where to import a class from, as module:name."""
    return f"{cls.__module__}:{cls.__qualname__}"


# Bot objects that stand for a program


class RemoteBot(Bot):
    """Passes the referee's requests to a program; raises BotFault where it fails."""

    def __init__(self, session: Session, release: Callable[[], None]) -> None:
        """`release` is called once, when this bot no longer uses the session."""
        self._session: Session | None = session
        self._release = release
        self._events: list[Event] | None = None
        self._time_used = 0.0

    def start(self) -> None:
        """Announce the match to the program."""
        assert self._session is not None
        limits = self._session.limits
        self._move_time, self._game_time = limits.move_time or inf, limits.game_time or inf
        self._ask = self._session.choose
        # Most games encode views as msgspec does: then the view is encoded together with the message.
        # Looked up once a match: `choose` is the hot path.
        own_way = type(self.game).view_to_json is not Game.view_to_json
        self._encode_view = (lambda view: Raw(self.game.view_to_json(view))) if own_way else None
        began = perf_counter()
        self._session.new_game(self.game, self.seat, self.players, self.seed, dict(self.settings), self._contents)
        self._session.channel.share_core(self.players)
        self._time_used = perf_counter() - began

    def choose(self, view: Any, actions: Sequence[Action]) -> Action:
        """Return what the program chooses."""
        began = perf_counter()
        events, self._events = self._events, None
        # The time of new-game and of all requests so far counts against the time for the game.
        allowed = min(self._move_time, self._game_time - self._time_used)
        try:
            action = self._ask(self._encode_view(view) if self._encode_view else view, actions, allowed, events)
        except BaseException:
            assert self._session is not None
            self._processor_time = self._session.channel.processor_time()
            raise
        finally:
            self._forward_notes()
        self._time_used += perf_counter() - began
        return action

    def _forward_notes(self) -> None:
        """Store the notes of the answer, as a bot of this process would."""
        assert self._session is not None
        note, self._session.note = self._session.note, None
        if note is not None:
            for each in note if isinstance(note, list) else [note]:
                self.note(each)

    def finish(self, record: GameRecord) -> None:
        """Send the result; then the program is free for another match."""
        session, self._session = self._session, None
        assert session is not None
        try:
            session.game_over(record, max(self._game_time - self._time_used, 0.0))
        finally:
            self._processor_time = session.channel.processor_time()
            self._release()

    def __del__(self) -> None:
        # A bot that is dropped during a match has failed. Its program continues only if it reported the fault itself.
        if getattr(self, "_session", None) is not None:
            self._release()


class ListeningRemoteBot(RemoteBot):
    """A RemoteBot whose program wants events."""

    def observe(self, events: Sequence[Event]) -> None:
        """Store the events for the next request."""
        self._events = list(events)
