"""The end of the game: GN-36 to GN-40."""

from __future__ import annotations

import pytest

from engines.gnadenlos import Iou
from engines.gnadenlos.state import MAX_TURNS
from harness import ranks_of
from tests.rules.gnadenlos.scenario import (
    CHEAT,
    FIGURES,
    GAME,
    GOAL,
    LAST_STEP,
    NOON,
    at_event,
    at_fame,
    at_payday,
    buy,
    carry_out,
    dice,
    full,
    logged,
    pass_all,
    ranked,
    table,
    texts,
)

LOSE = FIGURES.payday.vultures_to_lose
BACK = FIGURES.payday.fields_lost_when_broke


def third_vulture(**parts):
    """Seat 2 takes its third vulture on an ordinary payday."""
    parts = {"gold": (9, 9, 3, 9), "vultures": (0, 0, LOSE - 1, 0), "fame": (9, 8, 30, 7), **parts}
    return at_payday(full(4, Iou(4, 2)), 6, **parts)


def reached_goal(market=(), *columns, **parts):
    """Seat 0 buys the goal; the last payday follows."""
    parts = {"gold": (9, 9, 9, 9), "fame": (GOAL - 1, 9, 9, 9), **parts}
    state = at_fame(market=tuple(market), luck=dice(*columns or (1,), payday=0), **parts)
    buy(state, 1)
    return state


def test_gn36_a_third_vulture_ends_the_game_after_the_ious_went_back():
    state = third_vulture()
    assert state.cause == "vultures"
    kinds = [event.kind for event in logged(state)]
    assert kinds.index("returned") < kinds.index("lost") < kinds.index("ending")
    assert len(state.market) == 23
    pass_all(state)
    assert state.ending == "vultures"


def test_gn36_a_second_vulture_does_not_end_the_game():
    state = third_vulture(vultures=(2, 2, LOSE - 2, 2))
    assert (state.cause, state.number) == ("", 2)


def test_gn36_the_undertakers_last_step_ends_the_game():
    state = at_event(NOON, ranked("high noon", 0, 1, 2), undertaker=LAST_STEP - 1)
    pass_all(state)
    assert state.ending == "undertaker"


def test_gn36_a_hat_that_passes_the_goal_stops_there_and_ends_the_game():
    zone = FIGURES.zones[-1]
    assert zone.forward > 1
    state = carry_out(CHEAT, ranked("cheating", 0, 1, 2), fame=(GOAL - 1, 9, 9), gold=(0, 0, 0), market=())
    assert state.fame[0] == GOAL
    pass_all(state)
    assert state.ending == "goal"


def test_gn36_the_rest_of_the_turn_is_dropped():
    state = reached_goal()
    assert (state.phase, state.offers) == ("last fame", ())
    assert not logged(state, "offers")


def test_gn37_there_is_one_last_payday_even_if_the_market_is_not_full():
    state = reached_goal([Iou(2, 1), Iou(3, 2)], 1, 2, 1)
    assert logged(state, "payday") == [{"last": True}]
    assert state.gold == (8, 7, 6, 9)
    assert state.market == ()


def test_gn37_there_is_only_one_last_payday_even_if_the_market_stays_full():
    state = reached_goal(full() + full(), 1)
    assert len(logged(state, "payday")) == 1
    assert len(state.market) >= len(full())


def test_gn37_the_first_roll_ends_the_last_payday_if_the_market_is_empty():
    state = reached_goal((), 4)
    assert logged(state, "die") == [{"column": 4, "place": None, "iou": None}]


def test_gn37_no_last_payday_after_a_third_vulture():
    assert logged(third_vulture(), "payday") == [{"last": False}]


def test_gn37_the_third_vulture_in_the_last_payday_loses_too():
    state = reached_goal([Iou(4, 1)], 1, gold=(9, 3, 9, 9), vultures=(0, LOSE - 1, 0, 0))
    assert state.vultures[1] == LOSE
    assert state.fame[1] == 0
    pass_all(state)
    assert (state.ending, state.scores()[1]) == ("goal", 0)


def test_gn33_gn37_the_goal_itself_can_be_lost_in_the_last_payday():
    state = reached_goal([Iou(4, 0)], 1, gold=(1, 9, 9, 9))
    assert (state.fame[0], state.vultures[0]) == (GOAL - BACK, 1)


def test_gn37_a_player_that_loses_leaves_the_road():
    assert third_vulture().fame == (9, 8, 0, 7)


def test_gn38_after_a_third_vulture_the_others_may_buy_from_the_start_player_on():
    state = third_vulture(start=1, gold=(2, 9, 0, 0))
    assert (state.seat, state.queue) == (1, (3, 0))
    assert texts(state) == ["buy no fame", "buy 1 fame", "buy 2 fame", "buy 3 fame"]
    buy(state, 3)
    assert texts(state) == ["buy no fame"]
    buy(state, 0)
    assert texts(state) == ["buy no fame", "buy 1 fame", "buy 2 fame"]
    assert state.view(0).fame[1] == 8 + 3
    buy(state, 1)
    assert state.scores() == (10_001, 11_006, 0, 7_000)
    assert (state.phase, state.seat, state.legal) == ("over", -1, ())


def test_gn38_no_player_can_buy_fame_beyond_the_goal():
    state = reached_goal(fame=(GOAL - 1, GOAL - 2, 9, 9))
    assert (state.seat, texts(state)) == (0, ["buy no fame"])
    buy(state, 0)
    assert texts(state) == ["buy no fame", "buy 1 fame", "buy 2 fame"]
    buy(state, 2)
    assert state.fame[:2] == (GOAL, GOAL)


def test_gn38_players_may_buy_after_the_undertakers_last_step():
    state = at_event(NOON, ranked("high noon", 0, 1, 2), undertaker=LAST_STEP - 1, gold=(1, 1, 1), market=())
    assert (state.seat, state.queue, texts(state)) == (0, (1, 2), ["buy no fame", "buy 1 fame"])


def test_gn38_a_player_that_lost_in_the_last_payday_buys_nothing():
    state = reached_goal([Iou(4, 1)], 1, gold=(9, 3, 9, 9), vultures=(0, LOSE - 1, 0, 0))
    assert (state.seat, *state.queue) == (0, 2, 3)


def test_gn39_farthest_hat_wins_ties_by_gold_then_shared():
    state = table(4, fame=(20, 21, 20, 20), gold=(5, 0, 6, 5))
    assert state.scores() == (20_005, 21_000, 20_006, 20_005)
    assert ranks_of(state.scores()) == (3, 1, 2, 3)


def test_gn39_three_vultures_score_nothing():
    assert table(3, vultures=(LOSE, 0, LOSE - 1), fame=(0, 6, 6), gold=(30, 1, 0)).scores() == (0, 6001, 6000)


@pytest.mark.parametrize(("number", "ending"), [(MAX_TURNS - 1, ""), (MAX_TURNS, "truncated")])
def test_gn40_after_400_turns_the_game_is_stopped_and_scored_as_it_stands(number, ending):
    state = at_fame(3, number=number, crews=(GAME.adventurers[:3],) * 3, market=(Iou(4, 0),), gold=(0, 5, 5))
    assert MAX_TURNS == 400
    buy(state, 0)
    assert state.ending == ending
    if ending:
        assert not logged(state, "payday")
        assert (state.phase, state.legal, state.scores()) == ("over", (), (6000, 6005, 6005))
