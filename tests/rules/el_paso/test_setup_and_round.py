"""El Paso, EP-1 to EP-17: components, set-up, opening a town, a round of plunder."""

from __future__ import annotations

import pytest

from engines.el_paso import SITES, Site
from engines.el_paso.values import at_site, replaced
from harness import NOBODY, Chance
from tests.rules.el_paso.scenario import (
    HARMLESS,
    RAID,
    do,
    draw_all,
    game,
    give_hand,
    go_to_town,
    play_round,
    stay_all,
    stock,
    table,
    texts,
    tiles,
)


def test_ep1_each_of_six_sites_has_one_card_of_each_value():
    state = table(players=5)
    values = sorted(state.game.figures.cards.values)
    assert len(SITES) == 6
    for site in SITES:
        cards = [v for hand in state.hands for v in hand[site]] + list(state.piles[site])
        assert sorted(cards) == values == [1, 2, 3, 4, 5, 6, 7, 8]


def test_ep2_all_tiles_start_in_the_bag_or_in_the_first_town():
    state = table()
    for site in SITES:
        assert sorted(state.bag[site] + state.stacks[site]) == list(state.game.tiles[site])
    assert sum(map(len, state.game.tiles)) == 36


def test_ep3_five_dice_with_two_of_each_face():
    dice = game().figures.dice
    assert dice.count == 5
    assert [dice.faces.count(face) for face in ("star", "brand", "six")] == [2, 2, 2]


def test_ep4_seven_towns_in_order_and_unlimited_money():
    towns = game().figures.towns
    assert [t.name for t in towns] == [
        "Deadwood", "Cheyenne", "Abilene", "Santa Fe", "San Diego", "Tombstone", "El Paso",
    ]  # fmt: skip
    state = table()
    state.money = (49, *state.money[1:])
    state.tiles = replaced(state.tiles, 0, tiles(bank=(5, 5), hotel=(5, 5)))
    play_round(state)
    do(state, "leave")
    stay_all(state)
    do(state, "sell the rest")
    assert state.money[0] > 50


def test_ep5_each_player_takes_one_card_of_each_site_from_the_top_in_seat_order():
    log = []
    state = table(players=4, log=log)
    piles = {event.data["site"]: event.data["order"] for event in log if event.kind == "pile"}
    for seat in range(4):
        assert list(state.hands[seat]) == [(piles[site][seat],) for site in SITES]
    assert [list(pile) for pile in state.piles] == [piles[site][4:] for site in SITES]


def test_ep6_seat_0_is_the_first_lookout_and_no_player_owns_anything():
    state = table(players=4)
    assert (state.lookout, state.seat) == (0, 0)
    assert state.money == (0,) * 4
    assert not any(any(owned) for owned in state.tiles)


@pytest.mark.parametrize("edition", ["de", "nl", "bg"])
def test_ep7_a_town_is_stocked_from_the_bag_once_and_foreign_tiles_go_back(edition):
    log = []
    state = table(edition=edition, log=log)
    if state.phase == "answer":
        stay_all(state)
    play_round(state)
    go_to_town(state, 1)
    towns = [event.data for event in log if event.kind == "town"]
    assert len(towns) == 2  # one stocking each
    wanted = state.game.edition.tiles_per_town
    assert wanted == {"de": 20, "nl": 20, "bg": 18}[edition]
    in_bag = sum(map(len, state.bag)) + sum(map(len, state.stacks))  # nothing has left the second town yet
    for data, available in zip(towns, (36, in_bag), strict=True):
        assert len(data["drawn"]) == min(wanted, available)
        for site in SITES:
            drawn = sorted(value for s, value in data["drawn"] if s == site)
            assert data["stacks"][site] == (drawn if site in data["sites"] else [])


def test_ep7_all_tiles_are_drawn_when_the_bag_holds_fewer():
    log = []
    state = table(edition="nl", log=log)
    state.bag = tiles(bank=(1,), saloon=(3,), gold_mine=(2,))
    stay_all(state)
    play_round(state)
    go_to_town(state, 1)
    second = [event.data for event in log if event.kind == "town"][1]
    assert sorted(second["drawn"]) == [[0, 1], [1, 3], [2, 2]]
    assert Site.GOLD_MINE not in state.game.sites_of[1]
    assert state.bag[Site.GOLD_MINE] == (2,)


def test_ep7_the_lowest_tile_lies_on_top():
    state = table()
    assert all(list(stack) == sorted(stack) for stack in state.stacks)
    stock(state, bank=(2, 5))
    give_hand(state, 0, (Site.BANK, 8), (Site.HOTEL, 1))
    do(state, "play bank 8")
    while state.phase == "play":
        do(state, next(t for t in texts(state) if "bank" not in t))
    assert state.tiles[0][Site.BANK] == (2,)


def test_ep8_all_dice_are_free_when_a_town_opens():
    state = table(dice={(0, 1): ("star", "star", "star", "six", "six")})
    play_round(state)
    assert state.stars == 3
    go_to_town(state, 1)
    assert state.stars == 0
    assert state.roll == ()


def test_ep9_answers_go_from_the_lookout_clockwise_in_public():
    state = table(players=4)
    play_round(state)
    asked = []
    while state.phase == "answer":
        asked.append(state.seat)
        leave = state.seat == 1
        do(state, "leave" if leave else "stay")
        if leave:
            assert all(state.view(seat).leaving == (1,) for seat in range(4))
    assert asked == [0, 1, 2, 3]
    play_round(state)
    go_to_town(state, 1)
    assert (state.lookout, state.seat) == (1, 1)


@pytest.mark.parametrize(("edition", "phase"), [("de", "play"), ("nl", "answer"), ("bg", "answer")])
def test_ep9_only_the_german_edition_skips_the_question_in_the_first_round(edition, phase):
    assert table(edition=edition).phase == phase


def test_ep9_all_players_may_leave_in_the_first_round_if_the_edition_asks():
    state = table(edition="bg")
    do(state, "leave", "leave", "leave")
    assert state.town == 1


def test_ep10_leavers_go_before_any_card_is_laid():
    state = table()
    state.tiles = replaced(state.tiles, 1, tiles(bank=(4,)))
    play_round(state)
    do(state, "stay", "leave", "stay")
    assert (state.phase, state.seat) == ("carry", 1)
    do(state, "sell the rest")
    assert state.phase == "play"
    assert state.left == (0, 1, 0)


def test_ep11_the_town_is_over_when_no_player_is_left():
    log = []
    state = table(log=log)
    play_round(state)
    do(state, "leave", "leave", "leave")
    while state.phase == "carry":
        do(state, "sell the rest")
    assert state.town == 1
    assert [e.data["why"] for e in log if e.kind == "town-over"] == ["everyone has left"]


def test_ep12_cards_are_laid_face_down_and_turned_up_together():
    state = table()
    first = texts(state)[0]
    do(state, first)
    action = next(a for a in state.game.actions if a.text == first)
    assert state.view(0).laid == (action.site, action.value)
    assert state.view(1).laid is None
    assert state.view(1).played == (None, None, None)
    assert state.view(1).hands == state.view(2).hands == (((0,),) * 6,) * 3


def test_ep12_a_card_of_a_site_that_is_missing_or_empty_may_be_played():
    state = table()
    stock(state, hotel=(1, 2))
    give_hand(state, 0, (Site.BANK, 8), (Site.HOTEL, 1))
    assert texts(state) == ["play bank 8", "play hotel 1"]
    do(state, "play bank 8")
    play_round(state)
    assert state.tiles[0][Site.BANK] == ()


def test_ep13_stars_stay_on_the_sheriff_field_and_the_free_dice_are_rolled():
    state = table(
        dice={(0, 1): ("star", "star", "six", "six", "six"), (0, 2): ("star", "brand", "brand", "six", "six")}
    )
    play_round(state)
    assert state.stars == 2
    stay_all(state)
    play_round(state)
    assert state.stars == 3
    assert state.roll == ("star", "brand", "brand")


def test_ep13_the_lookout_rolls_after_having_left():
    state = table()
    play_round(state)
    do(state, "leave", "stay", "stay")
    while state.phase == "carry":
        do(state, "sell the rest")
    play_round(state)
    assert len(state.roll) == 5
    assert state.lookout == 0


def test_ep14_the_sheriffs_take_all_tiles_of_those_still_in_town_and_no_loot_is_taken():
    log = []
    state = table(dice={(0, 2): RAID}, log=log)
    state.tiles = (tiles(bank=(1, 5), hotel=(2,)), tiles(saloon=(3,)), tiles(cattle=(4,)))
    state.money = (7, 8, 9)
    play_round(state)
    owned = state.tiles
    do(state, "stay", "leave", "stay", "carry saloon 3")
    before = state.stacks
    while state.phase == "play":
        state.apply(state.legal[0])
    assert state.tiles[0] == state.tiles[2] == ((),) * 6
    assert state.tiles[1][Site.SALOON] == (3,)  # left in time
    assert (state.money[0], state.money[2]) == (7, 9)
    assert state.stacks == before
    draw_all(state)
    assert state.town == 1
    lost = {e.data["seat"]: e.data["lost"] for e in log if e.kind == "sheriffs"}
    assert lost == {seat: [list(v) for v in owned[seat]] for seat in (0, 2)}


@pytest.mark.parametrize(
    ("site", "roll", "taken"),
    [
        (Site.SALOON, ("brand",) * 5, False),
        (Site.SALOON, ("brand",) * 4 + ("six",), True),
        (Site.CATTLE, ("six",) * 5, False),
        (Site.CATTLE, ("six",) * 4 + ("brand",), True),
        (Site.BANK, ("star",) * 4 + ("six",), True),
    ],
)
def test_ep15_saloon_needs_a_six_and_cattle_a_brand(site, roll, taken):
    state = table(players=2, dice={(0, 1): roll})
    stock(state, saloon=(4, 5), cattle=(4, 5), bank=(1, 2))
    give_hand(state, 0, (site, 8), (Site.HOTEL, 1))
    do(state, f"play {site.label} 8")
    give_hand(state, 1, (Site.HOTEL, 2), (Site.HOTEL, 3))
    do(state, "play hotel 2")
    assert bool(state.tiles[0][site]) is taken


def test_ep15_only_this_rolls_faces_count():
    state = table(players=2, dice={(0, 1): ("six",) * 5, (0, 2): ("brand",) * 5})
    stock(state, saloon=(4, 5), hotel=(1,))
    play_round(state)
    stay_all(state)
    stock(state, saloon=(4, 5), hotel=(1,))
    state.tiles = (((),) * 6,) * 2
    give_hand(state, 0, (Site.SALOON, 8), (Site.HOTEL, 1))
    do(state, "play saloon 8")
    play_round(state)
    assert state.tiles[0][Site.SALOON] == ()


def test_ep15_the_highest_card_takes_first_until_the_stack_is_empty():
    state = table(players=3)
    stock(state, bank=(2, 5), hotel=(1,))
    for seat, value in enumerate((3, 8, 5)):
        give_hand(state, seat, (Site.BANK, value), (Site.HORSES, 1))
        do(state, f"play bank {value}")
    assert [state.tiles[seat][Site.BANK] for seat in range(3)] == [(), (2,), (5,)]


def test_ep16_played_cards_are_discarded_highest_first_and_form_a_queue():
    state = table(players=3, order={(0, 1): (0, 1, 2)})
    for seat, value in enumerate((3, 8, 5)):
        give_hand(state, seat, (Site.BANK, value), (Site.HORSES, 1))
        do(state, f"play bank {value}")
    assert state.discards[Site.BANK] == (8, 5, 3)
    state.piles[Site.BANK] = (7,)
    state.faces = at_site(state.faces, Site.BANK, (0,))
    do(state, "draw bank")
    assert state.piles[Site.BANK] == (8, 5, 3)  # turned over: the first-laid card is on top
    do(state, "draw bank")
    assert state.hands[1][Site.BANK] == (8,)


def test_ep17_players_draw_in_a_random_order_that_is_public_before_the_first_draw():
    state = table(players=4, order={(0, 1): (2, 0, 3, 1)})
    while state.phase == "play":
        state.apply(state.legal[0])
    assert (state.seat, state.view(0).queue) == (2, (0, 3, 1))
    drawn = []
    while state.phase == "draw":
        drawn.append(state.seat)
        state.apply(state.legal[0])
    assert drawn == [2, 0, 3, 1]


def test_ep17_only_players_that_played_draw():
    state = table(players=3, order={(0, 2): (2, 1, 0)})
    play_round(state)
    do(state, "stay", "leave", "stay")
    while state.phase != "play":
        do(state, "sell the rest")
    while state.phase == "play":
        state.apply(state.legal[0])
    assert (state.seat, state.queue) == (2, (0,))


def test_ep17_a_site_with_neither_pile_nor_discard_cannot_be_chosen():
    state = table(players=2, order={(0, 1): (0, 1)})
    give_hand(state, 0, (Site.BANK, 1), (Site.HOTEL, 2))
    do(state, "play bank 1")
    give_hand(state, 1, (Site.BANK, 2), (Site.HOTEL, 3))
    state.piles[Site.HORSES] = ()
    state.faces = at_site(state.faces, Site.HORSES, ())
    state.piles[Site.BANK] = ()
    state.faces = at_site(state.faces, Site.BANK, ())
    do(state, "play bank 2")
    assert "draw horses" not in texts(state)
    assert state.piles[Site.BANK] == state.faces[Site.BANK] == (2, 1)
    assert "draw bank" in texts(state)


@pytest.mark.parametrize("players", [2, 5])
def test_ep17_the_refill_follows_a_sheriff_round_and_the_last_round_of_the_game(players):
    last = len(game().figures.towns) - 1
    state = table(players=players, dice={(town, 1): RAID for town in range(last + 1)})
    drawn = 0
    while state.seat != NOBODY:
        drawn += state.phase == "draw"
        state.apply(state.legal[0])
    assert drawn == players * (last + 1)
    assert all(sum(map(len, hand)) == 6 for hand in state.hands)


def test_ep17_the_drawing_order_does_not_depend_on_which_player_left():
    order = Chance(9).shuffled(range(4), "drawing order", 0, 2)
    for leaver in range(4):
        state = game().new(4, Chance(9))
        while state.phase != "answer":
            state.apply(state.legal[0])
        if state.round != 2:
            pytest.skip("the sheriffs came in the first round of this deal")
        while state.phase == "answer":
            do(state, "leave" if state.seat == leaver else "stay")
        while state.phase in ("carry", "play"):
            state.apply(state.legal[0])
        assert [state.seat, *state.queue] == [seat for seat in order if seat != leaver]


def test_ep13_the_harmless_dice_of_these_tests_have_no_star():
    assert "star" not in HARMLESS
