"""What a bot pays for: its view, its news, and imagined games, in microseconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from time import perf_counter
from typing import Any

from harness.bench.engine_speed import UNIFORM, Uniform
from harness.core.chance import Chance
from harness.core.game import Game, State
from harness.core.types import Event, MatchSpec
from harness.core.view import View
from harness.match.referee import play
from harness.plugins.entrants import enter

POSITIONS = 40
"""Decisions, spread over a few matches, at which things are measured."""
BATCH = 5
"""How often a thing is done between two looks at the clock."""
MATCHES = 4
"""Matches that are played again and again, and that positions are taken from."""
MICRO = 1e6


class Listener(Uniform):
    """Asks to be told what happens, and does nothing with it."""

    def observe(self, events: Sequence[Event]) -> None:
        """Thank you."""


LISTENER = enter(Listener, {}, "", "", "")


def measure_costs(game: Game[Any], players: int, seconds: float) -> dict[str, float]:
    """Microseconds for what a bot gets at each decision, and for what it may ask for."""
    states = _positions(game, players)
    views = [state.view(state.seat) for state in states]
    rng = Random(1)
    share = seconds / 6

    def finished(number: int) -> None:
        luck = Random(number)  # the same game each time: the quickest measurement must not be that of a short one
        state = game.imagine(views[number], luck)
        while legal := state.legal:
            state.step(legal[int(luck.random() * len(legal))])

    def copied_on(number: int) -> None:
        state = states[number].clone()
        state.step(state.legal[0])

    clone = _micros(lambda number: states[number].clone(), share)
    return {
        "view, for each decision": _micros(lambda number: states[number].view(states[number].seat), share),
        "events, with observe": _told(game, players, share),
        "view to JSON and back": _micros(lambda number: _there_and_back(game, views[number]), share),
        "imagine": _micros(lambda number: game.imagine(views[number], rng), share),
        "clone": clone,
        "step": max(0.0, _micros(copied_on, share) - clone),
        "imagine, and play to the end": _micros(finished, share, batch=1),
    }


def _positions(game: Game[Any], players: int) -> list[State[Any]]:
    """States with a choice, evenly spread over matches of random bots."""
    found: list[State[Any]] = []
    for seed in range(MATCHES):
        state, rng = game.new(players, Chance(seed)), Random(seed)
        while legal := state.legal:
            if len(legal) > 1:
                found.append(state.clone())
            state.step(rng.choice(legal))
    return [found[number * len(found) // POSITIONS] for number in range(POSITIONS)]


def _there_and_back(game: Game[Any], view: View) -> View:
    back: View = game.view_from_json(game.view_to_json(view))
    return back


def _micros(one: Callable[[int], object], seconds: float, batch: int = BATCH) -> float:
    """The mean over all positions; of each its best batch counts, for a disturbance only ever slows things down."""
    best = [float("inf")] * POSITIONS
    began = perf_counter()
    while True:
        for number in range(POSITIONS):
            start = perf_counter()
            for _ in range(batch):
                one(number)
            best[number] = min(best[number], (perf_counter() - start) / batch)
        if perf_counter() - began > seconds:
            return MICRO * sum(best) / POSITIONS


def _told(game: Game[Any], players: int, seconds: float) -> float:
    """What a decision takes longer, on the bot's own clock, when it listens."""
    seats = ("uniform",) * players
    quickest: dict[tuple[int, bool], float] = {}
    decisions: dict[int, int] = {}
    began, number = perf_counter(), 0
    while number < MATCHES or perf_counter() - began < seconds:
        seed = number % MATCHES
        spec = MatchSpec.single("bench", game.name, {}, seed, seats)
        for first in (UNIFORM, LISTENER):
            record = play(spec, game, [first, *[UNIFORM] * (players - 1)])
            way = (seed, first is LISTENER)
            quickest[way] = min(record.time[0], quickest.get(way, record.time[0]))
            decisions[seed] = record.decisions[0]
        number += 1
    longer = sum(spent if listening else -spent for (_, listening), spent in quickest.items())
    return max(0.0, MICRO * longer / max(1, sum(decisions.values())))
