from collections import Counter
from itertools import combinations, islice, pairwise
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.plan import Plan
from harness.formats.round_robin import MAX_TABLES, tables_per_deal

from .support import game, meetings, names, pairs, plan, scheduled, sets_of, spread

SEATS = range(2, 7)


@pytest.mark.parametrize("seats", SEATS)
def test_every_table_plays_every_deal_in_every_rotation(seats: int) -> None:
    specs = list(scheduled(plan(seats + 2, seats, deals=2)).matches())
    assert len(specs) == scheduled(plan(seats + 2, seats, deals=2)).count() == 2 * comb(seats + 2, seats) * seats
    for deal in (1, 2):
        tables = Counter(frozenset(spec.seats) for spec in specs if spec.id.startswith(f"game-{deal}."))
        assert tables == {frozenset(table): seats for table in combinations(names(seats + 2), seats)}
    in_seat = Counter((name, seat) for spec in specs for seat, name in enumerate(spec.seats))
    assert set(in_seat.values()) == {2 * comb(seats + 1, seats - 1)}


def test_matches_of_a_set_share_one_deal_and_every_set_has_a_different_one() -> None:
    specs = list(scheduled(plan(5, 3, deals=3)).matches())
    seeds = {spec.set: spec.seed for spec in specs}
    assert all(spec.seed == seeds[spec.set] for spec in specs)
    assert len(set(seeds.values())) == len(seeds) == 3 * 10


def test_ids_are_unique_and_indices_are_consecutive() -> None:
    specs = list(scheduled(Plan((game(5, 3, "one"), game(4, 2, "two")), 3, 1)).matches())
    assert len({spec.id for spec in specs}) == len(specs)
    assert [spec.index for spec in specs] == list(range(len(specs)))
    assert [spec.id for spec in specs[:4]] == ["one-1.1.1", "one-1.1.2", "one-1.1.3", "one-1.2.1"]
    # Deal by deal: the second game's first deal comes before the first game's second.
    ids = [spec.id for spec in specs]
    assert ids.index("two-1.1.1") < ids.index("one-2.1.1") < ids.index("two-2.1.1")


def test_neighbours_vary_from_deal_to_deal() -> None:
    first = [spec.seats for spec in scheduled(plan(4, 4, deals=30)).matches() if spec.id.endswith(".1")]
    assert len({seats[(seats.index("bot00") + 1) % 4] for seats in first}) == 3


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 6), st.integers(0, 6), st.integers(1, 4), st.integers(1, 40), st.integers(0, 2**48))
def test_a_sample_is_balanced_in_bots_and_seats_at_every_deal(
    seats: int, more: int, deals: int, tables: int, seed: int
) -> None:
    bots = seats + more
    asked = plan(bots, seats, deals=deals, seed=seed, tables=tables)
    specs = list(scheduled(asked).matches())
    assert len(specs) == scheduled(asked).count()
    for end in range(1, deals + 1):
        part = [spec for spec in specs if int(spec.set.split("-")[1].split(".")[0]) <= end]
        for seat in range(seats):
            assert spread(Counter(spec.seats[seat] for spec in part), names(bots)) <= 1
        last = [table for name, table in sets_of(part).items() if name.startswith(f"game-{end}.")]
        assert len(set(last)) == len(last) == min(tables, comb(bots, seats)), "no table twice in a deal"


@pytest.mark.parametrize(("seats", "within"), [(3, 1), (4, 1), (5, 1), (6, 3)])
def test_meetings_of_a_default_sample_are_within_one_at_the_end(seats: int, within: int) -> None:
    """Tables of six hold fifteen pairs each: a handful of them that spread all pairs evenly is too rare to be found."""
    checked = 0
    for bots in (14, 16, 20, 25):
        for deals in (1, 4):
            asked = plan(bots, seats, deals=deals)
            if comb(bots, seats) <= MAX_TABLES:
                continue
            met = meetings(sets_of(scheduled(asked).matches()).values())
            assert spread(met, pairs(bots)) <= within, (bots, seats, deals)
            checked += 1
    assert checked


def fewest_spread(bots: int, seats: int, tables: int) -> int:
    """The least spread of meetings that any choice of tables with balanced bots has, by trying them all."""
    best = tables
    for chosen in combinations(combinations(names(bots), seats), tables):
        sat = Counter(name for table in chosen for name in table)
        if spread(sat, names(bots)) <= 1:
            best = min(best, spread(meetings(chosen), pairs(bots)))
            if best == 0 or (best == 1 and tables * comb(seats, 2) % comb(bots, 2)):
                break
    return best


@pytest.mark.parametrize(
    ("bots", "seats"), [(4, 2), (4, 3), (5, 2), (5, 3), (5, 4), (6, 2), (6, 3), (6, 4), (6, 5), (7, 5), (7, 6)]
)
def test_meetings_of_small_samples_are_as_even_as_possible(bots: int, seats: int) -> None:
    # Within one cannot always be had: of two tables of 3 out of 4 bots, one pair meets twice and one never.
    for tables in range(1, min(6, comb(bots, seats)) + 1):
        met = meetings(sets_of(scheduled(plan(bots, seats, tables=tables)).matches()).values())
        assert spread(met, pairs(bots)) == fewest_spread(bots, seats, tables), tables


def test_two_tables_of_three_out_of_four_bots_have_a_spread_of_two_meetings() -> None:
    assert fewest_spread(4, 3, 2) == 2


@pytest.mark.parametrize("seats", SEATS)
def test_meetings_of_any_sample_are_near_even(seats: int) -> None:
    spreads: Counter[int] = Counter()
    for bots in range(seats + 1, 14):
        for tables in {3, 5, bots, 2 * bots, 40}:
            met = meetings(sets_of(scheduled(plan(bots, seats, tables=tables)).matches()).values())
            spreads[spread(met, pairs(bots))] += 1
    assert max(spreads) <= 3
    assert spreads[3] <= 0.1 * spreads.total()
    assert spreads[0] + spreads[1] >= 0.5 * spreads.total()


def test_a_sample_of_most_tables_is_balanced() -> None:
    asked = plan(7, 3, tables=28, deals=3)
    specs = list(scheduled(asked).matches())
    tables = sets_of(specs).values()
    assert spread(meetings(tables), pairs(7)) <= 1
    assert spread(Counter(name for table in tables for name in table), names(7)) <= 1


def test_the_default_sample_has_enough_tables_for_every_pair_to_meet() -> None:
    for bots, seats in ((20, 4), (30, 6), (40, 3)):
        tables = tables_per_deal(bots, seats, 0, 1)
        assert tables * seats * (seats - 1) >= bots * (bots - 1)
        assert tables <= MAX_TABLES


def test_the_number_of_tables_of_a_deal_is_limited_for_many_bots() -> None:
    assert scheduled(plan(1000, 2)).count() == 2 * MAX_TABLES


def test_the_same_seed_gives_the_same_schedule_and_another_seed_another() -> None:
    one, again, other = (list(scheduled(plan(20, 4, deals=2, seed=seed)).matches()) for seed in (5, 5, 6))
    assert one == again
    assert [spec.seats for spec in one] != [spec.seats for spec in other]


def test_a_billion_deals_are_counted_and_started_without_storing_them() -> None:
    for bots in (6, 20):
        asked = plan(bots, 4, deals=10**9)
        total = scheduled(asked).count()
        assert total is not None
        assert total > 10**9
        begun = list(islice(scheduled(asked).matches(), 1000))
        assert all(after.index == before.index + 1 for before, after in pairwise(begun))
