"""arena export: the tables are what the records say, in files that pandas and polars read in one line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from msgspec.structs import replace

import harness
from harness import encoding_of, export_run, tournament
from harness.core.errors import StoreError, UnknownName, UsageError
from harness.core.records import with_sum
from harness.export import writers
from harness.match.replay import positions
from harness.output.progress import Progress
from harness.runs.reader import GAMES
from harness.runs.store import RunFolder, encode
from tests.support.cli import arena

pandas = pytest.importorskip("pandas", reason="needs arena-harness[notebook]")
parquet = pytest.importorskip("pyarrow.parquet", reason="needs arena-harness[export]")
polars = pytest.importorskip("polars", reason="needs polars")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """El Paso between three bots, one of which fails in every match."""
    return tournament(
        "el-paso", ["skittish", "random", Failing], players=2, deals=2, seed=1, workers=0, quiet=True,
        results=str(tmp_path_factory.mktemp("results")), name="exported",
    )  # fmt: skip


class Failing(harness.Bot):
    """Raises an error at its second decision."""

    def start(self):
        self.asked = 0

    def choose(self, view, actions):
        self.asked += 1
        if self.asked > 1:
            raise ValueError("on purpose")
        return actions[0]


@pytest.fixture(scope="module")
def exported(run, tmp_path_factory):
    return export_run(run.folder, "parquet", tmp_path_factory.mktemp("out"), quiet=True)


def test_matches_and_seats_are_those_of_the_records(run, exported):
    matches = pandas.read_parquet(exported.folder / "matches.parquet").set_index("match")
    seats = pandas.read_parquet(exported.folder / "seats.parquet").set_index(["match", "seat"])
    assert len(matches) == len(run) == exported.matches
    for record in run:
        row = matches.loc[record.id]
        assert (row["index"], row.seed, row.game, row.players) == (record.index, record.seed, record.game, 2)
        assert json.loads(row.options) == record.options
        assert row.faults == len(record.failures)
        for seat, bot in enumerate(record.seats):
            line = seats.loc[(record.id, seat)]
            assert (line.bot, line.score, line["rank"]) == (bot, record.scores[seat], record.ranks[seat])
            assert line.fault == ("exception" if bot == "failing" else None) or pandas.isna(line.fault)


def test_decisions_have_the_encoded_view_the_choice_and_the_legal_actions(run, exported):
    decisions = polars.read_parquet(exported.folder / "decisions-el-paso-2.parquet")
    record = next(iter(run))
    game = run.replay(record.id).game
    rows = decisions.filter(polars.col("match") == record.id).sort("decision").to_dicts()
    expected = list(positions(game, record))
    encoding = encoding_of(game, 2)
    assert len(rows) == len(expected)
    for row, at in zip(rows, expected, strict=True):
        assert (row["seat"], row["phase"], row["action"]) == (at.seat, at.view.phase, at.chosen.code)
        assert row["legal"] == [action.code for action in at.legal]
        assert row["view"] == [float(number) for number in encoding.encode(at.view)]
        assert row["stand_in"] == at.stand_in
        assert row["ahead"] in (0.0, 0.5, 1.0)
    metadata = parquet.read_schema(exported.folder / "decisions-el-paso-2.parquet").metadata
    assert json.loads(metadata[b"arena.view"]) == [number.label for number in encoding.numbers]
    assert json.loads(metadata[b"arena.actions"]) == len(game.actions)


def test_events_are_those_of_the_replay(run, exported):
    events = polars.read_parquet(exported.folder / "events-el-paso-2.parquet")
    record = next(iter(run))
    rows = events.filter(polars.col("match") == record.id).sort("event").to_dicts()
    listed = [line for line in run.replay(record.id).replay() if line["type"] == "event"]
    assert [row["kind"] for row in rows] == [line["event"] for line in listed]
    assert [json.loads(row["data"]) for row in rows] == json.loads(json.dumps([line["data"] for line in listed]))
    assert [row["seats"] for row in rows] == [None if line["to"] == "all" else line["to"] for line in listed]


def test_csv_has_the_same_rows_and_reads_in_one_line(run, exported, tmp_path):
    found = export_run(run.folder, "csv", tmp_path, quiet=True)
    assert {name.partition(".")[0]: rows for name, rows in found.files.items()} == {
        name.partition(".")[0]: rows for name, rows in exported.files.items()
    }
    for name in found.files:
        plain = pandas.read_csv(tmp_path / name)
        whole = pandas.read_parquet(exported.folder / name.replace(".csv", ".parquet"))
        assert list(plain.columns) == list(whole.columns)
        assert list(plain.match) == list(whole.match)
    views = pandas.read_csv(tmp_path / "decisions-el-paso-2.csv").view.map(json.loads)
    assert list(views[0]) == list(pandas.read_parquet(exported.folder / "decisions-el-paso-2.parquet").view[0])


def test_views_may_be_json_or_left_out(run, tmp_path):
    export_run(run.folder, folder=tmp_path, tables=["decisions"], views="json", quiet=True)
    view = json.loads(polars.read_parquet(tmp_path / "decisions-el-paso-2.parquet")["view"][0])
    assert view["phase"] == "play"
    export_run(run.folder, folder=tmp_path, tables=["decisions"], views="none", quiet=True)
    assert "view" not in polars.read_parquet(tmp_path / "decisions-el-paso-2.parquet").columns


def test_row_groups_have_the_same_size(run, tmp_path, monkeypatch):
    monkeypatch.setattr(writers, "ROW_GROUP", 100)
    found = export_run(run.folder, folder=tmp_path, tables=["events"], quiet=True)
    file = parquet.ParquetFile(tmp_path / "events-el-paso-2.parquet")
    sizes = [file.metadata.row_group(at).num_rows for at in range(file.num_row_groups)]
    assert set(sizes[:-1]) == {100}
    assert sum(sizes) == found.files["events-el-paso-2.parquet"]


def test_ctrl_c_leaves_whole_files_with_the_matches_so_far(run, tmp_path, monkeypatch):
    step = Progress.step

    def interrupted(self):
        step(self)
        if self.done == 3:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Progress, "step", interrupted)
    shown = arena("export", run.folder, "--to", "parquet", "--out", tmp_path, "--quiet", code=1)
    assert "the first 3 matches" in shown.stderr
    names = {
        name: set(polars.read_parquet(tmp_path / name)["match"])
        for name in ("matches.parquet", "seats.parquet", "decisions-el-paso-2.parquet", "events-el-paso-2.parquet")
    }
    assert {len(matches) for matches in names.values()} == {3}
    assert len(set(map(frozenset, names.values()))) == 1


def changed(run, tmp_path, **fields):
    """Return a copy of the run in which the last record is changed."""
    folder = tmp_path / "changed"
    folder.mkdir()
    (folder / "run.json").write_bytes((run.folder / "run.json").read_bytes())
    *lines, last = (run.folder / GAMES).read_bytes().splitlines(keepends=True)
    record = [*RunFolder.open(run.folder).records()][-1]
    (folder / GAMES).write_bytes(b"".join([*lines, with_sum(encode(replace(record, **fields))) + b"\n"]))
    assert last
    return folder


def test_a_record_that_does_not_replay_leaves_the_older_export(run, tmp_path):
    out = tmp_path / "out"
    export_run(run.folder, folder=out, quiet=True)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    shown = arena("export", changed(run, tmp_path, scores=(1, 1)), "--to", "parquet", "--out", out, code=1)
    assert "the game gives" in shown.stderr
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_value_that_no_column_holds_is_an_error_that_names_the_records(run, tmp_path):
    folder = changed(run, tmp_path, decisions=(2**62, 2**62))
    with pytest.raises(StoreError, match=r"has a value that matches\.parquet cannot hold"):
        export_run(folder, folder=tmp_path / "out", tables=["matches"], quiet=True)


def test_a_link_in_the_run_folder_is_not_followed(run, tmp_path):
    folder, elsewhere = changed(run, tmp_path), tmp_path / "elsewhere"
    elsewhere.mkdir()
    (folder / "export").symlink_to(elsewhere)
    with pytest.raises(StoreError, match="link"):
        export_run(folder, quiet=True)
    assert list(elsewhere.iterdir()) == []


def test_names_that_do_not_exist_are_refused(run, tmp_path):
    with pytest.raises(UnknownName):
        export_run(run.folder, "xlsx", tmp_path)
    with pytest.raises(UnknownName):
        export_run(run.folder, folder=tmp_path, tables=["moves"])
    with pytest.raises(UsageError, match="list of names"):
        export_run(run.folder, folder=tmp_path, tables="matches")
    with pytest.raises(UnknownName):
        export_run(run.folder, folder=tmp_path, views="pictures")


def test_without_pyarrow_a_message_says_what_to_install(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"arena-harness\[export\]"):
        export_run(run.folder, folder=tmp_path, quiet=True)
    assert export_run(run.folder, "csv", tmp_path, tables=["matches"], quiet=True).files == {"matches.csv": 12}


PEAK = """
import resource, sys
from harness import export_run
export_run(sys.argv[1], "parquet", sys.argv[2], quiet=True)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def peak_megabytes(folder, out):
    done = subprocess.run([sys.executable, "-c", PEAK, folder, out], capture_output=True, text=True, check=True)
    return int(done.stdout)


def repeated(run, folder, matches):
    """Return a run with the records of this one again and again, under other ids."""
    folder.mkdir()
    (folder / "run.json").write_bytes((run.folder / "run.json").read_bytes())
    records = list(run)
    with (folder / GAMES).open("wb") as file:
        for number in range(matches):
            record = replace(records[number % len(records)], id=f"el-paso-{number}", index=number, faults=())
            if number % len(records) == 0 or not records[number % len(records)].faults:
                file.write(with_sum(encode(record)) + b"\n")
    return folder


def test_memory_does_not_grow_with_the_run(tmp_path):
    """A short form: seven times the matches, with all tables."""
    run = tournament(
        "el-paso", ["skittish", "random"], players=2, deals=2, seed=1, workers=0, quiet=True, results=str(tmp_path)
    )
    few, many = (
        peak_megabytes(repeated(run, tmp_path / str(matches), matches), tmp_path / f"out{matches}")
        for matches in (30, 210)
    )
    assert many < few + 60
