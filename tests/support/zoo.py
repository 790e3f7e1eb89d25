"""Bots that misbehave, each in its own way. In-process ones that the serial referee must survive."""

from __future__ import annotations

import sys
from typing import Any

from harness import Bot


class Raises(Bot):
    """Raises an ordinary exception."""

    def choose(self, view: Any, actions: Any) -> Any:
        raise ZeroDivisionError("on purpose")


class Exits(Bot):
    """Ends the program."""

    def choose(self, view: Any, actions: Any) -> Any:
        sys.exit(3)


class Interrupts(Bot):
    """Pretends that somebody pressed Ctrl-C."""

    def choose(self, view: Any, actions: Any) -> Any:
        raise KeyboardInterrupt


class Nonsense(Bot):
    """Answers with something that is not an action."""

    def choose(self, view: Any, actions: Any) -> Any:
        return "the queen of hearts"


class Nothing(Bot):
    """Forgets to return."""

    def choose(self, view: Any, actions: Any) -> Any:
        return None


class Illegal(Bot):
    """Answers with an action of the game that is not legal now."""

    def choose(self, view: Any, actions: Any) -> Any:
        return next(action for action in self.game.actions if action not in actions)


class Liar(Bot):
    """Answers with an object that claims to be equal to anything."""

    class Same:
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 0

    def choose(self, view: Any, actions: Any) -> Any:
        return self.Same()


class Contrary(Bot):
    """Answers with an object that cannot be compared or shown."""

    class Thorny:
        def __eq__(self, other: object) -> bool:
            raise RuntimeError("do not compare me")

        def __repr__(self) -> str:
            raise RuntimeError("do not look at me")

        __hash__ = None

    def choose(self, view: Any, actions: Any) -> Any:
        return self.Thorny()


class Unborn(Bot):
    """Cannot be made."""

    def __init__(self) -> None:
        raise ValueError("no")

    def choose(self, view: Any, actions: Any) -> Any:
        return actions[0]


class LateStarter(Bot):
    """Fails when the match starts."""

    def start(self) -> None:
        raise ValueError("not today")

    def choose(self, view: Any, actions: Any) -> Any:
        return actions[0]


class Deaf(Bot):
    """Fails when told what happened."""

    def observe(self, events: Any) -> None:
        raise ValueError("too loud")

    def choose(self, view: Any, actions: Any) -> Any:
        return actions[0]


class Hoarder(Bot):
    """Runs out of memory, as Python says it."""

    def choose(self, view: Any, actions: Any) -> Any:
        raise MemoryError


class Unspeakable(Bot):
    """Raises an exception whose text raises."""

    class Oops(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    def choose(self, view: Any, actions: Any) -> Any:
        raise self.Oops


class HalfSaid(Bot):
    """Raises a text that no file can hold."""

    def choose(self, view: Any, actions: Any) -> Any:
        raise ValueError("\udc80")


class HalfShown(Bot):
    """Answers with an object whose text no file can hold."""

    class Half:
        def __repr__(self) -> str:
            return "\udc80"

    def choose(self, view: Any, actions: Any) -> Any:
        return self.Half()


class SoreLoser(Bot):
    """Fails when the match is over, which is nobody's business."""

    def choose(self, view: Any, actions: Any) -> Any:
        return actions[0]

    def finish(self, record: Any) -> None:
        raise ValueError("unfair")


class Chatty(Bot):
    """Prints garbage."""

    def choose(self, view: Any, actions: Any) -> Any:
        print('{"type": "choice"}\x00\x1b[2J')  # noqa: T201 - printing is its vice
        return actions[0]


FAULTS = {
    Raises: "exception",
    Exits: "exception",
    Interrupts: "exception",
    Nonsense: "illegal",
    Nothing: "illegal",
    Illegal: "illegal",
    Contrary: "illegal",
    Unborn: "exception",
    LateStarter: "exception",
    Deaf: "exception",
    Hoarder: "memory",
    Unspeakable: "exception",
    HalfSaid: "exception",
    HalfShown: "illegal",
}
"""Misbehaving bot -> the kind of fault it must be blamed for."""
