"""Founding, placing, triples and moving (XP-9 to XP-14, XP-18, XP-19)."""

from __future__ import annotations

from itertools import pairwise

from engines.x_pasch import Company, Draw, Found, Keep, Move, Place, Stop, Swap, XPasch
from tests.rules.x_pasch.scenario import DULL, at_table, company, do, kinds, legal, luck, members, pass_turns


def ranked(game: XPasch) -> tuple[Company, Company, Company]:
    """Three companies: a rich one and two poorer ones of one income."""
    by_income = sorted((c for c in game.companies if c.card == c.company), key=lambda c: c.income)
    low, also_low = next((a, b) for a, b in pairwise(by_income) if a.income == b.income)
    return by_income[-1], low, also_low


def test_xp9_a_number_is_founded_with_one_two_or_three_dice_that_add_up_to_it(game: XPasch) -> None:
    six = company(game, number=6)
    state = at_table((2, 3, 4), hand=[six])
    assert [action.dice for action in legal(state, Found)] == [(2, 4)]
    state = at_table((1, 5, 6), hand=[six])
    assert [action.dice for action in legal(state, Found)] == [(6,), (1, 5)]
    state = at_table((1, 2, 3), hand=[six])
    assert [action.dice for action in legal(state, Found)] == [(1, 2, 3)]
    state = at_table((3, 5, 5), hand=[six])
    assert not legal(state, Found)


def test_xp9_a_pasch_is_founded_with_two_dice_of_its_face_and_an_x_pasch_with_two_equal_ones(game: XPasch) -> None:
    pasch, any_pair = company(game, pair="5"), company(game, pair="x")
    state = at_table((3, 5, 5), hand=[pasch, any_pair])
    assert {(a.card, a.dice) for a in legal(state, Found)} == {(pasch.card, (5, 5)), (any_pair.card, (5, 5))}
    state = at_table((3, 3, 5), hand=[pasch, any_pair])
    assert {(a.card, a.dice) for a in legal(state, Found)} == {(any_pair.card, (3, 3))}


def test_xp9_an_x_pasch_may_take_three_equal_dice(game: XPasch) -> None:
    any_pair = company(game, pair="x")
    state = at_table((4, 4, 4), hand=[any_pair])
    assert [action.dice for action in legal(state, Found)] == [(4, 4), (4, 4, 4)]


def test_xp9_a_company_with_a_number_and_a_pair_is_met_either_way(game: XPasch) -> None:
    both = next(c for c in game.companies if c.number is not None and c.pair not in (None, "x") and c.number > 6)
    face = int(str(both.pair))
    by_number = next(way for way in both.ways if sum(way) == both.number and way != (face, face) and len(way) == 3)
    assert legal(at_table(by_number, hand=[both]), Found, dice=by_number)
    other = face % 6 + 1
    assert legal(at_table((face, face, other), hand=[both]), Found, dice=(face, face))


def test_xp9_the_founder_puts_the_bonus_only(game: XPasch) -> None:
    twelve = company(game, number=12)
    state = at_table((2, 6, 6), hand=[twelve])
    supply = state.supply[0]
    do(state, Found, card=twelve.card, dice=(6, 6))
    assert members(state, twelve) == (twelve.founding, 0, 0)
    assert state.supply[0] == supply - twelve.founding
    assert (state.hands[0], state.dice) == ((), (2,))


def test_xp10_a_card_drawn_this_turn_is_not_founded_this_turn(game: XPasch) -> None:
    one = company(game, number=1)
    state = at_table((1, 1, 1))
    state.pile = (one.card, *(card for card in state.pile if card != one.card), one.card)
    do(state, Draw)
    assert state.hands[0] == (one.card,)
    assert kinds(state) == {"draw", "stop"}


def test_xp10_a_card_swapped_in_is_founded_next_turn_at_the_earliest(game: XPasch) -> None:
    one = company(game, number=1)
    hand = [c for c in game.companies if c.card == c.company and c is not one][-game.tables.hand_limit :]
    state = at_table((1, 1, 2), hand=hand, chance=luck({(3, 0): (1, 2, 4)}))
    state.pile = (one.card, *(card for card in state.pile if card != one.card), one.card)
    do(state, Stop)
    do(state, Swap, card=hand[0].card)
    assert one.card in state.hands[0]
    assert state.seat == 1
    pass_turns(state, 2)
    assert legal(state, Found, card=one.card, dice=(1,))


def test_xp11_three_and_five_put_two_members_on_an_eight(game: XPasch) -> None:
    eight = company(game, number=8)
    state = at_table((1, 3, 5), boards={eight: (0, 1, 0)})
    do(state, Place, company=eight.company, dice=(3, 5))
    assert members(state, eight) == (2, 1, 0)


def test_xp11_one_three_and_four_put_three_members_on_an_eight(game: XPasch) -> None:
    eight = company(game, number=8)
    state = at_table((1, 3, 4), boards={eight: (0, 1, 0)})
    do(state, Place, company=eight.company, dice=(1, 3, 4))
    assert members(state, eight) == (3, 1, 0)


def test_xp11_two_sixes_serve_a_12_or_a_6_twice_or_a_6_pasch_or_an_x_pasch(game: XPasch) -> None:
    twelve, six = company(game, number=12), company(game, number=6)
    pasch, any_pair = company(game, pair="6"), company(game, pair="x")
    state = at_table((1, 6, 6), boards=dict.fromkeys((twelve, six, pasch, any_pair), (0, 0, 0)))
    for pair in (twelve, pasch, any_pair):
        served = state.clone()
        do(served, Place, company=pair.company, dice=(6, 6))
        assert members(served, pair) == (2, 0, 0)
    twice = state.clone()
    do(twice, Place, company=six.company, dice=(6,))
    assert members(twice, six) == (1, 0, 0)
    do(twice, Place, company=six.company, dice=(6,))
    assert members(twice, six) == (2, 0, 0)
    assert {(a.company, a.dice) for a in legal(state, Place)} == {
        (twelve.company, (6, 6)),
        (six.company, (6,)),
        (pasch.company, (6, 6)),
        (any_pair.company, (6, 6)),
    }


def test_xp12_a_company_founded_this_turn_may_be_served_too(game: XPasch) -> None:
    six = company(game, number=6)
    state = at_table((1, 6, 6), hand=[six])
    do(state, Found, card=six.card, dice=(6,))
    do(state, Place, company=six.company, dice=(6,))
    assert members(state, six) == (six.founding + 1, 0, 0)


def test_xp13_a_triple_puts_the_bonus_on_any_company(game: XPasch) -> None:
    eleven = company(game, number=11)
    state = at_table((2, 2, 2), boards={eleven: (0, 1, 0)})
    triple = game.figures.game.triple_members
    do(state, Place, company=eleven.company, dice=(2, 2, 2), members=triple)
    assert members(state, eleven) == (triple, 1, 0)
    assert state.seat == 1


def test_xp13_a_triple_founds_any_company_with_its_bonus(game: XPasch) -> None:
    seventeen = company(game, number=17)
    state = at_table((2, 2, 2), hand=[seventeen])
    do(state, Found, card=seventeen.card, dice=(2, 2, 2))
    assert members(state, seventeen) == (seventeen.founding, 0, 0)
    assert state.seat == 1


def test_xp13_the_dice_of_a_triple_may_be_used_in_the_ordinary_ways(game: XPasch) -> None:
    any_pair, four = company(game, pair="x"), company(game, number=4)
    state = at_table((4, 4, 4), boards={any_pair: (0, 0, 0), four: (0, 0, 0)})
    triple = game.figures.game.triple_members
    assert {(a.dice, a.members) for a in legal(state, Place, company=any_pair.company)} == {
        ((4, 4), 2),
        ((4, 4, 4), 3),
        ((4, 4, 4), triple),
    }
    for left in (2, 1):
        do(state, Place, company=four.company, dice=(4,))
        assert len(state.dice) == left
    assert members(state, four) == (2, 0, 0)


def test_xp13_a_triple_takes_all_three_dice_together(game: XPasch) -> None:
    two, eleven = company(game, number=2), company(game, number=11)
    state = at_table((2, 2, 2), boards={two: (0, 0, 0), eleven: (0, 0, 0)})
    do(state, Place, company=two.company, dice=(2,))
    assert {a.company for a in legal(state, Place)} == {two.company}


def test_xp14_a_member_moves_for_a_die_to_a_company_of_no_higher_income(game: XPasch) -> None:
    high, low, also_low = ranked(game)
    state = at_table(DULL, boards={high: (1, 0, 0), low: (1, 0, 0), also_low: (1, 2, 0)}, supply={0: 0})
    assert {(a.source, a.target) for a in legal(state, Move)} == {
        (high.company, low.company),
        (high.company, also_low.company),
        (low.company, also_low.company),
        (also_low.company, low.company),
    }
    do(state, Move, source=high.company, target=low.company)
    assert (members(state, high), members(state, low)) == ((0, 0, 0), (2, 0, 0))
    assert len(state.dice) == 2
    assert state.supply[0] == 0


def test_xp14_you_need_a_member_on_the_other_company(game: XPasch) -> None:
    high, low, _ = ranked(game)
    state = at_table(DULL, boards={high: (2, 0, 0), low: (0, 3, 0)}, supply={0: 0})
    assert not legal(state, Move)


def test_xp14_a_company_founded_this_turn_is_not_moved_to(game: XPasch) -> None:
    six = company(game, number=6)
    other = next(c for c in game.companies if c.income >= six.income and c.card != six.card)
    state = at_table((1, 5, 6), boards={other: (3, 0, 0)}, hand=[six])
    do(state, Found, card=six.card, dice=(6,))
    assert not legal(state, Move, target=six.company)
    assert not legal(state, Move, source=six.company)


def test_xp14_members_from_the_supply_this_turn_stay_where_they_are(game: XPasch) -> None:
    six = company(game, number=6)
    other = next(c for c in game.companies if c.income <= six.income and c.card != six.card)
    state = at_table((1, 5, 6), boards={six: (0, 0, 0), other: (1, 0, 0)})
    do(state, Place, company=six.company, dice=(6,))
    assert not legal(state, Move, source=six.company)
    state = at_table((1, 5, 6), boards={six: (1, 0, 0), other: (1, 0, 0)})
    do(state, Place, company=six.company, dice=(6,))
    do(state, Move, source=six.company, target=other.company)
    assert members(state, six) == (1, 0, 0)
    assert not legal(state, Move, source=six.company)


def test_xp14_the_member_needed_may_have_been_placed_this_turn(game: XPasch) -> None:
    one = company(game, number=1)
    rich = next(c for c in game.companies if c.income >= one.income and c.card != one.card)
    state = at_table((1, 4, 4), boards={one: (0, 0, 0), rich: (1, 0, 0)})
    assert not legal(state, Move)
    do(state, Place, company=one.company, dice=(1,))
    do(state, Move, source=rich.company, target=one.company)
    assert members(state, one) == (2, 0, 0)


def test_xp14_a_member_may_be_moved_several_times_a_die_each(game: XPasch) -> None:
    high, low, also_low = ranked(game)
    state = at_table(DULL, boards={high: (1, 0, 0), low: (1, 0, 0), also_low: (1, 0, 0)}, supply={0: 0})
    do(state, Move, source=high.company, target=low.company)
    do(state, Move, source=low.company, target=also_low.company)
    do(state, Move, source=also_low.company, target=low.company)
    assert state.seat == 1
    assert [members(state, c)[0] for c in (high, low, also_low)] == [0, 2, 1]


def test_xp14_after_the_last_member_has_left_a_company_none_moves_back(game: XPasch) -> None:
    _, low, also_low = ranked(game)
    state = at_table(DULL, boards={low: (1, 0, 0), also_low: (1, 0, 0)}, supply={0: 0})
    do(state, Move, source=low.company, target=also_low.company)
    assert not legal(state, Move)


def test_xp14_a_move_changes_which_player_collects(game: XPasch) -> None:
    high, low, _ = ranked(game)
    state = at_table(DULL, boards={high: (2, 1, 0), low: (1, 1, 0)})
    assert state.income == (high.income, 0, 0)
    do(state, Move, source=high.company, target=low.company)
    assert state.income == (low.income, 0, 0)


def test_xp18_with_three_left_in_the_supply_a_triple_puts_three(game: XPasch) -> None:
    eleven = company(game, number=11)
    state = at_table((2, 2, 2), boards={eleven: (0, 1, 0)}, supply={0: 3})
    do(state, Place, company=eleven.company)
    assert members(state, eleven) == (3, 1, 0)
    assert state.supply[0] == 0


def test_xp18_a_small_supply_makes_the_triple_and_its_three_dice_one_action(game: XPasch) -> None:
    any_pair = company(game, pair="x")
    few = at_table((4, 4, 4), boards={any_pair: (0, 0, 0)}, supply={0: 3})
    assert len(legal(few, Place, dice=(4, 4, 4))) == 1
    more = at_table((4, 4, 4), boards={any_pair: (0, 0, 0)}, supply={0: 4})
    assert len(legal(more, Place, dice=(4, 4, 4))) == 2


def test_xp18_fewer_members_than_dice_or_bonus_put_what_there_is(game: XPasch) -> None:
    eight = company(game, number=8)
    state = at_table((1, 3, 4), boards={eight: (0, 1, 0)}, supply={0: 1})
    do(state, Place, company=eight.company, dice=(1, 3, 4))
    assert members(state, eight) == (1, 1, 0)
    rich = next(c for c in game.companies if c.founding > 1 and c.card == c.company)
    state = at_table((2, 2, 2), hand=[rich], supply={0: 1})
    do(state, Found, card=rich.card, dice=(2, 2, 2))
    assert members(state, rich) == (1, 0, 0)


def test_xp18_with_no_member_left_nothing_is_founded_or_placed_but_members_move(game: XPasch) -> None:
    high, low, _ = ranked(game)
    state = at_table((2, 2, 2), boards={high: (2, 0, 0), low: (2, 0, 0)}, hand=[company(game, number=2)], supply={0: 0})
    assert kinds(state) == {"move", "draw", "stop"}


def test_xp19_members_never_leave_the_table_and_the_founder_has_no_special_right(game: XPasch) -> None:
    six = company(game, number=6)
    state = at_table((1, 1, 6), hand=[six], chance=luck({(2, 1): (6, 6, 6)}))
    do(state, Found, card=six.card, dice=(6,))
    do(state, Stop)
    do(state, Place, company=six.company, dice=(6, 6, 6))
    assert members(state, six) == (six.founding, game.figures.game.triple_members, 0)
    assert state.view(0).leader(six.company) == 1
    assert state.income == (0, six.income, 0)


def test_xp16_keeping_the_hand_changes_nothing(game: XPasch) -> None:
    hand = [c for c in game.companies if c.card == c.company][: game.tables.hand_limit]
    state = at_table((1, 1, 2), hand=hand)
    before, pile = state.hands[0], state.pile
    do(state, Stop)
    do(state, Keep)
    assert (state.hands[0], state.pile, state.seat) == (before, pile, 1)
