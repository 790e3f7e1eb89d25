"""Gymnasium's own check, vectorised environments, and mistakes that its users make."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from harness import UsageError, play_match
from harness.plugins.registry import load

gymnasium = pytest.importorskip("gymnasium", reason="needs Gymnasium: pip install 'arena-harness[gymnasium]'")
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.utils.env_checker import check_env

from harness.adapters.gymnasium import ArenaEnv

NAME = "harness.adapters.gymnasium:Arena-v0"
TABLES = [
    (name, players)
    for name, offer in sorted(load().games.items())
    for players in range(offer.cls.min_players, offer.cls.max_players + 1)
]


def play_first(env: Any, deal: int) -> tuple[float, int]:
    """The total reward and the number of steps when the seat chooses the first legal action."""
    env.reset(options={"deal": deal})
    total, steps, over = 0.0, 0, False
    while not over:
        action = env._dealt().legal[0].code
        _, reward, ended, stopped, _ = env.step(action)
        total, steps, over = total + reward, steps + 1, ended or stopped
    return total, steps


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_the_environment_passes_gymnasiums_check(game, players):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(NAME, game=game, opponents=["random"] * (players - 1), render_mode="ansi")
        check_env(env.unwrapped)


@pytest.mark.parametrize("game", ["el-paso", "gnadenlos", "x-pasch"])
@pytest.mark.parametrize("seat", [0, 2])
def test_a_match_equals_that_of_the_referee(game, seat):
    def first(_view: object, actions: Any) -> Any:
        return actions[0]

    first.__name__ = "external"
    env = ArenaEnv(game, ["random", "flat-mc:iterations=2"], seat=seat)
    reward, steps = play_first(env, 11)
    bots: list[Any] = ["random", "flat-mc:iterations=2"]
    order = [bots[1], first, bots[0]] if seat == 1 else [first, *bots] if seat == 0 else [*bots, first]
    match = play_match(game, order, seed=11)
    record = env.record()
    assert (record.actions, record.scores, record.seats) == (match.record.actions, match.scores, match.record.seats)
    assert record.decisions[seat] == steps
    mine = match.ranks[seat]
    assert reward == pytest.approx(sum((other > mine) + 0.5 * (other == mine) for other in match.ranks) / 2 - 0.25)


def test_seeds_repeat_matches_and_a_free_seat_changes_places():
    env = ArenaEnv("el-paso", ["random", "outlaw"], seat=None)
    seen = set()
    for seed in range(12):
        first, _ = env.reset(seed=seed)
        again, _ = env.reset(seed=seed)
        assert np.array_equal(first, again)
        seen.add(env._played_seat)
    assert seen == {0, 1, 2}


def test_the_mask_is_in_the_info_and_in_a_method():
    env = ArenaEnv("el-paso", ["outlaw"])
    _, info = env.reset(seed=1)
    legal = {action.code for action in env._dealt().legal}
    assert set(np.flatnonzero(info["action_mask"])) == set(np.flatnonzero(env.action_masks())) == legal
    assert env.action_masks().dtype == bool


def test_an_illegal_action_ends_the_episode():
    env = ArenaEnv("el-paso", ["outlaw"], illegal_reward=-5)
    _, info = env.reset(seed=1)
    wrong = int(np.flatnonzero(info["action_mask"] == 0)[0])
    _, reward, over, stopped, info = env.step(wrong)
    assert (reward, over, stopped, info["illegal_action"]) == (-5, True, False, True)
    with pytest.raises(ResetNeeded):
        env.step(0)
    assert play_first(env, 3)[1] > 1


@pytest.mark.parametrize("wrong", [-1, 10_000, None, "leave", np.array([1, 2]), 1.5])
def test_an_invalid_action_is_an_error_and_changes_nothing(wrong):
    env = ArenaEnv("el-paso", ["outlaw"])
    before, _ = env.reset(options={"deal": 3})
    with pytest.raises(InvalidAction):
        env.step(wrong)
    assert np.array_equal(before, env._observed(env._dealt()))
    untouched = ArenaEnv("el-paso", ["outlaw"])
    assert play_first(env, 3) == play_first(untouched, 3)


def test_other_mistakes_are_errors():
    env = ArenaEnv("el-paso", ["outlaw"])
    for call in (lambda: env.step(0), env.render, env.action_masks):
        with pytest.raises(ResetNeeded):
            call()
    with pytest.raises(UsageError, match="Did you mean 'el-paso'"):
        ArenaEnv("el-pato", ["outlaw"])
    with pytest.raises(UsageError, match="outlaw"):
        ArenaEnv("el-paso", ["outlow"])
    with pytest.raises(UsageError, match="list of bots"):
        ArenaEnv("el-paso", "outlaw")
    with pytest.raises(UsageError, match="seats 0 to 1, not 4"):
        ArenaEnv("el-paso", ["outlaw"], seat=4)
    for options in ({"deal": "7"}, {"deal": -1}, {"deal": 1.5}):
        with pytest.raises(UsageError, match="A deal is a whole number"):
            env.reset(options=options)
    with pytest.raises(gymnasium.error.NameNotFound):
        gymnasium.make("harness.adapters.gymnasium:Arenas-v0")


def test_environments_in_other_processes_play_the_same_with_shared_memory():
    def make() -> Any:
        return gymnasium.make(NAME, game="el-paso", opponents=["random"])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # gymnasium's own, about mixed dtypes of infos
        envs = gymnasium.vector.AsyncVectorEnv([make, make], shared_memory=True, context="spawn")
        alone = gymnasium.vector.SyncVectorEnv([make, make])
        try:
            (one, info), (two, _) = envs.reset(seed=5), alone.reset(seed=5)
            for _ in range(25):
                assert np.array_equal(one, two)
                actions = np.array([int(np.flatnonzero(mask)[0]) if mask.any() else 0 for mask in info["action_mask"]])
                (one, *_, info), (two, *_) = envs.step(actions), alone.step(actions)
        finally:
            envs.close()
            alone.close()
