"""Payday: GN-31 to GN-35."""

from __future__ import annotations

from collections import Counter

import pytest

from engines.gnadenlos import Iou
from tests.rules.gnadenlos.scenario import COLUMNS, FIGURES, at_payday, dice, full, ious, logged

BACK = FIGURES.payday.fields_lost_when_broke


def market_with(places, players=4, extra=0):
    """A market of zeros of seat 0, just full or longer, with these IOUs at these places."""
    market = [*full(players), *[Iou(0, 0)] * extra]
    for place, iou in places.items():
        market[place] = iou
    return market


@pytest.mark.parametrize("players", [3, 4])
def test_gn31_payday_when_there_are_as_many_complete_rows_as_players(players):
    held = at_payday(full(players), 1, players=players)
    assert len(logged(held, "payday")) == 1
    spared = at_payday(full(players)[:-1], 1, players=players)
    assert not logged(spared, "payday")


def test_gn31_an_incomplete_row_on_top_does_not_matter():
    assert logged(at_payday(market_with({}, extra=3), 5), "payday")[0] == {"last": False}


def test_gn32_the_outermost_iou_of_the_column_is_turned_up_and_its_colour_pays():
    market = market_with({18: Iou(3, 1), 12: Iou(2, 2), 24: Iou(4, 3)}, extra=1)
    state = at_payday(market, 1, 1, 1, 2, 2, 2, 2, 2, gold=(10, 10, 10, 10))
    rolled = [(data["column"], data["place"]) for data in logged(state, "die")]
    assert rolled == [(1, 24), (1, 18), (1, 12), (2, 19), (2, 13), (2, 7), (2, 1), (2, None)]
    assert state.gold == (10, 7, 8, 6)


def test_gn32_a_stolen_iou_is_paid_by_its_colour_and_not_by_its_bidder():
    state = at_payday(market_with({23: Iou(4, 2)}), 6, 1, gold=(9, 9, 9, 9))
    assert state.gold[2] == 5


def test_gn33_payday_ends_when_the_rolled_column_is_empty():
    state = at_payday(full(), 3)
    assert [data["place"] for data in logged(state, "die")] == [20, 14, 8, 2, None]
    assert len(state.market) == 5 * 4
    assert state.vultures == (0, 0, 0, 0)


@pytest.mark.parametrize(("field", "after"), [(20, 20 - BACK), (3, max(1, 3 - BACK)), (1, 1)])
def test_gn33_a_player_that_cannot_pay_keeps_the_gold_takes_a_vulture_and_moves_back(field, after):
    state = at_payday(market_with({23: Iou(4, 2)}), 6, gold=(9, 9, 3, 9), fame=(9, 9, field, 9))
    assert state.gold == (9, 9, 3, 9)
    assert state.vultures == (0, 0, 1, 0)
    assert state.fame == (9, 9, after, 9)
    assert len(logged(state, "die")) == 1


def test_gn33_a_player_with_just_enough_gold_pays():
    state = at_payday(market_with({23: Iou(4, 2)}), 6, 1, gold=(9, 9, 4, 9))
    assert (state.gold[2], state.vultures[2]) == (0, 0)


def test_gn33_an_iou_of_0_is_paid_with_nothing():
    state = at_payday(full(), 1, gold=(0, 0, 0, 0))
    assert state.vultures == (0, 0, 0, 0)


def test_gn34_turned_up_ious_go_back_to_their_colours_the_unpaid_one_too():
    market = market_with({23: Iou(3, 1), 22: Iou(4, 2), 21: Iou(2, 1)})
    state = at_payday(market, 6, 4, 5, gold=(9, 9, 3, 9), hands=((), ious(1, 1), (), ious(2, 1)))
    assert state.hands == ((), ious(1, 1, 2, 3), ious(2, 4), ious(2, 1))
    assert state.vultures[2] == 1
    assert len(state.market) == len(market) - 3


def test_gn34_the_market_closes_up():
    market = [Iou(place % 5, place % 4) for place in range(24)]
    state = at_payday(market, 1, gold=(99, 99, 99, 99))
    # Column 1 is empty: places 0, 6, 12 and 18 are filled from the end.
    after = list(market[:20])
    after[0], after[6], after[12], after[18] = market[23], market[22], market[21], market[20]
    assert list(state.market) == after
    assert Counter(state.market) == Counter(market) - Counter(market[place] for place in (0, 6, 12, 18))


def test_gn35_another_payday_follows_while_the_market_is_full():
    market = market_with({}, extra=5)
    luck = {**dice(1, payday=1), **dice(2, payday=2)}
    state = at_payday(market, luck=luck)
    assert len(logged(state, "payday")) == 2
    assert len(state.market) == len(market) - 5 - 4
    assert len(state.market) < 4 * COLUMNS


def test_gn35_no_other_payday_after_a_third_vulture():
    market = market_with({28: Iou(4, 2)}, extra=5)
    state = at_payday(market, 5, gold=(9, 9, 0, 9), vultures=(0, 0, FIGURES.payday.vultures_to_lose - 1, 0))
    assert len(state.market) >= 4 * COLUMNS
    assert len(logged(state, "payday")) == 1
    assert state.cause == "vultures"


def test_gn35_a_vulture_does_not_stop_the_next_payday():
    market = market_with({28: Iou(4, 2)}, extra=5)
    state = at_payday(market, gold=(9, 9, 0, 9), luck={**dice(5, payday=1), **dice(1, payday=2)})
    assert (len(logged(state, "payday")), state.vultures[2]) == (2, 1)
