"""The event phase: GN-10 to GN-21."""

from __future__ import annotations

import pytest

from engines.gnadenlos import Iou
from engines.gnadenlos.bags import minus
from engines.gnadenlos.market import moves_into
from tests.rules.gnadenlos.scenario import (
    CHEAT,
    FIGURES,
    GAME,
    GOAL,
    LAST_STEP,
    NOON,
    RUSH,
    at_event,
    carry_out,
    dice,
    full,
    ious,
    leave_it,
    logged,
    ranked,
    steal,
    texts,
    turned_up,
)

START = FIGURES.road.start


def last_of_pile(card):
    return {"event_pile": (card,), "events_seen": minus(GAME.event_cards, [card])}


def new_pile(first):
    """Luck: the shuffled pile begins with this card."""
    cards = list(GAME.event_cards)
    cards.remove(first)
    return {("events", 1): [first, *cards]}


def test_gn10_with_one_owner_of_adventurers_no_card_is_turned():
    state = at_event(RUSH, [GAME.adventurers[0], None, None])
    assert state.phase == "fame"
    assert logged(state, "no event") == [{}]
    assert len(state.event_pile) == len(GAME.event_cards)
    assert state.crews[0] == (GAME.adventurers[0],)


def test_gn10_two_owners_are_enough():
    state = at_event(RUSH, [GAME.adventurers[0], None, GAME.adventurers[1]])
    assert (state.phase, state.event, state.seat, state.queue) == ("lay", RUSH, 0, (2,))


def test_gn11_the_seventh_card_is_replaced_by_the_first_card_of_a_new_pile():
    state = at_event(RUSH, ranked("cheating", 0, 1, 2), **last_of_pile(RUSH), luck=new_pile(CHEAT))
    assert state.event == CHEAT
    assert state.events_seen == (CHEAT,)
    assert sorted([*state.event_pile, CHEAT]) == sorted(GAME.event_cards)
    assert [one["carried_out"] for one in logged(state, "event")] == [False, True]
    assert state.undertaker == 0


def test_gn11_gn12_a_high_noon_as_seventh_card_moves_the_undertaker_all_the_same():
    state = at_event(NOON, ranked("cheating", 0, 1, 2), **last_of_pile(NOON), luck=new_pile(CHEAT))
    assert (state.event, state.undertaker) == (CHEAT, 1)


def test_gn11_gn12_a_high_noon_as_seventh_and_as_new_first_card_moves_him_twice():
    state = at_event(NOON, ranked("high noon", 0, 1, 2), **last_of_pile(NOON), luck=new_pile(NOON))
    assert (state.event, state.undertaker, state.phase) == (NOON, 2, "lay")


def test_gn11_the_seventh_step_at_the_seventh_card_ends_the_game_at_once():
    state = at_event(
        NOON, ranked("high noon", 0, 1, 2), **last_of_pile(NOON), luck=dice(1, payday=0, number=2),
        undertaker=LAST_STEP - 1,
    )  # fmt: skip
    assert (state.cause, state.phase, state.undertaker) == ("undertaker", "last fame", LAST_STEP)
    assert len(state.events_seen) == len(GAME.event_cards)
    assert not logged(state, "events shuffled")


def test_gn11_gn12_the_seventh_step_at_the_new_first_card_ends_the_game():
    state = at_event(
        NOON, ranked("high noon", 0, 1, 2), **last_of_pile(NOON), luck=new_pile(NOON), undertaker=LAST_STEP - 2
    )
    assert (state.cause, state.undertaker, state.event) == ("undertaker", LAST_STEP, None)
    assert state.events_seen == (NOON,)


def test_gn11_the_sixth_card_is_carried_out():
    state = at_event(RUSH, ranked("gold rush", 0, 1, 2), event_pile=(RUSH, CHEAT), events_seen=GAME.event_cards[2:])
    assert (state.event, state.event_pile) == (RUSH, (CHEAT,))


def test_gn12_high_noon_moves_the_undertaker_before_anything_is_laid():
    state = at_event(NOON, ranked("high noon", 0, 1, 2))
    assert (state.undertaker, state.phase) == (1, "lay")


def test_gn12_gn36_at_the_last_step_the_event_is_not_carried_out():
    laid = ranked("high noon", 0, 1, 2)
    state = at_event(NOON, laid, undertaker=LAST_STEP - 1)
    assert (state.cause, state.phase) == ("undertaker", "last fame")
    assert state.crews == tuple((card,) for card in laid)


def test_gn13_all_lay_face_down_and_turn_up_together():
    best, other, worst = ranked("gold rush", 0, 1, 2)
    crew = tuple(sorted((best, worst)))
    state = at_event(RUSH, [best, other, worst], crews=(crew, (other,), crew), known_crews=((None, None),) * 3)
    assert texts(state) == [f"lay {card}" for card in crew]
    state.apply(GAME.table.lay[best])
    assert state.view(0).my_laid == best
    assert state.view(1).my_laid is None
    assert state.view(1).laid == (True, False, False)
    assert state.view(1).crews[0] == (None, None)
    state.apply(GAME.table.lay[other])
    assert not logged(state, "shown")
    state.unseen_adventurers = GAME.adventurers
    state.apply(GAME.table.lay[worst])
    assert logged(state, "shown") == [{"laid": [[0, list(best)], [1, list(other)], [2, list(worst)]]}]


def test_gn13_players_lay_from_the_start_player_on_and_only_with_an_adventurer():
    a, b, c = ranked("gold rush", 0, 1, 2)
    state = at_event(RUSH, [a, None, b, c], start=2)
    assert (state.seat, *state.queue) == (2, 3, 0)


@pytest.mark.parametrize("card", [RUSH, NOON, CHEAT], ids=lambda card: card.kind)
def test_gn14_only_the_skill_of_the_event_counts(card):
    laid = ranked(card.kind, 1, 0, 2)
    state = carry_out(card, laid, market=ious(0, 1, 1, 1), fame=(START,) * 3)
    assert state.crews[1] == ()
    assert [data["seat"] for data in logged(state, "discarded") if data["why"] == "best"] == [1]


def test_gn15_all_equal_values_nothing_happens_but_the_undertakers_step_stands():
    laid = ranked("high noon", 1, 1, 1)
    state = carry_out(NOON, laid, market=ious(0, 1, 1, 1))
    assert logged(state, "all equal") == [{}]
    assert state.crews == tuple((card,) for card in laid)
    assert (state.undertaker, len(state.market), state.phase) == (1, 3, "fame")
    assert state.discard == ()
    assert len(state.events_seen) == 1


def test_gn15_two_equal_adventurers_of_two_owners_are_all_equal_too():
    a, b = ranked("gold rush", 0, 0)
    state = carry_out(RUSH, [a, None, b], gold=(0, 0, 0))
    assert state.gold == (0, 0, 0)


@pytest.mark.parametrize("card", [card for card in GAME.event_cards if card.kind == "gold rush"], ids=str)
def test_gn16_gold_for_all_with_the_highest_and_all_with_the_second_highest_value(card):
    state = carry_out(card, ranked("gold rush", 1, 0, 1, 2), gold=(0, 1, 2, 3))
    assert state.gold == (card.second, 1 + card.first, 2 + card.second, 3)
    state = carry_out(card, ranked("gold rush", 0, 2, 0, 3), gold=(0, 0, 0, 0))
    assert state.gold == (card.first, card.second, card.first, 0)


def test_gn17_a_single_thief_may_take_two_or_nothing():
    state = turned_up(NOON, ranked("high noon", 2, 0, 1), market=ious(1, 1, 2, 3, 4))
    assert (state.phase, state.seat, state.queue) == ("steal", 1, ())
    assert texts(state) == ["steal nothing", "steal 2 IOUs"]


def test_gn17_several_thieves_may_take_one_each_or_nothing():
    state = turned_up(NOON, ranked("high noon", 0, 0, 1), market=ious(1, 1, 2, 3, 4))
    assert (state.phase, state.seat, state.queue) == ("steal", 0, (1,))
    assert texts(state) == ["steal nothing", "steal 1 IOU"]


def test_gn17_a_thief_may_leave_the_market_alone():
    laid = ranked("high noon", 2, 0, 1)
    hands, market = (ious(0, 1), ious(1, 1), ious(2, 1)), ious(1, 2, 2, 3, 4)
    state = turned_up(NOON, laid, market=market, hands=hands)
    leave_it(state)
    assert logged(state, "theft") == [{"seat": 1, "steals": False}]
    assert (state.hands, state.market, state.phase) == (hands, market, "fame")
    assert not logged(state, "stolen")
    assert not logged(state, "market closed up")


def test_gn17_gn19_gn21_adventurers_are_discarded_whether_or_not_the_thief_steals():
    laid = ranked("high noon", 2, 0, 1)
    for answer in (steal, leave_it):
        state = turned_up(NOON, laid, market=ious(1, 2, 3))
        assert not logged(state, "discarded")
        answer(state)
        assert state.crews == ((), (), (laid[2],))
        assert [data["why"] for data in logged(state, "discarded")] == ["shot", "best"]


@pytest.mark.parametrize(("start", "asked"), [(0, [0, 1, 3]), (1, [1, 3, 0]), (2, [3, 0, 1])])
def test_gn17_thieves_are_asked_in_seat_order_from_the_start_player(start, asked):
    state = turned_up(NOON, ranked("high noon", 0, 0, 1, 0), market=ious(1, 1, 2, 3, 4), start=start)
    seats = []
    while state.phase == "steal":
        seats.append(state.seat)
        leave_it(state)
    assert seats == asked
    assert [data["seat"] for data in logged(state, "theft")] == asked


def test_gn17_each_answer_is_public_before_the_next_thief_is_asked():
    state = turned_up(NOON, ranked("high noon", 0, 0, 1, 0), market=ious(1, 1, 2, 3, 4))
    leave_it(state)
    steal(state)
    assert state.seat == 3
    for seat in range(4):
        assert state.view(seat).theft.thieves == (0, 1, 3)
        assert state.view(seat).theft.answers == (False, True)
    assert [event.to for event in logged(state) if event.kind == "theft"] == [None, None]


def test_gn17_a_thief_that_steals_draws_at_once():
    state = turned_up(
        NOON, ranked("high noon", 0, 0, 1), market=ious(1, 1, 2, 3), hands=((), (), ()), luck={("theft", 2, 0): 1}
    )
    steal(state)
    assert (state.seat, state.phase) == (1, "steal")
    assert state.hands == (ious(1, 2), (), ())
    assert [event.kind for event in logged(state)][-2:] == ["theft", "stolen"]


def test_gn17_gn18_gaps_are_seen_and_filled_only_when_all_thieves_have_answered():
    state = turned_up(
        NOON, ranked("high noon", 0, 0, 1, 0), market=ious(1, 0, 1, 2, 3, 4), hands=((),) * 4,
        luck={("theft", 2, 0): 1, ("theft", 2, 1): 1, ("theft", 2, 2): 0},
    )  # fmt: skip
    steal(state)
    assert (state.view(2).market, state.view(2).theft.gaps) == (ious(1, 0, 2, 3, 4), (1,))
    steal(state)
    assert (state.view(2).market, state.view(2).theft.gaps) == (ious(1, 0, 3, 4), (1, 2))
    assert "(gap)" in GAME.render(state.view(2))
    assert not logged(state, "market closed up")
    steal(state)
    assert [data["place"] for data in logged(state, "stolen")] == [1, 2, 0]
    assert state.market == (Iou(4, 1), Iou(3, 1))
    assert logged(state, "market closed up") == [{"moves": [[4, 0], [3, 1]], "size": 2}]
    assert state.theft is None


def test_gn17_one_thief_may_steal_and_the_other_decline():
    for answers, hands in (((leave_it, steal), ((), ious(1, 2), ())), ((steal, leave_it), (ious(1, 1), (), ()))):
        state = turned_up(
            NOON, ranked("high noon", 0, 0, 1), market=ious(1, 1, 2, 3), hands=((), (), ()),
            luck={("theft", 2, 0): 0, ("theft", 2, 1): 1},
        )  # fmt: skip
        for answer in answers:
            answer(state)
        assert state.hands == hands
        assert (len(state.market), len(logged(state, "market closed up"))) == (2, 1)


@pytest.mark.parametrize(("answer", "place"), [(leave_it, 5), (steal, 6)])
def test_gn17_the_draw_of_a_thief_has_the_same_luck_for_any_answer_of_another_thief(answer, place):
    luck = {("theft", 2, 0): 0, ("theft", 2, 1): 5}
    state = turned_up(NOON, ranked("high noon", 0, 0, 1), market=full(3), luck=luck)
    answer(state)
    steal(state)
    assert logged(state, "stolen")[-1] == {"seat": 1, "place": place, "iou": [0, 0]}


def test_gn17_a_single_thief_takes_two():
    market = ious(1, 1, 2, 3, 4)
    state = carry_out(
        NOON, ranked("high noon", 2, 0, 1), market=market, hands=((), (), ()),
        luck={("theft", 2, 0): 1, ("theft", 2, 1): 1},
    )  # fmt: skip
    assert state.hands == ((), ious(1, 2, 3), ())
    assert [data["place"] for data in logged(state, "stolen")] == [1, 2]


def test_gn17_several_thieves_take_one_each_from_the_start_player_on():
    state = carry_out(
        NOON, ranked("high noon", 0, 1, 0), market=ious(1, 1, 2, 3), hands=((), (), ()), start=2,
        luck={("theft", 2, 0): 0, ("theft", 2, 1): 0},
    )  # fmt: skip
    assert [(data["seat"], data["place"]) for data in logged(state, "stolen")] == [(2, 0), (0, 1)]
    assert state.hands == (ious(1, 2), (), ious(1, 1))


def test_gn17_two_shooters_with_one_iou_in_the_market_take_nothing():
    state = turned_up(NOON, ranked("high noon", 0, 0, 1), market=ious(1, 3))
    assert state.phase == "fame"  # nobody was asked
    assert logged(state, "theft") == []
    assert logged(state, "market too short") == [{"wanted": 2, "size": 1}]
    assert state.market == ious(1, 3)
    assert state.crews == ((), (), ())  # the event has been carried out: both winners and the loser are gone


def test_gn17_a_single_thief_takes_nothing_from_a_market_that_is_too_short():
    state = turned_up(NOON, ranked("high noon", 0, 1, 2), market=ious(1, 3))
    assert (state.phase, state.theft, state.market) == ("fame", None, ious(1, 3))
    assert logged(state, "market too short") == [{"wanted": 2, "size": 1}]


def test_gn17_a_stolen_iou_can_be_bid_and_stays_its_colours_debt():
    state = carry_out(NOON, ranked("high noon", 0, 1, 2), market=ious(1, 3, 4), hands=((), ious(1, 1), ious(2, 2)))
    state.apply(GAME.table.buy[0])
    assert texts(state) == ["bid 3", "bid 4", "bid 7"]
    state.apply(GAME.table.bid[7])
    assert texts(state) == ["pay blue 3+4"]
    state.apply(state.legal[0])
    assert state.bids[0] == ious(1, 3, 4)


def test_gn17_a_market_of_just_enough_can_be_emptied():
    state = turned_up(NOON, ranked("high noon", 0, 0, 1), market=ious(1, 3, 4))
    assert state.phase == "steal"
    steal(state)
    steal(state)
    assert (state.market, logged(state, "market closed up")) == ((), [{"moves": [], "size": 0}])


def test_gn15_gn17_no_player_is_asked_when_all_are_equal():
    state = turned_up(NOON, ranked("high noon", 1, 1, 1), market=ious(1, 3, 4, 4))
    assert (state.phase, state.theft, logged(state, "theft")) == ("fame", None, [])


def test_gn18_the_last_card_moves_into_the_first_gap_until_there_is_none():
    assert moves_into([1, 3], 8) == [(7, 1), (6, 3)]
    assert moves_into([1, 7], 8) == [(6, 1)]
    assert moves_into([6, 7], 8) == []
    assert moves_into([5, 6], 8) == [(7, 5)]
    assert moves_into([0, 1, 2], 3) == []


def test_gn18_the_market_closes_up_after_a_theft():
    market = tuple(Iou(value, seat) for seat in (0, 1) for value in range(5))
    state = carry_out(
        NOON, ranked("high noon", 0, 1, 2), market=market, known_market=(None, *market[1:]), unseen_ious=market[:1],
        luck={("theft", 2, 0): 2, ("theft", 2, 1): 7},
    )  # fmt: skip
    assert [data["place"] for data in logged(state, "stolen")] == [2, 8]
    assert state.market == (*market[:2], market[9], *market[3:8])
    assert state.known_market == (None, *state.market[1:])
    assert logged(state, "market closed up") == [{"moves": [[9, 2]], "size": 8}]


def test_gn19_all_with_the_lowest_gun_are_shot():
    best, low, other, low2 = laid = ranked("high noon", 0, 2, 1, 2)
    state = carry_out(NOON, laid)
    assert state.crews == ((), (), (other,), ())
    assert sorted(state.discard) == sorted([best, low, low2])
    assert [(one["seat"], one["why"]) for one in logged(state, "discarded")] == [(1, "shot"), (3, "shot"), (0, "best")]


@pytest.mark.parametrize("zone", FIGURES.zones, ids=lambda zone: f"to {zone.last}")
def test_gn20_cheats_move_by_the_figures_of_their_zones(zone):
    first = FIGURES.zones[0]
    state = carry_out(CHEAT, ranked("cheating", 0, 2, 1, 2), fame=(zone.last, zone.last, START, first.last))
    assert state.fame[0] == min(GOAL, zone.last + zone.forward)
    assert state.fame[1] == max(1, zone.last - zone.back)
    assert state.fame[2] == START
    assert state.fame[3] == max(1, first.last - first.back)


def test_gn20_no_hat_moves_below_field_1():
    state = carry_out(CHEAT, ranked("cheating", 0, 1, 2), fame=(1, 1, 1))
    assert state.fame == (1 + FIGURES.zones[0].forward, 1, 1)


def test_gn20_gn36_all_hats_move_before_the_goal_is_checked():
    state = carry_out(
        CHEAT, ranked("cheating", 0, 0, 1), fame=(GOAL - 1, GOAL - 1, 9), luck=dice(1, payday=0, number=2)
    )
    assert state.fame[:2] == (GOAL, GOAL)
    assert (state.cause, state.phase) == ("goal", "last fame")


@pytest.mark.parametrize("card", [RUSH, CHEAT], ids=lambda card: card.kind)
def test_gn21_the_best_are_discarded_and_the_others_go_back(card):
    best, low, best2, middle = laid = ranked(card.kind, 0, 2, 0, 1)
    state = carry_out(card, laid)
    assert state.crews == ((), (low,), (), (middle,))
    assert sorted(state.discard) == sorted([best, best2])
