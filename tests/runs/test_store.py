"""The run folder loses nothing and trusts nothing."""

from __future__ import annotations

import msgspec
import pytest

from harness._version import VERSION
from harness.core.errors import StoreError
from harness.core.records import with_sum
from harness.executors.serial import SerialExecutor
from harness.output.leaderboard import write_leaderboard
from harness.plugins.registry import load
from harness.runs.reader import GAMES
from harness.runs.request import RunRequest
from harness.runs.resume import reopen
from harness.runs.runner import Tournament
from harness.runs.setup import configure_run, info_for, prepare
from harness.runs.store import RUN, RunFolder, find
from tests.support.forgery import edit_info
from tests.support.monitors import CallingMonitor


def setup(**changes):
    return prepare(RunRequest(**{"games": ("el-paso",), "deals": 3, "seed": 5, **changes}), load())


@pytest.fixture
def run(tmp_path):
    return RunFolder.create(tmp_path / "results" / "a", info_for(setup(), "arena tournament", {}))


def play(run, asked, on_record=lambda _record: None, stop=lambda: False):
    return Tournament(run, asked, monitor=CallingMonitor(on_record)).play(
        SerialExecutor(asked.roster, should_stop=stop)
    )


def plain(run):
    return {record.id: record.without_timing() for record in run.records()}


def test_records_are_read_as_they_were_written(run):
    seen = []
    assert play(run, setup(), on_record=seen.append)
    assert list(run.records()) == seen
    assert RunFolder.open(run.folder).info.finished


def test_a_torn_last_line_is_dropped_with_a_warning_and_played_again(run):
    play(run, setup())
    whole = plain(run)
    path = run.folder / GAMES
    path.write_bytes(path.read_bytes()[:-40])
    again = RunFolder.open(run.folder)
    assert len(list(again.records())) == len(whole) - 1
    assert "torn" in again.warnings[0]
    play(again, setup())
    assert plain(again) == whole


@pytest.mark.parametrize("kept", [0, 1, 5])
def test_resume_plays_exactly_the_missing_matches(run, kept):
    play(run, setup())
    whole = plain(run)
    path = run.folder / GAMES
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(reversed(lines[:kept])))
    played = []
    reopened = RunFolder.open(run.folder)
    restored = reopen(reopened, load())
    play(reopened, restored, on_record=played.append)
    assert plain(reopened) == whole
    assert len((run.folder / GAMES).read_bytes().splitlines()) == len(whole)
    assert len(played) == len(whole)  # the ones found are reported too


def test_stopping_early_keeps_the_played_matches(run):
    count = iter(range(100))
    assert not play(run, setup(), stop=lambda: next(count) >= 2)
    assert len(list(run.records())) == 2
    assert not RunFolder.open(run.folder).info.finished


def test_a_line_that_is_not_a_record_is_reported_with_its_number(run):
    play(run, setup())
    path = run.folder / GAMES
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = with_sum(b'{"id": 3}') + b"\n"
    path.write_bytes(b"".join(lines))
    with pytest.raises(StoreError, match=r"games.jsonl, line 2, is not a record"):
        list(run.records())


def test_a_record_of_another_run_is_refused(run):
    play(run, setup())
    record = next(run.records())
    with run.writing():
        run.append(msgspec.structs.replace(record, id="x"))
    with pytest.raises(StoreError, match="does not belong"):
        play(run, setup())


def test_a_run_whose_bots_or_rules_changed_is_refused(run):
    text = (run.folder / RUN).read_text()
    (run.folder / RUN).write_text(text.replace(f'"version": "{VERSION}"', '"version": "0.0.9"'))
    with pytest.raises(StoreError, match=r"is version .* now, the run has 0.0.9"):
        reopen(RunFolder.open(run.folder), load())
    (run.folder / RUN).write_text(text.replace('"rules": "1"', '"rules": "7"'))
    with pytest.raises(StoreError, match="the rules of el-paso are version 1 now, the run has 7"):
        reopen(RunFolder.open(run.folder), load())


def test_folders_that_are_not_run_folders_are_refused(run, tmp_path):
    with pytest.raises(StoreError, match="already holds a run"):
        RunFolder.create(run.folder, run.info)
    foreign = tmp_path / "results" / "foreign"
    foreign.mkdir()
    (foreign / "thesis.txt").write_text("precious")
    with pytest.raises(StoreError, match="is not empty and is not a run folder"):
        RunFolder.create(foreign, run.info)
    with pytest.raises(StoreError, match=r"it has no run\.json"):
        find(tmp_path / "results", str(foreign))
    with pytest.raises(StoreError, match=r"There is no run 'b'\. Runs in .*: a\."):
        find(tmp_path / "results", "b")
    (foreign / RUN).write_text("{}")
    with pytest.raises(StoreError, match="was not written by arena"):
        RunFolder.open(foreign)
    (run.folder / GAMES).unlink()
    with pytest.raises(StoreError, match="is missing"):
        list(run.records())


def test_a_folder_that_cannot_be_written_is_refused(run, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(StoreError, match="Cannot write to"):
        RunFolder.create(blocked / "a", run.info)


def test_the_leaderboard_does_not_depend_on_the_order_of_the_records(run):
    play(run, setup())
    write_leaderboard(run)
    files = [run.folder / f"leaderboard.{kind}" for kind in ("md", "json", "csv")]
    before = [path.read_bytes() for path in files]
    path = run.folder / GAMES
    path.write_bytes(b"".join(reversed(path.read_bytes().splitlines(keepends=True))))
    write_leaderboard(run)
    assert [path.read_bytes() for path in files] == before


def test_the_components_of_a_run_are_saved_with_it(tmp_path):
    from engines.el_paso.components import load as components
    from harness import read_data_file

    text = read_data_file("engines.el_paso", "el_paso.toml").replace('name = "Deadwood"', 'name = "Bedford"')
    file = tmp_path / "mine.toml"
    file.write_text(text)
    asked = setup(options={"components": str(file)})
    run = RunFolder.create(tmp_path / "results" / "c", info_for(asked, "", {}))
    play(run, asked)
    file.unlink()
    reopened = RunFolder.open(run.folder)
    game = configure_run(reopened, load())["el-paso"]
    assert game.figures == components(text)
    assert game.figures.towns[0].name == "Bedford"


def test_a_run_killed_before_run_json_was_written_can_be_started_again(tmp_path):
    folder = tmp_path / "results" / "a"
    folder.mkdir(parents=True)
    (folder / "run.json.part").write_text("{")
    assert play(RunFolder.create(folder, info_for(setup(), "arena tournament", {})), setup())


@pytest.mark.parametrize("number", [1, 2, 4])
def test_a_run_of_another_layout_is_refused(run, number):
    edit_info(run.folder, lambda raw: {"layout": number, "plan": raw["plan"]})
    with pytest.raises(StoreError, match=f"has layout {number}; this arena reads layout 3."):
        RunFolder.open(run.folder)


def test_the_records_file_is_created_before_run_json(tmp_path, monkeypatch):
    """Whenever a run is killed at its start, it can be continued or begun again."""
    folder, info = tmp_path / "results" / "d", info_for(setup(), "", {})

    def killed(_run):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "_write_info", killed)
        with pytest.raises(KeyboardInterrupt):
            RunFolder.create(folder, info)
    assert [path.name for path in folder.iterdir()] == ["games.jsonl"]
    RunFolder.create(folder, info)
    (tmp_path / "results" / "e").mkdir()
    (tmp_path / "results" / "e" / "games.jsonl").write_text("{}\n")
    with pytest.raises(StoreError, match="is not empty"):
        RunFolder.create(tmp_path / "results" / "e", info)
