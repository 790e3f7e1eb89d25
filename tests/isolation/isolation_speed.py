"""How fast isolated bots are asked, beside a bare echo over the same kind of pipes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from operator import truediv
from statistics import median
from time import perf_counter
from typing import Any

from msgspec import Raw

from harness.core.bot import Bot
from harness.core.game import Game
from harness.core.records import MatchSpec
from harness.core.rng import Chance
from harness.executors.base import Job, Played, Roster
from harness.executors.pool import LocalPool
from harness.executors.serial import SerialExecutor
from harness.isolation.entrants import IsolationPolicy, isolate
from harness.isolation.protocol import Choose, encode
from harness.match.faults import Limits
from harness.plugins.entrants import Entrant, enter

ECHO = """
import json, sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(json.dumps(json.loads(line)).encode() + b"\\n")
    sys.stdout.buffer.flush()
"""
ROUNDS = 8
"""The two take turns this often, and the median of their ratios counts: a disturbance hits neighbours alike."""
WARM_UP = 10
"""Matches for each worker before the clock runs."""
LIMITS = Limits(move_time=10.0)


class AnyAction(Bot):
    """Takes any legal action."""

    def choose(self, view: Any, actions: Any) -> Any:
        """One of them."""
        return actions[int(self.rng.random() * len(actions))]


def measure_isolation(game: Game[Any], players: int, seconds: float) -> dict[str, float]:
    """Decisions a second of isolated bots, lines of the same size echoed a second, and their ratio."""
    seats, line, share = _seats(players), _line(game, players), seconds / 2 / ROUNDS
    echoed: list[float] = []
    played: list[float] = []
    echo = subprocess.Popen([sys.executable, "-S", "-c", ECHO], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with echo, SerialExecutor(_table(game, seats), LIMITS) as executor:
        running = executor.run(_jobs(game, seats))
        next(running)  # the bots have started
        for _ in range(ROUNDS):
            echoed.append(_rate(lambda: _echo(echo, line), share))
            played.append(_rate(lambda: len(next(running).record.actions), share))
        assert echo.stdin is not None
        echo.stdin.close()
    return {
        "isolated decisions/s": median(played),
        "echoed lines/s": median(echoed),
        "isolated / echo": median(map(truediv, played, echoed)),
    }


def measure_isolated_workers(game: Game[Any], players: int, workers: int, seconds: float) -> dict[str, float]:
    """Matches a second of isolated bots with one worker and with several, and their ratio."""
    seats = _seats(players)
    rates: dict[int, list[float]] = {1: [], workers: []}
    with ExitStack() as stack:
        running = {}
        for count in rates:
            pool = stack.enter_context(LocalPool(_table(game, seats), LIMITS, count))
            running[count] = pool.run(_jobs(game, seats))
            for _ in range(WARM_UP * count):  # the bots have started
                next(running[count])
        for _ in range(ROUNDS):
            for count, going in running.items():
                rates[count].append(_rate(partial(_one_more, going), seconds / 2 / ROUNDS))
    return {
        "isolated matches/s, 1 worker": median(rates[1]),
        f"isolated matches/s, {workers} workers": median(rates[workers]),
        f"isolated, {workers} workers against 1": median(map(truediv, rates[workers], rates[1])),
    }


def _one_more(running: Iterator[Played]) -> int:
    next(running)
    return 1


def _rate(step: Callable[[], int], seconds: float) -> float:
    began, done = perf_counter(), step()  # one at least, however little of the time is ours
    while (now := perf_counter()) - began < seconds:
        done += step()
    return done / (now - began)


def _seats(players: int) -> tuple[str, ...]:
    return tuple(f"any-{number}" for number in range(players))


def _table(game: Game[Any], seats: tuple[str, ...]) -> Roster:
    return Roster({game.name: game}, {name: _isolated(name, game) for name in seats})


def _isolated(name: str, game: Game[Any]) -> Entrant:
    entrant = enter(AnyAction, {}, "", "arena", "")
    return isolate(
        Entrant(name, entrant.ref, entrant.bot, {}, "", ""), IsolationPolicy("on", LIMITS), {game.name: game}
    )


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
