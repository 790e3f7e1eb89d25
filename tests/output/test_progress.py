"""Progress: what it says while a run goes on."""

from __future__ import annotations

import re
from itertools import combinations
from random import Random
from statistics import NormalDist, median
from time import process_time

import pytest
from msgspec.structs import replace

from harness.core.plan import GamePlan, Plan
from harness.core.records import Fault
from harness.output.columns import about, duration, rate
from harness.output.progress import Progress, shown_work
from harness.plugins.features import FORMATS
from harness.ratings.leaderboard import leaderboard
from harness.ratings.skill import SPREAD
from harness.runs.monitor import RunningStanding, TimeLeft, Workload
from harness.runs.reader import followed
from harness.runs.scheduler import Schedule
from tests.ratings.simulate import count_records, record


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0000124, "12 µs"), (0.0035, "3.5 ms"), (0.0124, "12 ms"), (0.9999, "1.0 s"), (3.47, "3.5 s"), (42, "42 s"),
        (125, "2 min 05 s"), (3900, "1 h 05 min"), (100_000, "1 d 4 h"),
    ],
)  # fmt: skip
def test_durations_are_formatted_with_readable_units(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(3, "a few seconds"), (38, "40 s"), (52, "50 s"), (61, "1 min"), (83, "1 min 20 s"), (431, "7 min"),
     (1900, "32 min"), (4000, "1 h 05 min"), (7190, "2 h")],
)  # fmt: skip
def test_estimates_are_rounded(seconds, text):
    assert about(seconds).removeprefix("about ") == text


def test_rates_are_formatted_with_a_suitable_unit():
    assert rate(1234.5) == "1,234 a second"
    assert rate(0.2) == "12 a minute"
    assert rate(1 / 40) == "one every 40 s"
    assert rate(0) == "none yet"


def match(game, seats, cost, index=0):
    return record(seats, tuple(range(len(seats), 0, -1)), index=index, game=game, time=(cost,) * len(seats))


def test_the_time_left_accounts_for_different_games_and_bots():
    """Slow matches come first in the schedule: half of the matches are more than half of the work."""
    plan = Plan((GamePlan("fast", "1", {}, 2, ("a", "b")), GamePlan("slow", "1", {}, 2, ("a", "b"))), 40, 1)
    workload = Workload.of_schedule(Schedule(plan, FORMATS))
    assert workload.total == 160
    assert workload.seats == {(game, bot): 80 for game in ("fast", "slow") for bot in "ab"}
    left, now = TimeLeft(workload, 0.0), 0.0
    for index in range(60):
        now += 1.0
        left.add_record(match("slow", "ab", 0.5, index), now)
    for index in range(40):
        now += 0.1
        left.add_record(match("fast", "ab", 0.05, index), now)
    assert left.seconds(now) == pytest.approx(20 * 1.0 + 40 * 0.1, rel=0.1)


def test_no_time_left_is_estimated_before_every_bot_has_finished_a_match():
    """The bots that think for long are the last to finish a match."""
    left = TimeLeft(Workload(100, matches={"sim": 100}, seats={("sim", bot): 67 for bot in "abc"}), 0.0)
    for index in range(20):
        left.add_record(match("sim", "ab", 0.01, index), 1.0 + index / 100)
    assert left.seconds(2.0) is None
    left.add_record(match("sim", "bc", 1.0, 20), 10.0)
    assert left.seconds(10.0) > 40


def test_matches_played_before_a_resume_do_not_affect_the_estimated_time():
    left = TimeLeft(Workload(100, matches={"sim": 100}), 0.0)
    for index in range(50):
        left.add_record(match("sim", "ab", 0.5, index), 0.0)
    left.restart(1000.0)
    assert left.seconds(1000.0) is None
    for index in range(10):
        left.add_record(match("sim", "ab", 0.5, index), 1002.0 + 2 * index)
    assert left.seconds(1020.0) == pytest.approx(80, rel=0.15)


def test_the_leaders_account_for_the_strength_of_opponents():
    """The first one meets only strong opponents and so finishes ahead of fewer than one that meets only weak ones."""
    luck, standing = Random(1), RunningStanding()
    worth = {bot: place for place, bot in enumerate("fedcba")}
    weak_and_strong = [*combinations("abc", 2), *combinations("def", 2), ("c", "d")]
    for index in range(4000):
        seats = weak_and_strong[index % len(weak_and_strong)]
        odds = 0.5 + 0.08 * (worth[seats[0]] - worth[seats[1]])
        standing.add_record(record(seats, (2, 1) if luck.random() < odds else (1, 2), index=index))
    found = standing.skills()
    assert [bot for bot, _ in found] == list("abcdef")
    assert sum(skill for _, skill in found) == pytest.approx(6 * 25, abs=1e-3)
    gap = found[0][1] - found[5][1]
    assert gap == pytest.approx(5 * SPREAD * NormalDist().inv_cdf(0.58), rel=0.2)


def test_the_standing_in_progress_is_the_fit_of_the_leaderboard():
    luck, standing, records = Random(2), RunningStanding(), []
    for index in range(600):
        seats = luck.sample("abcdefgh", 3)
        records.append(record(seats, [luck.gauss(-ord(bot) / 4, 2) for bot in seats], index=index, seed=index))
        standing.add_record(records[-1])
        if index % 97 == 0:
            standing.skills()
    board = leaderboard(count_records(records)["sim"])
    expected = {one.bot: one.skill.value for one in board.standings}
    assert dict(standing.skills()) == pytest.approx(expected, abs=1e-4)
    assert [bot for bot, _ in standing.skills()] == list(expected)


def test_a_standing_in_progress_of_24_bots_takes_5_ms():
    luck, standing = Random(3), RunningStanding()
    for index, (one, other) in enumerate(list(combinations(range(24), 2)) * 10):
        scores = luck.gauss(one / 8, 1), luck.gauss(other / 8, 1)
        standing.add_record(record((f"bot{one}", f"bot{other}"), scores, index=index))
    standing.skills()
    took = []
    for index in range(9):
        standing.add_record(record(("bot1", f"bot{index + 2}"), (2, 1), index=index))
        before = process_time()
        standing.skills()
        took.append(process_time() - before)
    assert median(took) < 0.02  # 3 to 5 ms when this was written; a busy machine takes a multiple of that


def test_the_standing_before_any_match_is_empty():
    assert RunningStanding().skills() == []


def shown(ahead, matches, width, began=60.0):
    progress = Progress("matches", ahead)
    for one in matches:
        progress.add_record(one)
    return progress.line(progress.began + began, width)


def test_a_progress_line_fits_the_width_by_omitting_less_important_parts():
    matches = [match("sim", ("a-rather-long-name", "another-long-name", "c"), 0.1, index) for index in range(30)]
    full = shown(Workload(3000, matches={"sim": 3000}), matches, None)
    assert full.startswith("matches: 30 of 3,000 (1%), about ")
    assert "29 a minute" in full
    assert re.search(r"\| skill: a-rather-long-name 3\d\.\d, another-long-name 25\.0, c 1\d\.\d$", full)
    for width in (120, 79, 60, 30, 10):
        line = shown(Workload(3000, matches={"sim": 3000}), matches, width)
        assert len(line) <= width
        assert full.startswith(line.split(" | ")[0])
    failing = [*matches, record(("oops", "b"), (1, 2), faults=(Fault(0, "crash", 0),))]
    assert "1 fault: oops 1" in shown(Workload(3000, matches={"sim": 3000}), failing, 60)


def test_with_several_games_the_leader_of_each_is_shown():
    matches = [match(game, "ab", 0.1, index) for index, game in enumerate(["one", "two"] * 20)]
    assert re.search(r"\| skill: a (\d+\.\d) in one, a \1 in two$", shown(Workload(100), matches, None))


def test_skills_are_shown_from_the_20th_match_of_a_bot_and_never_in_a_check():
    matches = [match("sim", "ab", 0.1, index) for index in range(20)]
    assert "skill" not in shown(Workload(100), matches[:19], None)
    assert "| skill: a " in shown(Workload(100), matches, None)
    assert "skill" not in shown(Workload(100, is_ranked=False), matches, None)
    late = [*matches, match("sim", "cd", 0.1, 20)]
    assert re.search(r"\| skill: a [\d.]+, b [\d.]+$", shown(Workload(100), late, None))


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("swiss", {}, "round 1 of 3"),
        ("knockout", {}, "round 1 of 3"),
        ("ladder", {}, "round 1 of 5"),
        ("ladder", {"max-matches": 20}, "round 1 of 3"),
        ("ladder", {"until-separated": 0.9, "max-matches": 500}, "round 1"),
    ],
)
def test_an_adaptive_format_shows_its_round(name, settings, said):
    plan = Plan((GamePlan("sim", "1", {}, 2, tuple("abcdefgh")),), 5, 1, name, settings)
    workload = Workload.of_schedule(Schedule(plan, FORMATS))
    line = shown(workload, [replace(match("sim", "ab", 0.1), round=1)], None)
    assert f", {said}, " in line
    assert ("at most" in line) == ("until-separated" in settings)


def test_quick_runs_show_no_progress_and_lines_are_redrawn_in_place(capsys):
    with Progress("matches", 100) as progress:
        progress.terminal = True
        progress.add_record(match("sim", "ab", 0.1))
        assert capsys.readouterr().err == ""
        progress._draw()
        once = capsys.readouterr().err
        assert once.startswith("\rmatches: 1 of 100")
        assert once.endswith("\x1b[K")
    assert capsys.readouterr().err == "\r\x1b[K"


def test_long_work_is_counted_with_its_total_and_the_time_left(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("harness.output.progress.monotonic", lambda: clock[0])
    progress, lines = Progress("", quiet=True), []
    for _ in progress.follow("ab", "runs", lambda: 2):
        for _ in progress.follow(range(1000), "records", lambda: 1000):
            clock[0] += 0.02
            lines.append(progress.line(clock[0]))
        lines += [progress.line(clock[0], 30) for _ in progress.follow(range(2), "charts", lambda: 2)]
    assert lines[500] == "runs: 0 of 2 (25%), about 30 s left, records: 500 of 1,000"
    assert lines[1000] == "runs: 0 of 2 (50%), about 20 s"  # another pass over a run does not count back
    assert lines[-3].startswith("runs: 1 of 2 (100%), a few seconds left")


def test_reading_records_is_shown_only_by_a_command_that_takes_long(capsys, monkeypatch):
    with shown_work():
        assert list(followed(range(3), "records", lambda: 3)) == [0, 1, 2]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("harness.output.progress.PLAIN_INTERVAL_S", 0.0)
    with shown_work():
        assert list(followed(range(3), "records", lambda: 3)) == [0, 1, 2]
    assert "records: 2 of 3 (67%)\n" in capsys.readouterr().err
    assert list(followed(range(3), "records", lambda: 3)) == [0, 1, 2]
    assert capsys.readouterr().err == ""
