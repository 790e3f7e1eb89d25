"""Skills of a league: what they are, that they do not depend on the order of matches, and that they scale."""

from __future__ import annotations

from random import Random
from time import process_time

import msgspec
import pytest

from harness.league import skills
from harness.league.skills import LeagueCounts
from harness.ratings.skill import PairGraph, chance_ahead, fit_skills
from harness.runs.cache import pack_state, unpack_state
from tests.league.worlds import Bots

Match = tuple[tuple[str, ...], tuple[int, ...]]


def matches(bots: int, count: int, seats: int, seed: int = 1, spread: float = 0.7) -> list[Match]:
    rng = Random(seed)
    names = [f"bot{number}" for number in range(bots)]
    world = Bots({name: rng.gauss(0, spread) for name in names})
    tables = [tuple(rng.sample(names, seats)) for _ in range(count)]
    return [(table, world.play(table, rng)) for table in tables]


def added(played: list[Match]) -> LeagueCounts:
    found = LeagueCounts()
    for seats, ranks in played:
        found.add_match(seats, ranks)
    return found


def test_without_matches_there_are_no_skills():
    assert LeagueCounts().fit() == {}


def test_the_skills_of_two_bots_match_their_results():
    found = added([(("a", "b"), (1, 2))] * 300 + [(("a", "b"), (2, 1))] * 100).fit()
    a, b = found["a"].interval, found["b"].interval
    assert a.value + b.value == pytest.approx(50)
    assert chance_ahead(a.value - b.value) == pytest.approx(0.75, abs=0.01)
    assert (found["a"].beats, found["a"].matches) == (0.75, 400)
    low, high = (chance_ahead(2 * (limit - 25)) for limit in (a.low, a.high))
    assert low < 0.75 < high
    assert high - low == pytest.approx(4 * (0.75 * 0.25 / 400) ** 0.5, rel=0.2)


def test_bots_that_always_tie_have_equal_skills():
    found = added([(("a", "b", "c"), (1, 1, 1))] * 10).fit()
    assert [one.interval.value for one in found.values()] == [25, 25, 25]
    assert [one.beats for one in found.values()] == [0.5, 0.5, 0.5]


def test_skills_are_ordered_by_results_at_tables_of_different_sizes():
    played = (
        [(("a", "b", "c"), (1, 2, 3))] * 9 + [(("a", "b"), (1, 2))] * 3 + [(("c", "b", "a", "d"), (3, 2, 1, 4))] * 5
    )
    found = added(played).fit()
    assert sorted(found, key=lambda name: -found[name].interval.value) == ["a", "b", "c", "d"]


def test_a_bot_that_won_every_match_has_a_finite_skill():
    found = added([(("a", other), (1, 2)) for other in "bcd"] * 20 + matches(3, 60, 2)).fit()
    assert 25 < found["a"].interval.low < found["a"].interval.value < 60
    found = added([(("a", "b"), (1, 2))] * 20_000).fit()
    assert found["a"].interval.low > found["b"].interval.high


def test_fitting_converges_when_each_bot_always_beats_the_next_one():
    found = added([((f"bot{rung:02}", f"bot{rung + 1:02}"), (1, 2)) for rung in range(30) for _ in range(300)]).fit()
    values = [found[name].interval.value for name in sorted(found)]
    assert values == sorted(values, reverse=True)


def test_one_match_gives_a_wide_interval():
    found = added([(("a", "b"), (1, 2))]).fit()
    assert found["a"].interval.low < found["b"].interval.value < found["a"].interval.value
    assert not found["a"].known


def test_groups_that_never_met_both_have_the_average_skill():
    found = added([(("a", "b"), (1, 2))] * 8 + [(("c", "d"), (1, 2))] * 8).fit()
    assert found["a"].interval == found["c"].interval
    assert found["a"].interval.value + found["b"].interval.value == pytest.approx(50)


def test_a_match_of_a_bot_against_itself_does_not_change_skills():
    assert added([(("a", "a"), (1, 2)), (("b",), (1,))]).fit() == {}
    played = matches(4, 50, 2)
    assert added([*played, (("bot1", "bot1"), (1, 2))]).fit() == added(played).fit()


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_skills_do_not_depend_on_the_order_of_matches_or_seats(seats):
    played = matches(12, 300, seats)
    mixed = Random(3).sample(played, len(played))
    turned = [(seating[::-1], ranks[::-1]) for seating, ranks in mixed]
    assert added(played).fit() == added(mixed).fit() == added(turned).fit()


def test_restored_counts_equal_the_saved_ones():
    counts = added(matches(12, 300, 3))
    again = LeagueCounts()
    again.restore(msgspec.msgpack.decode(msgspec.msgpack.encode(counts.state())))
    assert again.fit() == counts.fit()
    for seats, ranks in matches(14, 50, 4, seed=2):
        again.add_match(seats, ranks)
        counts.add_match(seats, ranks)
    assert again.fit() == counts.fit()
    packed_again = LeagueCounts()
    packed_again.restore(unpack_state(pack_state(counts.state(), {}), {}))
    assert packed_again.state() == counts.state()


def test_with_many_matches_skills_are_those_of_the_fit_of_a_run():
    counts = added(matches(8, 40_000, 4))
    run = fit_skills(PairGraph(counts.pairs, 8))
    found = counts.fit()
    for name, number in counts.numbers.items():
        assert found[name].interval.value == pytest.approx(run.mu[number], abs=0.01)


def test_a_fit_that_starts_from_an_earlier_one_gives_the_same_skills():
    played = matches(30, 3000, 4)
    early, counts = added(played[:2500]).fit(), added(played)
    warm = counts.fit({name: one.interval.value for name, one in early.items()})
    for name, one in counts.fit().items():
        assert warm[name].interval == pytest.approx(one.interval, abs=1e-3)


@pytest.mark.parametrize("seats", [2, 4])
def test_the_errors_of_large_fields_are_close_to_the_exact_ones(seats, monkeypatch):
    counts = added(matches(90, 2400, seats) + [(("new", "bot3", "bot4", "bot5")[:seats], (2, 1, 3, 4)[:seats])] * 6)
    exact = counts.fit()
    monkeypatch.setattr(skills, "MAX_EXACT_BOTS", 10)
    for name, one in counts.fit().items():
        assert one.interval.value == exact[name].interval.value
        assert one.interval.reach == pytest.approx(exact[name].interval.reach, rel=0.1)


def test_the_time_of_a_fit_grows_with_the_pairs():
    def cost(bots: int) -> float:
        counts, began = added(matches(bots, 10 * bots, 4)), process_time()
        counts.fit()
        return process_time() - began

    # Three times as many bots with as many matches each have about three times as many pairs; a matrix costs 27 times.
    assert cost(750) < 9 * min(cost(250) for _ in range(2))


@pytest.mark.slow
def test_a_thousand_bots_and_a_million_matches_are_fitted_in_seconds():
    counts, played = LeagueCounts(), matches(1000, 200_000, 4)
    began = process_time()
    for _ in range(5):
        for seats, ranks in played:
            counts.add_match(seats, ranks)
    assert process_time() - began < 60
    began = process_time()
    found = counts.fit()
    assert len(found) == 1000
    assert process_time() - began < 20  # twice the target, because other work may share the machine
    assert len(msgspec.msgpack.encode(counts.state())) < 40_000_000
