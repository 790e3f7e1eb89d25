from math import comb
from random import Random

import pytest

from harness.formats.round_robin import Sampler


@pytest.mark.parametrize("seats", range(1, 7))
def test_drawn_tables_are_distinct_even_without_repair(seats: int) -> None:
    for bots in range(seats, 10):
        for tables in range(1, min(30, comb(bots, seats) // 2) + 1):
            sampler = Sampler(bots, seats, Random(tables))
            for _ in range(4):
                assert len(set(sampler.draw(tables, effort=0))) == tables, (bots, tables)
                assert max(sampler.sat) - min(sampler.sat) <= 1, (bots, tables)


def test_the_sampler_counts_seats_and_meetings_of_the_drawn_tables() -> None:
    sampler = Sampler(9, 4, Random(1))
    drawn = [table for _ in range(5) for table in sampler.draw(7, effort=500)]
    assert sampler.sat == [sum(bot in table for table in drawn) for bot in range(9)]
    for one in range(9):
        for two in range(9):
            both = sum(one in table and two in table for table in drawn)
            assert sampler.met[one][two] == (both if one != two else 0)
