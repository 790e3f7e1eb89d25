"""A race between actions, and playouts that are cut off and judged by a learned value."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from bots.flat_mc import FlatMc
from bots.ismcts import Ismcts
from bots.search.base import SearchBot
from bots.search.judge import ValueJudge
from bots.search.race import NEVER, Race
from bots.search.rewards import Rewards, by_rank
from engines import arena_games
from harness import Action, Chance, Game, State, UsageError, valuer_of
from harness.core.errors import StoreError
from tests.bots.nim import Nim, NimView
from tests.bots.support import seated, some_states

BOTS = pytest.mark.parametrize("bot", [FlatMc, Ismcts])
GUIDES = {"el-paso": "outlaw", "gnadenlos": "miser", "x-pasch": "hustler"}
GAMES = pytest.mark.parametrize("game", [cls.configure() for cls in arena_games()], ids=lambda game: str(game.name))
QUICK: dict[str, Any] = {"depth": 1, "reward": "value", "race": 250}


def run(race: Race, rewards: dict[Action, float], worlds: int, noise: float = 0.0, shared: float = 0.0) -> list[Action]:
    """Everything that a race tries in so many worlds, when each action brings so much, and some luck."""
    luck, rng, tried = Random(1), Random(2), []
    of_world = [shared * luck.gauss(0, 1) for _ in range(worlds)]
    while (turn := race.next()) and turn[1] < worlds:
        action, world = turn
        tried.append(action)
        race.record(action, rewards[action] + of_world[world] + noise * rng.gauss(0, 1))
    return tried


def test_every_action_is_tried_in_every_world_while_it_runs() -> None:
    actions = Nim.configure().actions
    race = Race(actions, actions[1], NEVER)
    tried = run(race, dict.fromkeys(actions, 0.0), 10, noise=1.0)
    assert tried == [actions[1], actions[0], actions[2]] * 10


def test_significantly_worse_actions_drop_out_and_the_race_ends_with_the_best() -> None:
    good, bad, awful = Nim.configure().actions
    race = Race([bad, awful, good], bad, 2.5)
    tried = run(race, {good: 1.0, bad: 0.8, awful: -5.0}, 2_000, noise=0.5)
    assert tried.count(awful) < tried.count(bad) < 2_000
    assert race.running == [good]
    assert race.best() is good


def test_luck_shared_by_all_actions_does_not_slow_the_race() -> None:
    good, bad, _ = Nim.configure().actions
    in_one_world = run(Race([bad, good], None, 2.5), {good: 0.1, bad: 0.0}, 10_000, noise=0.1, shared=10.0)
    assert len(in_one_world) < 200  # ten standard errors of such luck would take a hundred thousand


def test_actions_that_do_the_same_end_the_race_and_the_advice_is_followed() -> None:
    actions = Nim.configure().actions
    race = Race(actions, actions[2], 2.5)
    assert len(run(race, dict.fromkeys(actions, 3.0), 1_000, shared=5.0)) == 3 * 4
    assert race.best() is actions[2]


def test_advice_is_followed_until_something_is_better_by_a_standard_error() -> None:
    one, two, _ = Nim.configure().actions
    close, clear = Race([one, two], two, NEVER), Race([one, two], two, NEVER)
    run(close, {one: 0.01, two: 0.0}, 20, noise=1.0)
    run(clear, {one: 2.0, two: 0.0}, 20, noise=1.0)
    assert close.best() is two
    assert clear.best() is one
    untried = Race([one, two], two, 2.5)
    assert untried.best() is two


def counted(player: SearchBot) -> list[State[Any]]:
    """The states that the bot plays on from now on."""
    played, play_out = [], player.play_out

    def counting(state: State[Any]) -> Rewards:
        played.append(state)
        return play_out(state)

    player.play_out = counting  # type: ignore[method-assign]
    return played


@BOTS
@GAMES
def test_a_race_uses_fewer_tries_than_its_budget(bot: type[SearchBot], game: Game[Any]) -> None:
    used = []
    for state in some_states(game, game.min_players, 5, 6):
        view = state.view(state.seat)
        player = seated(bot, game, view, game.min_players, iterations=300, guide=GUIDES[game.name], **QUICK)
        tries = counted(player)
        assert player.choose(view, state.legal) in state.legal
        used.append(len(tries))
    assert max(used) <= 300
    assert sum(used) < 0.8 * 300 * len(used)


def test_advice_is_followed_unless_something_is_better_by_the_margin() -> None:
    one, two, _ = Nim.configure().actions
    for margin, chosen in ((0.0, one), (0.1, one), (0.6, two)):
        race = Race([one, two], two, 2.5, margin)
        run(race, {one: 0.3, two: 0.0}, 500, noise=0.1)
        assert race.running == [one]  # it is better beyond doubt
        assert race.best() is chosen
        slow = Race([one, two], two, NEVER, margin)
        run(slow, {one: 0.3, two: 0.0}, 500, noise=0.1)
        assert slow.best() is chosen


@BOTS
@GAMES
def test_a_race_is_a_function_of_the_view_and_the_seed(bot: type[SearchBot], game: Game[Any]) -> None:
    for state in some_states(game, game.max_players, 6, 2):
        view, rng = state.view(state.seat), Random(1)
        decisions = set()
        for world in (state, game.imagine(view, rng), game.imagine(view, rng)):
            seen = world.view(state.seat)
            player = seated(bot, game, seen, game.max_players, iterations=60, guide=GUIDES[game.name], **QUICK)
            decisions.add(player.choose(seen, world.legal))
        assert len(decisions) == 1


@GAMES
def test_the_value_of_an_unfinished_game_is_an_estimate_and_of_a_finished_game_its_reward(game: Game[Any]) -> None:
    players = game.min_players
    judge, rng = ValueJudge(game, players, ""), Random(3)
    state = game.new(players, Chance(3))
    while state.legal:
        rewards = judge.rewards(state)
        assert sum(rewards) == pytest.approx(players / 2)
        state.step(rng.choice(state.legal))
    assert judge.rewards(state) == by_rank(state.scores())


def test_another_value_function_can_be_given(tmp_path: Path) -> None:
    game = arena_games()[0].configure()
    own = valuer_of(game).function
    file = tmp_path / "none.json"
    file.write_bytes(msgspec.json.encode(msgspec.structs.replace(own, trees=())))
    state = some_states(game, 2, 4, 3)[1]
    view = state.view(state.seat)
    player = seated(FlatMc, game, view, reward="value", values=str(file))
    assert player.judge.rewards(state) == [0.5, 0.5]
    assert ValueJudge(game, 2, "").rewards(state) != [0.5, 0.5]
    file.write_text("[]", encoding="utf-8")
    with pytest.raises(StoreError, match="Learn it again: arena learn-values"):
        seated(FlatMc, game, view, reward="value", values=str(file))


@BOTS
def test_a_game_without_a_value_function_says_how_to_get_one(bot: type[SearchBot]) -> None:
    with pytest.raises(UsageError, match="Nim has no value function") as error:
        seated(bot, Nim.configure(), NimView(0, 0, "take", 5, 2, -1), reward="value")
    assert error.value.fix == "learn-values"
