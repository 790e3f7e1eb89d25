"""El Paso, EP-18 to EP-28: leaving, the end of a town and of the game, who knows what."""

from __future__ import annotations

from random import Random

import pytest

from engines.el_paso import SITES, Site
from engines.el_paso.values import at_site, replaced
from harness import NOBODY, Chance, ranks_of
from tests.rules.el_paso.scenario import (
    EMPTY,
    RAID,
    do,
    draw_all,
    game,
    give_hand,
    go_to_town,
    play_round,
    sell_all,
    stay_all,
    stock,
    table,
    texts,
    tiles,
)


def leave_together(state, *leavers):
    while state.phase == "answer":
        do(state, "leave" if state.seat in leavers else "stay")


def test_ep18_the_first_group_carries_one_the_second_two_and_so_on():
    state = table(players=5)
    play_round(state)
    for group, leavers in enumerate([(1, 3), (0,), (2, 4)], 1):
        state.tiles = (tiles(bank=(1, 2, 3, 4, 5)),) * 5
        leave_together(state, *leavers)
        assert state.limit == group
        for _ in leavers:
            for value in range(1, group + 1):
                do(state, f"carry bank {value}")
        for seat in leavers:
            assert state.tiles[seat][Site.BANK] == tuple(range(1, group + 1))
        if group < 3:
            play_round(state)
    assert state.town == 1


def test_ep18_a_round_in_which_no_player_leaves_does_not_count_as_a_group():
    state = table()
    stock(state, bank=(1,) * 20)
    for _ in range(3):
        play_round(state)
        stay_all(state)
    play_round(state)
    assert (state.groups, state.view(0).next_limit) == (0, 1)


def test_ep19_leavers_choose_one_after_the_other_from_the_lookout_in_public():
    state = table(players=4)
    go_to_town(state, 2)
    play_round(state)
    assert state.lookout == 2
    state.tiles = (tiles(bank=(1, 2)),) * 4
    leave_together(state, 0, 1, 3)
    asked, money = [], list(state.money)
    while state.phase == "carry":
        asked.append(state.seat)
        if len(asked) == 2:
            assert state.view(2).money[3] > money[3]  # seat 3 has sold before seat 0 chooses
        do(state, "sell the rest")
    assert asked == [3, 0, 1]


def test_ep19_each_set_of_tiles_can_be_reached_in_one_way_only():
    start = table(players=2)
    play_round(start)
    start.tiles = (tiles(bank=(1, 4, 4), hotel=(2,)), EMPTY)
    do(start, "leave", "stay")
    start.limit = 3
    found = []

    def explore(state):
        if state.phase != "carry" or state.seat != 0:
            found.append(state.tiles[0])
            return
        for action in state.legal:
            nextstate = state.clone()
            nextstate.apply(action)
            explore(nextstate)

    explore(start)
    # {}, 1, 4, h, 14, 1h, 44, 4h, 144, 14h, 44h: every multiset of up to three tiles
    assert len(found) == len(set(found)) == 11


def test_ep19_equal_tiles_are_one_action_and_fewer_than_the_limit_is_allowed():
    state = table(players=2)
    play_round(state)
    state.tiles = replaced(state.tiles, 0, tiles(bank=(4, 4), saloon=(3,)))
    do(state, "leave", "stay")
    assert texts(state) == ["sell the rest", "carry bank 4", "carry saloon 3"]
    do(state, "sell the rest")
    assert state.tiles[0] == EMPTY


def test_ep19_tiles_of_earlier_towns_may_be_carried_and_the_choice_is_offered_in_the_last_town():
    state = table(players=2)
    last = len(state.game.figures.towns) - 1
    state.tiles = replaced(state.tiles, 0, tiles(bank=(5,)))
    play_round(state)
    do(state, "leave", "leave", "carry bank 5")
    sell_all(state)
    while state.town < last:
        owned = state.tiles[0][Site.BANK]
        assert owned == (5,)
        state.tiles = replaced(state.tiles, 0, tiles(bank=(5,)))
        if state.phase == "play":
            play_round(state)
            state.tiles = replaced(state.tiles, 0, tiles(bank=(5,)))
        else:
            leave_together(state, 0, 1)
            while state.phase == "carry":
                do(state, "carry bank 5" if state.seat == 0 else "sell the rest")
    play_round(state)
    state.tiles = replaced(state.tiles, 0, tiles(bank=(5,)))
    do(state, "leave", "leave")
    assert (state.phase, texts(state)) == ("carry", ["sell the rest", "carry bank 5"])


def test_ep20_the_sheets_example_in_santa_fe():
    state = table(players=2)
    go_to_town(state, 3)
    town = state.game.figures.towns[3]
    assert (town.name, town.rate, town.has(Site.BANK)) == ("Santa Fe", 3, False)
    play_round(state)
    state.tiles = replaced(state.tiles, state.seat, tiles(horses=(4, 4), saloon=(5,), bank=(5,)))
    seat, money = state.seat, state.money[state.seat]
    do(state, "leave", "stay", "sell the rest")
    assert state.money[seat] - money == 4 + 5


def test_ep20_values_are_added_before_dividing_and_rounded_down():
    state = table(players=2)
    rate = state.game.figures.towns[0].rate
    play_round(state)
    state.tiles = replaced(state.tiles, 0, tiles(bank=(3,), hotel=(3,), saloon=(5,)))
    do(state, "leave", "stay", "sell the rest")
    assert state.money[0] == (3 + 3 + 5) // rate


@pytest.mark.parametrize(("edition", "place"), [("de", "bag"), ("bg", "bag"), ("nl", "box")])
def test_ep21_sold_tiles_go_back_into_the_bag_or_in_nl_to_the_box(edition, place):
    state = table(players=2, edition=edition)
    if state.phase == "answer":
        stay_all(state)
    play_round(state)
    state.tiles = replaced(state.tiles, 0, tiles(bank=(5,), hotel=(1, 2)))
    before = [list(values) for values in getattr(state, place)]
    do(state, "leave", "stay", "sell the rest")
    after = getattr(state, place)
    assert sorted([*before[Site.BANK], 5]) == list(after[Site.BANK])
    assert sorted([*before[Site.HOTEL], 1, 2]) == list(after[Site.HOTEL])


def test_ep22_leavers_wait_and_a_single_player_may_continue():
    state = table(players=3)
    stock(state, bank=(1, 2, 3), hotel=(1, 2, 3), horses=(1, 2, 3))
    play_round(state)
    leave_together(state, 0, 1)
    sell_all(state)
    for _ in range(2):
        assert (state.phase, state.seat, state.queue) == ("play", 2, ())
        play_round(state)
        if state.phase == "answer":
            do(state, "stay")


def empty_the_town(state, seats):
    """Leaves one bank tile in town, and lets the last of `seats` in town take it."""
    stock(state, bank=(3,))
    for seat in seats:
        give_hand(state, seat, (Site.BANK, 8 - seat), (Site.HORSES, 1))
    for seat in seats:
        do(state, f"play bank {8 - seat}")
    draw_all(state)


def test_ep23_all_leave_an_empty_town_with_two_tiles_if_no_player_left_before():
    state = table(players=3)
    state.tiles = (tiles(hotel=(1, 2, 3)),) * 3
    empty_the_town(state, (0, 1, 2))
    assert (state.phase, state.limit, state.left) == ("carry", 2, (1, 1, 1))
    do(state, "carry hotel 1", "carry hotel 2")
    assert state.tiles[0][Site.HOTEL] == (1, 2)


@pytest.mark.parametrize(("edition", "limit"), [("de", 4), ("nl", 4), ("bg", 2)])
def test_ep23_players_still_in_an_empty_town_are_the_next_group(edition, limit):
    state = table(players=5, edition=edition)
    if state.phase == "answer":
        stay_all(state)
    play_round(state)
    for seat in (0, 1, 2):
        leave_together(state, seat)
        sell_all(state)
        if seat < 2:
            play_round(state)
    state.tiles = (tiles(hotel=(1, 2, 3, 4, 5)),) * 5
    empty_the_town(state, (3, 4))
    assert (state.phase, state.limit, state.left) == ("carry", limit, (1, 2, 3, 4, 4))


def test_ep23_the_refill_comes_before_the_empty_town_is_left():
    state = table(players=2)
    stock(state, bank=(3,))
    give_hand(state, 0, (Site.BANK, 8), (Site.HORSES, 1))
    do(state, "play bank 8")
    give_hand(state, 1, (Site.BANK, 7), (Site.HORSES, 1))
    do(state, "play bank 7")
    assert state.phase == "draw"
    assert not any(state.stacks)


def test_ep23_sheriffs_that_come_with_the_last_tile_in_town_take_everything():
    state = table(players=2, dice={(0, 1): RAID})
    stock(state, bank=(3,))
    play_round(state)
    assert state.town == 1
    assert not any(map(any, state.tiles))


@pytest.mark.parametrize(("edition", "place"), [("de", "bag"), ("bg", "bag"), ("nl", "box")])
def test_ep24_tiles_left_in_town_or_lost_go_back(edition, place):
    log = []
    state = table(players=2, edition=edition, dice={(0, 1): RAID}, log=log)
    if state.phase == "answer":
        stay_all(state)
    state.tiles = replaced(state.tiles, 0, tiles(bank=(5,)))
    left = sum(map(len, state.stacks))
    # what the second town then draws comes out of the bag again
    play_round(state)
    everywhere = sum(map(len, state.bag)) + sum(map(len, state.stacks)) + sum(map(len, state.box))
    assert everywhere == 37  # 36, and the one this test made up
    assert sum(map(len, state.box)) == (left + 1 if place == "box" else 0)
    assert [e.data["why"] for e in log if e.kind == "town-over"] == ["sheriffs"]


def test_ep25_the_lookout_passes_clockwise_with_each_town():
    state = table(players=3)
    seen = []
    for town in range(len(state.game.figures.towns)):
        go_to_town(state, town)
        seen.append(state.lookout)
    assert seen == [town % 3 for town in range(len(seen))]


@pytest.mark.parametrize("edition", ["de", "nl", "bg"])
def test_ep26_a_town_without_tiles_is_over_at_once_and_each_may_carry_two(edition):
    log = []
    state = table(players=3, edition=edition, dice={(0, 1): RAID}, log=log)
    if state.phase == "answer":
        stay_all(state)
    while state.phase != "draw" or state.queue:
        state.apply(state.legal[0])
    state.bag = EMPTY
    state.stacks = EMPTY
    state.tiles = replaced(state.tiles, 2, tiles(bank=(1, 2, 3)))
    state.apply(state.legal[0])
    assert (state.town, state.round, state.phase, state.seat, state.limit) == (1, 0, "carry", 2, 2)
    assert state.left == (1, 1, 1)
    do(state, "carry bank 2", "carry bank 3")
    assert state.tiles[2][Site.BANK] == (2, 3)
    assert [e.data["why"] for e in log if e.kind == "town-over"][1] == "nothing to plunder"
    assert not any(e.kind == "roll" for e in log[[e.kind for e in log].index("town-over") + 1 :][:4])


def test_ep27_after_the_last_town_tiles_are_sold_one_to_one_and_money_is_the_score():
    state = table(players=2)
    last = len(state.game.figures.towns) - 1
    go_to_town(state, last)
    play_round(state)
    state.tiles = (tiles(bank=(5,), hotel=(4,)), EMPTY)
    state.money = (10, 12)
    lookout = state.seat
    do(state, "leave", "leave")
    while state.phase == "carry":
        do(state, texts(state)[-1])
    assert state.seat == NOBODY
    assert state.ending == "finished"
    assert state.scores() == (19, 12)
    assert ranks_of(state.scores()) == (1, 2)
    assert lookout == last % 2


def test_ep28_the_values_of_other_hands_and_the_order_of_the_piles_are_hidden():
    state = table(players=3)
    view = state.view(0)
    assert view.hand == state.hands[0]
    assert view.hands == (((0,),) * 6,) * 3
    assert all(set(pile) == {0} for pile in view.piles)
    swapped = state.clone()
    swapped.hands[1], swapped.hands[2] = state.hands[2], state.hands[1]
    swapped.piles[0] = state.piles[0][::-1]
    swapped.chance = Chance(12345)
    assert swapped.view(0) == view
    assert swapped.view(1) != state.view(1)


def test_ep28_a_card_drawn_from_a_turned_over_discard_is_known_until_it_is_played():
    state = table(players=2, order={(0, 1): (0, 1), (0, 2): (0, 1)})
    give_hand(state, 0, (Site.BANK, 1), (Site.HOTEL, 2))
    do(state, "play bank 1")
    give_hand(state, 1, (Site.BANK, 2), (Site.HOTEL, 3))
    state.piles[Site.BANK] = ()
    state.faces = at_site(state.faces, Site.BANK, ())
    do(state, "play bank 2")
    do(state, "draw bank", "draw bank")
    assert state.view(1).hands[0][Site.BANK] == (2,)
    assert state.view(0).hands[1][Site.BANK] == (1,)
    stay_all(state)
    do(state, "play bank 2", "play hotel 3")
    assert state.view(1).hands[0][Site.BANK] == ()
    assert state.view(0).hands[1][Site.BANK] == (1,)  # still in hand, still known
    assert state.view(0).hands[1][Site.HOTEL] == ()


def test_ep28_playing_a_hidden_card_reveals_no_other_card():
    state = table(players=2)
    give_hand(state, 0, (Site.BANK, 1), (Site.BANK, 6), (Site.HOTEL, 2))
    state.shown = replaced(state.shown, 0, ((0, 6), (), (), (), (0,), ()))
    do(state, "play bank 1")
    give_hand(state, 1, (Site.HOTEL, 3), (Site.HOTEL, 4))
    do(state, "play hotel 3")
    assert state.shown[0][Site.BANK] == (6,)


def test_ep28_the_site_of_every_card_in_every_hand_is_public():
    state = table(players=4, seed=3)
    rng = Random(3)
    while state.legal:
        for seat in range(4):
            for other in range(4):
                shown = state.view(seat).hands[other]
                assert [len(values) for values in shown] == [len(values) for values in state.hands[other]]
                for values, true in zip(shown, state.hands[other], strict=True):
                    assert {value for value in values if value} <= set(true)
        state.apply(rng.choice(state.legal))


def test_ep28_unknown_cards_are_spread_evenly_over_a_thousand_imagined_states():
    state = table(players=4, seed=5)
    view = state.view(0)
    rng = Random(0)
    times = 1000
    for site in SITES:
        hidden = [v for hand in state.hands[1:] for v in hand[site]] + list(state.piles[site])
        imagined = [game().imagine(view, rng) for _ in range(times)]
        for place in ([one.piles[site][0] for one in imagined], [one.hands[2][site][0] for one in imagined]):
            for value in hidden:
                share = place.count(value) / times
                assert abs(share - 1 / len(hidden)) < 0.07, f"{site.label} {value} comes up in {share:.0%}"
