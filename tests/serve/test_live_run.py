"""A run is followed while it is written: what is told is what the other commands tell of the same records."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from itertools import combinations
from random import Random
from statistics import median
from time import process_time

import pytest

from harness.core.plan import GamePlan, Plan
from harness.core.table import Table
from harness.output.leaderboard import leaderboard_table
from harness.output.outcome import results_of
from harness.runs.reader import GAMES
from harness.runs.setup import formats_of
from harness.runs.standings import boards_of
from harness.runs.store import RunFolder
from harness.serve import live_run
from harness.serve.live_run import LiveRun, place_of, places_in
from tests.output.support import play, rename
from tests.ratings.simulate import record
from tests.serve.support import GrowingRun, followed, look
from tests.support.forgery import edit_info
from tests.support.games import REGISTRY


@pytest.fixture
def growing(played, tmp_path):
    return GrowingRun(played.folder, tmp_path / "results" / "live")


def tables(folder):
    """What `arena leaderboard` says of the records as they are."""
    run = RunFolder.open(folder)
    return {board.title: leaderboard_table(board, entrants=run.info.entrants).rows for board in boards_of(run)}


ERRORS = {"skill low", "skill high", "mean score low", "mean score high", "sigma", "cautious"}
"""Fields that need errors over deals: they come when the run is finished."""


def live_rows(folder):
    """The same without what a live page leaves out."""
    return {
        game: [{name: None if name in ERRORS else value for name, value in row.items()} for row in rows]
        for game, rows in tables(folder).items()
    }


def said_by_format(folder):
    run = RunFolder.open(folder)
    return json.loads(results_of(run, formats_of(run, REGISTRY)).text("json"))


def test_live_standings_equal_arena_leaderboard_without_errors_and_with_them_at_the_end(growing):
    live = followed(growing.folder)
    assert look(live)["data"]["games"] == {}
    order = [*range(0, len(growing), 2), *range(1, len(growing), 2)]  # matches end in any order
    for first in range(0, len(order), 40):
        growing.add(*order[first : first + 40])
        told = look(live)["data"]
        assert told["games"] == live_rows(growing.folder)
        assert "The run is not finished, so nothing is claimed yet." in told["summaries"]["el-paso"][0]
    growing.finish()
    told = look(live)["data"]
    assert told["games"] == tables(growing.folder)
    assert "not finished" not in told["summaries"]["el-paso"][0]


@pytest.mark.parametrize("form", ["swiss:rounds=3", "knockout", "ladder:max-matches=40"])
def test_the_results_of_the_format_are_updated_live_too(form, tmp_path):
    bots = [arg for name in "abcde" for arg in ("--bot", f"{name}=random")]
    made = play(tmp_path / "played", "--game", "el-paso", "--players", 2, "--deals", 2, "--format", form, *bots)
    growing = GrowingRun(made.folder, tmp_path / "live")
    live = followed(growing.folder)
    for first in range(0, len(growing), 7):
        later = [*range(first, min(first + 7, len(growing)))]
        growing.add(*reversed(later))
        told = look(live)
        assert told["data"]["games"] == live_rows(growing.folder)
        assert told["data"]["format"] == said_by_format(growing.folder)
        assert "What the" in told["standings"]["html"]


def test_the_same_update_is_not_sent_twice(growing):
    live = followed(growing.folder)
    growing.add(0, 1, 2)
    assert {"results", "standings", "progress"} <= set(look(live))
    assert look(live) == {}
    growing.add(3)
    assert {"results", "standings", "progress"} <= set(look(live))


def test_progress_has_the_total_number_of_matches_and_the_state_of_the_run(growing):
    live = followed(growing.folder)
    growing.add(*range(10))
    told = look(live)["progress"]
    assert (told["matches"], told["total"], told["state"]) == (10, len(growing), "stopped")
    (growing.folder / "lock").touch()
    assert look(live)["progress"]["state"] == "playing"
    growing.add(*range(10, len(growing)))
    assert look(live)["progress"]["matches"] == len(growing)
    (growing.folder / "lock").unlink()
    growing.finish()
    told = look(live)["progress"]
    assert (told["state"], told["left"]) == ("finished", "")


def test_a_killed_run_is_shown_as_stopped(growing):
    live = followed(growing.folder)
    lock = growing.folder / "lock"
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    lock.write_text(str(ended.pid))  # as a process that was killed leaves it
    growing.add(0)
    assert look(live)["progress"]["state"] == "stopped"
    lock.write_text(str(os.getpid()))
    assert look(live)["progress"]["state"] == "playing"
    lock.write_text(str(ended.pid))  # on another machine, where this number means somebody else
    growing.add(1)
    assert look(live)["progress"]["state"] == "playing"  # for results come


def test_time_left_is_estimated_from_matches_that_end_while_watching(growing, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(live_run, "monotonic", lambda: clock[0])
    (growing.folder / "lock").touch()
    half = len(growing) // 2
    growing.add(*range(half))
    live = followed(growing.folder)
    assert look(live)["progress"]["left"] == ""  # what was there says nothing about the pace
    for number in range(half, half + 20):
        clock[0] += 3.0
        growing.add(number)
        told = look(live)
    assert told["progress"]["left"].startswith("about ")
    assert told["progress"]["rate"] == "20 a minute"
    clock[0] += 1000.0
    told = look(live)
    assert (told["progress"]["left"], told["progress"]["rate"]) == ("", "")  # nobody knows


def test_an_incomplete_record_counts_once_complete_and_a_removed_one_is_forgotten(growing):
    live = followed(growing.folder)
    growing.add(0)
    growing.write(growing.line(1)[:50])
    assert look(live)["progress"]["matches"] == 1
    growing.write(growing.line(1)[50:])
    assert look(live)["progress"]["matches"] == 2
    growing.write(growing.line(2)[:80])
    assert look(live) == {}
    path = growing.folder / GAMES
    path.write_bytes(path.read_bytes()[:-80])  # as whoever resumes it does
    growing.add(3, 2)
    assert look(live)["progress"]["matches"] == 4
    assert look(live) == {}


def test_deleted_records_are_removed_from_the_live_standings(growing):
    live = followed(growing.folder)
    growing.add(*range(12))
    look(live)
    (growing.folder / GAMES).write_bytes(b"".join(growing.line(number) for number in range(5)))
    told = look(live)
    assert told["progress"]["matches"] == 5
    assert told["data"]["games"] == live_rows(growing.folder)
    assert live.match(json.loads(growing.line(7))["id"]) is None


def test_damaged_records_are_counted_and_left_out(growing):
    live = followed(growing.folder)
    growing.write(growing.line(0).replace(b'"ending":"', b'"ending":"un', 1))
    growing.write(b"{}\n")
    growing.add(1, 2, 2)
    told = look(live)["progress"]
    assert told["matches"] == 2
    assert told["notes"] == ["3 damaged records are left out: 'arena verify' says which."]


def test_standings_of_a_long_file_are_sent_only_after_all_chunks_are_read(growing, monkeypatch):
    monkeypatch.setattr(live_run, "MAX_READ_BYTES", 20_000)
    growing.add(*range(len(growing)))
    live = followed(growing.folder)
    looks = 0
    while not live.caught_up:
        news = live.read_updates()
        looks += 1
        assert live.caught_up or set(news) == {"progress"}
        assert live.caught_up or json.loads(news["progress"])["state"] == "reading"
    assert looks > 3
    assert json.loads(news["data"])["games"] == live_rows(growing.folder)


def test_a_rewritten_run_json_is_read_again(growing, monkeypatch):
    live = followed(growing.folder)
    growing.add(*range(20))
    look(live)
    entrants = json.loads((growing.folder / "run.json").read_bytes())["entrants"]
    joined = [{**entrants[0], "team": "the others"}, *entrants[1:], {**entrants[0], "name": "newcomer"}]
    edit_info(growing.folder, lambda raw: raw | {"entrants": joined})
    told = look(live)
    assert told["progress"]["bots"] == len(entrants) + 1
    assert "the others" in told["standings"]["html"]
    monkeypatch.setattr(live_run, "MAX_READ_BYTES", 5_000)  # all is read again, in pieces, and nobody is told of them
    edit_info(growing.folder, lambda raw: raw | {"plan": raw["plan"] | {"deals": 5}})
    assert live.read_updates() == {}
    told = look(live)
    assert told["progress"]["total"] == len(growing) // 2 * 5
    assert told["progress"]["matches"] == 20


def test_no_match_of_an_unfinished_duplicate_set_can_be_watched(growing):
    live = followed(growing.folder)
    growing.add(0, 1)
    look(live)
    first = json.loads(growing.line(0))["id"]
    told = json.loads(live.match(first))
    assert (told["replay"], told["scene"]) == (False, None)
    assert "its deal" in told["why"]
    growing.add(2)  # the third rotation of three
    news = look(live)
    assert [line["replay"] for line in news["results"]["matches"]] == [True, True, True]
    told = json.loads(live.match(first))
    assert told["replay"]
    assert told["scene"]["id"] == first
    growing.add(3)
    assert [line["replay"] for line in look(live)["results"]["matches"]] == [False, True, True, True]


def test_a_deleted_run_is_reported_without_the_path_of_its_folder(growing, tmp_path):
    live = followed(growing.folder)
    growing.add(0)
    look(live)
    shutil.rmtree(growing.folder)
    told = look(live)["progress"]
    assert told["notes"] == ["The records cannot be read: No such file or directory."]
    assert str(tmp_path) not in json.dumps(told)


def test_the_live_page_of_a_league_shows_its_newest_era(played, tmp_path):
    league = tmp_path / "results" / "weekly"
    (league / "eras").mkdir(parents=True)
    (league / "arena.toml").write_text("")
    hill = Table("the hill", ["bot"], [["king"]])
    place = place_of(league, lambda folder: [hill] if folder == league else [])
    live = LiveRun(place, REGISTRY)
    before = look(live)["progress"]
    assert before["notes"] == ["The league weekly has not begun to play."]
    assert "EventSource" in live.script
    GrowingRun(played.folder, league / "eras" / "9").add(*range(12))
    told = look(live)
    assert told["progress"]["run"] == "weekly, era 9"
    assert told["progress"]["script"] != before["script"]  # by which an open page knows that it needs another one
    assert 'arena.board("el-paso"' in live.script
    assert told["progress"]["matches"] == 12
    assert told["data"]["own"] == {"the hill": [{"bot": "king"}]}
    assert "the hill" in told["standings"]["html"]
    GrowingRun(played.folder, league / "eras" / "10").add(*range(3))
    told = look(live)
    assert (told["progress"]["run"], told["progress"]["matches"]) == ("weekly, era 10", 3)
    assert list(places_in(tmp_path / "results")) == ["weekly"]


def test_standings_are_shown_although_the_format_is_not_installed(growing):
    edit_info(growing.folder, lambda raw: raw | {"plan": raw["plan"] | {"format": "king-of-the-hill"}})
    growing.add(*range(6))
    told = look(followed(growing.folder))
    assert told["data"]["games"] == live_rows(growing.folder)
    assert told["progress"]["total"] is None
    [note] = told["progress"]["notes"]
    assert "Unknown format 'king-of-the-hill'" in note


def test_standings_are_shown_although_the_format_fails(tmp_path):
    bots = [arg for name in "abcd" for arg in ("--bot", f"{name}=random")]
    made = play(tmp_path / "played", "--game", "el-paso", "--players", 2, "--deals", 1, "--format", "knockout", *bots)
    growing = GrowingRun(rename(made, {"a": "nobody entered me"}).folder, tmp_path / "live")
    growing.add(*range(len(growing)))
    told = look(followed(growing.folder))
    assert told["data"]["games"] == live_rows(growing.folder)
    assert told["data"]["format"] == {}
    [note] = told["progress"]["notes"]
    assert "records of bots that do not play in it" in note


def test_a_missing_match_does_not_delay_the_standings(growing, monkeypatch):
    monkeypatch.setattr(live_run, "MAX_WAITING", 12)
    monkeypatch.setattr(live_run, "LEFT_WAITING", 4)
    live = followed(growing.folder)
    for first in range(0, 60, 10):
        growing.add(*(number for number in range(first, first + 10) if number != 5))
        assert look(live)["data"]["games"] == live_rows(growing.folder)
    assert len(live._live._buffer.waiting) <= 12
    growing.add(7)  # twice
    assert look(live)["progress"]["notes"] == ["1 damaged record is left out: 'arena verify' says which."]


def test_a_very_late_match_is_counted_in_schedule_order_when_the_run_finishes(growing, monkeypatch):
    monkeypatch.setattr(live_run, "MAX_WAITING", 12)
    monkeypatch.setattr(live_run, "LEFT_WAITING", 4)
    live = followed(growing.folder)
    growing.add(*(number for number in range(len(growing)) if number != 5))
    look(live)
    growing.add(5)
    assert look(live)["progress"]["matches"] == len(growing)
    growing.finish()
    look(live)
    assert json.loads(live.sent["data"])["games"] == tables(growing.folder)
    assert look(live) == {}
    assert not live._live.late


def test_a_finished_run_with_a_match_that_was_never_played_has_claims_and_errors(growing):
    live = followed(growing.folder)
    growing.add(*(number for number in range(len(growing)) if number != 5))
    look(live)
    growing.finish()
    assert look(live)["data"]["games"] == tables(growing.folder)


def test_a_live_standing_of_24_bots_after_one_more_match_takes_milliseconds():
    luck = Random(3)
    bots = tuple(f"bot{number}" for number in range(24))
    plan = Plan((GamePlan("sim", "1", {}, 2, bots),), 10, 1)
    live = live_run.LiveStandings(plan, None, lambda _record: None)

    def add(one, other, index):
        scores = round(luck.gauss(one, 8)), round(luck.gauss(other, 8))
        live.add(record((bots[one], bots[other]), scores, index=index, seed=index // 2))

    for index, (one, other) in enumerate(list(combinations(range(24), 2)) * 10):
        add(one, other, index)
    live.standings(0)
    took = []
    for more in range(9):
        add(more, more + 9, index + 2 + more)  # after a gap
        before = process_time()
        boards, _ = live.standings(0)
        took.append(process_time() - before)
    assert boards[0].counts.matches == index + 1 + 9
    assert not boards[0].claims_made
    assert median(took) < 0.02  # 3 to 5 ms when this was written; a busy machine takes a multiple of that
