"""Measures how fast games are played here, as ratios to a loop that every machine has."""

from __future__ import annotations

from random import Random
from time import process_time
from typing import Any

from harness.core.action import Action
from harness.core.bot import Bot
from harness.core.chance import Chance
from harness.core.game import Game
from harness.core.types import MatchSpec
from harness.match.referee import play
from harness.plugins.entrants import enter


class Uniform(Bot):
    """Picks a legal action at random: the cheapest bot there is."""

    def start(self) -> None:
        """Binds the generator's method once."""
        self.random = self.rng.random

    def choose(self, view: Any, actions: Any) -> Action:
        """Any legal action."""
        action: Action = actions[int(self.random() * len(actions))]
        return action


def measure(game: Game[Any], players: int, seconds: float) -> dict[str, float]:
    """Rates of one game on one core with random bots; a decision is a choice of two or more legal actions."""
    bare, viewed, refereed = (
        _rate(game, players, seconds / 4, _bare),
        _rate(game, players, seconds / 4, _viewed),
        _rate(game, players, seconds / 4, _refereed),
    )
    loop = calibrate(seconds / 4)
    games, decisions, spent = refereed
    return {
        "games/s": games / spent,
        "decisions/s": decisions / spent,
        "decisions/game": decisions / games,
        "with views, no referee/s": viewed[1] / viewed[2],
        "no views, no referee/s": bare[1] / bare[2],
        "referee overhead": (viewed[1] / viewed[2]) / (decisions / spent) - 1,
        "decisions per 1000 loop turns": 1000 * (decisions / spent) / loop,
    }


def calibrate(seconds: float) -> float:
    """Turns a second of a plain Python loop: divides out how fast this machine is."""
    turns, began = 0, process_time()
    while process_time() - began < seconds:
        table = [0] * 64
        for i in range(2000):
            table[i & 63] = table[(i * 7) & 63] + i
        turns += 2000
    return turns / (process_time() - began)


def _rate(game: Game[Any], players: int, seconds: float, one: Any) -> tuple[int, int, float]:
    one(game, players, 0)
    games = decisions = 0
    began = process_time()
    while (spent := process_time() - began) < seconds:
        games += 1
        decisions += one(game, players, games)
    return games, decisions, spent


def _bare(game: Game[Any], players: int, seed: int) -> int:
    state, rng, decisions = game.new(players, Chance(seed)), Random(seed).random, 0
    while legal := state.legal:
        decisions += len(legal) > 1
        state.step(legal[int(rng() * len(legal))])
    return decisions


def _viewed(game: Game[Any], players: int, seed: int) -> int:
    state, rng, decisions = game.new(players, Chance(seed)), Random(seed).random, 0
    while legal := state.legal:
        if len(legal) > 1:
            state.view(state.seat)
            decisions += 1
        state.step(legal[int(rng() * len(legal))])
    return decisions


UNIFORM = enter(Uniform, {}, "", "", "")


def _refereed(game: Game[Any], players: int, seed: int) -> int:
    spec = MatchSpec.single("bench", game.name, {}, seed, ("uniform",) * players)
    return len(play(spec, game, [UNIFORM] * players).actions)
