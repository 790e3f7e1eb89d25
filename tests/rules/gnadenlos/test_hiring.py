"""Buying fame and hiring: GN-22 to GN-30."""

from __future__ import annotations

import pytest

from engines.gnadenlos import Iou
from tests.rules.gnadenlos.scenario import (
    GAME,
    GOAL,
    at_fame,
    at_hiring,
    bid,
    buy,
    dice,
    hire,
    idle,
    ious,
    logged,
    texts,
)

A, B, C, D, E = GAME.adventurers[:5]
HANDS = tuple(ious(seat, 0, 1, 2, 3, 4) for seat in range(4))


def offered(*cards, **parts):
    """Hiring with these cards turned up."""
    parts.setdefault("hands", HANDS)
    parts.setdefault("market", ())
    return at_hiring(len(parts["hands"]), pile=cards, unseen_adventurers=tuple(sorted(cards)), **parts)


@pytest.mark.parametrize(("gold", "most"), [(0, 0), (3, 3), (5, 5), (9, 5)])
def test_gn22_the_start_player_may_pay_up_to_5_gold_they_have(gold, most):
    state = at_fame(gold=(gold, 9, 9, 9))
    assert [action.gold for action in state.legal] == list(range(most + 1))
    buy(state, most)
    assert state.gold[0] == gold - most
    assert state.fame[0] == 6 + most


def test_gn22_the_start_player_cannot_pay_for_more_than_the_fields_left():
    state = at_fame(gold=(9, 9, 9, 9), fame=(GOAL - 2, 6, 6, 6))
    assert [action.gold for action in state.legal] == [0, 1, 2]


def test_gn22_gn36_buying_the_goal_ends_the_game():
    state = at_fame(gold=(9, 9, 9, 9), fame=(GOAL - 2, 6, 6, 6), market=(), luck=dice(1, payday=0))
    buy(state, 2)
    assert (state.cause, state.fame[0], state.gold[0]) == ("goal", GOAL, 7)


def test_gn23_a_start_player_with_three_adventurers_does_not_hire():
    state = at_hiring(crews=(idle(1, 3)[0], (), (), ()), market=())
    assert logged(state, "no hiring") == [{}]
    assert (state.number, state.start) == (2, 1)


def test_gn23_a_start_player_with_two_adventurers_hires():
    state = at_hiring(crews=((A, B), (A, B, C), (A, B, C), (A, B, C)))
    assert (state.phase, state.seat) == ("bid", 0)


@pytest.mark.parametrize("players", [3, 4])
def test_gn24_one_adventurer_fewer_than_players(players):
    state = at_hiring(players)
    assert len(state.offers) == players - 1


def test_gn24_the_discard_is_shuffled_only_when_a_card_is_missing():
    state = offered(A, B, C, discard=(D, E))
    assert state.offers == (A, B, C)
    assert (state.pile, state.discard) == ((), (D, E))
    state = offered(A, discard=(C, E, D), luck={("adventurers", 1): [E, C, D]})
    assert state.offers == (A, E, C)
    assert (state.pile, state.discard) == ((D,), ())
    assert logged(state, "discard shuffled") == [{"size": 3}]


def test_gn24_with_too_few_adventurers_the_lowest_bidders_take_their_bid_back():
    state = offered(A, discard=(B,), market=ious(1, 0))
    assert state.offers == (A, B)
    for seat, value in enumerate((3, 1, 4, 2)):
        bid(state, *ious(seat, value))
    assert (state.seat, state.queue) == (2, (0,))
    hire(state, A)
    hire(state, B)
    assert state.crews == ((B,), (), (A,), ())
    assert state.market == (*ious(1, 0), *ious(2, 4), *ious(0, 3))
    assert (state.hands[1], state.hands[3]) == (HANDS[1], HANDS[3])
    assert [data["seat"] for data in logged(state, "bid back")] == [3, 1]


def test_gn24_without_any_adventurer_hiring_is_skipped():
    state = offered(discard=())
    assert logged(state, "no hiring") == [{}]
    assert state.number == 2


def test_gn25_each_bids_one_to_three_ious_clockwise_from_the_start_player():
    state = offered(A, B, C, start=2)
    order = []
    for _ in range(4):
        order.append(state.seat)
        state.apply(state.legal[-1])
        assert all(1 <= len(pay.ious) <= 3 for pay in state.legal)
        state.apply(state.legal[0])
    assert order == [2, 3, 0, 1]
    assert state.phase == "hire"


def test_gn25_bids_are_public():
    state = offered(A, B, C)
    state.apply(GAME.table.bid[5])
    assert {state.view(seat).announced for seat in range(4)} == {5}
    state.apply(GAME.table.pay[ious(0, 1, 4)])
    assert {state.view(seat).bids for seat in range(4)} == {(ious(0, 1, 4), None, None, None)}
    assert state.view(1).totals == (5, None, None, None)
    assert state.hands[0] == ious(0, 0, 2, 3)


def test_gn25_same_ious_are_one_choice_and_other_colours_another():
    state = offered(A, B, C, hands=((*ious(0, 2, 2), *ious(1, 2)), *HANDS[1:]))
    assert texts(state) == ["bid 2", "bid 4", "bid 6"]
    state.apply(GAME.table.bid[4])
    assert texts(state) == ["pay red 2+2", "pay red 2, blue 2"]


def test_gn26_each_bid_must_be_a_new_sum():
    state = offered(A, B, C, hands=(ious(0, 3), ious(1, 1, 2), ious(2, 3, 4), HANDS[3]))
    bid(state, *ious(0, 3))
    assert texts(state) == ["bid 1", "bid 2"]
    bid(state, *ious(1, 2))
    assert texts(state) == ["bid 4", "bid 7"]


def test_gn26_a_sum_of_0_is_a_bid():
    state = offered(A, B, C, hands=(ious(0, 0), *HANDS[1:]))
    assert texts(state) == ["bid 0"]
    bid(state, *ious(0, 0))
    assert "bid 0" not in texts(state)
    assert state.bids[0] == ious(0, 0)
    assert state.view(0).totals[0] == 0


def test_gn27_a_player_that_cannot_form_a_new_sum_shows_all_ious_and_bids_nothing():
    state = offered(
        A, B, C, hands=(ious(0, 4), ious(0, 4), ious(2, 4), HANDS[3]),
        known_hands=(ious(0, 4), (None,), ious(2, 4), HANDS[3]), unseen_ious=ious(0, 4), start=2,
    )  # fmt: skip
    bid(state, *ious(2, 4))
    assert state.view(3).hands[1] == (None,)
    bid(state, *ious(3, 3))
    assert state.phase == "hire"
    assert logged(state, "no bid") == [{"seat": 0, "hand": [[4, 0]]}, {"seat": 1, "hand": [[4, 0]]}]
    assert state.bids[:2] == ((), ())
    assert state.view(3).hands[1] == ious(0, 4)
    assert state.unseen_ious == ()


def test_gn27_several_without_a_bid_rank_by_turn_order_below_every_bid_and_lay_nothing():
    state = offered(A, B, C, hands=(ious(0, 0), ious(1, 0), (), ious(3, 1)))
    bid(state, *ious(0, 0))
    bid(state, *ious(3, 1))
    assert (state.seat, state.queue) == (3, (0, 1))
    for card in (A, B, C):
        hire(state, card)
    assert state.crews == ((B,), (C,), (), (A,))
    assert state.market == (*ious(3, 1), *ious(0, 0))
    assert state.hands == ((), ious(1, 0), (), ())


def test_gn27_players_hire_in_turn_order_if_no_player_can_bid():
    state = offered(A, B, C, hands=((), (), (), ()), start=1)
    assert (state.phase, state.seat, state.queue) == ("hire", 1, (2, 3))
    for card in (C, B, A):
        hire(state, card)
    assert state.crews == ((), (C,), (B,), (A,))
    assert state.market == ()


def test_gn28_the_highest_bid_chooses_first():
    state = offered(A, B, C)
    for seat, values in enumerate([(1,), (3, 4), (0,), (2, 3)]):
        bid(state, *ious(seat, *values))
    assert (state.seat, state.queue) == (1, (3, 0))
    assert texts(state) == [f"hire {card}" for card in (A, B, C)]
    hire(state, B)
    assert texts(state) == [f"hire {card}" for card in (A, C)]
    hire(state, C)
    assert (state.seat, texts(state)) == (0, [f"hire {A}"])
    hire(state, A)
    assert state.crews == ((A,), (B,), (), (C,))


def test_gn28_two_adventurers_of_the_same_skills_are_one_choice():
    state = offered(A, A, B)
    for seat in range(4):
        bid(state, *ious(seat, seat))
    assert texts(state) == [f"hire {A}", f"hire {B}"]


def test_gn29_bids_go_to_the_market_highest_first_each_ascending_by_value_then_colour():
    hands = ((Iou(1, 0), Iou(3, 0), Iou(3, 2)), ious(1, 0, 4), ious(2, 2), ious(3, 1))
    state = offered(A, B, C, hands=hands, market=ious(3, 4))
    bid(state, Iou(3, 2), Iou(3, 0), Iou(1, 0))
    bid(state, *ious(1, 0, 4))
    bid(state, *ious(2, 2))
    bid(state, *ious(3, 1))
    for card in (A, B, C):
        hire(state, card)
    assert state.market == (
        *ious(3, 4), Iou(1, 0), Iou(3, 0), Iou(3, 2), Iou(0, 1), Iou(4, 1), Iou(2, 2),
    )  # fmt: skip
    assert [data["place"] for data in logged(state, "to market")] == [1, 4, 6]


def test_gn30_the_lowest_bidder_gets_no_adventurer_and_takes_the_bid_back():
    state = offered(A, B, C)
    for seat, value in enumerate((3, 1, 0, 2)):
        bid(state, *ious(seat, value))
    for card in (A, B, C):
        hire(state, card)
    assert state.crews[2] == ()
    assert state.hands[2] == HANDS[2]
    assert logged(state, "bid back") == [{"seat": 2, "ious": [[0, 2]]}]
    assert state.market == (*ious(0, 3), *ious(3, 2), *ious(1, 1))
    assert state.bids == (None,) * 4
