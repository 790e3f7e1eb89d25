"""Who knows what: GN-41."""

from __future__ import annotations

from collections import Counter
from random import Random

from engines.gnadenlos import GnadenlosState, Iou, Theft
from engines.gnadenlos.bags import minus
from tests.rules.gnadenlos.scenario import (
    GAME,
    NOON,
    RUSH,
    Chance,
    at_event,
    at_hiring,
    at_payday,
    bid,
    carry_out,
    full,
    hire,
    ious,
    leave_it,
    logged,
    ranked,
    steal,
    turned_up,
)

A, B, C = GAME.adventurers[:3]
SHOOTERS = ranked("high noon", 0, 1, 2)
SECRET = (Iou(1, 1), Iou(2, 2), Iou(1, 2), Iou(2, 1))
UNSEEN = {
    "market": SECRET, "known_market": (None,) * 4, "unseen_ious": tuple(sorted(SECRET)),
    "pile": (A, B, C), "unseen_adventurers": (A, B, C),
}  # fmt: skip
"""A market of four set-up IOUs that nobody has seen, and three adventurers to come."""


def theft(**parts) -> GnadenlosState:
    """Seat 0 has stolen the first two of four set-up IOUs, which nobody had seen."""
    parts = {"hands": (ious(0, 1, 3), ious(1, 4), ious(2, 4)), **parts}
    return carry_out(
        NOON, SHOOTERS, **UNSEEN, luck={("theft", 2, 0): 0, ("theft", 2, 1): 0}, **parts,
    )  # fmt: skip


def check_imagined(state: GnadenlosState, tries: int = 20) -> None:
    for seat in range(state.players):
        view = state.view(seat)
        for seed in range(tries):
            assert state.game.imagine(view, Random(seed)).view(seat) == view


def test_gn41_dealt_adventurers_are_secret_until_shown():
    state = GAME.new(3, Chance(4))
    view = state.view(1)
    assert view.crew == state.crews[1]
    assert view.crews == ((None, None),) * 3
    assert view.unseen_adventurers == GAME.adventurers
    assert Counter(view.secret_adventurers) == Counter(GAME.adventurers) - Counter(view.crew)


def test_gn41_adventurers_shown_and_taken_back_stay_known():
    best, other, worst = ranked("gold rush", 0, 1, 2)
    crew = tuple(sorted((worst, A)))
    state = at_event(
        RUSH, [best, other, worst], crews=((best,), (other,), crew), known_crews=((None,), (None,), (None, None)),
        unseen_adventurers=GAME.adventurers,
    )  # fmt: skip
    for card in (best, other, worst):
        state.apply(GAME.table.lay[card])
    assert state.known_crews == ((), (other,), (worst, None))
    assert state.unseen_adventurers == minus(GAME.adventurers, [best, other, worst])


def test_gn41_adventurers_that_were_hired_in_public_stay_known():
    state = at_hiring(3, pile=(A, B), unseen_adventurers=(A, B), hands=tuple(ious(s, 0, 1, 2) for s in range(3)))
    for seat in range(3):
        bid(state, *ious(seat, seat))
    hire(state, B)
    assert state.view(0).crews == ((), (), (B,))


def test_gn41_a_market_iou_from_a_bid_is_known_by_place():
    state = at_hiring(
        3, pile=(A, B, C), unseen_adventurers=(A, B, C), hands=tuple(ious(s, 0, 1, 2) for s in range(3)),
        market=SECRET, known_market=(None,) * 4, unseen_ious=tuple(sorted(SECRET)),
    )  # fmt: skip
    for seat in range(3):
        bid(state, *ious(seat, seat))
    hire(state, A)
    hire(state, B)
    assert state.view(1).market == (*(None,) * 4, Iou(2, 2), Iou(1, 1))


def test_gn41_a_stolen_set_up_iou_is_known_to_the_thief_alone():
    state = theft()
    assert state.view(0).hand == tuple(sorted((*ious(0, 1, 3), Iou(1, 1), Iou(2, 2))))
    assert state.view(1).hands[0] == (*ious(0, 1, 3), None, None)
    assert state.view(0).secret_ious == (Iou(1, 2), Iou(2, 1))
    assert state.view(1).secret_ious == tuple(sorted(SECRET))
    assert state.view(0).market == (None, None)
    assert [(event.to, event.data["iou"]) for event in logged(state) if event.kind.startswith("stolen")] == [
        (None, None), ((0,), [1, 1]), (None, None), ((0,), [2, 2]),
    ]  # fmt: skip
    check_imagined(state)


def test_gn17_gn41_between_two_thieves_only_the_stolen_iou_is_not_public():
    state = turned_up(
        NOON, ranked("high noon", 0, 0, 1), **UNSEEN, luck={("theft", 2, 0): 2},
        hands=(ious(0, 3), ious(1, 4), ious(2, 4)),
    )  # fmt: skip
    check_imagined(state)
    steal(state)
    thief, other, third = (state.view(seat) for seat in range(3))
    assert thief.theft == other.theft == third.theft
    assert other.theft == Theft(tuple(ranked("high noon", 0, 0, 1)), (0, 1), (True,), (2,))
    assert other.event == NOON
    assert thief.hand == (Iou(1, 2), Iou(3, 0))
    assert other.hands[0] == third.hands[0] == (Iou(3, 0), None)
    assert thief.market == other.market == (None,) * 3
    assert Iou(1, 2) in other.secret_ious
    assert Iou(1, 2) not in thief.secret_ious
    check_imagined(state)
    for seed in range(20):
        imagined = GAME.imagine(other, Random(seed))
        while imagined.phase == "steal":
            imagined.apply(imagined.legal[0])
        assert (imagined.phase, len(imagined.market), imagined.crews) == ("fame", 3, ((), (), ()))


def test_gn17_gn41_a_thief_that_declines_learns_nothing():
    state = turned_up(NOON, ranked("high noon", 0, 0, 1), hands=(ious(0, 3), ious(1, 4), ious(2, 4)), **UNSEEN)
    before = [state.view(seat).secret_ious for seat in range(3)]
    leave_it(state)
    assert [state.view(seat).secret_ious for seat in range(3)] == before
    check_imagined(state)


def test_gn41_a_known_market_iou_stays_known_when_it_is_stolen():
    state = carry_out(
        NOON, SHOOTERS, market=ious(1, 3, 4), hands=((), (), ()), luck={("theft", 2, 0): 0, ("theft", 2, 1): 0}
    )
    assert state.view(2).hands[0] == ious(1, 3, 4)


def test_gn41_a_stolen_iou_that_is_bid_becomes_known_even_if_it_is_taken_back():
    state = theft(hands=(ious(0, 3), ious(1, 3, 4), ious(2, 4)))
    state.apply(GAME.table.buy[0])
    bid(state, Iou(1, 1))
    assert state.view(1).hands[0] == (*ious(0, 3), None)
    assert state.unseen_ious == (Iou(1, 2), Iou(2, 1), Iou(2, 2))
    check_imagined(state)
    bid(state, *ious(1, 3))
    bid(state, *ious(2, 4))
    hire(state, A)
    hire(state, B)
    assert state.view(1).hands[0] == (Iou(1, 1), *ious(0, 3), None)


def test_gn41_a_copy_that_is_shown_counts_as_the_known_one():
    state = theft(hands=((Iou(1, 1), *ious(0, 3)), ious(1, 4), ious(2, 4)))
    assert state.known_hands[0] == (Iou(1, 1), Iou(3, 0), None, None)
    state.apply(GAME.table.buy[0])
    bid(state, Iou(1, 1))
    assert state.known_hands[0] == (Iou(3, 0), None, None)
    assert state.unseen_ious == tuple(sorted(SECRET))
    check_imagined(state)


def test_gn41_both_copies_shown_at_once_reveal_the_secret_one():
    state = theft(hands=((Iou(1, 1), *ious(0, 3)), ious(1, 4), ious(2, 4)))
    state.apply(GAME.table.buy[0])
    bid(state, Iou(1, 1), Iou(1, 1))
    assert state.known_hands[0] == (Iou(3, 0), None)
    assert Iou(1, 1) not in state.unseen_ious


def test_gn41_ious_turned_up_on_payday_stay_known_in_the_hand_they_return_to():
    market = full(4, *SECRET)
    state = at_payday(
        market, 6, 1, hands=((),) * 4, known_market=(*market[:-4], *(None,) * 4), unseen_ious=tuple(sorted(SECRET)),
        gold=(9,) * 4,
    )  # fmt: skip
    assert state.view(3).hands[1] == (Iou(2, 1),)
    assert state.unseen_ious == (Iou(1, 1), Iou(1, 2), Iou(2, 2))
    assert state.view(3).market.count(None) == 3


def test_gn41_an_imagined_player_can_pay_the_sum_that_was_announced():
    state = theft(hands=((), ious(1, 4), ious(2, 4)))
    state.apply(GAME.table.buy[0])
    state.apply(GAME.table.bid[3])
    check_imagined(state)
    for seed in range(20):
        imagined = GAME.imagine(state.view(1), Random(seed))
        assert sum(iou.value for iou in imagined.hands[0]) == 3
        assert len(imagined.legal) == 1


def test_gn41_unknown_cards_are_imagined_evenly_over_all_places():
    state = theft()
    view = state.view(1)
    held, first = Counter(), Counter()
    for seed in range(600):
        imagined = GAME.imagine(view, Random(seed))
        held.update(set(imagined.hands[0]) & set(SECRET))
        first[imagined.market[0]] += 1
    assert all(240 < held[iou] < 360 for iou in SECRET)
    assert all(100 < first[iou] < 200 for iou in SECRET)


def test_gn41_the_pile_after_a_reshuffle_holds_no_card_that_was_never_seen():
    state = at_hiring(
        3, crews=((A,), (B,), (C,)), known_crews=((None,), (None,), (C,)), unseen_adventurers=(A, B), pile=(),
        discard=GAME.adventurers[3:], hands=tuple(ious(s, 0, 1, 2) for s in range(3)), market=(),
    )  # fmt: skip
    assert logged(state, "discard shuffled")
    check_imagined(state)
    for seed in range(20):
        imagined = GAME.imagine(state.view(2), Random(seed))
        assert sorted(imagined.pile) == sorted(state.pile)
        assert {imagined.crews[0], imagined.crews[1]} == {(A,), (B,)}


def test_gn41_views_differ_only_by_what_a_seat_may_know():
    state = theft()
    other = state.clone()
    hidden = (Iou(2, 1), Iou(1, 2))
    other.hands = (tuple(sorted((*ious(0, 1, 3), *hidden))), *state.hands[1:])
    other.market = (Iou(1, 1), Iou(2, 2))
    other.pile = tuple(reversed(state.pile))
    other.event_pile = tuple(reversed(state.event_pile))
    assert state.view(1) == other.view(1)
    assert state.view(2) == other.view(2)
    assert state.view(0) != other.view(0)


def test_gn41_a_view_survives_json_and_can_be_read_by_a_person():
    thieves = turned_up(NOON, ranked("high noon", 0, 0, 1), market=SECRET)
    steal(thieves)
    for state in (theft(), thieves, GAME.new(4, Chance(9))):
        for seat in range(state.players):
            view = state.view(seat)
            assert GAME.view_from_json(GAME.view_to_json(view)) == view
            assert GAME.view_from_json(GAME.view_to_json(view)).crew[:1] == view.crew[:1]
            assert "Your IOUs" in GAME.render(view)
