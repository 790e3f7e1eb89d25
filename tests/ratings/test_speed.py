"""How long counting and fitting take, as ratios of processor time in one process: a busy machine slows down both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from random import Random
from time import process_time

import pytest

from harness.core.records import GameRecord
from harness.ratings.counts import GameCounts
from harness.ratings.leaderboard import leaderboard
from harness.ratings.skill import PairGraph, fit_skills
from tests.ratings.simulate import record
from tests.ratings.simulate_runs import Field, play, spaced


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """Return the shortest processor time of several trials."""
    found = []
    for _ in range(times):
        began = process_time()
        work()
        found.append(process_time() - began)
    return min(found)


def counted(records: list[GameRecord]) -> GameCounts:
    counts = GameCounts()
    for one in records:
        counts.add(one)
    return counts


def pairs_of(records: list[GameRecord]) -> Counter[tuple[str, str, int]]:
    """Count the outcome of each pair of each match in the simplest way: the unit of these tests."""
    found: Counter[tuple[str, str, int]] = Counter()
    for one in records:
        for (left, its), (right, other) in combinations(zip(one.seats, one.ranks, strict=True), 2):
            found[left, right, (its > other) - (its < other)] += 1
    return found


@pytest.mark.parametrize("players", [2, 3])
def test_counting_takes_a_few_times_as_long_as_counting_pairs_alone(players):
    """Twelve bots."""
    records = list(play(Field(spaced(0.1, 12)), 1, players=players, deals=10 if players == 2 else 2))
    unit = seconds(lambda: pairs_of(records))
    assert seconds(lambda: counted(records)) < 20 * unit  # 9 and 12 when this was written


def test_the_table_of_a_long_run_takes_less_time_than_counting_it():
    records = list(play(Field(spaced(0.1, 12)), 1, deals=15))
    counts = counted(records)
    assert seconds(lambda: leaderboard(counts)) < 2 * seconds(lambda: counted(records))


def test_a_hundred_bots_are_fitted_about_as_fast_as_their_matches_are_added():
    """50,000 matches at tables of four that never come again."""
    rng, bots = Random(1), [f"bot{number}" for number in range(100)]
    results = [tuple(rng.sample((1, 2, 3, 4), 4)) for _ in range(24)]
    records = []
    for deal in range(12_500):
        table = rng.sample(bots, 4)
        for turn in range(4):
            ranks = results[rng.randrange(24)]
            records.append(record(table[turn:] + table[:turn], [10 - rank for rank in ranks], ranks, seed=deal))
    began = process_time()
    counts = counted(records)
    added = process_time()
    assert len(leaderboard(counts).standings) == 100
    assert process_time() - added < 1.5 * (added - began)  # 0.6 when this was written


def test_a_live_standing_takes_as_long_as_counting_some_hundred_matches():
    """One more match of 24 bots that have all met: the pairs are collected again, and the fit starts from the last."""
    records = list(play(Field(spaced(0.1, 24)), 1, deals=2))
    counts = counted(records)
    start = fit_skills(PairGraph(counts.pairs, 24)).mu
    counts.add(records[0])
    live = seconds(lambda: fit_skills(PairGraph(counts.pairs, 24), start=start), 5)
    assert live < 600 / len(records) * seconds(lambda: counted(records))
