"""Ratios are taken pair by pair, in turns, and their spread is shown."""

from __future__ import annotations

import pytest

from harness.bench.engine import shares_from_costs
from harness.bench.timing import Measured, Ratio, compare_in_turns, compare_same, ratio_of


class Clockwork:
    """A loop that needs no machine: it plays at a given speed, and tells a list who was asked."""

    def __init__(self, name, asked, rates, choices=10):
        self.name, self.asked, self.rates, self.choices = name, asked, iter(rates), choices

    def play(self, games, first=1):
        self.asked.append((self.name, games, first))
        made = games * self.choices
        return Measured(games, made, made / next(self.rates))

    def play_for(self, seconds, first=1):
        self.asked.append((self.name, seconds, first))
        rate = next(self.rates)
        games = max(1, round(seconds * rate / self.choices))
        return Measured(games, games * self.choices, games * self.choices / rate)


def test_a_ratio_is_the_median_of_the_pairs_with_minimum_and_maximum():
    assert ratio_of([20, 30, 100], [10, 10, 20]) == Ratio(3, 2, 5)
    assert str(Ratio(3.14159, 2, 12.345)) == "3.14 (2.00-12.3)"
    assert str(Ratio(310.4, 99, 500)) == "310 (99.0-500)"
    with pytest.raises(ValueError, match="shorter"):
        ratio_of([1, 2], [1])


def test_paired_measurements_are_adjacent_and_alternate_their_order():
    asked: list = []
    ours = {"a": Clockwork("a", asked, [200, 100, 100]), "b": Clockwork("b", asked, [50] * 3)}
    found = compare_in_turns(ours, Clockwork("peer", asked, [100, 100, 50]), pairs=3, seconds=3.0)
    assert [name for name, _, _ in asked] == ["a", "b", "peer", "peer", "b", "a", "a", "b", "peer"]
    assert {seconds for _, seconds, _ in asked} == {1.0}
    assert found["a"].ratio == Ratio(2, 1, 2)
    assert found["b"].ratio == Ratio(0.5, 0.5, 1)
    assert (found["a"].ours, found["a"].theirs) == (100, 100)


def test_two_arena_installations_play_the_same_matches_alternately():
    asked: list = []
    ours, other = Clockwork("here", asked, [300] * 3), Clockwork("there", asked, [100] * 4)
    found, same = compare_same(ours, other, pairs=3, seconds=3.0)
    assert asked[0] == ("there", 1.0, 1)
    assert asked[1:] == [
        ("here", 10, 1), ("there", 10, 1), ("there", 10, 11), ("here", 10, 11), ("here", 10, 21), ("there", 10, 21),
    ]  # fmt: skip
    assert found.ratio == Ratio(3, 3, 3)
    assert same


def test_arena_installations_that_play_differently_are_detected():
    ours, other = Clockwork("here", [], [300] * 3), Clockwork("there", [], [100] * 4, choices=11)
    assert not compare_same(ours, other, pairs=3, seconds=3.0)[1]


def test_shares_are_differences_of_costs_and_sum_to_one():
    costs = {"match": [10.0, 20.0], "steps": [7.0, 14.0], "views": [8.0, 16.0], "luck": [1.0, 2.0]}
    assert shares_from_costs(costs) == pytest.approx(
        {"steps, with legal lists": 0.6, "referee and bot": 0.2, "views": 0.1, "luck": 0.1}
    )
    told = shares_from_costs({**costs, "given": [4.0, 8.0]})
    assert told == pytest.approx({"steps": 0.3, "legal lists": 0.3, "referee and bot": 0.2, "views": 0.1, "luck": 0.1})
