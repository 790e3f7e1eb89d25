from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.rng import Chance
from harness.formats.common import BATCH_MATCHES
from harness.formats.swiss import _percents, repeats, seat_by_standing

from .support import even, meetings, names, plan, play, scheduled, sets_of, spread


def partitions(bots: tuple[str, ...], seats: int) -> Iterator[list[tuple[str, ...]]]:
    """All ways of seating the bots at tables."""
    if not bots:
        yield []
    for mates in combinations(bots[1:], seats - 1) if bots else ():
        table = (bots[0], *mates)
        for rest in partitions(tuple(bot for bot in bots if bot not in table), seats):
            yield [table, *rest]


def fewest_repeats(bots: int, seats: int, met: Counter[frozenset[str]], byes: Counter[str]) -> int:
    """The least number of repeated meetings of any seating, over all fair choices of who sits out."""
    best = None
    for out in combinations(names(bots), bots % seats):
        after = byes + Counter(out)
        if spread(after, names(bots)) > 1:
            continue
        for tables in partitions(tuple(bot for bot in names(bots) if bot not in out), seats):
            cost = repeats(tables, met)
            best = cost if best is None else min(best, cost)
            if best == 0:
                return 0
    assert best is not None
    return best


@pytest.mark.parametrize(
    ("bots", "seats"), [(4, 2), (5, 2), (6, 2), (7, 2), (8, 2), (6, 3), (7, 3), (8, 3), (9, 3), (7, 4), (8, 4), (8, 5)]
)
def test_no_round_has_an_avoidable_repeat(bots: int, seats: int) -> None:
    for seed in (1, 2):
        met: Counter[frozenset[str]] = Counter()
        byes: Counter[str] = Counter()
        rounds, _ = play(plan(bots, seats, "swiss", seed=seed, rounds=5), even(bots, 0.5))
        assert len(rounds) == 5
        for specs in rounds:
            tables = [tuple(sorted(table)) for table in sets_of(specs).values()]
            assert repeats(tables, met) == fewest_repeats(bots, seats, met, byes)
            met += meetings(tables)
            byes += Counter(set(names(bots)) - {name for table in tables for name in table})


@pytest.mark.parametrize(("bots", "seats", "rounds"), [(32, 2, 9), (40, 4, 5), (36, 6, 3), (100, 2, 10), (200, 4, 6)])
def test_larger_fields_have_no_repeats_at_all(bots: int, seats: int, rounds: int) -> None:
    played, _ = play(plan(bots, seats, "swiss", rounds=rounds), even(bots, 0.3))
    met = meetings(table for specs in played for table in sets_of(specs).values())
    assert max(met.values()) == 1


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 6), st.integers(0, 15), st.integers(1, 6), st.integers(1, 3), st.integers(0, 2**48))
def test_byes_rotate_and_seats_are_even(seats: int, more: int, rounds: int, deals: int, seed: int) -> None:
    bots = seats + more
    asked = plan(bots, seats, "swiss", deals=deals, seed=seed, rounds=rounds)
    played, outcomes = play(asked)
    assert sum(map(len, played)) == scheduled(asked).count()
    byes: Counter[str] = Counter()
    for specs in played:
        by_deal: dict[int, list[str]] = {}
        for number, table in enumerate(sets_of(specs).values()):
            by_deal.setdefault(number // (bots // seats), []).extend(table)
        assert len(by_deal) == deals
        assert all(len(set(sat)) == len(sat) == bots // seats * seats for sat in by_deal.values())
        byes += Counter(set(names(bots)) - set(next(iter(by_deal.values()))))
        assert spread(byes, names(bots)) <= 1
    every = [spec for specs in played for spec in specs]
    for name in names(bots):
        assert spread(Counter(spec.seats.index(name) for spec in every if name in spec.seats), range(seats)) == 0
    assert sorted(outcomes["game"].standing) == sorted(names(bots))


def test_winners_meet_winners() -> None:
    rounds, _ = play(plan(16, 2, "swiss", rounds=2), even(16, 50))
    won = {max(table) for table in sets_of(rounds[0]).values()}
    assert {len(won & table) for table in sets_of(rounds[1]).values()} == {0, 2}


def test_the_best_bot_stands_first_after_the_default_rounds() -> None:
    rounds, outcomes = play(plan(16, 2, "swiss"), even(16, 50))
    assert len(rounds) == 4
    assert outcomes["game"].standing[0] == "bot15"
    assert outcomes["game"].standing[-1] == "bot00"


def test_a_bye_does_not_cost_a_place() -> None:
    # Five bots at two tables of two: the best one wins whatever it plays, so it stands first even with a bye.
    for seed in range(10):
        _, outcomes = play(plan(5, 2, "swiss", rounds=5, seed=seed), even(5, 50))
        assert outcomes["game"].standing[0] == "bot04"


def test_tables_follow_the_standing_among_bots_that_have_not_met() -> None:
    assert seat_by_standing("abcdef", 3, {}) == [["a", "b", "c"], ["d", "e", "f"]]
    met = {frozenset("ab"): 1}
    assert seat_by_standing("abcd", 2, met) == [["a", "c"], ["b", "d"]]


def test_repeated_meetings_are_spread_evenly_once_all_bots_have_met() -> None:
    met = {frozenset(pair): 1 for pair in combinations("abcd", 2)} | {frozenset("ab"): 2, frozenset("cd"): 2}
    assert seat_by_standing("abcd", 2, met) == [["a", "c"], ["b", "d"]]


def test_a_long_search_is_stopped_and_still_seats_every_bot() -> None:
    bots = [f"{number:02}" for number in range(60)]
    met = {frozenset(pair): 1 for pair in combinations(bots, 2)}
    for one, two in zip(bots[:30], bots[30:], strict=True):
        del met[frozenset((one, two))]
    tables = seat_by_standing(bots, 3, met)
    assert sorted(name for table in tables for name in table) == bots
    assert repeats(tables, met) <= 20 * 3


def test_a_round_of_a_billion_deals_is_scheduled_in_batches() -> None:
    asked = plan(8, 4, "swiss", deals=10**9)
    assert scheduled(asked).count() == 3 * 8 * 10**9
    first = scheduled(asked).scheduler().next_matches()
    assert len(first) <= BATCH_MATCHES
    assert len({spec.seed for spec in first}) > 1


def test_all_batches_of_a_round_have_the_same_tables() -> None:
    asked = plan(8, 4, "swiss", deals=300, rounds=2)
    pieces, _ = play(asked)
    assert len(pieces) == 6
    tables = [set(sets_of(piece).values()) for piece in pieces]
    assert tables[0] == tables[1] == tables[2] != tables[3]
    assert tables[3] == tables[4] == tables[5]
    ids = [spec.id for piece in pieces for spec in piece]
    assert len(set(ids)) == len(ids) == scheduled(asked).count()
    assert ids[0] == "game-1.1.1"
    assert ids[-1] == "game-2.600.4"
    seeds = {spec.seed for piece in pieces for spec in piece}
    assert seeds == {Chance(1).derive("deal", "game", deal, table) for deal in range(1, 601) for table in (1, 2)}


def test_bots_with_equal_shares_are_ranked_by_the_strength_of_their_opponents() -> None:
    rounds, outcomes = play(plan(8, 2, "swiss", rounds=2), even(8, 50))
    won: Counter[str] = Counter(max(table) for specs in rounds for table in sets_of(specs).values())
    met = {
        name: [n for part in rounds for t in sets_of(part).values() if name in t for n in t - {name}] for name in won
    }
    level = [name for name in outcomes["game"].standing if won[name] == 1]
    beaten_or_met = [sum(won[other] for other in met[name]) for name in level]
    assert len(level) == 4
    assert beaten_or_met == sorted(beaten_or_met, reverse=True)
    assert len(set(beaten_or_met)) > 1


def test_the_standing_shows_the_order_and_its_tie_breaks() -> None:
    asked = plan(7, 3, "swiss", rounds=4, deals=2)
    rounds, outcomes = play(asked, even(7, 0.3))
    outcome = outcomes["game"]
    standing, meetings_table = outcome.tables
    lines: list[Any] = standing.rows
    assert [line["bot"] for line in lines] == list(outcome.standing)
    assert [line["place"] for line in lines] == list(range(1, 8))
    keys = [(-line["share"], -line["opponents share"], line["lot"]) for line in lines]
    assert keys == sorted(keys)
    assert [line["places"][-1] for line in lines] == list(range(1, 8))
    assert "byes" in standing.headers
    # The points of the rounds add up, and who sat out has none.
    met: list[Any] = meetings_table.rows
    for line in lines:
        mine = [one for one in met if one["bot"] == line["bot"]]
        assert [one["round"] for one in mine] == [1, 2, 3, 4]
        assert sum(one["points"] or 0 for one in mine) == line["points"]
        assert sum(not one["opponents"] for one in mine) == line["byes"]
    # Who met whom is what was played.
    for number, specs in enumerate(rounds, 1):
        tables = set(sets_of(specs).values())
        told = {
            frozenset((str(one["bot"]), *one["opponents"]))
            for one in met
            if one["round"] == number and one["opponents"]
        }
        assert told == tables
    assert [row[2:].count("bye") for row in meetings_table.cells] == [line["byes"] for line in lines]
    assert outcome.note.startswith(f"{outcome.standing[0]} stands first after 4 rounds")


def test_neighbours_with_nearly_the_same_share_are_shown_with_more_decimals() -> None:
    assert _percents([0.5, 0.5, 0.25]) == ["50.0%", "50.0%", "25.0%"]
    assert _percents([0.50004, 0.50001, 0.25]) == ["50.004%", "50.001%", "25.000%"]
    assert _percents([0.5 + 1e-9, 0.5]) == ["50.0000%", "50.0000%"]
