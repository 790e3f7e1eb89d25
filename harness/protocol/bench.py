"""How fast isolated bots are asked, beside a bare echo over the same kind of pipes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

from msgspec import Raw

from harness.bot import Bot
from harness.chance import Chance
from harness.entrants import Entrant, enter
from harness.executors import Job, Serial, Table
from harness.game import Game
from harness.protocol.entering import apart
from harness.protocol.messages import Choose, encode
from harness.protocol.session import Policy
from harness.referee import Limits
from harness.types import MatchSpec

ECHO = """
import json, sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(json.dumps(json.loads(line)).encode() + b"\\n")
    sys.stdout.buffer.flush()
"""
ROUNDS = 8
"""The two take turns this often, and each one's best turn counts: a disturbance slows one turn, not all."""
LIMITS = Limits(move_time=10.0)


class AnyAction(Bot):
    """Takes any legal action."""

    def choose(self, view: Any, actions: Any) -> Any:
        """One of them."""
        return actions[int(self.rng.random() * len(actions))]


def measure_isolation(game: Game[Any], players: int, seconds: float) -> dict[str, float]:
    """Decisions a second of isolated bots, lines of the same size echoed a second, and their ratio."""
    seats = tuple(f"any-{number}" for number in range(players))
    table = Table({game.name: game}, {name: _isolated(name, game) for name in seats})
    line = _line(game, players)
    share = seconds / 2 / ROUNDS
    echoed = played = 0.0
    echo = subprocess.Popen([sys.executable, "-S", "-c", ECHO], stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - our own few lines
    with echo, Serial(table, LIMITS) as executor:
        running = executor.run(_jobs(game, seats))
        next(running)  # the bots have started
        for _ in range(ROUNDS):
            echoed = max(echoed, _rate(lambda: _echo(echo, line), share))
            played = max(played, _rate(lambda: len(next(running).record.actions), share))
        assert echo.stdin is not None
        echo.stdin.close()
    return {"isolated decisions/s": played, "echoed lines/s": echoed, "isolated / echo": played / echoed}


def _rate(step: Callable[[], int], seconds: float) -> float:
    began, done = perf_counter(), 0
    while (now := perf_counter()) - began < seconds:
        done += step()
    return done / (now - began)


def _isolated(name: str, game: Game[Any]) -> Entrant:
    entrant = enter(AnyAction, {}, "", "arena", "")
    return apart(Entrant(name, name, entrant.bot, {}, "", ""), Policy("on", LIMITS), {game.name: game})


def _jobs(game: Game[Any], seats: tuple[str, ...]) -> Iterator[Job]:
    number = 0
    while True:
        number += 1
        yield Job(MatchSpec(f"b{number}", number, "", game.name, dict(game.settings), number, seats))


def _line(game: Game[Any], players: int) -> bytes:
    """A question from the middle of a match: about as long as they are on average."""
    state = game.new(players, Chance(1))
    asked: list[bytes] = []
    while state.legal:
        if len(state.legal) > 1:
            view = Raw(game.view_to_json(state.view(state.seat)))
            asked.append(encode(Choose(len(asked), [action.code for action in state.legal], 10.0, view)) + b"\n")
        state.step(state.legal[len(asked) % len(state.legal)])
    return sorted(asked, key=len)[len(asked) // 2]


def _echo(echo: subprocess.Popen[bytes], line: bytes) -> int:
    """Sends a hundred lines, one after the other's echo; how many came back whole."""
    assert echo.stdin is not None
    assert echo.stdout is not None
    whole = 0
    for _ in range(100):
        echo.stdin.write(line)
        echo.stdin.flush()
        whole += len(echo.stdout.readline()) >= len(line)
    return whole
