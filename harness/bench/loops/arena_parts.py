"""Parts of our own loop: the same matches again and again, with only some of the work that a match takes.

"match" is all of it, through the referee;
"steps" carries out what was chosen, "views" makes the views as well, "luck" draws what was drawn and does nothing else,
and "given" is steps that find their legal lists made. Differences of these are what each part costs.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

from harness import Chance

OURS = runpy.run_path(str(Path(__file__).with_name("arena.py")))  # no package: it may run in another version of Arena
versions = OURS["versions"]
MATCHES = 20
"""Matches that are played again."""
Loop = Callable[[int], int]
Call = tuple[Any, tuple[Any, ...]]


class Recording:
    """One match as it was played: all that is needed to play it again without bots."""

    def __init__(self, game: Any, players: int, seed: int, codes: tuple[int, ...]) -> None:
        self.game, self.players, self.seed = game, players, seed
        self.choices = len(codes)
        self.actions: list[Any] = []
        self.calls: list[Call] = []
        chosen, noted = iter(codes), noting_chance()(seed)
        state = game.new(players, noted)
        while legal := state.legal:  # what is forced is kept too, so that nothing need be looked at later
            self.actions.append(game.actions[next(chosen)] if len(legal) > 1 else legal[0])
            self.calls = noted.calls
            state.step(self.actions[-1])

    def again(self) -> None:
        """Its steps."""
        state = self.game.new(self.players, Chance(self.seed))
        for action in self.actions:
            state.step(action)


def prepare(workload: str) -> Loop:
    """A game, its number of players and a part, as in "el-paso/4/views"."""
    table, _, part = workload.rpartition("/")
    game, players, record = OURS["recorder"](table)
    if part == "match":
        return lambda seed: len(record(seed % MATCHES).actions)
    matches = [Recording(game, players, seed, record(seed).actions) for seed in range(MATCHES)]
    return PARTS[part](matches)


def _steps(matches: list[Recording]) -> Loop:
    def one(seed: int) -> int:
        match = matches[seed % MATCHES]
        match.again()
        return match.choices

    return one


def _views(matches: list[Recording]) -> Loop:
    def one(seed: int) -> int:
        match = matches[seed % MATCHES]
        state = match.game.new(match.players, Chance(match.seed))
        for action in match.actions:
            if len(state.legal) > 1:
                state.view(state.seat)
            state.step(action)
        return match.choices

    return one


def _luck(matches: list[Recording]) -> Loop:
    def one(seed: int) -> int:
        match = matches[seed % MATCHES]
        chance = Chance(match.seed)
        for draw, asked in match.calls:
            draw(chance, *asked)
        return match.choices

    return one


def noting_chance() -> Any:
    """A class of luck that keeps what it was asked for in `calls`; what a draw asks of another one is part of it."""

    def noted(draw: Any) -> Callable[..., Any]:
        def method(self: Any, *asked: Any) -> Any:
            if self.within:
                return draw(self, *asked)
            asked = tuple(each if isinstance(each, (int, str, tuple)) else list(each) for each in asked)
            self.calls.append((draw, asked))
            self.within = True
            try:
                return draw(self, *asked)
            finally:
                self.within = False

        return method

    draws = {name: noted(draw) for name, draw in vars(Chance).items() if name[0] != "_" and callable(draw)}
    return type("NotedChance", (Chance,), {"within": False, "calls": [], **draws})


def _given(matches: list[Recording]) -> Loop:
    """The functions that make legal lists get another code, which gives what they gave when the match was recorded."""
    functions = _list_functions(matches[0].game)
    made = {function.__code__: [True] for function in functions}
    for match in matches:
        _watch(match, set(made), lambda code, value: made[code].append(_is_list(value)))
    makers = {code for code, lists in made.items() if all(lists) and len(lists) > 1}
    lists: list[list[Any]] = [[] for _ in matches]
    for match, kept in zip(matches, lists, strict=True):
        _watch(match, makers, lambda _, value, kept=kept: kept.append(value), outermost=True)
    names = functions[0].__globals__
    for function in functions:
        if function.__code__ in makers:
            function.__code__ = _stub.__code__

    def one(seed: int) -> int:
        number = seed % MATCHES
        names["next_list"] = iter(lists[number]).__next__
        matches[number].again()
        return matches[number].choices

    return one


def _list_functions(game: Any) -> list[FunctionType]:
    """The functions of the engine's `choices.py`; compiled ones have no code that could be exchanged."""
    module = sys.modules.get(f"{type(game).__module__.rpartition('.')[0]}.choices")
    found = [each for each in vars(module).values() if isinstance(each, FunctionType)] if module else []
    own = [each for each in found if module and each.__module__ == module.__name__]
    if not own:
        raise SystemExit("no functions in plain Python in a choices.py")
    return own


def _watch(match: Recording, codes: set[CodeType], report: Callable[..., object], outermost: bool = False) -> None:
    """Play the match again and return what these functions gave, or only those that no other of them called."""
    depth = 0

    def spy(frame: FrameType, event: str, value: Any) -> None:
        nonlocal depth
        if frame.f_code in codes:
            if event == "call":
                depth += 1
            elif event == "return":
                depth -= 1
                if not (outermost and depth):
                    report(frame.f_code, value)

    sys.setprofile(spy)
    try:
        match.again()
    finally:
        sys.setprofile(None)


def _is_list(value: object) -> bool:
    return isinstance(value, tuple) and all(hasattr(each, "code") for each in value)


def _stub(*_asked: object) -> object:
    return next_list()  # type: ignore[name-defined] # noqa: F821 - a name of the module that it comes to


PARTS = {"steps": _steps, "views": _views, "luck": _luck, "given": _given}
