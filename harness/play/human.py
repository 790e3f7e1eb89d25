"""The person as the referee knows them: a bot whose decisions are typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from harness.core.action import Action
from harness.core.bot import Bot
from harness.core.types import Event
from harness.match.narration import HUMAN


class Terminal(Protocol):
    """What the person sits at."""

    def sit(self, bot: Human) -> None:
        """The match begins."""

    def hear(self, events: Sequence[Event]) -> None:
        """What the person could see since the last decision."""

    def answer(self, view: Any, actions: Sequence[Action]) -> Action:
        """The person's decision."""


class Human(Bot):
    """A person at a terminal."""

    by_default: ClassVar[bool] = False
    terminal: ClassVar[Terminal]

    def start(self) -> None:
        """Takes a seat."""
        self.terminal.sit(self)

    def observe(self, events: Sequence[Event]) -> None:
        """Listens."""
        self.terminal.hear(events)

    def choose(self, view: Any, actions: Sequence[Action]) -> Action:
        """Asks the person."""
        return self.terminal.answer(view, actions)


def human_at(at: Terminal) -> type[Human]:
    """The person, at this terminal."""

    class Here(Human):
        name = HUMAN
        terminal = at

    return Here
