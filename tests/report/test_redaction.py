"""Of a run that is not finished nobody learns the seed, nor a deal that somebody is still to play."""

from __future__ import annotations

import base64
import gzip
import json
import re

import pytest
from msgspec.structs import replace

from harness.core.records import Fault
from harness.plugins.registry import load
from harness.report import PageParts, publish, write_report
from harness.report.page import shown_command, still_open, without_seed
from harness.runs.store import RunFolder
from tests.output.support import play, recorded
from tests.ratings.simulate import record
from tests.support.cli import arena
from tests.support.forgery import edit_info, write_records

SEED = 31415926535897932384
SCENE = re.compile(rb'<script type="text/plain" id="scene-([^"]+)"[^>]*>([^<]*)</script>')


@pytest.fixture(autouse=True)
def _no_charts(monkeypatch):
    """They take most of the time, and say nothing of this."""
    monkeypatch.setattr("harness.report.charts.charts", lambda *_: ())


def reopened(run, kept):
    """The run as it was with these records only: not finished."""
    write_records(run.folder, kept, sealed=False)
    edit_info(run.folder, lambda raw: raw | {"finished": "", "records": "", "notes": ""})
    return RunFolder.open(run.folder)


def finished(run, records):
    write_records(run.folder, records, sealed=False)
    edit_info(run.folder, lambda raw: raw | {"finished": "2030-01-01T10:00:00+00:00"})
    return RunFolder.open(run.folder)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A run whose last set lacks its last match, and the records of the whole."""
    folder = tmp_path_factory.mktemp("results") / "night"
    bots = ["--bot", "outlaw", "--bot", "diehard", "--bot", "random", "--players", "2"]
    run = play(folder, "--game", "el-paso", *bots, "--deals", 2, "--seed", SEED)
    records = sorted(run.records(), key=lambda one: one.index)
    assert len(records) == 12
    edit_info(run.folder, lambda raw: raw | {"command": f"arena tournament --seed {SEED} --deals 2"})
    return run, records


def bytes_of(*places):
    """All that was written, with what is packed in it."""
    found = b""
    for place in places:
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file():
                text = path.read_bytes()
                packed = [gzip.decompress(base64.b64decode(data)) for _, data in SCENE.findall(text) if data]
                packed += [gzip.decompress(text)] if path.suffix == ".gz" else []
                found += b"".join([text, *packed])
    return found


def scenes_in(page):
    return {name.decode() for name, data in SCENE.findall(page.read_bytes()) if data}


def test_no_published_file_contains_the_seed_before_the_run_is_finished(played, tmp_path):
    run, records = played
    site, page, registry = tmp_path / "site", tmp_path / "page.html", load()
    games = {"el-paso": registry.game("el-paso").configure(run.info.plan.games[0].settings)}
    open_run = reopened(run, records[:-1])
    publish([open_run], registry, site)
    write_report(PageParts(open_run, games, formats=registry.formats), page, [one.id for one in records[:-1]])
    told = bytes_of(site, page)
    assert b"steps" in told  # replays are there, and were looked into
    for seed in {SEED, *(one.seed for one in records)}:
        assert str(seed).encode() not in told
        assert hex(seed)[2:].encode() not in told
    assert json.loads((site / "site.json").read_text())["runs"][0]["seed"] is None
    assert b"--seed withheld" in told and b"shown when the run is finished" in told
    publish([finished(run, records)], registry, site)
    for name in ("runs/index.html", "site.json", "runs/night/index.html", "runs/night/data.json"):
        assert str(SEED).encode() in (site / name).read_bytes()
    assert [path.name for path in (site / "runs").iterdir() if path.is_dir()] == ["night"]


def test_a_match_has_no_replay_while_its_deal_is_still_being_played(played, tmp_path):
    run, records = played
    registry, page = load(), tmp_path / "page.html"
    games = {"el-paso": registry.game("el-paso").configure(run.info.plan.games[0].settings)}
    open_run, asked = reopened(run, records[:-1]), [one.id for one in records[:-1]]
    half = records[-2].id
    assert records[-2].set == records[-1].set
    for formats in (registry.formats, {}):  # by the schedule, and by what is recorded
        write_report(PageParts(open_run, games, formats=formats), page, asked)
        assert scenes_in(page) == set(asked) - {half}
        assert b"Its deal is still being played" in page.read_bytes()
    publish([open_run], registry, tmp_path / "site")
    night = tmp_path / "site/runs/night"
    assert half not in {one["id"] for one in json.loads((night / "replays.json").read_text())} != set()
    assert not list((night / "matches").glob(f"{half}.*")) and list((night / "matches").glob("*.png"))
    assert not list((night / "records").iterdir())  # they have seeds and actions
    write_report(PageParts(finished(run, records), games, formats=registry.formats), page, asked)
    assert half in scenes_in(page)


def test_a_deal_that_other_tables_share_is_open_until_all_have_played_it(tmp_path):
    bots = ["--bot", "outlaw", "--bot", "diehard", "--bot", "random", "--players", "2"]
    run = play(
        tmp_path / "results" / "g", "--game", "el-paso", *bots, "--format", "gauntlet", "--candidate", "outlaw",
        "--candidate", "diehard", "--deals", 1,
    )  # fmt: skip
    records = sorted(run.records(), key=lambda one: one.index)
    assert len({one.seed for one in records}) == 1 and len({one.set for one in records}) == 2
    open_run = reopened(run, records[:2])  # one candidate has played its set
    formats = load().formats
    assert still_open(open_run, formats, records[:2]) == {one.id for one in records[:2]}
    assert still_open(finished(run, records), formats, records) == set()


def test_the_error_text_of_a_bot_is_withheld_until_its_deal_is_over(tmp_path):
    fault = Fault(1, "exception", 4, "KeyError: the ace in my hand")
    half = recorded(tmp_path / "half", [record("ab", (1, 2), faults=(fault,))], finished="")
    page = write_report(PageParts(half), tmp_path / "page.html").read_text()
    assert "the ace" not in page and "What it said is shown when that deal is over." in page
    both = [record("ab", (1, 2), faults=(fault,)), record("ba", (1, 2), index=1)]
    page = write_report(PageParts(recorded(tmp_path / "whole", both, finished="")), tmp_path / "page.html").read_text()
    assert "the ace" in page


@pytest.mark.parametrize("how", [("swiss:rounds=2",), ("knockout",), ("ladder", "--until-separated", "0.9")])
def test_open_deals_are_withheld_in_formats_whose_schedule_depends_on_results(tmp_path, how):
    bots = ["--bot", "outlaw", "--bot", "diehard", "--bot", "random", "--bot", "skittish", "--players", "2"]
    run = play(tmp_path / "results" / "s", "--game", "el-paso", *bots, "--deals", 1, "--format", *how)
    records = sorted(run.records(), key=lambda one: one.index)
    open_run = reopened(run, records[:3])
    assert records[2].set == records[3].set != records[1].set
    withheld = still_open(open_run, load().formats, records[:3])
    assert records[2].id in withheld
    assert still_open(open_run, {}, records[:3]) == {records[2].id}


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("arena tournament --seed 7 --deals 7", "arena tournament --seed withheld --deals 7"),
        ("arena tournament --seed=7", "arena tournament --seed=withheld"),
        ("arena tournament --seed ' 7' --name x", "arena tournament --seed withheld --name x"),
        ("arena compare a b:seed=7 --seed 7", "arena compare a b:seed=7 --seed withheld"),
        ("harness.tournament(seed=7, deals=7)", "harness.tournament(seed=withheld, deals=7)"),
        ("harness.compare(bots=['a:seed=7'], seed=7)", "harness.compare(bots=['a:seed=7'], seed=withheld)"),
        ("arena tournament event.toml", "arena tournament event.toml"),
    ],
)
def test_the_seed_is_removed_from_a_shown_command(command, shown):
    assert without_seed(command) == shown


def test_the_command_of_a_finished_run_is_shown_with_its_seed(tmp_path):
    run = recorded(tmp_path / "run", [])
    run.info = replace(run.info, command="arena tournament --seed 7")
    assert shown_command(run.info) == "arena tournament --seed 7"
    assert shown_command(replace(run.info, finished="")) == "arena tournament --seed withheld"


def test_the_seed_is_removed_from_warnings_too(tmp_path):
    run = recorded(tmp_path / "run", [record("ab", (1, 2))], finished="")
    run.warnings.append("The seed 123456 is so short that a bot can find it out by trying.")
    page = write_report(PageParts(run), tmp_path / "page.html").read_text()
    assert "The seed withheld is so short" in page and "123456" not in page


def test_run_json_keeps_the_seed_and_arena_replay_still_works_in_an_unfinished_run(played, tmp_path):
    run, records = played
    reopened(run, records[:-1])
    assert json.loads((run.folder / "run.json").read_text())["plan"]["seed"] == SEED
    assert records[0].id in arena("replay", run.folder, records[0].id).stdout
