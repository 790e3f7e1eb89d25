"""The parts of a search: rewards, public knowledge, playouts, the logarithm that is not one."""

from __future__ import annotations

import pickle
from copy import deepcopy
from math import log
from random import Random
from statistics import pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.search.knowledge import public_part
from bots.search.mast import Mast
from bots.search.rewards import Spread, by_rank, by_score
from bots.search.tree import harmonic
from engines.el_paso import ElPaso
from harness import Chance, ranks_of
from tests.bots.kuhn import Kuhn
from tests.bots.nim import Nim, NimView

SCORES = st.lists(st.integers(-50, 200), min_size=2, max_size=6)


def test_rank_rewards_run_from_one_to_zero() -> None:
    assert by_rank((30, 10, 20)) == [1.0, 0.0, 0.5]
    assert by_rank((7, 7)) == [0.5, 0.5]
    assert by_rank((9, 4, 4, 1)) == [1.0, 0.5, 0.5, 0.0]


def test_score_rewards_are_the_lead_over_the_average_of_the_others() -> None:
    assert by_score((30, 10, 20)) == [15.0, -15.0, 0.0]


@given(SCORES)
def test_a_better_rank_is_a_higher_reward(scores: list[int]) -> None:
    ranks = ranks_of(scores)
    for rewards in (by_rank(scores), by_score(scores)):
        for a, first in enumerate(ranks):
            for b, second in enumerate(ranks):
                assert (rewards[a] > rewards[b]) == (first < second)


@given(SCORES, st.integers(-100, 100))
def test_points_that_every_seat_gets_change_no_reward(scores: list[int], gift: int) -> None:
    more = [score + gift for score in scores]
    assert by_rank(more) == by_rank(scores)
    assert by_score(more) == pytest.approx(by_score(scores))


@given(st.lists(SCORES, min_size=1, max_size=5))
def test_the_spread_is_the_standard_deviation_of_every_reward_shown(games: list[list[int]]) -> None:
    spread = Spread()
    assert spread.deviation == 0
    for scores in games:
        spread.include([float(score) for score in scores])
    assert spread.deviation == pytest.approx(pstdev([score for scores in games for score in scores]), abs=1e-9)


def test_harmonic_numbers_approximate_the_logarithm() -> None:
    assert harmonic(4) == pytest.approx(1 + 1 / 2 + 1 / 3 + 1 / 4)
    assert harmonic(10_000) - log(10_000) == pytest.approx(0.5772, abs=1e-3)


def test_the_public_part_of_a_view_is_the_same_for_every_seat() -> None:
    game = ElPaso.configure()
    part = public_part(game, 3)
    state, rng = game.new(3, Chance(77)), Random(77)
    parts = set()
    while state.legal:
        shared = {part(state.view(seat)) for seat in range(3)}
        assert len(shared) == 1
        parts |= shared
        state.step(rng.choice(state.legal))
    assert len(parts) > 50  # and it says a lot


def test_a_card_that_only_its_owner_sees_is_not_public() -> None:
    game = Kuhn.configure()
    part = public_part(game, 2)
    jack, king = (game.imagine(game.view_type(0, 0, "bet", (card, None), ""), Random(1)) for card in (1, 3))
    assert part(jack.view(0)) == part(king.view(0))


def test_a_playout_stops_at_its_depth_or_at_the_end() -> None:
    game = Nim.configure({"pile": 50})
    mast = Mast(2, 0.0, Random(1).random)
    state = game.new(2, Chance(1))
    assert len(mast.play(state, 5)) == 5
    assert state.legal
    mast.play(state, 0)
    assert not state.legal


def test_habits_repeat_what_has_gone_well() -> None:
    game = Nim.configure({"pile": 50})
    mast = Mast(2, 1.0, Random(1).random)
    one, two, three = game.actions
    mast.learn([(0, one), (0, two), (0, three)], [0.0, 0.0])
    mast.learn([(0, two)], [1.0, 0.0])
    mast.learn([(1, one), (1, two), (1, three)], [0.0, 0.0])
    mast.learn([(1, three)], [0.0, 1.0])
    made = mast.play(game.new(2, Chance(1)), 6)
    assert made == [(0, two), (1, three)] * 3
    # Also in a copy of the match, and after it was stored.
    for again in (deepcopy(mast), pickle.loads(pickle.dumps(mast))):  # noqa: S301
        assert again.play(game.new(2, Chance(1)), 6) == made


def test_habits_fade_and_are_forgotten_when_not_used_again() -> None:
    game = Nim.configure({"pile": 50})
    mast = Mast(1, 1.0, Random(1).random)
    one, two, three = game.actions
    mast.learn([(0, one), (0, two), (0, two), (0, three)], [1.0])
    mast.learn([(0, one)], [3.0])
    mast.fade()
    mast.learn([(0, one)], [0.0])  # weighs five times what is left of its better days
    assert mast.play(game.new(2, Chance(1)), 1) == [(0, two)]
    for _ in range(400):  # a match may be long; nothing may wear down to a division by zero
        mast.fade()
    assert mast.play(game.new(2, Chance(1)), 1) == [(0, one)]


def test_a_forced_choice_is_not_counted_as_a_decision() -> None:
    game = Nim.configure()
    state = game.imagine(NimView(0, 0, "take", 1, 2, -1), Random(1))
    assert Mast(2, 0.5, Random(1).random).play(state, 1) == []
    assert state.scores() == (1, 0)
