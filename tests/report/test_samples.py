"""What the pages keep of a run does not grow with it, and still says the truth."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from statistics import quantiles

from harness.ratings.trueskill import Ratings
from harness.report.facts import MOST_POINTS, MOST_STEPS, Curve, Histogram
from tests.ratings.simulate import World, record, tournament


def test_a_curve_keeps_evenly_spaced_points_and_ends_at_the_final_ratings():
    ratings, curve = Ratings(), Curve()
    for one in tournament(World((0.0, 1.0, 2.0), 3), 333, Random(1)):
        ratings.add(one)
        curve.add(ratings)
    points = curve.to(ratings)
    matches = [number for number, _ in points]
    assert len(points) <= MOST_POINTS + 1
    assert len({later - earlier for earlier, later in pairwise(matches[:-1])}) == 1
    assert points[-1] == (999, {line.bot: line.rating for line in ratings.lines.values()})


def test_a_short_curve_has_every_match_once():
    ratings, curve = Ratings(), Curve()
    for index in range(5):
        ratings.add(record("ab", (index, 2), index=index))
        curve.add(ratings)
    assert [number for number, _ in curve.to(ratings)] == [1, 2, 3, 4, 5]


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
    assert len(spread.counts) <= MOST_STEPS
    exact = quantiles(values, n=20)
    for share, truth in ((0.05, exact[0]), (0.5, exact[9]), (0.95, exact[18])):
        assert abs(spread.quantiles((share,))[0] - truth) <= spread.width
