"""Conversations from a script, without a terminal."""

from __future__ import annotations

import io
from typing import Any

from click.testing import CliRunner

from harness import SEAT_NAMES, Chance, Game
from harness.cli.main import main
from harness.output.text import Console
from harness.play.person import NoHintError
from harness.play.terminal import Dialogue, Turn
from harness.plugins.registry import load

GAMES = ("el-paso", "gnadenlos", "x-pasch")


def game(name: str = "el-paso", **options: object) -> Game[Any]:
    return load().game(name).configure(options)


class Script(Console):
    """A console that types these lines and then is at its end."""

    def __init__(self, *lines: str) -> None:
        self.output = io.StringIO()
        super().__init__(io.StringIO("".join(line + "\n" for line in lines)), self.output)

    @property
    def said(self) -> str:
        """Everything printed, on one line however it was wrapped."""
        return " ".join(self.output.getvalue().split())


def no_hint(_view: object, _actions: object) -> Any:
    raise NoHintError("nobody is asked in this test.")


def first_turn(played: Game[Any], seed: int = 1) -> Turn:
    """The first decision of a match, as its seat sees it."""
    log: list[Any] = []
    state = played.new(played.min_players, Chance(seed), log)
    seen = [event for event in log if event.to is None or state.seat in event.to]
    return Turn(state.view(state.seat), state.legal, seen, seen)


def talk(*lines: str, name: str = "el-paso", get_hint: Any = no_hint) -> tuple[Script, Any]:
    """What is said, and what comes of it, when these lines are typed at the first decision."""
    played, console = game(name), Script(*lines)
    return console, Dialogue(console, played, SEAT_NAMES, get_hint).choose(first_turn(played))


def sit_down(*args: object, lines: list[str]) -> str:
    """Runs `arena play` in this process with these lines typed; what was printed."""
    result = CliRunner().invoke(main, [str(arg) for arg in args], input="".join(line + "\n" for line in lines))
    assert result.exit_code == 0, f"{result.output}\n{result.stderr}\n{result.exception!r}"
    return result.output
