"""OpenSpiel's own tests and algorithms on all games, its bots in Arena, and mistakes that its users make."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from docs.examples.games.liars_dice import LiarsDice
from harness import UsageError, play_match
from harness.plugins.registry import load

pyspiel = pytest.importorskip("pyspiel", reason="needs OpenSpiel: pip install 'arena-harness[openspiel]'")
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import ismcts, mcts, tabular_qlearner

from harness.adapters import openspiel

NAMES = [*openspiel.register_installed(), openspiel.register(LiarsDice)]
CLASSES = {f"arena_{cls.name.replace('-', '_')}": cls for cls in (*(o.cls for o in load().games.values()), LiarsDice)}
TABLES = [
    (name, players) for name in NAMES for players in range(CLASSES[name].min_players, CLASSES[name].max_players + 1)
]


def game_of(name: str, **parameters: Any) -> Any:
    return pyspiel.load_game(name, {"deals": 20, **parameters})


def quick(name: str) -> dict[str, int]:
    """Options that make a match short."""
    return {"target": 15} if name == "arena_x_pasch" else {}


def play_first(state: Any) -> Any:
    while not state.is_terminal():
        state.apply_action(state.arena_state.legal[0].code)
    return state


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_the_game_passes_openspiels_simulation_test(name, players):
    serialize = players == CLASSES[name].min_players  # it takes a second
    pyspiel.random_sim_test(
        game_of(name, players=players, **quick(name)), num_sims=1, serialize=serialize, verbose=False
    )


@pytest.mark.parametrize("name", NAMES[:-1])
def test_a_match_equals_that_of_the_referee(name):
    def first(_view: object, actions: Any) -> Any:
        return actions[0]

    state = game_of(name, players=3).new_initial_state()
    state.apply_action(11)
    play_first(state)
    match = play_match(CLASSES[name].name, [first] * 3, seed=11)
    record = state.record()
    assert (record.actions, record.scores, record.ranks) == (match.record.actions, match.scores, match.ranks)
    assert sum(state.returns()) == pytest.approx(1.5)


def test_parameters_are_the_options_of_the_game_and_of_the_adapter():
    game = pyspiel.load_game("arena_x_pasch(players=4,target=60,reward=score,encoding=generic,deals=7)")
    assert (game.num_players(), game.rules.settings["target"], game.max_chance_outcomes()) == (4, 60, 7)
    assert game.encoding.name == "generic"
    assert (game.min_utility(), game.max_utility()) == game.rules.score_bounds(4)
    assert game.max_game_length() == game.rules.max_decisions(4)
    ranked = play_first(pyspiel.load_game("arena_el_paso(reward=rank)").new_initial_state().child(5))
    assert tuple(ranked.returns()) == tuple(-rank for rank in ranked.record().ranks)


def test_observations_are_the_views_and_resampled_states_give_the_same():
    game = game_of("arena_gnadenlos", players=3)
    state = game.new_initial_state().child(4)
    rng = np.random.default_rng(0)
    hidden = set()
    for _ in range(20):
        for player in range(3):
            seen, numbers = state.observation_string(player), state.observation_tensor(player)
            assert np.array_equal(numbers, game.encoding.array(state.arena_state.view(player)))
            other = state.resample_from_infostate(player, None)
            assert (other.observation_string(player), other.observation_tensor(player)) == (seen, numbers)
            assert other.history() == state.history()
            hidden.add(other.observation_string((player + 1) % 3) == state.observation_string((player + 1) % 3))
        state.apply_action(int(rng.choice(state.legal_actions())))
    assert hidden == {True, False}


def test_clones_and_serialised_states_are_independent_even_imagined_ones():
    game = game_of("arena_el_paso", players=2)
    state = game.new_initial_state().child(3)
    imagined = state.resample_from_infostate(0, None)
    for one in (state, imagined):
        copy = one.clone()
        text = pyspiel.serialize_game_and_state(game, one)
        before = str(one)
        play_first(copy)
        assert str(one) == before
        _, again = pyspiel.deserialize_game_and_state(text)
        assert (str(again), again.history(), again.legal_actions()) == (before, one.history(), one.legal_actions())
        assert play_first(again).returns() == play_first(one).returns() == copy.returns()
    with pytest.raises(UsageError, match="no record"):
        imagined.record()


def search(game: Any, _player: int) -> Any:
    """OpenSpiel's IS-MCTS, in Python."""
    luck = np.random.RandomState(5)
    rollouts = mcts.RandomRolloutEvaluator(1, luck)
    return ismcts.ISMCTSBot(game, rollouts, 1.0, 3, random_state=luck, use_observation_string=True)


def test_openspiels_ismcts_plays_against_our_bots_without_faults():
    bot = openspiel.spiel_bot(search, name="spiel-ismcts")
    for game, others in (("el-paso", ["outlaw"]), ("x-pasch", ["tycoon", "random"])):
        options = {"target": 10} if game == "x-pasch" else {}
        match = play_match(game, [bot, *others], seed=3, options=options)
        again = play_match(game, [bot, *others], seed=3, options=options)
        assert match.faults == ()
        assert match.record.decisions[0] > 5
        assert match.record.actions == again.record.actions


def test_a_learner_of_openspiel_trains_for_100_episodes():
    # Four rounds: this learner fails in an episode in which it never has a choice.
    env = rl_environment.Environment(game_of("arena_liars_dice", players=2, rounds=4))
    env.seed(1)
    agents = [
        tabular_qlearner.QLearner(player_id=player, num_actions=env.action_spec()["num_actions"]) for player in (0, 1)
    ]
    for _ in range(100):
        step = env.reset()
        while not step.last():
            step = env.step([agents[step.observations["current_player"]].step(step).action])
        for agent in agents:
            agent.step(step)
        assert sum(step.rewards) == pytest.approx(1)
    assert all(agent._q_values for agent in agents)


def test_mistakes_are_the_errors_of_openspiel_and_change_nothing():
    for name in ("arena_el_pato", "arena_el_paso(players=9)", "arena_el_paso(edition=xx)", "arena_el_paso(gold=1)",
                 "arena_el_paso(reward=gold)", "arena_el_paso(encoding=best)", "arena_el_paso(deals=0)"):  # fmt: skip
        with pytest.raises(pyspiel.SpielError):
            pyspiel.load_game(name)
    state = game_of("arena_el_paso").new_initial_state()
    with pytest.raises(pyspiel.SpielError, match="no deal 99"):
        state.apply_action(99)
    with pytest.raises(pyspiel.SpielError, match="No match was dealt"):
        _ = state.arena_state
    state.apply_action(3)
    before = str(state), state.history()
    with pytest.raises(pyspiel.SpielError, match="not legal now"):
        state.apply_action(10_000)
    with pytest.raises(pyspiel.SpielError, match="no player 2"):
        state.resample_from_infostate(2, None)
    assert (str(state), state.history()) == before
    with pytest.raises(ValueError, match="no parameters"):
        state.get_game().make_py_observer(None, {"wrong": 1})
    with pytest.raises(UsageError, match="no reward 'gold'"):
        openspiel.spiel_bot(search, reward="gold")


def test_importing_the_adapter_registers_the_games_once():
    assert set(NAMES) <= set(pyspiel.registered_names())
    assert openspiel.register_installed() == NAMES[:-1]
    assert "harness.adapters.openspiel" in sys.modules
