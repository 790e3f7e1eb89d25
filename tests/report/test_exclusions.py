"""Report and site without a bot: none of its matches counts, and the page says so."""

from __future__ import annotations

import json
import re

import pytest

from harness.plugins.registry import Registry
from harness.report import PageParts, publish, write_report
from tests.output.support import play, recorded
from tests.ratings.simulate import record
from tests.report.test_page import Reader, says
from tests.support.cli import arena


def run_of(folder, finished="later"):
    seats = [("a", "b"), ("a", "cheater"), ("b", "cheater"), ("b", "a"), ("cheater", "a"), ("a", "b")]
    scores = [(2, 1), (1, 9), (1, 9), (1, 2), (9, 1), (2, 2)]
    made = [record(who, points, index=n, seed=n) for n, (who, points) in enumerate(zip(seats, scores, strict=True))]
    return recorded(folder, made, finished=finished)


def rows(path):
    return json.loads(path.read_text())["sim"]


def test_an_excluded_bot_is_in_no_table_and_on_no_page(tmp_path):
    site = tmp_path / "site"
    run = run_of(tmp_path / "run")
    publish([run], Registry(), site)
    assert (site / "bots/cheater.html").exists() and (site / "badges/cheater.json").exists()
    publish([run], Registry(), site, ["cheater"])
    for kind in ("leaderboard", "pairs", "surprises"):
        assert "cheater" not in (site / f"runs/run/{kind}.json").read_text()
        assert "cheater" not in (site / f"runs/run/{kind}.csv").read_text()
    assert {row["bot"]: row["matches"] for row in rows(site / "runs/run/leaderboard.json")} == {"a": 3, "b": 3}
    about = json.loads((site / "runs/run/data.json").read_text())
    assert (about["matches"], about["without"]) == (3, ["cheater"])
    assert "cheater" not in json.dumps([about["boards"], about["pairs"], about["form"], about["summaries"]])
    assert {path.stem for path in (site / "bots").iterdir()} == {"a", "b", "index"}
    assert not list((site / "badges").glob("cheater*"))
    assert "cheater" not in json.dumps(json.loads((site / "site.json").read_text())["bots"])


def test_the_pages_name_the_excluded_bots(tmp_path):
    site = tmp_path / "site"
    publish([run_of(tmp_path / "run")], Registry(), site, ["cheater"])
    assert "All matches of cheater are left out: 3 of 6." in says((site / "runs/run/index.html").read_text())
    assert "run (without cheater)" in says((site / "index.html").read_text())
    assert "All matches of cheater are left out." in (site / "feed.xml").read_text()


def test_an_excluded_bot_is_not_in_charts_or_lists_of_matches(tmp_path):
    page = write_report(PageParts(run_of(tmp_path / "run"), without=["cheater"]), tmp_path / "page.html").read_text()
    before, rest = page.split("<h2>How to reproduce this run</h2>")
    assert re.findall("cheater", before) == ["cheater"]  # the sentence that says so
    assert "cheater" in rest  # which tells what was played
    shown = {option["value"] for option in Reader(page).all("option")}
    assert shown & {"m1", "m2", "m4"} == set()
    assert "3 matches · 2 bots" in says(page)


def test_the_results_of_the_format_are_not_shown_when_bots_are_excluded(tmp_path):
    bots = ["--bot", "outlaw", "--bot", "diehard", "--bot", "random", "--bot", "skittish", "--players", "2"]
    play(tmp_path / "results" / "s", "--game", "el-paso", *bots, "--deals", 1, "--format", "swiss:rounds=2")
    arena("publish", "s", "--to", "site")
    folder = tmp_path / "site/runs/s"
    assert (folder / "outcome.json").exists()
    arena("publish", "s", "--to", "site", "--without", "random")
    assert not (folder / "outcome.json").exists() and not (folder / "outcome.md").exists()
    arena("report", "s", "--without", "random", "--without", "skittish")
    page = (tmp_path / "results/s/report.html").read_text()
    assert "All matches of random, skittish are left out" in says(page)
    assert 'data-bot="random"' not in page and 'data-bot="outlaw"' in page


def test_published_tables_equal_arena_leaderboard_with_the_same_exclusions(tmp_path):
    bots = ["--bot", "outlaw", "--bot", "diehard", "--bot", "random", "--players", "2"]
    play(tmp_path / "results" / "run", "--game", "el-paso", *bots, "--deals", 3)
    arena("publish", "run", "--to", "site", "--without", "random")
    told = json.loads(arena("leaderboard", "run", "--without", "random", "-f", "json").stdout)
    assert json.loads((tmp_path / "site/runs/run/leaderboard.json").read_text()) == told


def test_only_runs_in_which_an_excluded_bot_played_mention_it(tmp_path):
    site = tmp_path / "site"
    other = recorded(tmp_path / "other", [record("ab", (1, 2))])
    publish([run_of(tmp_path / "run"), other], Registry(), site, ["cheater"])
    runs = {run["name"]: run["without"] for run in json.loads((site / "site.json").read_text())["runs"]}
    assert runs == {"run": ["cheater"], "other": []}
    assert "left out" not in says((site / "runs/other/index.html").read_text())


@pytest.mark.parametrize("command", [("report", "run"), ("publish", "run", "--to", "site")])
def test_an_unknown_bot_is_refused(tmp_path, command):
    run_of(tmp_path / "results" / "run")
    said = arena(*command, "--without", "cheeter", code=2).stderr
    assert "Unknown bot of this run 'cheeter'. Did you mean 'cheater'?" in said
    assert not (tmp_path / "site").exists()


def test_a_replay_of_an_excluded_match_is_refused(tmp_path):
    run = run_of(tmp_path / "results" / "run")
    wanted = next(one.id for one in run.records() if "cheater" in one.seats)
    said = arena("report", "run", "--without", "cheater", "--match", wanted, code=2).stderr
    assert f"{wanted} is a match of a bot that is left out" in said


def test_publishing_again_without_exclusions_restores_all_bots(tmp_path):
    site, run = tmp_path / "site", run_of(tmp_path / "run")
    publish([run], Registry(), site, ["cheater"])
    publish([run], Registry(), site)
    assert (site / "bots/cheater.html").exists()
    assert json.loads((site / "runs/run/data.json").read_text())["without"] == []
