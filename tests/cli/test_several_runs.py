"""Several runs rated together: what counts once, what is refused, and what may be claimed."""

from __future__ import annotations

import json
import shutil
from html import escape
from pathlib import Path

import pytest
from msgspec.structs import replace

import harness
from harness.report.published import profile, published
from harness.runs.merged import merge
from harness.runs.standings import boards_of
from harness.runs.store import RunFolder
from tests.support.cli import arena
from tests.support.forgery import edit_info, records_of, write_records

BOTS = ("--bot", "random", "--bot", "skittish", "--bot", "diehard")


def play(name, seed, *asked, bots=BOTS, results="results"):
    arena("tournament", "--game", "el-paso", "--seed", seed, "--workers", 0, "--quiet", *bots, *asked, "--name", name,
          "--results", results)  # fmt: skip


def csv(*args):
    return arena("leaderboard", *args, "-f", "csv").stdout


def data(*args):
    return json.loads(arena("leaderboard", *args, "-f", "json").stdout)


def halves(name):
    """Two copies of a run: one with its first records, one with its last; they have some in common."""
    folder = Path("results", name)
    for machine, part in (("here", slice(None, 8)), ("there", slice(5, None))):
        copy = Path(machine, name)
        shutil.copytree(folder, copy)
        write_records(copy, records_of(folder)[part], sealed=False)
        edit_info(copy, lambda raw: raw | {"finished": "", "records": ""})
    return f"here/{name}", f"there/{name}"


@pytest.fixture
def week():
    play("monday", 1, "--deals", 3)
    play("tuesday", 2, "--deals", 4)
    return "monday", "tuesday"


def test_matches_of_runs_with_different_seeds_are_distinct_despite_equal_ids(week):
    [table] = data(*week).values()
    assert {row["matches"] for row in table} == {21}
    assert table[0]["bot"] == "diehard"
    run = harness.open_run(*week)
    assert len(run) == len({record.id for record in run}) == 21
    assert run.replay("monday/el-paso-1.1.1").record.seed != run.replay("tuesday/el-paso-1.1.1").record.seed
    assert run.replay(20).record.id == "tuesday/el-paso-4.1.3"
    with pytest.raises(harness.UsageError, match="match of monday"):
        run.replay("el-paso-1.1.1")


@pytest.mark.parametrize("asked", [(), ("--format", "swiss:rounds=3", "--players", 2), ("--format", "ladder")])
def test_parts_of_one_run_from_two_machines_are_merged_to_that_run(asked):
    play("night", 3, "--deals", 4, *asked)
    parts = halves("night")
    assert csv(*parts) == csv(*reversed(parts)) == csv("night")
    assert arena("leaderboard", *parts, "--show", "format").stdout == (
        arena("leaderboard", "night", "--show", "format").stdout
    )
    assert len(harness.open_run(*parts)) == len(harness.open_run("night"))


def test_matches_shared_by_a_run_and_its_extension_count_once():
    play("short", 3, "--deals", 2)
    shutil.copytree("results/short", "results/long")
    arena("tournament", "--resume", "long", "--deals", 5, "--bot", "skittish:stars=3", "--workers", 0, "--quiet")
    assert csv("short", "long") == csv("long", "short") == csv("long")


def test_a_match_with_two_different_results_is_reported_with_both_files():
    play("night", 3, "--deals", 4)
    parts = halves("night")
    bent = [replace(one, scores=tuple(reversed(one.scores))) for one in records_of(Path(parts[1]))]
    write_records(Path(parts[1]), bent, sealed=False)
    said = " ".join(arena("leaderboard", *parts, code=2).stderr.split())
    assert "is not the same match in here/night/games.jsonl and in there/night/games.jsonl" in said


def test_different_timing_does_not_make_a_match_different():
    play("night", 3, "--deals", 4)
    here, there = halves("night")
    slower = [replace(one, time=tuple(9 + each for each in one.time)) for one in records_of(Path(there))]
    write_records(Path(there), slower, sealed=False)
    assert len(harness.open_run(here, there)) == 12


def test_one_name_for_two_different_bots_is_refused_with_a_fix():
    for name, stars in (("monday", 2), ("tuesday", 4)):
        play(name, 1, "--deals", 2, bots=("--bot", "random", "--bot", "diehard", "--bot", f"v1=skittish:stars={stars}"))
    said = " ".join(arena("leaderboard", "monday", "tuesday", code=2).stderr.split())
    assert "v1 is not the same bot in results/monday and in results/tuesday" in said
    assert "--without v1" in said
    assert "v1" not in csv("monday", "tuesday", "--without", "v1")
    edit_info(Path("results/tuesday"), lambda raw: raw | {
        "entrants": [one | {"spec": "v1=skittish:stars=2", "digest": "sha256:0"} if one["name"] == "v1" else one
                     for one in raw["entrants"]]})  # fmt: skip
    assert "its source is sha256:" in " ".join(arena("leaderboard", "monday", "tuesday", code=2).stderr.split())


def test_runs_with_different_rules_or_options_are_not_rated_together():
    play("monday", 1, "--deals", 1)
    play("tuesday", 2, "--deals", 1, "--option", "edition=nl")
    said = " ".join(arena("leaderboard", "monday", "tuesday", code=2).stderr.split())
    assert "el-paso was not the same game (edition 'de' and 'nl'). Rate them apart." in said
    edit_info(Path("results/tuesday"), lambda raw: raw | {
        "plan": raw["plan"] | {"games": [one | {"rules": "0", "settings": {"edition": "de", "components": ""}}
                                         for one in raw["plan"]["games"]]}})  # fmt: skip
    assert "(rules 1 and 0)" in " ".join(arena("leaderboard", "monday", "tuesday", code=2).stderr.split())


def test_claims_of_merged_runs_are_limited_by_the_weakest_run(week):
    def board(*names):
        [found] = boards_of(merge([RunFolder.open(Path("results", name)) for name in names]))
        return found

    assert board(*week).design == "fixed"
    assert not board(*week).significant_pairs  # too few deals for any claim
    play("wednesday", 3, "--deals", 12)
    assert board("monday", "wednesday").significant_pairs
    play("swiss", 5, "--deals", 2, "--format", "swiss", "--players", 2)
    assert board("monday", "swiss").design == "seated"
    play("ladder", 5, "--deals", 4, "--format", "ladder", "--players", 2)
    assert board("ladder", "monday").design == "anytime"
    assert not board("ladder", "monday").significant_pairs


def test_matches_of_the_same_deal_in_different_folders_count_as_one_deal():
    for name in ("skittish", "diehard"):
        play(name, 4, "--deals", 3, "--format", "gauntlet", "--candidate", name, "--players", 2,
             bots=("--bot", "random", "--bot", name))  # fmt: skip
    [found] = boards_of(merge([RunFolder.open(Path("results", name)) for name in ("skittish", "diehard")]))
    assert found.counts.matches == 12
    strata = list(found.counts.deals.strata())
    assert sum(stratum.deals for stratum in strata) == 3
    assert {stratum.bots for stratum in strata} == {(0, 1, 2)}


def test_every_kind_of_table_supports_several_runs(week):
    for show in ("pairs", "surprises", "seats"):
        assert "diehard" in arena("leaderboard", *week, "--show", show).stdout or show == "seats"
    assert "3 players" in arena("leaderboard", *week, "--by", "players").stdout
    assert json.loads(arena("leaderboard", *week, "--bot", "random").stdout)["bot"] == "random"
    assert "random" not in csv(*week, "--without", "random")
    assert csv(*week, "--game", "el-paso") == csv(*week)
    assert "luck" in arena("leaderboard", *week, "--luck-adjusted").stdout
    assert "that of one run" in arena("leaderboard", *week, "--show", "format", code=2).stderr


def test_different_limits_are_reported(week):
    play("slow", 9, "--deals", 1, "--move-time", 3)
    assert "Bots did not have the same limits in these runs: move time 0.0 and 3.0." in (
        arena("leaderboard", "monday", "slow").stderr
    )


def test_a_report_of_several_runs_shows_their_matches(week):
    assert "say where the page goes with --to" in arena("report", *week, code=2).stderr
    arena("report", *week, "--to", "week.html", "--match", "monday/el-paso-2.1.1")
    page = Path("week.html").read_text()
    assert "monday + tuesday" in page
    assert "monday/el-paso-2.1.1" in page
    assert all(escape(run.info.command) in page for run in map(harness.open_run, week))


def met_by_random():
    [game] = profile("random", published(Path("site"))).games
    return {other.met for other in game.best + game.worst}


def test_a_site_publishes_merged_runs_under_one_name_and_counts_no_match_twice(week):
    arena("publish", *week, "--together", "week", "--to", "site")
    play("wednesday", 3, "--deals", 1)
    arena("publish", *week, "wednesday", "--together", "week", "--to", "site")
    assert [path.name for path in Path("site/runs").iterdir() if path.is_dir()] == ["week"]
    assert met_by_random() == {24}
    arena("publish", *week, "wednesday", "--to", "site")
    assert met_by_random() == {24}
    assert "cannot be the name" in arena("publish", *week, "--together", "../x", "--to", "site", code=2).stderr


def test_the_seed_of_an_unfinished_run_is_hidden_in_merged_runs(week):
    edit_info(Path("results/monday"), lambda raw: raw | {
        "finished": "", "records": "", "command": "arena tournament --seed 123456789 --name monday"})  # fmt: skip
    run = harness.open_run(*week)
    assert not run.complete
    assert "123456789" not in run.info.command
    assert "--seed ... --name monday" in run.info.command


def test_folders_with_the_same_name_are_distinguished_by_their_path():
    play("night", 1, "--deals", 1, results="here")
    play("night", 2, "--deals", 1, results="there")
    assert {record.id.rpartition("/")[0] for record in harness.open_run("here/night", "there/night")} == {
        "here/night",
        "there/night",
    }


def test_methods_for_a_single_run_refuse_several_runs(week):
    run = harness.open_run(*week)
    for ask in (run.verify, run.sign, run.signature, run.request):
        with pytest.raises(harness.UsageError, match="one run at a time"):
            ask()
    assert [one.match for one in run.matches("random", limit=1)] == ["monday/el-paso-1.1.1"]
    assert "diehard" in repr(run)
