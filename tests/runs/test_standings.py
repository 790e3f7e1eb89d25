"""A run's leaderboards know what results decided in it."""

from __future__ import annotations

from math import isfinite
from random import Random

import msgspec
import pytest

import harness
from harness.core.plan import GamePlan, Plan
from harness.core.records import in_schedule_order
from harness.plugins.features import FORMATS
from harness.ratings.counts import by_players
from harness.ratings.leaderboard import claim_level
from harness.ratings.statistics import LEVEL
from harness.runs.scheduler import Schedule
from harness.runs.standings import boards_of, counts_of
from harness.runs.store import RunFolder
from tests.ratings.simulate import World, tournament

GAME = GamePlan("sim", "1", {}, 2, ("bot0", "bot1", "bot2"))


@pytest.mark.parametrize(
    ("name", "design"),
    [
        ("round-robin", "fixed"),
        ("gauntlet", "fixed"),
        ("swiss", "seated"),
        ("knockout", "seated"),
        ("ladder", "anytime"),
        ("compare", "anytime"),
    ],
)
def test_the_plan_of_each_format_has_its_design(name, design):
    assert FORMATS[name].design == design
    if name in ("round-robin", "swiss", "knockout", "ladder"):
        plan = Schedule(Plan((GAME,), 2, 1, name), FORMATS).plan
        assert plan.design == design
        assert msgspec.json.decode(msgspec.json.encode(plan), type=Plan) == plan


def board(plan, **more):
    counts = counts_of(plan, **more)
    for record in in_schedule_order(tournament(World([0.0, 0.5, 3.0], 2), 20, Random(1), shared=False)):
        counts.add(record)
    (found,) = counts.boards()
    return found


def test_claims_depend_on_the_design_of_the_plan():
    plans = (Plan((GAME,), 20, 1, name) for name in ("round-robin", "swiss", "ladder"))
    fixed, seated, anytime = (board(Schedule(plan, FORMATS).plan) for plan in plans)
    assert ("bot2", "bot0") in fixed.significant_pairs & seated.significant_pairs
    assert isfinite(fixed.standings[0].skill.reach)
    assert [one.design for one in (fixed, seated, anytime)] == ["fixed", "seated", "anytime"]
    # Results that decide who meets whom, or when to stop, bias intervals.
    assert not isfinite(seated.standings[0].skill.reach)
    assert not isfinite(anytime.standings[0].skill.reach)


class Believer:
    """Claims whatever it has seen finish first."""

    def __init__(self):
        self.seen = set()

    def add(self, record):
        best = record.ranks.index(1)
        self.seen.add((record.seats[best], record.seats[1 - best]))

    def claims(self, level):
        assert level == 0.95
        return {("bot2", "bot0")} & self.seen


def test_anytime_tests_are_used_only_with_all_matches_of_a_run(monkeypatch):
    monkeypatch.setattr("harness.runs.standings.running_claims", lambda _plan: {"sim": Believer()})
    plan = Plan((GAME,), 20, 1, "ladder", design="anytime")
    assert board(plan).significant_pairs == {("bot2", "bot0")}
    assert board(plan, whole=False).significant_pairs == frozenset()
    assert board(plan, by=by_players).significant_pairs == frozenset()


def test_a_run_s_boards_are_made_from_its_plan():
    played = harness.tournament(
        "el-paso", ["outlaw", "diehard", "random"], deals=2, seed=7, workers=0, players=2, format="ladder"
    )
    folder = RunFolder.open(played.folder)
    assert folder.info.plan.design == "anytime"
    (found,) = boards_of(folder)
    assert found.design == "anytime"
    (some,) = boards_of(folder, [record for record in folder.records() if "random" not in record.seats])
    assert len(some.standings) == 2


def test_only_finished_runs_claim_and_each_end_after_an_extension_claims_less():
    played = harness.tournament("el-paso", ["outlaw", "random"], deals=12, seed=7, workers=0, players=2)
    folder = RunFolder.open(played.folder)
    assert (folder.info.ends, folder.info.end) == ((), 1)
    (found,) = boards_of(folder)
    assert found.significant_pairs == {("outlaw", "random")}
    folder.extend(msgspec.structs.replace(folder.info.plan, deals=14))
    again = RunFolder.open(played.folder)
    assert again.info.ends == (folder.info.ends[0],) == (played.info.finished,)
    assert again.info.end == 0
    (unfinished,) = boards_of(again)
    assert not unfinished.claims_made
    assert unfinished.significant_pairs == frozenset()
    assert [one.skill for one in unfinished.standings] == [one.skill for one in found.standings]
    longer = harness.tournament(resume=played.folder, workers=0)
    assert longer.info.end == 2
    assert claim_level(2) > claim_level(1) > LEVEL
