"""What must hold for a search bot in any game: repeatable, blind to what is hidden, within its budget."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any

import pytest

from bots.flat_mc import FlatMc
from bots.ismcts import Ismcts
from bots.search.base import SearchBot
from engines import arena_games
from harness import Game
from tests.bots.kuhn import Kuhn, KuhnView
from tests.bots.morra import Morra
from tests.bots.nim import Nim
from tests.bots.support import seated, some_states

ROOT = Path(__file__).parents[2]
BOTS = pytest.mark.parametrize("bot", [FlatMc, Ismcts])
BUNDLED = [cls.configure() for cls in arena_games()]
GAMES = pytest.mark.parametrize("game", [*BUNDLED, Kuhn.configure(), Morra.configure(), Nim.configure()], ids=str)


@BOTS
@GAMES
def test_the_same_seed_gives_the_same_decision(bot: type[SearchBot], game: Game[Any]) -> None:
    for state in some_states(game, game.max_players, 3, 4):
        view = state.view(state.seat)
        first, second = (
            seated(bot, game, view, game.max_players, seed=9, iterations=30).choose(view, state.legal) for _ in "12"
        )
        assert first is second
        assert first in state.legal


@BOTS
@GAMES
def test_the_hidden_part_of_the_true_state_changes_nothing(bot: type[SearchBot], game: Game[Any]) -> None:
    for state in some_states(game, game.max_players, 5, 4):
        view, rng = state.view(state.seat), Random(1)
        others = [game.imagine(view, rng) for _ in range(3)]
        decisions = []
        for world in (state, *others):
            seen = world.view(state.seat)
            decisions.append(seated(bot, game, seen, game.max_players, iterations=30).choose(seen, world.legal))
        assert len(set(decisions)) == 1


@BOTS
def test_a_view_read_from_json_gives_the_same_decision(bot: type[SearchBot]) -> None:
    for game in BUNDLED:
        for state in some_states(game, 3, 7, 3):
            view = state.view(state.seat)
            read = game.view_from_json(game.view_to_json(view))
            decisions = {seated(bot, game, v, 3, iterations=30).choose(v, state.legal) for v in (view, read)}
            assert len(decisions) == 1


@BOTS
@GAMES
def test_choosing_does_not_change_the_state(bot: type[SearchBot], game: Game[Any]) -> None:
    state = some_states(game, game.min_players, 2, 1)[0]
    before = [state.view(seat) for seat in range(game.min_players)]
    view = state.view(state.seat)
    seated(bot, game, view, game.min_players, iterations=20).choose(view, state.legal)
    assert [state.view(seat) for seat in range(game.min_players)] == before


SCRIPT = """
from bots.ismcts import Ismcts
from engines.el_paso import ElPaso
from tests.bots.support import seated, some_states
game = ElPaso.configure()
for state in some_states(game, 4, 8, 6):
    view = state.view(state.seat)
    print(seated(Ismcts, game, view, 4, iterations=60).choose(view, state.legal).code)
"""


def test_decisions_do_not_depend_on_the_hash_seed() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1
    assert len(printed.pop().split()) == 6


def test_a_search_tries_the_same_on_every_machine() -> None:
    view = KuhnView(0, 0, "bet", (2, None), "")
    root = (
        seated(Ismcts, Kuhn.configure(), view, seed=1, iterations=500).search(view, Kuhn.configure().actions).node(view)
    )
    assert [arm.pulls for arm in root.arms.values()] == [312, 188]


@BOTS
def test_a_time_budget_is_kept(bot: type[SearchBot]) -> None:
    game = BUNDLED[0]
    state = some_states(game, 4, 1, 1)[0]
    view = state.view(state.seat)
    player = seated(bot, game, view, 4, ms=100)
    began, used = perf_counter(), process_time()
    assert player.choose(view, state.legal) in state.legal
    assert perf_counter() - began > 0.09
    assert process_time() - used < 1  # our own time: machines stall, and have something else to do


@BOTS
def test_one_iteration_is_enough_for_a_legal_answer(bot: type[SearchBot]) -> None:
    for game in BUNDLED:
        for state in some_states(game, game.min_players, 4, 5):
            view = state.view(state.seat)
            assert seated(bot, game, view, game.min_players, iterations=1).choose(view, state.legal) in state.legal
