from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.core.records import Fault, GameRecord
from harness.core.rng import Chance

from .support import even, names, plan, play, scheduled, sets_of


@pytest.mark.parametrize("seats", range(2, 7))
def test_it_always_ends_with_a_final_of_one_table(seats: int) -> None:
    for bots in range(seats, 41):
        asked = plan(bots, seats, "knockout")
        rounds, outcomes = play(asked)
        assert sum(map(len, rounds)) == scheduled(asked).count(), bots
        final = sets_of(rounds[-1])
        assert len(final) == 1, bots
        standing = outcomes["game"].standing
        assert sorted(standing) == sorted(names(bots)), bots
        assert set(standing[:seats]) == set(*final.values()), "the finalists stand first"


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 6), st.integers(0, 40), st.integers(0, 2**48))
def test_half_of_every_table_advances_and_eliminated_bots_do_not_return(seats: int, more: int, seed: int) -> None:
    bots = seats + more
    rounds, outcomes = play(plan(bots, seats, "knockout", seed=seed))
    left = set(names(bots))
    for specs, after in pairwise(rounds):
        playing = {name for table in sets_of(specs).values() for name in table}
        idle = left - playing
        assert len(idle) == len(left) % seats
        survivors = max(len(sets_of(specs)) * (seats // 2) + len(idle), seats)
        following = {name for table in sets_of(after).values() for name in table}
        assert following <= left
        beaten = set(outcomes["game"].standing[survivors : len(left)])
        assert len(beaten) == len(left) - survivors
        assert not beaten & idle, "who sits out goes on"
        left -= beaten
        assert following <= left
        for table in sets_of(specs).values() if survivors > seats else ():
            assert len(table & left) == seats // 2


def test_tables_of_two_give_a_standard_knockout_bracket() -> None:
    rounds, outcomes = play(plan(8, 2, "knockout"), even(8, 50))
    assert [len(sets_of(specs)) for specs in rounds] == [4, 2, 1]
    assert outcomes["game"].standing[0] == "bot07"
    assert outcomes["game"].note == "bot07 wins the final."


def test_too_few_survivors_are_filled_up_with_the_best_eliminated_bots() -> None:
    rounds, outcomes = play(plan(5, 4, "knockout"), even(5, 50))
    assert len(rounds) == 2
    (first,), (final,) = (sets_of(specs).values() for specs in rounds)
    assert set(names(5)) - final == {min(first)}
    assert outcomes["game"].standing[0] == "bot04"


def test_the_best_bots_reach_the_final_for_any_draw() -> None:
    for seed in range(20):
        _, outcomes = play(plan(16, 4, "knockout", seed=seed), even(16, 50))
        assert outcomes["game"].standing[:2] == ("bot15", "bot14")


def all_level(record: GameRecord) -> GameRecord:
    same = (1,) * len(record.seats)
    return replace(record, ranks=same, scores=same)


def test_ties_are_broken_by_seed() -> None:
    rounds, outcomes = play(plan(16, 4, "knockout"), change=all_level)
    again, same = play(plan(16, 4, "knockout"), change=all_level)
    assert len(rounds) == 3
    assert (rounds, outcomes) == (again, same)


def test_tied_bots_with_faults_rank_below_those_without() -> None:
    def bot03_fails(record: GameRecord) -> GameRecord:
        level = all_level(record)
        faults = tuple(Fault(seat, "crash", 0) for seat, name in enumerate(record.seats) if name == "bot03")
        return replace(level, faults=faults)

    for seed in range(8):
        _, outcomes = play(plan(4, 4, "knockout", seed=seed), change=bot03_fails)
        assert outcomes["game"].standing[-1] == "bot03"


def test_tied_bots_without_faults_are_ranked_by_score() -> None:
    def by_number(record: GameRecord) -> GameRecord:
        return replace(record, ranks=(1,) * len(record.seats), scores=tuple(int(name[3:]) for name in record.seats))

    for seed in range(8):
        _, outcomes = play(plan(4, 4, "knockout", seed=seed), change=by_number)
        assert outcomes["game"].standing == ("bot03", "bot02", "bot01", "bot00")


def test_byes_are_not_repeated_before_every_other_bot_had_one() -> None:
    for bots in range(5, 30):
        rounds, _ = play(plan(bots, 4, "knockout"))
        first = {name for table in sets_of(rounds[0]).values() for name in table}
        second = {name for table in sets_of(rounds[1]).values() for name in table}
        left = len(first) // 2 + bots % 4
        if left > 4 and left % 4 <= left - bots % 4:
            assert set(names(bots)) - first <= second


def test_tables_are_filled_in_snake_order() -> None:
    rounds, _ = play(plan(8, 4, "knockout"), even(8, 50))
    seeds = Chance(1).shuffled(names(8), "lots", "game")
    one, two = sets_of(rounds[0]).values()
    assert one == {seeds[0], seeds[3], seeds[4], seeds[7]}
    assert two == {seeds[1], seeds[2], seeds[5], seeds[6]}


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 6), st.integers(0, 40), st.integers(0, 2**48))
def test_the_bracket_has_every_round_with_the_bots_that_advanced(seats: int, more: int, seed: int) -> None:
    bots = seats + more
    rounds, outcomes = play(plan(bots, seats, "knockout", seed=seed))
    bracket = outcomes["game"].bracket
    assert len(bracket) == len(rounds)
    left = set(names(bots))
    for each, specs in zip(bracket, rounds, strict=True):
        tables = [{entry.bot for entry in table} for table in each.tables]
        assert tables == list(sets_of(specs).values())
        assert set().union(*tables) | set(each.byes) == left
        for table in each.tables:
            assert [entry.points for entry in table] == sorted((entry.points for entry in table), reverse=True)
            assert sum(entry.points for entry in table) == seats * each.most / 2
        left = {entry.bot for table in each.tables for entry in table if entry.through} | set(each.byes)
    assert left == {outcomes["game"].standing[0]}
    assert bracket[-1].name == "final"


def test_the_tie_break_is_reported() -> None:
    def all_level(record: GameRecord) -> GameRecord:
        return replace(record, scores=(0, 0), ranks=(1, 1))

    def level_but_for_scores(record: GameRecord) -> GameRecord:
        return replace(record, scores=tuple(int(name[3:]) for name in record.seats), ranks=(1, 1))

    def level_but_for_faults(record: GameRecord) -> GameRecord:
        failed = tuple(Fault(seat, "crash", 1, "") for seat, name in enumerate(record.seats) if name == "bot01")
        return replace(record, scores=(0, 0), ranks=(1, 1), faults=failed)

    for change, what in ((all_level, "seed"), (level_but_for_scores, "scores"), (level_but_for_faults, "fewer faults")):
        _, outcomes = play(plan(2, 2, "knockout"), change=change)
        winner, other = outcomes["game"].standing
        [final] = outcomes["game"].bracket
        assert final.notes == (f"level on points: {winner} before {other} by {what}.",)
