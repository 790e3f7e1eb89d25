"""A Python bot behind the protocol: reads messages, asks the bot, answers. Runs in the bot's own process."""

from __future__ import annotations

import ctypes
import gc
import os
import random
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

import msgspec
from msgspec import Raw

from harness.core.action import Action
from harness.core.bot import Bot
from harness.core.chance import Chance
from harness.core.game import Game
from harness.core.notes import Notebook
from harness.core.types import GameRecord
from harness.match.bot_stdout import BotStdout
from harness.match.breakpoints import refuse_breakpoints
from harness.match.faults import detail_of, illegal_answer, kind_of, set_own_folder, whole_characters
from harness.plugins.bot_files import bot_file
from harness.plugins.entrants import Entrant
from harness.protocol.messages import (
    PROTOCOL,
    BotDescription,
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
)  # fmt: skip

CHUNK = 1 << 16
_IGNORE = 1
"""The C library's SIG_IGN."""
REHEARSED = 12
"""Decisions of each game that are gone through before the first match."""


class Pipes:
    """The way to arena, out of the reach of a bot that prints, closes or forks by mistake."""

    def __init__(self) -> None:
        self.source, self.sink = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        os.close(nothing)
        self._buffer = b""
        refuse_breakpoints()
        os.register_at_fork(after_in_child=self._close)

    def _close(self) -> None:
        """A child that the bot forks must not answer in its name."""
        os.close(self.source)
        os.close(self.sink)

    def read_line(self) -> bytes:
        """The next line; empty when arena has gone."""
        while True:
            line, newline, rest = self._buffer.partition(b"\n")
            if newline:
                self._buffer = rest
                return line
            part = os.read(self.source, CHUNK)
            if not part:
                return b""
            self._buffer += part

    def send(self, message: object) -> None:
        """Sends a message, or whatever can be written as JSON, on a line."""
        data = encode(message) + b"\n"
        while data:
            data = data[os.write(self.sink, data) :]


def serve(wanted: Mapping[str, Any]) -> None:
    """Plays for a bot until arena says bye.

    `wanted` names the `bot` (with the `file` it is in, or by the path of its class), its `settings`, and the `engines`
    to load beforehand; `copied` says that each match is to be played by a copy of this process.
    """
    pipes = Pipes()
    me = os.getpid()
    become_copy = _Copier().become_copy if wanted.get("copied") else None  # as it is before the bot's code is here
    bot = _find_bot(wanted)
    games = [_import_class(path).configure() for path in wanted["engines"]]
    for game in games:
        _rehearse(game, REHEARSED)
    server = _BotServer(Entrant(bot.name, "", bot, dict(wanted["settings"]), "", ""), pipes)
    gc.collect()
    gc.freeze()  # what is loaded stays: the collector need not look at it again and again
    server.handle(pipes.read_line())  # hello
    if become_copy:
        me = become_copy()
    while line := pipes.read_line():
        server.handle(line)
        if os.getpid() != me:  # a child that the bot has forked has come back from it
            os._exit(0)


def _rehearse(game: Game[Any], decisions: int) -> None:
    """Does once what each copy would have to do for the first time: much is made when it is first needed, and kept."""
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


class _Copier:
    """Comes back in a copy of this process, in another one for each match; the copy plays it, and is then killed.

    Arena stops this process while a copy plays, and sends it SIGCONT when it wants the next. Nothing is to be learnt
    here of a match that was played: copies that end are not waited for (their parent ignores it, so the kernel keeps
    neither their exit code nor what they used), and what is called is looked up before the bot's code is loaded.

    The copy is this process gone on, so it is none of the forks that Python, libraries and bots prepare for: what they
    prepare would copy much of its memory at once, and there are no other threads whose locks they would have to mend.
    """

    def __init__(self) -> None:
        library = ctypes.PyDLL(None)
        self._fork, self._handle = library.fork, library.signal
        self._handle.argtypes, self._handle.restype = (ctypes.c_int, ctypes.c_void_p), ctypes.c_void_p
        self._wait, self._mask, self._my_id = signal.sigwait, signal.pthread_sigmask, os.getpid
        self._before = self._mask(signal.SIG_BLOCK, {signal.SIGCONT})

    def become_copy(self) -> int:
        """The copy's process id."""
        handler = self._handle(signal.SIGCHLD, _IGNORE)
        fork, wait, wanted = self._fork, self._wait, {signal.SIGCONT}
        while True:
            wait(wanted)
            if fork() == 0:
                break
        self._mask(signal.SIG_SETMASK, self._before)
        self._handle(signal.SIGCHLD, handler)
        return self._my_id()


class _BotServer:
    """Answers for one bot."""

    def __init__(self, entrant: Entrant, pipes: Pipes) -> None:
        self.entrant, self.pipes = entrant, pipes
        self.bot = Bot()
        self.noted = Notebook()
        self.started: NewGame | None = None

    def handle(self, line: bytes) -> None:
        """Does what a message asks for, and answers it."""
        request = decode_request(line)
        match request:
            case Choose():
                self._answer(request, self._choose)
            case NewGame():
                self._answer(request, self._start)
            case GameOver():
                with suppress(BaseException):  # the result stands whatever a bot does with it
                    self._finish(request)
                self.pipes.send(Ready(request.id))
            case Hello():
                self._introduce()
            case _:
                os._exit(0)

    def _introduce(self) -> None:
        bot = self.entrant.bot
        wants: list[Want] = ["engine"]
        if bot.observe is not Bot.observe:
            wants.append("events")
        if bot.finish is not Bot.finish:
            wants.append("result")
        self.pipes.send(Introduction(PROTOCOL, bot.name, bot.version, bot.games, tuple(wants)))

    def _answer(self, request: Any, ask_bot: Callable[[Any], object]) -> None:
        number = request.id
        try:
            reply = ask_bot(request)
        except _IllegalAnswer as error:
            reply = FaultReport(number, "illegal", whole_characters(error.args[0]), self._note())
        except BaseException as error:  # whatever a bot raises is its own fault, SystemExit included
            kind = kind_of(error)
            detail = whole_characters(detail_of(error, __file__))
            reply = FaultReport(number, "memory" if kind == "memory" else "exception", detail, self._note())
        self.pipes.send(reply)

    def _start(self, request: NewGame) -> Ready:
        sys.stdout = sys.stderr = BotStdout(2)
        assert isinstance(request.engine, msgspec.Struct), "this child asks to be told the engine"
        game: Game[Any] = _import_class(request.engine.cls).configure(request.settings, request.engine.files)
        self.started = request
        self.actions, self.view = game.actions, game.view_from_json
        random.seed(request.seed)
        self.noted = Notebook()
        self.bot = self.entrant.seat(game, request.seat, request.players, request.seed)
        self.bot._contents = request.engine.files
        self.bot._notebook = self.noted
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
            return Choice(request.id, legal[legal.index(answer)].code, self._note() if self.noted else None)
        except BaseException:
            raise _IllegalAnswer(illegal_answer(answer, legal)) from None

    def _note(self) -> list[Any] | None:
        """What the bot has noted for this answer."""
        with suppress(Exception):  # a bot can reach its notebook: what it does to it must not cost it the match
            return list(self.noted.take()) or None
        return None

    def _finish(self, request: GameOver) -> None:
        """Tells the bot as much of the record as a process may know that will see the same deal again."""
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


class _IllegalAnswer(Exception):
    """The bot's answer is not one of the legal actions."""


def _find_bot(wanted: Mapping[str, Any]) -> type[Bot]:
    """The bot that is wanted: from a file, or a class of an installed package."""
    cls: type[Bot]
    if wanted.get("file"):
        from harness.plugins.registry import file_offers

        set_own_folder(str(bot_file(str(wanted["file"])).parent))
        offer = file_offers(str(wanted["file"]))[str(wanted["bot"])]
        if offer.digest != wanted["digest"]:
            sys.exit(f"{wanted['file']} has been changed since the run began")
        cls = offer.cls
        return cls
    cls = _import_class(str(wanted["bot"]))
    return cls


def _import_class(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def describe_file(wanted: Mapping[str, Any]) -> None:
    """Answers arena's first line, whatever it says, with what the bots of `file` say of themselves."""
    from harness.plugins.registry import file_offers

    pipes = Pipes()
    pipes.read_line()
    pipes.send([_describe(offer.cls) for _, offer in sorted(file_offers(str(wanted["file"])).items())])


def _describe(bot: type[Bot]) -> BotDescription:
    return BotDescription(
        name=bot.name, version=bot.version, games=bot.games, options=bot.options, doc=bot.__doc__ or "", files=bot.files
    )
