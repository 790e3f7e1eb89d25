"""Set-up and the sequence of a turn (XP-4 to XP-8)."""

from __future__ import annotations

import pytest

from engines.x_pasch import Draw, Found, Keep, Move, Place, Reroll, Stop, XPasch
from harness import NOBODY, Event, IllegalAction
from tests.rules.x_pasch.scenario import DULL, at_table, company, do, kinds, legal, luck, members, pass_turns


def test_xp4_seat_0_is_dealt_the_top_cards_and_the_rest_is_the_pile(game: XPasch) -> None:
    deck = list(reversed(game.tables.deck))
    state = game.new(4, luck(deck=deck))
    size = game.figures.game.hand_at_start
    for seat in range(4):
        assert list(state.hands[seat]) == sorted(deck[seat * size : (seat + 1) * size])
    assert list(state.pile) == deck[4 * size :]


def test_xp4_seat_0_starts_and_a_round_is_one_turn_of_each_seat(game: XPasch) -> None:
    state = game.new(3, luck({(r, s): DULL for r in (1, 2) for s in range(3)}))
    turns = []
    for _ in range(6):
        turns.append((state.round, state.seat))
        pass_turns(state, 1)
    assert turns == [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)]


def test_xp5_a_plurality_pays_its_income_to_the_player_on_turn_only(game: XPasch) -> None:
    eight = company(game, number=8)
    state = at_table(DULL, boards={eight: (2, 3, 2)}, euros=(5, 5, 5))
    do(state, Stop)
    assert state.euros == (5, 5 + eight.income, 5)


def test_xp5_a_tie_for_most_members_pays_no_player(game: XPasch) -> None:
    eight = company(game, number=8)
    state = at_table(DULL, boards={eight: (1, 3, 3)}, euros=(5, 5, 5))
    do(state, Stop)
    do(state, Stop)
    assert state.euros == (5, 5, 5)


def test_xp5_income_is_the_sum_over_all_companies_led(game: XPasch) -> None:
    eight, twelve, six = (company(game, number=n) for n in (8, 12, 6))
    state = at_table(DULL, boards={eight: (0, 1, 0), twelve: (0, 2, 1), six: (3, 1, 0)})
    assert state.view(0).income == (six.income, eight.income + twelve.income, 0)
    do(state, Stop)
    assert state.euros[1] == eight.income + twelve.income


def test_xp5_a_company_without_members_pays_no_player(game: XPasch) -> None:
    eight = company(game, number=8)
    state = at_table(DULL, boards={eight: (0, 0, 0)})
    assert state.view(1).leader(eight.company) == NOBODY
    do(state, Stop)
    assert state.euros == (0, 0, 0)


def test_xp6_a_player_that_reaches_the_target_by_income_rolls_no_dice(game: XPasch) -> None:
    eight = company(game, number=8)
    target = game.tables.target
    log: list[Event] = []
    state = at_table(DULL, boards={eight: (0, 1, 0)}, euros=(0, target - eight.income, 0), log=log)
    do(state, Stop)
    assert state.euros[1] == target
    assert (state.ending, state.seat, state.legal, state.dice) == ("target", NOBODY, (), ())
    assert "roll" not in {event.kind for event in log}


def test_xp6_the_game_continues_one_euro_short_of_the_target(game: XPasch) -> None:
    eight = company(game, number=8)
    state = at_table(DULL, boards={eight: (0, 1, 0)}, euros=(0, game.tables.target - eight.income - 1, 0))
    do(state, Stop)
    assert (state.ending, state.seat, len(state.dice)) == ("", 1, 3)


def test_xp7_three_dice_are_rolled_and_lie_in_order(game: XPasch) -> None:
    state = game.new(3, luck({(1, 0): (6, 1, 3)}))
    assert state.dice == (1, 3, 6)


def test_xp7_no_player_has_a_second_chance_in_round_1(game: XPasch) -> None:
    state = game.new(3, luck())
    assert (state.second_chance, state.phase) == (NOBODY, "dice")


def test_xp7_the_one_player_with_fewest_euros_may_roll_one_die_again() -> None:
    state = at_table(DULL, seat=2, euros=(7, 3, 7), chance=luck({(3, 1): (2, 2, 5)}, again={(3, 1): 6}))
    do(state, Stop)
    assert state.view(0).second_chance == 1
    do(state, Stop)
    assert (state.seat, state.phase) == (1, "reroll")
    assert [str(action) for action in state.legal] == ["re-roll a 2", "re-roll a 5", "keep"]
    do(state, Reroll, face=2)
    assert (state.seat, state.phase, state.dice) == (1, "dice", (2, 5, 6))


def test_xp7_the_second_chance_may_be_declined_and_is_offered_once_a_turn() -> None:
    state = at_table(DULL, seat=2, euros=(1, 3, 7), chance=luck({(3, 0): (2, 2, 5)}))
    do(state, Stop)
    do(state, Keep)
    assert (state.seat, state.phase, state.dice) == (0, "dice", (2, 2, 5))
    do(state, Stop)
    assert (state.seat, state.phase) == (1, "dice")


def test_xp7_two_players_tied_for_fewest_euros_have_no_second_chance() -> None:
    state = at_table(DULL, seat=2, euros=(3, 3, 7))
    do(state, Stop)
    assert (state.seat, state.second_chance, state.phase) == (0, NOBODY, "dice")


def test_xp7_the_second_chance_is_settled_before_seat_0_collects(game: XPasch) -> None:
    eight = company(game, number=8)
    state = at_table(DULL, boards={eight: (1, 0, 0)}, seat=2, euros=(0, 1, 2))
    do(state, Stop)
    assert state.euros[0] == eight.income > 1
    assert (state.seat, state.phase) == (0, "reroll")


def test_xp8_all_available_kinds_of_action_are_offered_together_with_stop(game: XPasch) -> None:
    low, high = sorted((company(game, number=4), company(game, number=12)), key=lambda c: c.income)
    one = company(game, number=1)
    state = at_table((1, 4, 4), boards={low: (1, 0, 0), high: (1, 0, 0)}, hand=[one])
    assert kinds(state) == {"found", "place", "move", "draw", "stop"}
    assert len(set(state.legal)) == len(state.legal)


def test_xp8_founding_placing_moving_and_drawing_happen_in_this_order(
    game: XPasch,
) -> None:
    four, one = company(game, number=4), company(game, number=1)
    high = max((c for c in game.companies if c.number and c.number > 6 and not c.pair), key=lambda c: c.income)
    state = at_table((1, 1, 4), boards={four: (1, 0, 0), high: (2, 0, 0)}, hand=[one])
    placed = state.clone()
    do(placed, Place, company=four.company, dice=(4,))
    assert kinds(placed) == {"move", "draw", "stop"}
    moved = state.clone()
    do(moved, Move, source=high.company, target=four.company)
    assert kinds(moved) == {"move", "draw", "stop"}
    do(moved, Draw)
    assert kinds(moved) == {"draw", "stop"}
    founded = state.clone()
    do(founded, Found, card=one.card, dice=(1,))
    assert kinds(founded) == {"place", "move", "draw", "stop"}
    do(founded, Place, company=one.company, dice=(1,))
    assert kinds(founded) == {"place", "move", "draw", "stop"}


def test_xp8_each_die_is_used_at_most_once(game: XPasch) -> None:
    six = company(game, number=6)
    state = at_table((1, 6, 6), boards={six: (0, 0, 0)})
    do(state, Place, company=six.company, dice=(6,))
    assert sum(state.dice) == 1 + 6
    do(state, Place, company=six.company, dice=(6,))
    assert sum(state.dice) == 1
    assert members(state, six) == (2, 0, 0)
    assert not legal(state, Place)


def test_xp8_with_no_die_left_the_turn_ends_by_itself(game: XPasch) -> None:
    eight = company(game, number=8)
    state = at_table((1, 3, 4), boards={eight: (0, 0, 0)})
    do(state, Place, company=eight.company, dice=(1, 3, 4))
    assert state.seat == 1


def test_xp8_stopping_leaves_the_other_dice_unused() -> None:
    state = at_table((1, 3, 4))
    do(state, Draw)
    do(state, Stop)
    assert state.seat == 1


def test_xp8_an_illegal_action_is_refused_and_changes_nothing(game: XPasch) -> None:
    eight = company(game, number=8)
    state = at_table((1, 1, 1), boards={eight: (1, 0, 0)})
    before = state.view(0)
    with pytest.raises(IllegalAction):
        state.apply(game.tables.rolls[3, 5].place[eight.company][0])
    assert state.view(0) == before
