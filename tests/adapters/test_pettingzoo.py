"""PettingZoo's own tests for all games, and mistakes that its users make."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from docs.examples.games.liars_dice import LiarsDice
from harness import IllegalAction, UsageError, play_match
from harness.plugins.registry import load

pettingzoo = pytest.importorskip("pettingzoo", reason="needs PettingZoo: pip install 'arena-harness[pettingzoo]'")
from gymnasium.error import ResetNeeded

with warnings.catch_warnings():  # where pygame is installed, the tests import a game the old way
    warnings.filterwarnings("ignore", "The old environment creation API has been deprecated", DeprecationWarning)
    from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.utils import aec_to_parallel, wrappers

from harness.adapters import pettingzoo as arena_zoo

GAMES = [*(offer.cls for _, offer in sorted(load().games.items())), LiarsDice]
TABLES = [
    pytest.param(game, players, id=f"{game.name}-{players}")
    for game in GAMES
    for players in range(game.min_players, game.max_players + 1)
]
DICT_SPACES = "Observation space for each agent probably should be|Observation is not a NumPy array"
"""What the tests report of every observation with a mask, as the classic games of PettingZoo have them."""


@contextmanager
def only_warnings_of_classic_games() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", DICT_SPACES)
        yield


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_the_environment_passes_pettingzoos_tests(game, players, capsys):
    def make(**settings: Any) -> Any:
        return arena_zoo.env(game, players, **settings)

    with only_warnings_of_classic_games():
        api_test(make(), num_cycles=20)
        seed_test(make, num_cycles=20)
        render_test(make)
    assert "player_1" in capsys.readouterr().out


@pytest.mark.parametrize("encoding", ["generic", "auto"])
@pytest.mark.parametrize("reward", ["share", "score", "rank"])
def test_options_of_the_environment_and_of_the_game(reward, encoding):
    settings = {"reward": reward, "encoding": encoding, "scaled": False, "options": {"edition": "bg"}}
    env = arena_zoo.ArenaEnv("el-paso", 3, **settings)
    with only_warnings_of_classic_games():
        api_test(env, num_cycles=200)
    assert env.game.settings["edition"] == "bg"
    again = pickle.loads(pickle.dumps(env))  # noqa: S301 - our own bytes
    assert again.encoding.size == env.encoding.size
    total = play_first(env, 7)
    scores = env.record().scores
    wanted = {"score": scores, "rank": [-rank for rank in env.record().ranks]}
    if reward == "share":
        assert sum(total) == pytest.approx(1.5)
    else:
        assert total == list(wanted[reward])


def play_first(env: Any, deal: int) -> list[float]:
    """The rewards of a match in which all choose the first legal action."""
    env.reset(options={"deal": deal})
    rewards = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        _, reward, over, stopped, _ = env.last()
        rewards[agent] += reward
        env.step(None if over or stopped else first_legal(env))
    return list(rewards.values())


def first_legal(env: Any) -> int:
    return env.unwrapped._dealt().legal[0].code


@pytest.mark.parametrize("game", ["el-paso", "gnadenlos", "x-pasch"])
def test_a_match_equals_that_of_the_referee(game):
    def first(_view: object, actions: Any) -> Any:
        return actions[0]

    env = arena_zoo.ArenaEnv(game, 3)
    rewards = play_first(env, 11)
    match = play_match(game, [first] * 3, seed=11)
    record = env.record()
    assert (record.actions, record.scores, record.ranks) == (match.record.actions, match.scores, match.ranks)
    assert record.seed == env.deal == 11
    assert rewards == [sum((other > rank) + 0.5 * (other == rank) for other in match.ranks) / 2 - 0.25
                       for rank in match.ranks]  # fmt: skip


def test_a_stopped_match_is_truncated():
    env = arena_zoo.ArenaEnv("x-pasch", 3, options={"target": 1000})
    env.reset(seed=1)
    stop = next(action.code for action in env.game.actions if action.kind == "stop")
    keep = {action.code for action in env.game.actions if action.kind == "keep"}
    while env.agents and not any(env.truncations.values()):
        codes = {action.code for action in env._dealt().legal}
        env.step(stop if stop in codes else (codes & keep).pop())
    assert not any(env.terminations.values())
    assert env.record().ending == "truncated"


def test_an_illegal_action_ends_the_episode_in_the_wrapped_environment():
    env = arena_zoo.env("el-paso", 2, illegal_reward=-7)
    env.reset(seed=3)
    loser = env.agent_selection
    mask = env.observe(loser)["action_mask"]
    env.step(int(np.flatnonzero(mask == 0)[0]))
    assert all(env.terminations.values())
    assert env.unwrapped._cumulative_rewards[loser] == -7


def test_the_wrappers_in_one_object_do_what_they_do_one_around_the_other():
    one: Any = arena_zoo.env("gnadenlos", 3)
    apart: Any = wrappers.TerminateIllegalWrapper(arena_zoo.ArenaEnv("gnadenlos", 3), illegal_reward=-1)
    apart = wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(apart))
    seen: list[list[Any]] = []
    for env in (one, apart):
        seen.append([])
        with pytest.raises(AttributeError, match="agents cannot be accessed before reset"):
            _ = env.agents
        for seed in range(4):
            env.reset(seed=seed)
            for number, agent in enumerate(env.agent_iter()):
                observation, *said = env.last()
                seen[-1].append((agent, observation["observation"].tobytes(), said, env.rewards, env.num_agents))
                mask = observation["action_mask"]
                wrong = seed % 2 and number == 9
                env.step(None if said[1] or said[2] else int(mask.argmin() if wrong else mask.argmax()))
    assert seen[0] == seen[1]
    assert len(seen[0]) > 100


@pytest.mark.parametrize("wrong", [-1, 10_000, None, "leave", np.zeros(3), 1.5])
def test_an_illegal_action_changes_nothing_in_the_raw_environment(wrong):
    env = arena_zoo.ArenaEnv("el-paso", 2)
    env.reset(seed=3)
    before = env.observe("player_0"), env.agent_selection
    with pytest.raises(IllegalAction):
        env.step(wrong)
    after = env.observe("player_0"), env.agent_selection
    assert before[1] == after[1]
    assert all(np.array_equal(before[0][key], after[0][key]) for key in before[0])
    assert play_first(env, 3)


def test_a_wrong_shape_is_outside_of_the_action_space():
    env = arena_zoo.env("el-paso", 2)
    env.reset(seed=3)
    with pytest.raises(AssertionError, match="action is not in action space"):
        env.step(np.array([1, 2]))


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_pettingzoo_refuses_to_make_it_parallel(game):
    """One agent is on turn at a time, so PettingZoo's test of parallel environments does not apply."""
    with pytest.raises(AssertionError, match="not generally safe"):
        aec_to_parallel(arena_zoo.env(game))


def test_pettingzoos_registry_makes_the_same_environment():
    env = pettingzoo.make("aec", "Arena-v0", game="gnadenlos", players=4)
    assert type(env) is type(arena_zoo.env("gnadenlos", 4))
    assert env.unwrapped.encoding is arena_zoo.ArenaEnv("gnadenlos", 4).encoding


def test_steps_before_reset_are_errors():
    with pytest.raises(ResetNeeded):
        arena_zoo.ArenaEnv("el-paso", 2).observe("player_0")
    with pytest.raises(AttributeError, match="cannot be accessed before reset"):
        _ = arena_zoo.env("el-paso", 2).agent_selection


def test_unknown_names_are_errors_with_the_choices():
    with pytest.raises(UsageError, match="Did you mean 'el-paso'"):
        arena_zoo.env("el-pato")
    with pytest.raises(UsageError, match="2 to 5 players, not 7"):
        arena_zoo.env("el-paso", 7)
    with pytest.raises(UsageError, match="share, score, rank"):
        arena_zoo.env("el-paso", reward="gold")
