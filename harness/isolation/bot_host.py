"""Serve a Python bot over the protocol: read messages, ask the bot, answer. Runs in the bot's own process."""

from __future__ import annotations

import ctypes
import gc
import os
import random
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Raw

from harness.core.action import Action
from harness.core.bot import Bot, NoteBuffer, without_surrogates
from harness.core.errors import ArenaError
from harness.core.game import Game
from harness.core.records import GameRecord
from harness.core.rng import Chance
from harness.isolation.protocol import (  # fmt: skip
    PROTOCOL,
    Choice,
    Choose,
    FaultReport,
    GameOver,
    Hello,
    Introduction,
    NewGame,
    Ready,
    Want,
    decode_request,
    encode,
)
from harness.match.faults import BotFault, detail_of, illegal_answer, kind_of, set_bot_folder
from harness.match.stdio import BotStdout, refuse_breakpoints
from harness.plugins.bot_files import bot_file
from harness.plugins.entrants import BotDescription, BotRef, Entrant
from harness.plugins.features import load_object
from harness.plugins.registry import bots_of_file

READ_BYTES = 1 << 16
_SIG_IGN = 1
"""SIG_IGN of the C library."""
WARM_UP_DECISIONS = 12
"""Decisions of each game that are played before the first match."""


class Pipes:
    """The pipes to Arena, protected from a bot that prints, closes descriptors or forks by mistake."""

    def __init__(self) -> None:
        self.source, self.sink = os.dup(0), os.dup(1)
        # Descriptors 0 and 1 get other targets: what a bot prints goes to stderr and never into the protocol.
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        os.close(nothing)
        self._buffer = b""
        refuse_breakpoints()
        # The fork of `_Forker` does not run this hook: it keeps the pipes.
        os.register_at_fork(after_in_child=self._close)

    def _close(self) -> None:
        """Called in a child that the bot forks, which must not answer in its name."""
        os.close(self.source)
        os.close(self.sink)

    def read_line(self) -> bytes:
        """Return the next line; empty when Arena has closed the pipe."""
        while True:
            # One read may bring several lines, or a part of one.
            line, newline, rest = self._buffer.partition(b"\n")
            if newline:
                self._buffer = rest
                return line
            part = os.read(self.source, READ_BYTES)
            if not part:
                return b""
            self._buffer += part

    def send(self, message: object) -> None:
        """Send a message, or anything that can be encoded as JSON, as one line."""
        data = encode(message) + b"\n"
        while data:
            data = data[os.write(self.sink, data) :]


def preload() -> None:
    """Load the bundled games, in a process from which those of bots are forked."""
    for game in load_object("engines:arena_games")():
        _warm_up(game.configure(), WARM_UP_DECISIONS)


def serve(request: Mapping[str, Any]) -> None:
    """Serve a bot until Arena says bye.

    `request` names the `bot` (with its `file`, or by the path of its class), its `settings`, and the `engines` to load
    first; `copied` says that each match is played by a fork of this process.
    """
    pipes = Pipes()
    # Compared after each request: only the process that serves may continue to read.
    me = os.getpid()
    wait_and_fork = _Forker().wait_and_fork if request.get("copied") else None  # before any of the bot's code runs
    bot = _find_bot(request)
    games = [load_object(path).configure() for path in request["engines"]]
    for game in games:
        _warm_up(game, WARM_UP_DECISIONS)
    server = _BotServer(Entrant(bot.name, BotRef(), bot, dict(request["settings"]), "", ""), pipes)
    # Collect before the freeze, so that no garbage is kept. Frozen objects stay untouched in forks, which keeps their
    # pages shared.
    gc.collect()
    gc.freeze()  # the collector need not scan what is loaded
    server.handle(pipes.read_line())  # hello
    if wait_and_fork:
        me = wait_and_fork()
    while line := pipes.read_line():
        server.handle(line)
        if os.getpid() != me:  # a child that the bot forked has returned from its code
            os._exit(0)


def _warm_up(game: Game[Any], decisions: int) -> None:
    """Fill caches before the fork, or every copy would have to fill them again."""
    state = game.new(game.min_players, Chance(0))
    for number in range(decisions):
        if len(state.legal) > 1:
            view = Raw(game.view_to_json(state.view(state.seat)))
            asked = Choose(id=number, legal=[action.code for action in state.legal], time=None, view=view)
            request = decode_request(encode(asked))
            assert isinstance(request, Choose)
            game.view_from_json(bytes(request.view))
        if state.legal:
            state.step(state.legal[-1])


class _Forker:
    """Returns in a fork of this process, once for each match; the fork plays the match and is killed.

    Arena stops this process while a fork plays, and sends SIGCONT for the next one. This process must learn nothing of
    a match: it does not wait for its forks (with SIGCHLD ignored the kernel keeps neither their exit codes nor their
    usage), and all functions are looked up before the bot's code is loaded.

    It calls fork of the C library, not os.fork: the hooks that Python, libraries and bots register for a fork would
    copy much memory at once, and there are no other threads whose locks they would have to repair.
    """

    def __init__(self) -> None:
        library = ctypes.PyDLL(None)
        self._fork, self._handle = library.fork, library.signal
        self._handle.argtypes, self._handle.restype = (ctypes.c_int, ctypes.c_void_p), ctypes.c_void_p
        self._wait, self._mask, self._my_id = signal.sigwait, signal.pthread_sigmask, os.getpid
        self._before = self._mask(signal.SIG_BLOCK, {signal.SIGCONT})

    def wait_and_fork(self) -> int:
        """Return the process id of the fork, in the fork."""
        handler = self._handle(signal.SIGCHLD, _SIG_IGN)
        fork, wait, signals = self._fork, self._wait, {signal.SIGCONT}
        while True:
            wait(signals)
            if fork() == 0:
                break
        self._mask(signal.SIG_SETMASK, self._before)
        self._handle(signal.SIGCHLD, handler)
        return self._my_id()


class _BotServer:
    """Answers requests for one bot."""

    def __init__(self, entrant: Entrant, pipes: Pipes) -> None:
        self.entrant, self.pipes = entrant, pipes
        self.bot = Bot()
        self.note_buffer = NoteBuffer()
        self.started: NewGame | None = None

    def handle(self, line: bytes) -> None:
        """Handle a message and answer it."""
        request = decode_request(line)
        match request:
            case Choose():
                self._answer(request, self._choose)
            case NewGame():
                self._answer(request, self._start)
            case GameOver():
                # Ready is sent even if `finish` raises: the match is over, and nothing of it can be a fault.
                with suppress(BaseException):  # the result stands whatever a bot does with it
                    self._finish(request)
                self.pipes.send(Ready(request.id))
            case Hello():
                self._introduce()
            # Bye.
            case _:
                os._exit(0)

    def _introduce(self) -> None:
        bot = self.entrant.cls
        # A Python bot gets the rules as a class, so it needs no texts and components. Events and results cost time:
        # they are requested only by bots that override the method.
        wants: list[Want] = ["engine"]
        if bot.observe is not Bot.observe:
            wants.append("events")
        if bot.finish is not Bot.finish:
            wants.append("result")
        self.pipes.send(Introduction(PROTOCOL, bot.name, bot.version, bot.games, tuple(wants)))

    def _answer(self, request: Any, ask_bot: Callable[[Any], object]) -> None:
        try:
            reply = ask_bot(request)
        except BaseException as error:  # whatever a bot raises is its own fault, SystemExit included
            kind = kind_of(error)
            detail = without_surrogates(detail_of(error, __file__))
            reported = kind if kind in ("illegal", "memory") else "exception"
            reply = FaultReport(request.id, reported, detail, self._drain_notes())
        self.pipes.send(reply)

    def _start(self, request: NewGame) -> Ready:
        # Again for each match: the bot may have closed or replaced them in an earlier one.
        sys.stdout = sys.stderr = BotStdout(2)
        assert isinstance(request.engine, msgspec.Struct), "a Python bot requests the engine"
        game: Game[Any] = load_object(request.engine.cls).configure(request.settings, request.engine.files)
        self.started = request
        self.actions, self.view = game.actions, game.view_from_json
        # As in the referee: bots that use the global generator get the same numbers in every run.
        random.seed(request.seed)
        self.note_buffer = NoteBuffer()
        self.bot = self.entrant.seat(game, request.seat, request.players, request.seed)
        self.bot._contents = request.engine.files
        self.bot._note_buffer = self.note_buffer
        self.bot.start()
        return Ready(request.id)

    def _choose(self, request: Choose) -> Choice:
        actions = self.actions
        legal: tuple[Action, ...] = tuple([actions[code] for code in request.legal])
        view = self.view(bytes(request.view))
        if isinstance(request.events, list):
            self.bot.observe(request.events)
        answer = self.bot.choose(view, legal)
        try:
            code = legal[legal.index(answer)].code
            return Choice(request.id, code, self._drain_notes() if self.note_buffer else None)
        except BaseException:
            # Reported as a fault here, in the words of the referee: only this process has the object that was answered.
            raise BotFault("illegal", illegal_answer(answer, legal)) from None

    def _drain_notes(self) -> list[Any] | None:
        """Return the bot's notes for this answer."""
        with suppress(Exception):  # a bot can reach and break its note buffer, which must not cost it the match
            return list(self.note_buffer.drain()) or None
        return None

    def _finish(self, request: GameOver) -> None:
        """Send the bot the result. Ids and seed stay out of it: this process may see the same deal again."""
        assert self.started is not None
        game = self.started
        self.bot.finish(
            GameRecord(
                id="",
                index=0,
                set="",
                game=game.game,
                rules=game.rules,
                options=game.settings,
                seed=0,
                seats=("",) * game.players,
                scores=request.scores,
                ranks=request.ranks,
                ending=request.ending,
                actions=(),
                decisions=request.decisions,
            )
        )


def _find_bot(request: Mapping[str, Any]) -> type[Bot]:
    """Return the bot's class: from a file, or from an installed package."""
    cls: type[Bot]
    if request.get("file"):
        set_bot_folder(str(bot_file(str(request["file"])).parent))
        offer = bots_of_file(str(request["file"]))[str(request["bot"])]
        # The snapshot is read-only for bots, but it is on disk: check that it is what was entered.
        if offer.digest != request["digest"]:
            sys.exit(f"{request['file']} has been changed since the run began")
        cls = offer.cls
    else:
        cls = load_object(str(request["bot"]))
    return cls


def describe_file(request: Mapping[str, Any]) -> None:
    """Answer the first line, whatever it is, with descriptions of the bots in `file`, or with why it has none."""
    pipes = Pipes()
    pipes.read_line()
    try:
        found = bots_of_file(str(request["file"]))
    except ArenaError as error:
        pipes.send(FaultReport(0, detail=str(error)))
    else:
        pipes.send([BotDescription.of_bot(offer.cls) for _, offer in sorted(found.items())])
