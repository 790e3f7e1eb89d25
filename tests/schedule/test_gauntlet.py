from collections import Counter
from itertools import groupby
from math import comb

import pytest

from harness import Chance
from harness.core.errors import UnknownName, UsageError
from harness.core.format import GamePlan, Plan
from harness.core.types import MatchSpec

from .support import game, names, plan, scheduled, spread


@pytest.mark.parametrize("seats", range(2, 7))
def test_every_candidate_plays_every_table_of_the_field(seats: int) -> None:
    chosen = names(2)
    asked = plan(seats + 3, seats, "gauntlet", deals=2, candidates=chosen)
    specs = list(scheduled(asked).matches())
    assert len(specs) == scheduled(asked).count() == 2 * 2 * comb(seats + 1, seats - 1) * seats
    assert all(len(set(spec.seats) & set(chosen)) == 1 for spec in specs)
    assert spread(Counter(name for spec in specs for name in spec.seats), chosen) == 0
    for seat in range(seats):
        assert spread(Counter(spec.seats[seat] for spec in specs), chosen) == 0
        assert spread(Counter(spec.seats[seat] for spec in specs), names(seats + 3)[2:]) == 0


def test_candidates_take_the_same_places_with_the_same_deals() -> None:
    chosen = ("bot01", "bot03")
    specs = scheduled(plan(7, 4, "gauntlet", deals=2, candidates=chosen)).matches()

    def places(candidate: str, specs: list[MatchSpec]) -> list[object]:
        return [
            (spec.seed, tuple("?" if name == candidate else name for name in spec.seats))
            for spec in specs
            if candidate in spec.seats
        ]

    every = list(specs)
    assert places(chosen[0], every) == places(chosen[1], every)


def test_a_large_field_is_sampled_in_balance() -> None:
    asked = plan(41, 4, "gauntlet", deals=2, candidates=("bot00",), tables=30)
    specs = list(scheduled(asked).matches())
    assert len(specs) == scheduled(asked).count() == 2 * 30 * 4
    assert spread(Counter(name for spec in specs for name in spec.seats), names(41)[1:]) <= 4  # one set of four


def test_a_gauntlet_needs_a_candidate_that_plays_and_a_field() -> None:
    with pytest.raises(UsageError, match="one or more candidates"):
        scheduled(plan(4, 2, "gauntlet"))
    with pytest.raises(UnknownName, match="Did you mean 'bot01'"):
        scheduled(plan(4, 2, "gauntlet", candidates=("bot1",)))
    with pytest.raises(UsageError, match="needs 3 other bots beside the candidates; there are 2"):
        scheduled(plan(4, 4, "gauntlet", candidates=names(2)))
    others = GamePlan("others", "1", {}, 2, ("x", "y"))
    with pytest.raises(UsageError, match=r"None of the candidates .* plays others"):
        scheduled(Plan((game(4, 2), others), 1, 1, "gauntlet", candidates=("bot01",)))


def test_a_deal_comes_before_the_next_one() -> None:
    specs = scheduled(plan(6, 3, "gauntlet", deals=3, candidates=names(2))).matches()
    deals = [Chance(1).derive("deal", "game", deal, table) for deal in (1, 2, 3) for table in range(1, 7)]
    assert [seed for seed, _ in groupby(spec.seed for spec in specs)] == deals
