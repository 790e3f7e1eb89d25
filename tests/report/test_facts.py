"""One pass over the records finds what the pages show."""

from __future__ import annotations

from random import Random

import pytest

from harness.core.records import Fault, in_schedule_order
from harness.ratings.skill import PairGraph, fit_skills
from harness.report import facts as facts_module
from harness.report.charts import charts
from harness.report.facts import FORM, gather
from harness.report.picks import EACH
from harness.runs.monitor import MAX_FAULT_GROUPS
from tests.ratings.simulate import World, count_records, record, tournament


def reasons(facts):
    return [(pick.match, pick.reason) for pick in facts.picks.chosen()]


def test_the_counts_of_the_report_equal_those_of_the_leaderboard():
    records = list(tournament(World((0.0, 1.0, 2.0), 3), 5, Random(1)))
    facts = gather(in_schedule_order(reversed(records)))
    assert facts.counts.counts()["sim"].totals == count_records(records)["sim"].totals
    [board] = facts.counts.boards()
    assert facts.matches == len(records) == facts.curves["sim"].to(board)[-1][0]


def test_a_curve_has_the_skills_fitted_to_the_matches_up_to_each_point():
    records = list(tournament(World((0.0, 1.0, 2.0), 3), 40, Random(1)))
    facts = gather(records)
    [board] = facts.counts.boards()
    points = facts.curves["sim"].to(board)
    assert 5 < len(points) < 25  # a point for each growth by 1.3, not for each match
    for matches, skills in points[-4:]:
        counts = count_records(records[:matches])["sim"]
        expected = fit_skills(PairGraph(counts.pairs, len(counts.totals))).mu
        assert skills == pytest.approx({one.bot: expected[one.number] for one in counts.totals.values()}, abs=1e-4)
    assert points[-1][1] == {one.bot: one.skill.value for one in board.standings}


def test_a_very_large_field_has_no_curve(monkeypatch):
    monkeypatch.setattr(facts_module, "MAX_CURVE_BOTS", 30)
    facts = gather(record((f"bot{n}", f"bot{n + 1}"), (1, 2), index=n, seed=n) for n in range(40))
    [board] = facts.counts.boards()
    assert facts.curves["sim"].to(board) == []
    assert "sim-curves" not in [chart.name for chart in charts(board, facts)]


def test_each_game_has_a_curve():
    facts = gather([record("ab", (1, 2), game="one"), record("ab", (1, 2), index=1, game="two")])
    assert set(facts.curves) == {"one", "two"}
    assert ("two", "a") in facts.scores


def test_the_closest_matches_are_chosen():
    scores = [(50, 10), (50, 49), (50, 30), (50, 50), (50, 20)]
    facts = gather(record("ab", both, index=index) for index, both in enumerate(scores))
    assert reasons(facts) == [("sim-1.1.3", "close"), ("sim-1.1.1", "close")]


def test_an_upset_is_a_win_against_the_skills_of_the_moment():
    results = [(9, 1)] * 20 + [(1, 9)] + [(9, 1)] * 5
    facts = gather(record("ab", both, index=index) for index, both in enumerate(results))
    assert [match for match, reason in reasons(facts) if reason == "upset"] == ["sim-1.1.20"]


def test_one_match_of_each_kind_of_fault_is_chosen():
    faults = [(0, "crash"), (0, "crash"), (1, "timeout"), (1, "disqualified"), (0, "crash")]
    facts = gather(
        record("ab", (1, 2), index=index, faults=(Fault(seat, kind, 3, "boom"),))
        for index, (seat, kind) in enumerate(faults)
    )
    assert reasons(facts) == [("sim-1.1.0", "fault"), ("sim-1.1.2", "fault")]
    assert EACH == 2
    crash, timeout = facts.faults
    assert (crash.count, [one.match for one in crash.examples]) == (3, ["sim-1.1.0", "sim-1.1.1", "sim-1.1.4"])
    assert (timeout.bot, timeout.count) == ("b", 1)
    assert facts.failed == facts.matches == 5


def test_the_number_of_fault_groups_kept_in_memory_is_limited():
    facts = gather(
        record("ab", (1, 2), index=index, faults=(Fault(0, "crash", 0, f"exit code {index}"),)) for index in range(200)
    )
    assert len(facts.faults) == MAX_FAULT_GROUPS
    assert facts.faults.more == 200 - MAX_FAULT_GROUPS
    assert facts.faults.total == 200


def test_the_form_of_a_bot_is_its_latest_places():
    facts = gather(record("ab", (index, 50), index=index) for index in range(100))
    assert list(facts.form["sim", "a"])[-1] == (1, 2)
    assert list(facts.form["sim", "b"])[-1] == (2, 2)
    assert len(facts.form["sim", "a"]) == FORM


def test_typical_time_is_measured_per_decision():
    facts = gather([record("ab", (1, 2), time=(0.4, 0.0), slowest=(0.3, 0.0), decisions=(4, 0))])
    pace = facts.pace["sim", "a"]
    assert pace.typical.quantiles((0.5,)) == [100_000]
    assert pace.slowest == 0.3
    assert not facts.pace["sim", "b"].typical.counts
