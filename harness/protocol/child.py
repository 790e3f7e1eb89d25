"""A Python bot behind the protocol: reads messages, asks the bot, answers. Runs in the bot's own process."""

from __future__ import annotations

import gc
import os
import random
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

import msgspec

from harness.core.bot import Bot
from harness.core.game import Action, Game
from harness.core.types import GameRecord
from harness.match.bot_stdout import BotStdout
from harness.match.faults import detail_of, illegal_answer, kind_of, whole_characters
from harness.plugins.entrants import Entrant
from harness.protocol.messages import (
    PROTOCOL,
    Choice,
    Choose,
    Failed,
    GameOver,
    Hello,
    Introduction,
    NewGame,
    Ready,
    Want,
    decode_order,
    encode,
)  # fmt: skip

CHUNK = 1 << 16


class Pipes:
    """The way to arena, out of the reach of a bot that prints, closes or forks by mistake."""

    def __init__(self) -> None:
        self.source, self.sink = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        os.close(nothing)
        self._buffer = b""
        os.register_at_fork(after_in_child=self._disown)

    def _disown(self) -> None:
        """A child that the bot forks must not answer in its name."""
        os.close(self.source)
        os.close(self.sink)

    def line(self) -> bytes:
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

    def answer(self, message: object) -> None:
        """Sends a message."""
        data = encode(message) + b"\n"
        while data:
            data = data[os.write(self.sink, data) :]


def serve(asked: Mapping[str, Any]) -> None:
    """Plays for the bot that is asked for until arena says bye. Without a name, tells which bots a file has."""
    pipes = Pipes()
    me = os.getpid()
    if not asked.get("bot"):
        pipes.line()
        pipes.answer(describe(str(asked["file"])))
        return
    bot = _find(asked)
    for path in asked["engines"]:
        _class(path).configure()
    listens = bot.observe is not Bot.observe
    seat = _Seat(Entrant(bot.name, "", bot, dict(asked["settings"]), "", ""), pipes, listens)
    gc.freeze()  # what is loaded stays: the collector need not look at it again and again
    while line := pipes.line():
        seat.obey(line)
        if os.getpid() != me:  # a copy that the bot has forked has come back from it
            os._exit(0)


class _Seat:
    def __init__(self, entrant: Entrant, pipes: Pipes, listens: bool) -> None:
        self.entrant, self.pipes, self.listens = entrant, pipes, listens
        self.bot = Bot()
        self.started: NewGame | None = None

    def obey(self, line: bytes) -> None:
        """Does what a message asks for, and answers it."""
        order = decode_order(line)
        match order:
            case Choose():
                self._answer(order, self._choose)
            case NewGame():
                self._answer(order, self._start)
            case GameOver():
                with suppress(BaseException):  # the result stands whatever a bot does with it
                    self._finish(order)
                self.pipes.answer(Ready(order.id))
            case Hello():
                wants: tuple[Want, ...] = ("engine", "events") if self.listens else ("engine",)
                bot = self.entrant.bot
                self.pipes.answer(Introduction(PROTOCOL, bot.name, bot.version, bot.games, wants))
            case _:
                os._exit(0)

    def _answer(self, order: Any, ask: Callable[[Any], object]) -> None:
        number = order.id
        try:
            reply = ask(order)
        except _Illegal as error:
            reply = Failed(number, "illegal", whole_characters(error.args[0]))
        except BaseException as error:  # whatever a bot raises is its own fault, SystemExit included
            kind = kind_of(error)
            reply = Failed(
                number, "memory" if kind == "memory" else "exception", whole_characters(detail_of(error, __file__))
            )
        self.pipes.answer(reply)

    def _start(self, order: NewGame) -> Ready:
        sys.stdout = sys.stderr = BotStdout(2)
        assert isinstance(order.engine, msgspec.Struct), "this child asks to be told the engine"
        game: Game[Any] = _class(order.engine.cls).configure(order.settings, order.engine.files)
        self.started = order
        self.actions, self.view = game.actions, game.view_from_json
        random.seed(order.seed)
        self.bot = self.entrant.seat(game, order.seat, order.players, order.seed)
        self.bot.start()
        return Ready(order.id)

    def _choose(self, order: Choose) -> Choice:
        actions = self.actions
        legal: tuple[Action, ...] = tuple([actions[code] for code in order.legal])
        view = self.view(bytes(order.view))
        if isinstance(order.events, list):
            self.bot.observe(order.events)
        answer = self.bot.choose(view, legal)
        try:
            return Choice(order.id, legal[legal.index(answer)].code)
        except BaseException:
            raise _Illegal(illegal_answer(answer, legal)) from None

    def _finish(self, order: GameOver) -> None:
        """Tells the bot as much of the record as a process may know that will see the same deal again."""
        assert self.started is not None
        game = self.started
        self.bot.finish(
            GameRecord(
                "", 0, "", game.game, game.rules, game.settings, 0, ("",) * game.players,
                order.scores, order.ranks, order.ending, (), order.decisions,
            )
        )  # fmt: skip


class _Illegal(Exception):
    """The bot's answer is not one of the legal actions."""


def _find(asked: Mapping[str, Any]) -> type[Bot]:
    """The bot that is asked for: from a file, or a class of an installed package."""
    from harness.plugins.registry import Registry

    if asked.get("file"):
        entrants = Registry().entrants([f"{asked['file']}::{asked['bot']}"])
        return entrants[0].bot
    cls: type[Bot] = _class(str(asked["bot"]))
    return cls


def _class(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def describe(path: str) -> list[dict[str, object]]:
    """What a file's bots say of themselves."""
    from harness.plugins.registry import Registry

    registry = Registry()
    names = [entrant.name for entrant in registry.entrants([path])]
    return [
        {
            "name": name,
            "version": registry.bots[name].version,
            "games": registry.bots[name].cls.games,
            "options": registry.bots[name].cls.options,
            "doc": registry.bots[name].cls.__doc__ or "",
        }
        for name in names
    ]
