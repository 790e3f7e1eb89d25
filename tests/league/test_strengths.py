"""Strengths from counts of pairs: what they are, that they are honest, and that they scale."""

from __future__ import annotations

from math import log
from random import Random
from time import process_time

import msgspec
import pytest

from harness.league import strengths as strength_errors
from harness.league.strengths import Strength, Strengths, prob_better
from harness.ratings.evidence import Stages
from harness.ratings.plackett_luce import fit as fit_plackett_luce
from harness.runs.cache import pack_state, unpack_state
from tests.league.worlds import Bots

Match = tuple[tuple[str, ...], tuple[int, ...]]


def matches(bots: int, count: int, seats: int, seed: int = 1, spread: float = 0.7) -> list[Match]:
    rng = Random(seed)
    names = [f"bot{number}" for number in range(bots)]
    world = Bots({name: rng.gauss(0, spread) for name in names})
    tables = [tuple(rng.sample(names, seats)) for _ in range(count)]
    return [(table, world.play(table, rng)) for table in tables]


def added(played: list[Match]) -> Strengths:
    found = Strengths()
    for seats, ranks in played:
        found.add_match(seats, ranks)
    return found


def test_without_matches_there_are_no_strengths():
    assert Strengths().fit() == {}


def test_the_strength_difference_of_two_bots_matches_their_results():
    found = added([(("a", "b"), (1, 2))] * 300 + [(("a", "b"), (2, 1))] * 100).fit()
    assert found["a"].value == -found["b"].value
    assert 2 * found["a"].value == pytest.approx(log(3), abs=0.05)
    assert found["a"].ahead == pytest.approx(0.75, abs=0.01)
    assert found["a"].low < 0.75 < found["a"].high
    assert found["a"].high - found["a"].low == pytest.approx(4 * (0.75 * 0.25 / 400) ** 0.5, rel=0.15)
    assert found["a"].matches == 400


def test_a_tie_is_half_of_a_win():
    tied = added([(("a", "b"), (1, 1))] * 10).fit()
    assert tied["a"].value == 0
    assert tied["a"].ahead == 0.5


def test_strengths_are_ordered_by_results_at_tables_of_different_sizes():
    played = (
        [(("a", "b", "c"), (1, 2, 3))] * 9 + [(("a", "b"), (1, 2))] * 3 + [(("c", "b", "a", "d"), (3, 2, 1, 4))] * 5
    )
    found = added(played).fit()
    assert sorted(found, key=lambda name: -found[name].value) == ["a", "b", "c", "d"]


def test_a_bot_that_won_every_match_has_a_finite_strength():
    found = added([(("a", other), (1, 2)) for other in "bcd"] * 20 + matches(3, 60, 2)).fit()
    assert 0.5 < found["a"].low < found["a"].ahead < found["a"].high < 1
    assert found["a"].value < 10


def test_a_bot_that_won_thousands_of_matches_is_almost_certainly_better():
    found = added([(("a", "b"), (1, 2))] * 20_000).fit()
    assert found["a"].low > 0.99
    assert found["b"].high < 0.01
    assert prob_better(found["a"], found["b"]) > 0.999


def test_fitting_converges_when_each_bot_always_beats_the_next_one():
    found = added([((f"bot{rung:02}", f"bot{rung + 1:02}"), (1, 2)) for rung in range(30) for _ in range(300)]).fit()
    values = [found[name].value for name in sorted(found)]
    assert values == sorted(values, reverse=True)
    assert all(0 <= one.low <= one.ahead <= one.high <= 1 for one in found.values())


def test_one_match_gives_a_wide_interval():
    found = added([(("a", "b"), (1, 2))]).fit()
    assert found["a"].low < 0.2
    assert found["a"].high > 0.9
    assert 0.5 < prob_better(found["a"], found["b"]) < 0.9


def test_groups_that_never_met_get_comparable_strengths():
    found = added([(("a", "b"), (1, 2))] * 8 + [(("c", "d"), (1, 2))] * 8).fit()
    assert found["a"].value == pytest.approx(found["c"].value)
    assert 0.4 < prob_better(found["a"], found["c"]) < 0.6


def test_a_match_of_a_bot_against_itself_does_not_change_strengths():
    assert added([(("a", "a"), (1, 2)), (("b",), (1,))]).fit() == {}
    played = matches(4, 50, 2)
    assert added([*played, (("bot1", "bot1"), (1, 2))]).fit() == added(played).fit()


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_strengths_do_not_depend_on_the_order_of_matches_or_seats(seats):
    played = matches(12, 300, seats)
    mixed = Random(3).sample(played, len(played))
    turned = [(seating[::-1], ranks[::-1]) for seating, ranks in mixed]
    assert added(played).fit() == added(mixed).fit() == added(turned).fit()


def test_restored_strengths_equal_the_saved_ones():
    strengths = added(matches(12, 300, 3))
    again = Strengths()
    again.restore(msgspec.msgpack.decode(msgspec.msgpack.encode(strengths.state())))
    assert again.fit() == strengths.fit()
    for seats, ranks in matches(14, 50, 4, seed=2):
        again.add_match(seats, ranks)
        strengths.add_match(seats, ranks)
    assert again.fit() == strengths.fit()
    packed_again = Strengths()
    packed_again.restore(unpack_state(pack_state(strengths.state(), {}), {}))
    assert packed_again.state() == strengths.state()


def test_fitting_some_bots_still_counts_all_matches():
    strengths = added(matches(12, 600, 3))
    whole, some = strengths.fit(), strengths.fit(["bot3", "bot7", "bot1", "nobody"])
    assert list(some) == ["bot1", "bot3", "bot7"]
    assert sum(one.value for one in some.values()) == pytest.approx(0)
    assert some["bot3"].value - some["bot7"].value == pytest.approx(whole["bot3"].value - whole["bot7"].value)
    assert sum(one.ahead for one in some.values()) / 3 == pytest.approx(0.5)
    assert [one.matches for one in some.values()] == [whole[name].matches for name in some]


def test_strengths_of_two_player_matches_equal_a_plackett_luce_fit():
    played = matches(8, 4000, 2)
    stages = Stages()
    for seats, ranks in played:
        stages.add_match([int(name.removeprefix("bot")) for name in seats], ranks)
    theirs = fit_plackett_luce(stages, 8)
    ours = added(played).fit()
    assert [ours[f"bot{number}"].value for number in range(8)] == pytest.approx(theirs, abs=0.03)


def test_prob_better_is_near_one_for_clear_differences_and_sums_to_one():
    found = added(matches(6, 3000, 2, spread=1.5)).fit()
    order = sorted(found.values(), key=lambda one: -one.value)
    assert prob_better(order[0], order[-1]) > 0.999
    assert prob_better(order[-1], order[0]) < 0.001
    for one in order:
        for other in order:
            assert prob_better(one, other) + prob_better(other, one) == pytest.approx(1)


def test_strengths_constructed_by_the_caller_can_be_compared():
    one, other = Strength(0.5, 0.2, 0.6, 0.5, 0.7, 40), Strength(0.0, 0.2, 0.5, 0.4, 0.6, 40)
    assert 0.9 < prob_better(one, other) < 0.99


@pytest.mark.parametrize("seats", [2, 4])
def test_standard_errors_computed_in_blocks_are_close_to_the_exact_ones(seats, monkeypatch):
    strengths = added(matches(90, 2400, seats) + [(("new", "bot3", "bot4", "bot5")[:seats], (2, 1, 3, 4)[:seats])] * 6)
    exact = strengths.fit()
    monkeypatch.setattr(strength_errors, "MAX_EXACT_BOTS", 10)
    rough = strengths.fit()
    for name, one in exact.items():
        assert rough[name].value == one.value
        assert rough[name].error == pytest.approx(one.error, rel=0.15)
        assert rough[name].high - rough[name].low == pytest.approx(one.high - one.low, rel=0.15)


def test_three_hundred_bots_are_fitted_in_less_than_five_seconds():
    strengths = added(matches(300, 15_000, 4))
    began = process_time()
    assert len(strengths.fit()) == 300
    assert process_time() - began < 5  # it takes half a second


@pytest.mark.slow
def test_a_thousand_bots_and_a_million_matches_are_fitted_in_seconds():
    strengths, played = Strengths(), matches(1000, 200_000, 4)
    began = process_time()
    for _ in range(5):
        for seats, ranks in played:
            strengths.add_match(seats, ranks)
    assert process_time() - began < 60
    began = process_time()
    assert len(strengths.fit()) == 1000
    assert process_time() - began < 8
    assert len(msgspec.msgpack.encode(strengths.state())) < 40_000_000
