"""Bots that look for what they must not know. They tell what they found on stderr, as JSON."""

from __future__ import annotations

import gc
import json
import sys
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

import msgspec

from harness import Bot, Chance, State

TRIES = 200


class FrameWalker(Bot):
    """Walks up its callers to the referee, and reads the cards of the others there."""

    games = ("el-paso",)

    def choose(self, view: Any, actions: Any) -> Any:
        hands = None
        frame = sys._getframe()
        while frame is not None and hands is None:
            for value in list(frame.f_locals.values()):
                state = value if isinstance(value, State) else getattr(value, "state", None)
                if isinstance(state, State):
                    hands = [state.view(seat).hand for seat in range(self.players)]
            frame = frame.f_back
        tell(hands=hands, mine=view.hand)
        return actions[0]


class Collector(Bot):
    """Asks the garbage collector for everything there is."""

    def start(self) -> None:
        kinds = [type(thing).__name__ for thing in gc.get_objects() if isinstance(thing, State | Chance)]
        tell(found=kinds)

    def choose(self, view: Any, actions: Any) -> Any:
        return actions[0]


class Digger(Bot):
    """Follows every reference from what it was given: view, JSON, actions, itself."""

    games = ("el-paso",)
    tries = 0

    def choose(self, view: Any, actions: Any) -> Any:
        if Digger.tries < TRIES:
            Digger.tries += 1
            given = [view, msgspec.json.decode(self.game.view_to_json(view)), actions, vars(self)]
            tell(found=[type(thing).__name__ for thing in reachable(given)], tries=Digger.tries)
        return actions[len(actions) // 2]


def reachable(given: list[Any]) -> list[Any]:
    """States and luck that can be reached as data; code leads to the whole program, and is left out."""
    code = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType, FrameType, CodeType)
    seen, found, rest = set(), [], list(given)
    while rest:
        thing = rest.pop()
        if id(thing) in seen or isinstance(thing, code):
            continue
        seen.add(id(thing))
        if isinstance(thing, State | Chance):
            found.append(thing)
        rest.extend(gc.get_referents(thing))
    return found


def tell(**news: Any) -> None:
    print("SPY " + json.dumps(news), file=sys.stderr)  # noqa: T201 - how a spy reports
