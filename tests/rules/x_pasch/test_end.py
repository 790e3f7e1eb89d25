"""The end of the game (XP-20 to XP-22)."""

from __future__ import annotations

from random import Random

from engines.x_pasch import Stop, XPasch
from engines.x_pasch.state import ROUNDS
from harness import NOBODY, Event, ranks_of
from tests.rules.x_pasch.scenario import DULL, at_table, company, do, pass_turns


def test_xp20_seats_after_the_one_that_reaches_the_target_collect_once_more(game: XPasch) -> None:
    eight, twelve, six = (company(game, number=n) for n in (8, 12, 6))
    target = game.tables.target
    log: list[Event] = []
    state = at_table(
        DULL,
        boards={eight: (0, 1, 0, 0), twelve: (0, 0, 1, 0), six: (1, 0, 0, 0)},
        euros=(target - 1, target - 1, target - 1, 4),
        log=log,
    )
    do(state, Stop)
    assert state.scores() == (target - 1, target - 1 + eight.income, target - 1 + twelve.income, 4)
    assert state.ending == "target"
    assert [event.data["seat"] for event in log if event.kind == "income"] == [1, 2, 3]
    assert log[-1].kind == "end"


def test_xp20_no_player_collects_again_after_the_last_seat(game: XPasch) -> None:
    eight, six = company(game, number=8), company(game, number=6)
    target = game.tables.target
    state = at_table(DULL, boards={eight: (0, 0, 1), six: (1, 0, 0)}, seat=1, euros=(50, 60, target - 1))
    do(state, Stop)
    assert state.scores() == (50, 60, target - 1 + eight.income)


def test_xp20_the_score_is_the_money_and_the_highest_wins(game: XPasch) -> None:
    eight, twelve = company(game, number=8), company(game, number=12)
    target = game.tables.target
    state = at_table(
        DULL, boards={eight: (0, 1, 0), twelve: (0, 0, 1)}, euros=(0, target - eight.income, target - twelve.income)
    )
    do(state, Stop)
    assert state.scores() == (0, target, target)
    assert ranks_of(state.scores()) == (3, 1, 1)


def test_xp21_after_100_full_rounds_the_game_is_stopped_and_scored_as_it_stands(game: XPasch) -> None:
    assert ROUNDS == 100
    state = at_table(DULL, seat=1, round=ROUNDS, euros=(3, 1, 2))
    pass_turns(state, 1)
    assert (state.seat, state.ending) == (2, "")
    do(state, Stop)
    assert (state.seat, state.ending, state.legal, state.scores()) == (NOBODY, "truncated", (), (3, 1, 2))
    assert game.imagine(state.view(0), Random(1)).ending == "truncated"


def test_xp21_a_game_in_which_no_player_acts_is_truncated() -> None:
    state = at_table(DULL, round=1)
    pass_turns(state, 3 * ROUNDS)
    assert (state.ending, state.round) == ("truncated", ROUNDS)


def test_xp22_a_lower_target_ends_the_game_earlier(game: XPasch) -> None:
    eight = company(game, number=8)
    short = XPasch.configure({"target": eight.income})
    for rules, ending in ((game, ""), (short, "target")):
        state = at_table(DULL, boards={eight: (0, 1, 0)}, game=rules)
        do(state, Stop)
        assert state.ending == ending
