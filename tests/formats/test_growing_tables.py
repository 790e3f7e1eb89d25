"""A run that was extended: what was to be played before stays as it was, and whoever comes late plays as much."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.core.errors import UsageError
from harness.core.plan import Plan
from harness.core.records import MatchSpec
from harness.plugins.features import FORMATS

from .support import game, meetings, names, of_games, scheduled, spread


def extended(plan: Plan, deals: int = 0, bots: int = 0, candidates: tuple[str, ...] = ()) -> Plan:
    """The plan of a run of this plan with more deals, and so many more bots in its first game."""
    plan = scheduled(plan).plan
    first, *others = plan.games
    late = tuple(f"late{number}" for number in range(len(first.entrants), len(first.entrants) + bots))
    asked = replace(
        plan,
        deals=max(deals, plan.deals),
        games=(replace(first, entrants=(*first.entrants, *late)), *others),
        candidates=(*plan.candidates, *candidates),
    )
    extend = FORMATS[plan.format].extend
    assert extend is not None
    return extend(plan, asked)


def matches(plan: Plan) -> list[MatchSpec]:
    """The schedule, which must be sound."""
    schedule = scheduled(plan)
    specs = list(schedule.matches())
    assert [spec.index for spec in specs] == list(range(len(specs)))
    assert len({spec.id for spec in specs}) == len(specs) == schedule.count()
    return specs


def sets(specs: list[MatchSpec]) -> Counter[tuple[int, tuple[str, ...]]]:
    """What is played: deals and who sits where."""
    return Counter((spec.seed, spec.seats) for spec in specs)


def tables(specs: list[MatchSpec], name: str = "one") -> list[frozenset[str]]:
    """The tables of all sets of a game."""
    return list({spec.set: frozenset(spec.seats) for spec in specs if spec.game == name}.values())


def plan_of(form: str, bots: int = 5, seats: int = 3, deals: int = 2, **more: object) -> Plan:
    both = (game(bots, seats, "one"), game(bots + 1, 2, "two"))
    return of_games(both, deals, 7, form, ("bot00",) if form == "gauntlet" else (), **more)


@given(
    form=st.sampled_from(["round-robin", "gauntlet"]),
    tables=st.sampled_from([0, 0, 2, 5]),
    seats=st.integers(2, 4),
    steps=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=3),
)
@settings(max_examples=60, deadline=None)
def test_extending_a_plan_never_changes_its_earlier_matches(form, tables, seats, steps):
    plan = plan_of(form, 5, seats, 2, tables=tables)
    for more, late in steps:
        before, plan = matches(plan), extended(plan, plan.deals + more, late)
        assert matches(plan)[: len(before)] == before


def test_extending_the_deals_of_all_tables_gives_the_same_plan_as_starting_with_them():
    for form in ("round-robin", "gauntlet"):
        grown = extended(plan_of(form, deals=3), deals=8)
        assert grown.before == ()
        assert grown == scheduled(plan_of(form, deals=8)).plan


def test_each_table_with_a_late_bot_plays_every_deal_once():
    plan = extended(extended(plan_of("round-robin"), deals=4, bots=2), deals=5, bots=1)
    everybody = next(one for one in plan.games if one.name == "one").entrants
    assert len(everybody) == 8
    assert Counter(tables(matches(plan))) == {frozenset(one): 5 for one in combinations(everybody, 3)}
    assert Counter(tables(matches(plan), "two")) == {frozenset(one): 5 for one in combinations(names(6), 2)}


def test_a_late_candidate_gets_the_same_deals_tables_and_seats_as_the_others():
    late = extended(plan_of("gauntlet"), bots=1, candidates=("late5",))
    more = extended(late, deals=4)
    first, second = late.games
    at_once = of_games((first, second), 4, 7, "gauntlet", ("bot00", "late5"))
    assert sets(matches(more)) == sets(matches(at_once))
    assert [spec.id for spec in matches(more)] != [spec.id for spec in matches(at_once)]


def test_every_candidate_meets_a_late_bot_of_the_field_on_the_same_deals():
    plan = extended(plan_of("gauntlet"), bots=1)
    plan = extended(plan, bots=1, candidates=("late6",))
    specs = [spec for spec in matches(plan) if spec.game == "one"]
    by_candidate = {
        candidate: Counter(
            (spec.seed, tuple(None if name == candidate else name for name in spec.seats))
            for spec in specs
            if candidate in spec.seats
        )
        for candidate in ("bot00", "late6")
    }
    assert by_candidate["bot00"] == by_candidate["late6"]
    assert sum(by_candidate["bot00"].values()) == 2 * comb(5, 2) * 3  # two deals of the field of five


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_with_sampled_tables_late_bots_play_about_as_often_as_the_others(seats):
    plan = of_games((game(9, seats, "one"),), 4, 1, "round-robin", tables=6)
    grown = extended(plan, deals=8, bots=2)
    sat = Counter(name for table in tables(matches(grown)) for name in table)
    assert max(sat.values()) - min(sat.values()) <= 2 + 4 * (seats - 1)  # the others have sat down with who was late
    assert min(sat["late9"], sat["late10"]) >= 0.7 * sum(sat.values()) / len(sat)


def test_deals_added_to_sampled_tables_are_balanced():
    plan = of_games((game(9, 3, "one"),), 4, 1, "round-robin", tables=6)
    grown = extended(plan, deals=10)
    assert len(grown.before) == 1
    since = tables(matches(grown)[len(matches(plan)) :])
    sat = Counter(name for table in since for name in table)
    assert max(sat.values()) - min(sat.values()) <= 1
    assert spread(meetings(since), [frozenset(pair) for pair in combinations(names(9), 2)]) <= 2


def test_a_plan_with_late_bots_is_read_back_from_json_unchanged():
    import msgspec

    plan = extended(extended(plan_of("gauntlet"), 3, 1), 4, 1, ("late6",))
    again = msgspec.json.decode(msgspec.json.encode(plan), type=Plan)
    assert again == plan
    assert [stage.deals for stage in again.stages()] == [2, 3, 4]
    assert [len(stage.games[0].entrants) for stage in again.stages()] == [5, 6, 7]
    assert [stage.candidates for stage in again.stages()] == [("bot00",), ("bot00",), ("bot00", "late6")]


def test_format_options_cannot_be_changed_by_an_extension():
    plan = scheduled(plan_of("round-robin")).plan
    extend = FORMATS["round-robin"].extend
    assert extend is not None
    with pytest.raises(UsageError, match="stay as they are"):
        extend(plan, replace(plan, deals=9, settings={"tables": 4}))
