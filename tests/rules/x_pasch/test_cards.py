"""Drawing, swapping, and who knows what (XP-15 to XP-17, XP-23)."""

from __future__ import annotations

from random import Random

from engines.x_pasch import Company, Draw, Stop, Swap, XPasch, XPaschState
from harness import Event
from tests.rules.x_pasch.scenario import DULL, at_table, do, kinds, legal, luck


def prints(game: XPasch) -> list[Company]:
    return [c for c in game.companies if c.card == c.company]


def full_hand(game: XPasch) -> list[Company]:
    return prints(game)[: game.tables.hand_limit]


def test_xp15_each_die_draws_one_card_that_is_seen_before_the_next_decision() -> None:
    state = at_table(DULL)
    top = state.pile[:3]
    do(state, Draw)
    assert state.view(0).hand == (top[0],)
    assert len(state.dice) == 2
    do(state, Draw)
    do(state, Draw)
    assert sorted(top) == list(state.hands[0])
    assert state.seat == 1


def test_xp15_a_hand_holds_no_more_than_the_limit(game: XPasch) -> None:
    state = at_table(DULL, hand=full_hand(game)[1:])
    do(state, Draw)
    assert state.hand_sizes[0] == game.tables.hand_limit
    assert not legal(state, Draw)


def test_xp16_with_a_full_hand_one_card_goes_under_the_pile_and_the_top_one_is_taken(game: XPasch) -> None:
    state = at_table(DULL, hand=full_hand(game))
    card = full_hand(game)[2].card
    top, size = state.pile[0], len(state.pile)
    do(state, Stop)
    assert (state.seat, state.phase) == (0, "swap")
    assert kinds(state) == {"swap", "keep"}
    do(state, Swap, card=card)
    assert (state.pile[-1], len(state.pile)) == (card, size)
    assert top in state.hands[0]
    assert state.hand_sizes[0] == game.tables.hand_limit
    assert state.seat == 1


def test_xp16_a_hand_filled_with_the_last_die_may_be_swapped(game: XPasch) -> None:
    state = at_table((3,), hand=full_hand(game)[1:])
    do(state, Draw)
    assert state.phase == "swap"


def test_xp16_cards_printed_alike_are_swapped_by_one_action(game: XPasch) -> None:
    twin = next(c for c in game.companies if c.card != c.company)
    others = [c for c in prints(game) if c.card != twin.card][: game.tables.hand_limit - 2]
    state = at_table(DULL, hand=[twin, twin, *others])
    do(state, Stop)
    assert len(legal(state, Swap)) == game.tables.hand_limit - 1


def test_xp16_a_player_without_a_full_hand_is_not_asked_to_swap(game: XPasch) -> None:
    state = at_table(DULL, hand=full_hand(game)[1:])
    do(state, Stop)
    assert state.seat == 1


def test_xp17_an_empty_pile_gives_no_draw_and_no_swap(game: XPasch) -> None:
    state = at_table(DULL, empty_pile=True)
    assert kinds(state) == {"stop"}
    state = at_table(DULL, hand=full_hand(game), empty_pile=True)
    do(state, Stop)
    assert state.seat == 1


def test_xp17_from_a_pile_of_one_the_swap_takes_that_one(game: XPasch) -> None:
    state = at_table(DULL, hand=full_hand(game))
    state.pile = (last,) = state.pile[-1:]
    card = full_hand(game)[0].card
    do(state, Stop)
    do(state, Swap, card=card)
    assert state.pile == (card,)
    assert last in state.hands[0]


def after_swaps(game: XPasch) -> XPaschState:
    """Seat 0 and seat 1 have each put a card under a pile of two; seat 2 is on turn."""
    deck = prints(game)
    limit = game.tables.hand_limit
    state = at_table(DULL, hand=deck[:limit], chance=luck({(2, 1): DULL, (2, 2): DULL}))
    state.hands = (state.hands[0], tuple(c.card for c in deck[limit : 2 * limit]), ())
    state.hand_sizes = tuple(map(len, state.hands))
    table = tuple(c.company for c in game.companies if c not in deck[: 2 * limit + 2])
    state.table, state.members, state.placed = table, ((0, 0, 0),) * len(table), (0,) * len(table)
    state.pile = tuple(c.card for c in deck[2 * limit : 2 * limit + 2])
    for seat in (0, 1):
        do(state, Stop)
        do(state, Swap, card=state.hands[seat][0])
    return state


def test_xp23_all_know_which_seats_put_cards_under_the_pile_and_each_knows_its_own(game: XPasch) -> None:
    state = after_swaps(game)
    first, second = state.pile
    views = [state.view(seat) for seat in range(3)]
    assert [view.under for view in views] == [(0, 1)] * 3
    assert [view.swapped for view in views] == [(1, 1, 0)] * 3
    assert [view.sunk for view in views] == [(first,), (second,), ()]


def test_xp23_the_knowledge_ends_when_the_card_is_drawn(game: XPasch) -> None:
    state = after_swaps(game)
    do(state, Draw)
    views = [state.view(seat) for seat in range(3)]
    assert [view.under for view in views] == [(1,)] * 3
    assert [view.sunk for view in views] == [(), state.pile, ()]
    assert [view.swapped for view in views] == [(1, 1, 0)] * 3


def test_xp23_imagined_states_keep_the_cards_that_the_seat_put_under_the_pile(game: XPasch) -> None:
    state = after_swaps(game)
    imagined = [game.imagine(state.view(0), Random(seed)) for seed in range(30)]
    assert {world.pile[0] for world in imagined} == {state.pile[0]}
    assert len({world.pile[1] for world in imagined}) > 1


def test_xp23_hands_and_the_order_of_the_pile_are_secret(game: XPasch) -> None:
    state = game.new(3, luck())
    other = state.clone()
    other.hands = (state.hands[0], tuple(sorted(state.pile[:3])), tuple(sorted(state.pile[3:6])))
    other.pile = (*reversed(state.pile[6:]), *state.hands[1], *state.hands[2])
    assert other.view(0) == state.view(0)
    assert other.view(1) != state.view(1)


def test_xp23_the_table_money_dice_members_supplies_hand_sizes_and_pile_size_are_public(game: XPasch) -> None:
    state = game.new(4, luck())
    views = [state.view(seat) for seat in range(4)]
    for name in ("turn", "table", "euros", "dice", "members", "supply", "hand_sizes", "pile", "under", "swapped"):
        assert len({getattr(view, name) for view in views}) == 1, name
    assert views[0].pile == len(game.companies) - 4 * game.tables.hand_at_start


def test_xp23_only_that_seat_sees_which_card_was_drawn_or_swapped(game: XPasch) -> None:
    log: list[Event] = []
    state = at_table((3,), hand=full_hand(game)[1:], log=log)
    do(state, Draw)
    state.apply(legal(state, Swap)[0])
    assert {event.kind: event.to for event in log if "card" in event.data or "took" in event.data} == {
        "drawn": (0,),
        "swapped": (0,),
    }


def test_the_text_shows_a_seat_its_hand_and_the_boards(game: XPasch) -> None:
    state = after_swaps(game)
    text = game.render(state.view(0))
    for card in state.hands[0]:
        assert game.companies[card].requirement in text
    assert "under it from s0 s1" in text
