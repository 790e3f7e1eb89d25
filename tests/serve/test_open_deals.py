"""A deal is secret until its last match has been played."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from harness.runs.request import RunRequest
from harness.runs.setup import prepare
from harness.serve.live_run import OpenDeals
from tests.support.games import REGISTRY

BOTS = ("random", "outlaw", "diehard", "skittish", "other=random")


def results(form, candidates=(), **settings):
    """A plan, and matches that it may lead to, as if they had been played."""
    request = RunRequest(
        games=("el-paso",), bots=BOTS, format=form, deals=2, seed=5, candidates=candidates, **{"players": 3, **settings}
    )
    schedule = prepare(request, REGISTRY).schedule
    return schedule.plan, list(schedule.simulated())


@pytest.mark.parametrize(
    ("form", "candidates"), [("round-robin", ()), ("gauntlet", ("random", "outlaw")), ("swiss:rounds=2", ()),
                             ("knockout", ()), ("ladder:max-matches=60", ())],
)  # fmt: skip
def test_a_match_is_withheld_while_its_deal_will_be_played_again(form, candidates):
    plan, played = results(form, candidates)
    deals = OpenDeals(plan)
    for number, record in enumerate(played):
        deals.add(record)
        deals.reach(record)
        to_come = {later.seed for later in played[number + 1 :]}
        assert [deals.is_open(one) for one in played[: number + 1]] == [
            one.seed in to_come for one in played[: number + 1]
        ]


def test_open_deals_do_not_depend_on_the_order_in_which_matches_end():
    plan, played = results("gauntlet", ("random", "outlaw"))
    deals = OpenDeals(plan)
    for record in reversed(played):
        deals.add(record)
        assert deals.is_open(record) == (record.index > 0 and any(
            one.seed == record.seed for one in played[: record.index]
        ))  # fmt: skip


def test_in_other_formats_a_deal_closes_when_a_later_one_starts_and_no_match_is_missing():
    plan, played = results("compare", ("random", "outlaw"), players=5)
    deals, played = OpenDeals(plan), played[:40]
    for number, record in enumerate(played):
        deals.add(record)
        deals.reach(record)
        for one in played[: number + 1]:
            assert deals.is_open(one) == (one.seed == record.seed)
    ahead = played[-1]
    fresh = OpenDeals(plan)
    fresh.add(ahead)  # the ones before it are still being played
    assert fresh.is_open(ahead)


def test_a_finished_run_has_no_open_deals():
    plan, played = results("compare", ("random", "outlaw"), players=5)
    deals = OpenDeals(plan)
    deals.add(played[0])
    assert deals.is_open(played[0])
    deals.all_over = True
    assert not deals.is_open(played[0])


def test_every_match_of_a_league_has_its_own_deal():
    plan, played = results("round-robin")
    deals = OpenDeals(replace(plan, format="league"))
    deals.add(played[7])
    assert not deals.is_open(played[7])
