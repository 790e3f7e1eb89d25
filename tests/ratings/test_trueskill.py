"""The fast update is TrueSkill's: the library is the reference."""

from __future__ import annotations

from math import erfc, exp, isfinite, pi, sqrt
from random import Random
from statistics import NormalDist

import pytest
import trueskill
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.ratings.trueskill import MU, SIGMA, draw_margin, rate

# The library's own erfc is good to 1e-7, which its messages magnify to some 1e-6; given exact normal functions it
# agrees with ours to ten digits.
EXACT = (
    lambda x: 0.5 * erfc(-x / sqrt(2)),
    lambda x: exp(-x * x / 2) / sqrt(2 * pi),
    NormalDist().inv_cdf,
)


def by_library(beliefs, ranks, probability, backend=None):
    env = trueskill.TrueSkill(tau=0.0, draw_probability=probability, backend=backend)
    return [(r.mu, r.sigma) for (r,) in env.rate([(trueskill.Rating(*one),) for one in beliefs], ranks)]


def furthest(mine, theirs):
    return max(abs(a - b) for one, other in zip(mine, theirs, strict=True) for a, b in zip(one, other, strict=True))


@st.composite
def matches(draw):
    players = draw(st.integers(2, 6))
    belief = st.tuples(st.floats(5, 45), st.floats(0.3, SIGMA))
    beliefs = draw(st.lists(belief, min_size=players, max_size=players))
    ranks = tuple(draw(st.lists(st.integers(1, players), min_size=players, max_size=players)))
    return beliefs, ranks, draw(st.sampled_from([0.001, 0.02, 0.1, 0.4]))


@given(matches())
@settings(max_examples=150, deadline=None)
def test_it_equals_the_library_for_any_table_with_any_ties(match):
    beliefs, ranks, probability = match
    try:
        expected = by_library(beliefs, ranks, probability, EXACT)
    except FloatingPointError:  # the library gives up on some upsets; ours must still answer
        assert all(isfinite(mu) and 0 < sigma <= SIGMA for mu, sigma in rate(beliefs, ranks, draw_margin(probability)))
        return
    assert furthest(rate(beliefs, ranks, draw_margin(probability)), expected) < 1e-6


@pytest.mark.parametrize("players", range(2, 7))
def test_it_equals_the_library_with_default_settings_over_a_whole_run(players):
    rng, margin = Random(players), draw_margin(0.1)
    mine = [(MU, SIGMA)] * players
    for _ in range(60):
        played = [round(rng.gauss(place / 3, 1), 1) for place in range(players)]
        ranks = tuple(sorted(played, reverse=True).index(one) + 1 for one in played)
        exact, plain = by_library(mine, ranks, 0.1, EXACT), by_library(mine, ranks, 0.1)
        mine = rate(mine, ranks, margin)
        assert furthest(mine, exact) < 1e-9
        assert furthest(mine, plain) < 1e-5


def test_the_draw_margin_equals_that_of_the_library():
    env = trueskill.TrueSkill(backend=EXACT)
    assert draw_margin(0.25) == pytest.approx(trueskill.calc_draw_margin(0.25, 2, env), abs=1e-12)


@pytest.mark.parametrize("ranks", [(1, 2), (2, 1), (1, 1)])
def test_an_extreme_upset_gives_finite_numbers(ranks):
    # Six hundred points apart: the library raises FloatingPointError here.
    (low, spread), (high, _) = rate([(-300.0, 1.0), (300.0, 1.0)], ranks, draw_margin(0.01))
    assert isfinite(low)
    assert isfinite(high)
    assert 0 < spread <= 1
    assert (low > -300) == (ranks != (2, 1))
