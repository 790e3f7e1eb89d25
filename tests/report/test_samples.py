"""What the pages keep of a run does not grow with it, and still says the truth."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from statistics import quantiles

from harness.ratings.counts import GameCounts
from harness.ratings.leaderboard import leaderboard
from harness.report.facts import MAX_STEPS, POINT_GROWTH, Curve, Histogram
from tests.ratings.simulate import World, record, tournament


def test_a_curve_has_points_at_growing_intervals_and_ends_at_the_final_skills():
    counts, curve = GameCounts(), Curve()
    for one in tournament(World((0.0, 1.0, 2.0), 3), 333, Random(1)):
        counts.add(one)
        curve.add(counts)
    board = leaderboard(counts)
    points = curve.to(board)
    matches = [number for number, _ in points]
    assert len(points) < 30
    assert all(later / earlier >= POINT_GROWTH for earlier, later in pairwise(matches))
    assert points[-1] == (999, {one.bot: one.skill.value for one in board.standings})


def test_a_short_curve_has_the_first_matches_and_the_last():
    counts, curve = GameCounts(), Curve()
    for index in range(5):
        counts.add(record("ab", (index, 2), index=index))
        curve.add(counts)
    assert [number for number, _ in curve.to(leaderboard(counts))] == [1, 2, 3, 5]


def test_few_values_have_exact_quantiles():
    spread = Histogram()
    for value in (5, -3, 5, 8, 100):
        spread.add(value)
    assert spread.quantiles((0.01, 0.5, 0.8, 0.95)) == [-3, 5, 8, 100]


def test_a_histogram_of_many_values_has_approximate_quantiles():
    rng, spread = Random(2), Histogram()
    values = [int(rng.gauss(0, 20_000)) for _ in range(20_000)]
    for value in values:
        spread.add(value)
    assert len(spread.counts) <= MAX_STEPS
    exact = quantiles(values, n=20)
    for share, truth in ((0.05, exact[0]), (0.5, exact[9]), (0.95, exact[18])):
        assert abs(spread.quantiles((share,))[0] - truth) <= spread.width
