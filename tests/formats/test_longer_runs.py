"""Formats that follow results: which of their runs can go on, and why the others cannot."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from harness.core.errors import UsageError
from harness.core.plan import Format, Plan
from harness.core.records import MatchSpec
from harness.plugins.features import FORMATS

from .support import even, game, of_games, play, scheduled


def extended(plan: Plan, deals: int = 0, late: tuple[str, ...] = (), **settings: object) -> Plan:
    plan = scheduled(plan).plan
    games = tuple(replace(one, entrants=(*one.entrants, *late)) for one in plan.games)
    form: Format = FORMATS[plan.format]
    assert form.extend is not None
    return form.extend(
        plan, replace(plan, deals=deals or plan.deals, games=games, settings={**plan.settings, **settings})
    )


def played(plan: Plan) -> dict[int, MatchSpec]:
    return {spec.index: spec for specs in play(plan, even(9, 0.4))[0] for spec in specs}


def both(form: str, deals: int, **settings: object) -> Plan:
    return of_games((game(6, 2, "one"), game(7, 3, "two")), deals, 5, form, **settings)


@pytest.mark.parametrize(
    ("plan", "longer"),
    [
        (both("swiss", 2, rounds=3), {"rounds": 5}),
        (of_games((game(7, 3),), 300, 5, "swiss", rounds=2), {"rounds": 3}),  # rounds in several pieces
        (both("ladder", 3), {"deals": 7}),
        (both("ladder", 3, goal="best"), {"deals": 4}),
    ],
    ids=["swiss", "long rounds", "ladder", "best"],
)
def test_an_extended_run_equals_one_started_with_the_larger_size(plan, longer):
    grown = extended(plan, **longer)
    before, after = played(plan), played(grown)
    assert len(after) > len(before)
    assert {index: after[index] for index in before} == before
    settings = {**plan.settings, **{name: value for name, value in longer.items() if name != "deals"}}
    assert after == played(replace(plan, deals=longer.get("deals", plan.deals), settings=settings))


@pytest.mark.parametrize(
    ("plan", "asked", "why"),
    [
        (both("swiss", 2, rounds=3), {"deals": 4}, "The number of deals of a swiss cannot change"),
        (both("swiss", 2, rounds=3), {"rounds": 2}, "can only grow"),
        (both("swiss", 2, rounds=3), {"rounds": 3, "late": ("new",)}, "No bot can join a swiss late"),
        (of_games((game(4, 2, "a"), game(9, 2, "b")), 1, 5, "swiss"), {"rounds": 6}, "all its games end at the same"),
        (both("ladder", 3, until_separated=0.9), {"deals": 9}, "no number of deals ends it"),
        (both("ladder", 3, max_matches=12), {"deals": 9}, "adds no match"),
        (both("ladder", 3), {"deals": 9, "goal": "best"}, "keeps its goal"),
        (both("ladder", 3), {"late": ("new",)}, "the goal newcomer"),
        (both("knockout", 3), {"deals": 4}, "A knockout cannot be extended"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_extension_that_would_change_played_matches_is_refused_with_the_reason(plan, asked, why):
    with pytest.raises(UsageError, match=why):
        extended(plan, **asked)


def test_every_bundled_format_says_whether_its_runs_can_be_extended():
    assert all(form.extend is not None for form in FORMATS.values())
