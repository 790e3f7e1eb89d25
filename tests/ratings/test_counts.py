"""What matches are counted into: totals, pairs, deals and seats."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from itertools import combinations
from random import Random

import pytest

from harness.comparison.sampling_units import ComparisonSpec, unit_matches
from harness.core.errors import StoreError
from harness.core.records import Fault, in_schedule_order
from harness.ratings.counts import (
    CACHED_FIELDS,
    MAX_OPEN_DEALS,
    DealCounts,
    GameCounts,
    PairCounts,
    TableMatches,
    by_game,
    by_option,
    by_players,
    luck_of_pair,
    pair_outcomes,
)
from harness.ratings.leaderboard import CountsByGame, leaderboard
from tests.ratings.simulate import World, count_records, record, tournament


def counts_of(records):
    counts = GameCounts()
    for one in records:
        counts.add(one)
    return counts


def small(deals=6, game="sim", seed=1, first=0):
    world = World([0.0, 0.2, 0.5, 0.9], 3)
    for one in tournament(world, deals, Random(seed)):
        yield record(one.seats, one.scores, index=first + one.index, seed=one.seed, game=game)


def facts(counts):
    """Everything that was counted, to the last bit."""
    strata = [
        (stratum.tables, stratum.deals, stratum.outcomes, stratum.score_sums, stratum.score_squares)
        for stratum in counts.deals.strata()
    ]
    seats = {
        key: (sums.deals, sums.matches, sums.wins, sums.counts, sums.score, sums.ahead)
        for key, sums in counts.deals.seat_sums().items()
    }
    return counts.totals, list(counts.pairs), strata, seats, leaderboard(counts)


def test_shuffling_the_records_changes_nothing():
    records = list(small())
    shuffled = Random(7).sample(records, len(records))
    assert facts(count_records(shuffled)["sim"]) == facts(count_records(records)["sim"])


def test_counts_added_one_by_one_equal_those_of_all_records():
    records = [*small(), *small(game="other", seed=2, first=72)]
    by_one = CountsByGame()
    for one in records:
        by_one.add(one)
    rebuilt = count_records(reversed(records))
    assert list(by_one.counts()) == ["other", "sim"] == list(rebuilt)
    assert all(facts(by_one.of_game(name)) == facts(counts) for name, counts in rebuilt.items())


def test_reading_counts_in_the_middle_of_a_deal_does_not_count_it_twice():
    whole, read = GameCounts(), GameCounts()
    for one in small():
        whole.add(one)
        read.add(one)
        facts(read)
    assert facts(read) == facts(whole)


def test_counts_continue_from_a_stored_state():
    records = list(small())
    whole, first = CountsByGame(), CountsByGame()
    for one in records:
        whole.add(one)
    for one in records[:20]:
        first.add(one)
    assert first.cacheable
    second = CountsByGame()
    second.restore(first.state())
    for one in records[20:]:
        second.add(one)
    assert facts(second.of_game("sim")) == facts(whole.of_game("sim"))
    assert not CountsByGame(anytime={"sim": None}).cacheable


def test_the_fields_to_store_are_all_fields_of_their_classes():
    for kind, fields in CACHED_FIELDS.items():
        own = set(getattr(kind, "__slots__", ()) or kind._fields)
        assert own - set(fields) <= {"_seatings"}


def test_removing_a_bot_s_matches_equals_a_run_that_never_had_them():
    records = list(small())
    fewer = [one for one in records if "bot3" not in one.seats]
    assert 0 < len(fewer) < len(records)
    assert facts(count_records(fewer)["sim"]) == facts(counts_of(fewer))


def test_records_are_yielded_in_schedule_order_without_waiting_for_all():
    records = list(small(1))
    got = in_schedule_order(iter([records[1], records[0], records[3], records[2]]))
    assert [next(got).index for _ in range(4)] == [0, 1, 2, 3]
    gaps = [records[5], records[2], records[0]]
    assert [one.index for one in in_schedule_order(gaps)] == [0, 2, 5]


@pytest.mark.parametrize("places", [(0, 0), (1, 1), (0, 1, 0)])
def test_a_match_is_counted_once(places):
    with pytest.raises(StoreError, match="'arena verify' lists"):
        count_records(record("ab", (1, 2), index=place) for place in places)


def test_wins_ranks_times_and_faults_are_summed():
    counts = GameCounts()
    counts.add(record("abc", (5, 5, 1), time=(1.0, 2.0, 3.0), faults=(Fault(2, "illegal", 0), Fault(2, "timeout", 1))))
    counts.add(record("bca", (3, 2, 1), index=1))
    a, b, c = (counts.totals[name] for name in "abc")
    assert (a.wins, b.wins, c.wins) == (0.5, 1.5, 0)
    assert (a.rank_sum, b.rank_sum, c.rank_sum) == (4, 2, 5)
    assert (a.decisions, a.time, c.time, c.faults, c.matches) == (2, 1.0, 3.0, 1, 2)
    assert counts.pairs.shares_ahead(3) == [pytest.approx(0.375), pytest.approx(0.875), pytest.approx(0.25)]
    assert counts.pairs.finished_ahead()[a.number, b.number] == (0.5, 2)
    assert counts.pairs.finished_ahead()[b.number, a.number] == (1.5, 2)
    assert counts.pairs.finished_ahead()[b.number, c.number] == (2, 2)


def test_a_disqualified_bot_loses_without_a_fault():
    counts = counts_of([record("ab", (1, 0), faults=(Fault(1, "disqualified", 0),))])
    assert (counts.totals["b"].disqualified, counts.totals["b"].faults) == (1, 0)


def test_pairs_are_counted_by_table_size():
    counts = counts_of([record("ab", (1, 0)), record("ba", (1, 1), index=1), record("bca", (3, 2, 1), index=2)])
    assert sorted(counts.pairs) == [
        (2, 0, 1, 1.0, 1.0, 0.0), (3, 0, 1, 0.0, 0.0, 1.0), (3, 0, 2, 0.0, 0.0, 1.0), (3, 1, 2, 1.0, 0.0, 0.0),
    ]  # fmt: skip
    assert (0, 2) in counts.pairs.finished_ahead()
    assert counts.pairs.finished_ahead()[0, 1] == (1.5, 3)
    assert not PairCounts().finished_ahead()


@pytest.mark.parametrize("players", [2, 3, 5])
def test_counts_of_pairs_equal_counting_every_pair_of_every_match(players):
    records = list(tournament(World([0.0, 0.4, 0.9, 1.5, 2.0], players), 5, Random(2)))
    records += [record(one.seats, [score // 100 for score in one.scores], index=len(records) + place, seed=one.seed)
                for place, one in enumerate(records)]  # fmt: skip
    counts = counts_of(records)
    expected: Counter[tuple[str, str, int]] = Counter()
    for one in records:
        for left, right, share in pair_outcomes(one.ranks):
            first, second = sorted((left, right), key=lambda seat: counts.totals[one.seats[seat]].number)
            expected[one.seats[first], one.seats[second], share if first == left else 1 - share] += 1
    names = {one.number: name for name, one in counts.totals.items()}
    assert any(tied for *_, tied, _ in counts.pairs)
    for _, one, other, *found in counts.pairs:
        assert found == [expected[names[one], names[other], share] for share in (1, 0.5, 0)]
    for name, beats in zip(counts.totals, counts.pairs.shares_ahead(len(counts.totals)), strict=True):
        met = [(value, n) for (one, other, value), n in expected.items() if one == name]
        met += [(1 - value, n) for (one, other, value), n in expected.items() if other == name]
        assert beats == pytest.approx(sum(value * n for value, n in met) / sum(n for _, n in met))


def test_a_bot_that_plays_itself_or_alone_is_counted_but_not_rated():
    counts = GameCounts()
    counts.add(record("aab", (3, 2, 1)))
    counts.add(record("a", (3,), index=1))
    assert (counts.totals["a"].matches, counts.totals["b"].matches) == (3, 1)
    assert counts.matches == 2
    assert list(counts.deals.strata()) == []
    assert list(counts.pairs) == []
    assert [one.beats for one in leaderboard(counts).standings] == [None, None]


@pytest.mark.parametrize("broken", [{"scores": (1,)}, {"ranks": (1,)}, {"ranks": (1, 2, 3)}])
def test_a_record_that_contradicts_itself_is_named(broken):
    given = {"scores": (2, 1), "ranks": (1, 2), **broken}
    with pytest.raises(StoreError, match=r"The record sim-1\.1\.0 does not have"):
        GameCounts().add(record("ab", **given))


def deals_of(counts):
    return sum(stratum.deals for stratum in counts.deals.strata())


def test_matches_of_a_deal_are_grouped_even_if_they_are_not_consecutive():
    matches = [record("ab", (turn % 3, 1), index=turn, seed=turn // 2) for turn in range(40)]
    plain, mixed = counts_of(matches), counts_of(Random(3).sample(matches, 40))
    assert deals_of(mixed) == deals_of(plain) == 20
    assert leaderboard(mixed).standings[0].skill == leaderboard(plain).standings[0].skill


def test_deals_beyond_the_open_ones_are_complete():
    many = 3 * MAX_OPEN_DEALS
    counts = counts_of(record("ab", (turn % 2, 0.5), index=turn, seed=turn // 2) for turn in range(2 * many))
    assert deals_of(counts) == many
    (stratum,) = counts.deals.strata()
    assert stratum.tables == (TableMatches((0, 1), 2),)
    assert sorted(stratum.results()) == [((1.0, 1.0), many)]


def test_deals_are_strata_by_their_tables_and_matches():
    played = [("ab", 1), ("ba", 1), ("ab", 2), ("bc", 2), ("ab", 3), ("ba", 3), ("ac", 4)]
    counts = counts_of(record(seats, (1, 0), index=place, seed=seed) for place, (seats, seed) in enumerate(played))
    found = {stratum.tables: (stratum.deals, stratum.bots) for stratum in counts.deals.strata()}
    assert found == {
        (TableMatches((0, 1), 2),): (2, (0, 1)),
        (TableMatches((0, 1), 1), TableMatches((1, 2), 1)): (1, (0, 1, 2)),
        (TableMatches((0, 2), 1),): (1, (0, 2)),
    }


def test_the_outcome_of_a_deal_has_wins_and_losses_of_each_pair():
    counts = counts_of([record("abc", (3, 2, 1)), record("bca", (3, 3, 1), index=1), record("cab", (1, 2, 2), index=2)])
    (stratum,) = counts.deals.strata()
    ((outcome, deals),) = stratum.results()
    by_pair = {pair: outcome[2 * at : 2 * at + 2] for at, pair in enumerate(combinations("abc", 2))}
    assert by_pair == {("a", "b"): (1, 1), ("a", "c"): (2, 1), ("b", "c"): (2, 0)}
    assert deals == 1
    assert stratum.score_sums == [3 + 1 + 2, 2 + 3 + 2, 1 + 3 + 1]


def test_seats_have_their_results():
    records = [record("ab", (turn % 4 > 0, 0.5), index=turn, seed=turn) for turn in range(20)]
    first, second = (counts_of(records).deals.seat_sums()[2, seat] for seat in (0, 1))
    assert first.share_ahead.value == pytest.approx(0.75)
    assert second.share_ahead.value == pytest.approx(0.25)
    assert first.mean_score.value == pytest.approx(0.75)
    assert (first.wins, first.matches, first.deals) == (15, 20, 20)
    assert DealCounts().seat_sums() == {}


def test_the_luck_of_pairs_adds_up_to_the_luck_of_a_bot():
    luck = [0.2, -0.05, -0.1, -0.05]
    for bot, mine in enumerate(luck):
        pairs = [luck_of_pair(mine, other, 4) for place, other in enumerate(luck) if place != bot]
        assert sum(pairs) == pytest.approx(mine * 3)


def test_luck_is_taken_out_of_the_fit_but_not_out_of_what_was_counted():
    plain, adjusted = GameCounts(), GameCounts()
    for turn in range(10):
        one = record("ab", (turn % 2, 1 - turn % 2), index=turn, seed=turn)
        plain.add(one)
        adjusted.add(one, shares=(0.6, 0.4))
    ((_, _, _, ahead, tied, behind),) = adjusted.pairs
    assert (ahead, tied, behind) == (pytest.approx(6), 0, pytest.approx(4))
    assert adjusted.totals == plain.totals
    assert adjusted.pairs.finished_ahead()[0, 1] == (5, 10)
    assert adjusted.pairs.shares_ahead(2) == [0.5, 0.5]


def test_matches_of_a_set_are_counted_from_one():
    first = next(unit_matches(ComparisonSpec(one="a", other="b", game="sim", settings={}), "pair", 1, 0))
    assert (first.id, first.set, first.index) == ("sim-1.1", "sim-1", 0)


def test_keys_of_separate_leaderboards():
    one = record("abc", (1, 2, 3))
    assert (by_game(one), by_players(one), by_option(one)) == ("sim", "sim, 3 players", "sim")


def test_a_million_matches_take_some_tens_of_megabytes():
    """Counted in 4,000 of them. Tables that never come again are the worst case: 270 megabytes."""
    rng, counts = Random(1), GameCounts()
    results = [tuple(rng.sample((1, 2, 3, 4), 4)) for _ in range(24)]
    names = [f"bot{number}" for number in range(30)]

    def play(deals):
        for deal in deals:
            table = rng.sample(names, 4)
            for turn in range(4):
                counts.add(record(table[turn:] + table[:turn], (1, 2, 3, 4), results[rng.randrange(24)], seed=deal))

    play(range(200))  # what does not grow with the run: pairs
    counts.clear_cache()
    tracemalloc.start()
    play(range(200, 1_200))
    counts.clear_cache()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert deals_of(counts) == 1_200
    assert 250 * held < 350e6
