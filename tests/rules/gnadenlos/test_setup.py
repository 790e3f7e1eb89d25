"""Components and set-up: GN-1 to GN-9."""

from __future__ import annotations

from collections import Counter

import pytest

from engines.gnadenlos import Gnadenlos, Iou
from harness import Chance
from tests.rules.gnadenlos.scenario import (
    EXPERIENCED,
    FIGURES,
    GAME,
    GOAL,
    NOON,
    RiggedChance,
    at_fame,
    bid,
    buy,
    ious,
    logged,
)


def fresh(players: int = 4, game: Gnadenlos = GAME, seed: int = 3):
    return game.new(players, Chance(seed), [])


def test_gn1_hats_start_on_field_6_of_a_road_of_35():
    assert (FIGURES.road.start, GOAL) == (6, 35)
    assert fresh().fame == (6, 6, 6, 6)


def test_gn1_four_zones_cover_every_field_before_the_goal():
    assert len(FIGURES.zones) == 4
    assert len(GAME.forward) == len(GAME.back) == GOAL
    for zone in FIGURES.zones:
        assert (GAME.forward[zone.last], GAME.back[zone.last]) == (zone.forward, -zone.back)


def test_gn2_there_are_29_adventurers_with_skills_from_1_to_6():
    assert len(GAME.adventurers) == 29
    assert all(1 <= skill <= 6 for card in GAME.adventurers for skill in card)


def test_gn3_thirteen_ious_a_colour():
    for seat, hand in enumerate(GAME.full_hands):
        assert Counter(hand) == {
            Iou(0, seat): 1, Iou(1, seat): 3, Iou(2, seat): 3, Iou(3, seat): 3, Iou(4, seat): 3,
        }  # fmt: skip


def test_gn4_seven_event_cards():
    kinds = Counter(card.kind for card in GAME.event_cards)
    assert kinds == {"gold rush": 3, "high noon": FIGURES.events.high_noon, "cheating": FIGURES.events.cheating}
    assert len(GAME.event_cards) == 7
    rushes = {(card.first, card.second) for card in GAME.event_cards if card.kind == "gold rush"}
    assert rushes == {(3, 1), (5, 3), (7, 4)}


def test_gn5_the_undertaker_has_seven_steps_and_no_player_has_a_vulture():
    state = fresh()
    assert FIGURES.undertaker.steps == 7
    assert state.undertaker == 0 or state.events_seen[-1].kind == "high noon"
    assert state.vultures == (0, 0, 0, 0)


def test_gn6_each_player_starts_with_two_adventurers_ten_gold_and_their_own_ious():
    order = list(reversed(GAME.adventurers))
    state = GAME.new(3, RiggedChance({("adventurers", 0): order}), [])
    assert [set(crew) for crew in state.crews] == [set(order[0:2]), set(order[2:4]), set(order[4:6])]
    assert state.pile == tuple(order[6:])
    assert state.gold == (FIGURES.start.gold,) * 3
    assert all(iou.colour == seat for seat, hand in enumerate(state.hands) for iou in hand)


def test_gn7_a_1_and_a_2_of_each_colour_lie_face_down_in_the_market():
    order = [Iou(value, seat) for value in (2, 1) for seat in range(4)]
    state = GAME.new(4, RiggedChance({("market",): order}))
    assert state.market == tuple(order)
    assert state.view(0).market == (None,) * 8
    assert [len(hand) for hand in state.hands] == [11] * 4


def test_gn8_events_are_shuffled_and_seat_0_starts():
    order = list(reversed(GAME.event_cards))
    state = GAME.new(4, RiggedChance({("events", 0): order}), [])
    assert state.start == 0
    assert state.event == order[0]
    assert state.event_pile == tuple(order[1:])
    assert [event.to for event in logged(state) if event.kind == "events"] == [()]


def test_gn9_experienced_players_bid_for_pairs_and_all_players_pay():
    order = list(GAME.adventurers)
    state = EXPERIENCED.new(3, RiggedChance({("adventurers", 0): order}), [])
    assert (state.number, state.phase, state.seat) == (0, "bid", 0)
    assert state.crews == ((), (), ())
    assert state.market == ()
    assert state.pairs == (tuple(order[0:2]), tuple(order[2:4]), tuple(order[4:6]))
    bid(state, *ious(0, 1))
    assert "bid 1" not in map(str, state.legal)
    bid(state, *ious(1, 3, 4))
    bid(state, *ious(2, 0, 3))
    assert (state.phase, state.seat) == ("hire", 1)
    state.apply(EXPERIENCED.table.take_pair[2])
    assert [str(action) for action in state.legal] == ["take pair 1", "take pair 2"]
    state.apply(EXPERIENCED.table.take_pair[0])
    assert (state.seat, len(state.legal)) == (0, 1)
    state.apply(state.legal[0])
    assert [set(crew) for crew in state.crews] == [set(order[2:4]), set(order[4:6]), set(order[0:2])]
    assert state.market == (*ious(1, 3, 4), *ious(2, 0, 3), *ious(0, 1))
    assert (state.number, state.phase) == (1, "lay")


def test_gn9_two_pairs_of_the_same_skills_are_one_choice():
    state = EXPERIENCED.new(3, Chance(5), [])
    one, other = state.pairs[:2]
    state.pairs = (one, other, one)
    for seat in range(3):
        bid(state, *ious(seat, seat))
    assert [str(action) for action in state.legal] == ["take pair 1", "take pair 2"]
    state.apply(state.legal[0])
    assert [str(action) for action in state.legal] == ["take pair 2", "take pair 3"]


def test_gn9_no_payday_before_the_first_turn():
    state = EXPERIENCED.new(3, Chance(5), [])
    state.market = state.known_market = (Iou(0, 0),) * 40
    while not state.number:
        state.apply(state.legal[0])
    assert not logged(state, "payday")
    assert len(state.market) > 40


@pytest.mark.parametrize("players", [3, 4])
def test_a_turn_is_event_fame_hiring_and_the_revolver_passes_to_the_left(players):
    state = GAME.new(players, Chance(1))
    assert state.event == NOON
    phases = []
    while state.number == 1:
        if state.phase not in phases:
            phases.append(state.phase)
        state.apply(state.legal[0])
    assert phases == ["lay", "steal", "fame", "bid", "pay", "hire"]
    assert (state.number, state.start) == (2, 1)


def test_the_revolver_comes_back_to_seat_0_after_the_last_seat():
    state = at_fame(3, start=2, crews=(GAME.adventurers[:3],) * 3, market=())
    buy(state, 0)
    assert state.start == 0
