"""The bot objects that the referee asks in place of a program: each passes the question on to a session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from time import perf_counter
from typing import Any

from msgspec import Raw

from harness.core.action import Action
from harness.core.bot import Bot
from harness.core.game import Game
from harness.core.types import Event, GameRecord
from harness.protocol.session import Session


class RemoteBot(Bot):
    """Sits at the table for a program: asks it, and raises BotFault where it fails."""

    def __init__(self, session: Session, give_back: Callable[[], None]) -> None:
        """`give_back` is called once, when this bot asks the session no more."""
        self._session: Session | None = session
        self._give_back = give_back
        self._events: list[Event] | None = None
        self._used = 0.0

    def start(self) -> None:
        """Tells the program about the match."""
        assert self._session is not None
        limits = self._session.limits
        self._move_time, self._game_time = limits.move_time or inf, limits.game_time or inf
        self._ask = self._session.choose
        # Most games write views as msgspec does: then the view is encoded with the message, in one go.
        own_way = type(self.game).view_to_json is not Game.view_to_json
        self._raw = (lambda view: Raw(self.game.view_to_json(view))) if own_way else None
        began = perf_counter()
        self._session.new_game(self.game, self.seat, self.players, self.seed, dict(self.settings), self._contents)
        self._used = perf_counter() - began

    def choose(self, view: Any, actions: Sequence[Action]) -> Action:
        """What the program chooses."""
        began = perf_counter()
        events, self._events = self._events, None
        allowed = min(self._move_time, self._game_time - self._used)
        try:
            action = self._ask(self._raw(view) if self._raw else view, actions, allowed, events)
        except BaseException:
            assert self._session is not None
            self._processor_time = self._session.channel.processor_time()
            raise
        finally:
            self._take_note()
        self._used += perf_counter() - began
        return action

    def _take_note(self) -> None:
        """Keeps what the program noted with its answer, as a bot of this process would have."""
        assert self._session is not None
        note, self._session.note = self._session.note, None
        if note is not None:
            for each in note if isinstance(note, list) else [note]:
                self.note(each)

    def finish(self, record: GameRecord) -> None:
        """Tells the program the result; from then on it is free for another match."""
        session, self._session = self._session, None
        assert session is not None
        try:
            session.game_over(record, max(self._game_time - self._used, 0.0))
        finally:
            self._processor_time = session.channel.processor_time()
            self._give_back()

    def __del__(self) -> None:
        # A bot that is dropped in the middle of a match has failed. Its program goes on only if it owned up to it.
        if getattr(self, "_session", None) is not None:
            self._give_back()


class ListeningRemoteBot(RemoteBot):
    """A RemoteBot whose program wants to be sent events."""

    def observe(self, events: Sequence[Event]) -> None:
        """Kept for the next question."""
        self._events = list(events)
