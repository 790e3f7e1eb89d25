"""Long runs are read once, in little memory, and what was made of them is remembered as long as no byte has changed."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tracemalloc
from operator import itemgetter
from time import process_time

import msgspec
import pytest
from msgspec.structs import replace

from harness.bench.records import RUN_COMMANDS, make_run, run_command
from harness.core.errors import StoreError
from harness.core.records import Fault, with_sum
from harness.executors.serial import SerialExecutor
from harness.output.leaderboard import leaderboard_files, write_leaderboard
from harness.plugins.registry import load
from harness.report.facts import STATE, facts_of, gather
from harness.runs import cache, reader
from harness.runs.cache import pack_state, unpack_state
from harness.runs.reader import GAMES, RecordLine, ordered_results
from harness.runs.resume import restore
from harness.runs.runner import Tournament
from harness.runs.standings import boards_of
from harness.runs.store import RUN, RunFolder, encode
from harness.verify.records import check_run, stale_tables
from tests.support.cli import arena

RECORDS = 240


@pytest.fixture(autouse=True)
def long_runs(tmp_path, monkeypatch):
    """Every run is long enough to be remembered, in a cache of its own."""
    monkeypatch.setattr(cache, "MIN_CACHED_BYTES", 1)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("made") / "run", RECORDS, load(), players=2)


@pytest.fixture
def run(made, tmp_path):
    """A copy of one run, for tests that change it."""
    return RunFolder.open(shutil.copytree(made.folder, tmp_path / "run"))


def memories():
    folder = cache.ENTRIES.path
    return sorted(folder.iterdir()) if folder.exists() else []


def tables(run):
    return leaderboard_files(boards_of(RunFolder.open(run.folder)))


def read_lines(run, monkeypatch):
    """How many lines are read to make the leaderboard."""
    count = 0
    read = RecordLine.result

    def counted(line):
        nonlocal count
        count += 1
        return read(line)

    with monkeypatch.context() as patch:
        patch.setattr(RecordLine, "result", counted)
        tables(run)
    return count


def test_cached_records_are_not_read_again_and_give_identical_tables(run, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(cache, "MIN_CACHED_BYTES", 10**12)
        without = tables(run)
        assert not memories()
    assert read_lines(run, monkeypatch) == RECORDS
    assert [path.suffix for path in memories()] == [".counts"]
    assert read_lines(run, monkeypatch) == 0
    assert tables(run) == without


def test_a_growing_run_is_read_from_the_cached_position(run, monkeypatch):
    whole = (run.folder / GAMES).read_bytes()
    lines = whole.splitlines(keepends=True)
    expected = tables(run)
    # Matches end a little out of order: those that are early wait in the memory, too.
    lines[100:110] = reversed(lines[100:110])
    (run.folder / GAMES).write_bytes(b"".join(lines[:105]))
    assert read_lines(run, monkeypatch) == 105
    (run.folder / GAMES).write_bytes(b"".join(lines))
    assert read_lines(run, monkeypatch) == RECORDS - 105
    assert tables(run) == expected


def test_report_facts_continue_from_the_cached_position(run):
    path, records = run.folder / GAMES, list(run.records())
    for at, record in enumerate(records):
        kind = ("exception", "disqualified", "timeout")[at % 3]
        faults = (Fault(at % 2, kind, 3, f"ValueError: {at % 5}"),) if at % 7 == 0 else ()
        records[at] = replace(record, faults=faults)
    lines = [with_sum(encode(record)) + b"\n" for record in records]
    path.write_bytes(b"".join(lines))

    def told(facts):
        state = pack_state(facts.state(), STATE)
        return state, leaderboard_files(facts.counts.boards()), list(facts.picks.chosen()), facts.faults.groups()

    expected = told(gather(ordered_results(run), run.info.plan))
    assert len(expected[3]) > 4
    path.write_bytes(b"".join(lines[:100]))
    facts_of(run)
    path.write_bytes(b"".join(lines))
    for _ in range(2):
        assert told(facts_of(run)) == expected


@pytest.mark.parametrize("taken", [slice(0, 1), slice(7, 9), slice(0, 0)])
def test_shuffled_records_and_gaps_are_read_in_order_with_bounded_memory(run, monkeypatch, taken):
    path = run.folder / GAMES
    lines = path.read_bytes().splitlines(keepends=True)
    del lines[taken]
    if taken == slice(0, 0):
        random.Random(1).shuffle(lines)
    path.write_bytes(b"".join(lines))
    there = sorted(record.index for record in run.records())
    monkeypatch.setattr(reader, "MAX_WAITING_RESULTS", 5)
    assert [result.index for result in ordered_results(run)] == there
    assert not memories()
    for twice in (3, 50):
        path.write_bytes(b"".join([*lines, lines[twice]]))
        with pytest.raises(StoreError, match="Two records, one of them"):
            list(ordered_results(run))


def test_every_changed_byte_is_found_in_a_cached_run(run):
    write_leaderboard(run)
    registry, rng, path = load(), random.Random(3), run.folder / GAMES
    fine = check_run(run, registry, 10)
    assert not [*fine.problems, *stale_tables(run, registry.formats, fine.verified)]
    assert sorted(path.suffix for path in memories()) == [".counts", ".verified"]
    setup, whole = restore(run, registry), path.read_bytes()
    for _ in range(25):
        at = rng.randrange(len(whole) - 1)
        bad = bytearray(whole)
        bad[at] ^= 1 << rng.randrange(8)
        path.write_bytes(bad)
        line = rf"games\.jsonl, line {whole.count(10, 0, at) + 1}[,:]"
        for reading in (boards_of, facts_of):
            with pytest.raises(StoreError, match=line):
                reading(run)
        with pytest.raises(StoreError, match=line):
            Tournament(run, setup).play(SerialExecutor(setup.roster))
        assert check_run(run, registry, 10).problems


def test_a_cached_check_replays_its_sample_and_checks_what_is_not_cached(run, monkeypatch):
    registry = load()
    write_leaderboard(run)

    def checked(sample):
        found = check_run(RunFolder.open(run.folder), registry, sample)
        return found, stale_tables(run, registry.formats, found.verified)

    first, _ = checked(10)
    with monkeypatch.context() as patch:
        patch.setattr("harness.verify.records.RecordCheck", None)  # no second look at all records
        again, unfit = checked(10)
    assert not unfit
    assert (again.records, again.replayed, again.taken, again.problems) == (RECORDS, 10, first.taken, [])
    assert checked(None)[0].replayed == RECORDS  # a full check remembers nothing
    table = run.folder / "leaderboard.md"
    table.write_text(table.read_text("utf-8").replace("1", "2", 1), "utf-8")
    assert "leaderboard.md is not what the records give" in checked(10)[1][0]
    info = msgspec.json.decode((run.folder / RUN).read_bytes())
    (run.folder / RUN).write_bytes(msgspec.json.encode({**info, "records": "sha256:0"}))
    assert "its digest in run.json does not fit" in " ".join(checked(10)[0].problems)


@pytest.mark.parametrize("name", ["counts", "facts", "verified"])
def test_a_damaged_or_foreign_cache_entry_is_ignored(run, name):
    registry = load()

    def read():
        facts = facts_of(run)
        found = check_run(run, registry, 10)
        return leaderboard_files(boards_of(run)), facts.state().keys(), found.records, found.problems

    write_leaderboard(run)
    expected = read()
    stale_tables(run, registry.formats, check_run(run, registry, 10).verified)
    [memory] = [path for path in memories() if path.suffix == f".{name}"]
    whole, rng = memory.read_bytes(), random.Random(5)
    flipped = [bytearray(whole) for _ in range(8)]
    for each in flipped:
        each[rng.randrange(len(each))] ^= 1 << rng.randrange(8)
    for bad in [b"", whole[:40], whole[:-1], whole + b"x", b"\x93" * 4000, *flipped]:
        memory.write_bytes(bad)
        assert read() == expected
    memory.write_bytes(whole)
    memory.chmod(0o666)
    with pytest.raises(PermissionError):
        cache._read_entry(memory.name)
    memory.unlink()
    memory.mkdir()
    assert read() == expected


def test_the_cache_is_not_used_by_different_code(run, monkeypatch):
    tables(run)
    monkeypatch.setattr(cache, "_code_digest", lambda about=b"": b"other code" + about)
    assert read_lines(run, monkeypatch) == RECORDS


def test_cache_files_in_a_run_folder_are_ignored(run, tmp_path, monkeypatch):
    """Who sends a run sends records, and not what they come to."""
    expected = tables(run)
    [memory] = memories()
    for name in (memory.name, "counts", f"cache.{memory.suffix}"):
        (run.folder / name).write_bytes(memory.read_bytes())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert read_lines(run, monkeypatch) == RECORDS
    assert tables(run) == expected


def test_tables_are_correct_without_a_writable_cache_folder(run, tmp_path, monkeypatch):
    expected = tables(run)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert tables(run) == expected
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pathlib.Path.expanduser", _no_home)
    assert tables(run) == expected


def _no_home(_path):
    raise RuntimeError("Could not determine home directory.")


KILLED = """
import os, sys
from harness.runs import cache
from harness.runs.standings import boards_of
from harness.runs.store import RunFolder
from pathlib import Path

def kill(descriptor):
    os.ftruncate(descriptor, os.fstat(descriptor).st_size // 2)
    os.kill(os.getpid(), 9)

os.fsync = kill
cache.MIN_CACHED_BYTES = 1
boards_of(RunFolder.open(Path(sys.argv[1])))
"""


def test_a_process_killed_while_writing_the_cache_leaves_no_valid_entry(run, monkeypatch):
    done = subprocess.run([sys.executable, "-c", KILLED, str(run.folder)], env=dict(os.environ))
    assert done.returncode == -9
    assert [path.suffix for path in memories()] == [".part"]
    assert read_lines(run, monkeypatch) == RECORDS
    assert read_lines(run, monkeypatch) == 0


def test_old_cache_entries_are_deleted(run, monkeypatch):
    tables(run)
    [memory] = memories()
    for number in range(5):
        (memory.parent / f"old{number}").write_text("")
        os.utime(memory.parent / f"old{number}", (number, number))
    monkeypatch.setattr(cache, "MAX_ENTRIES", 3)
    memory.unlink()
    tables(run)
    assert [path.name for path in memories()] == sorted(["old3", "old4", memory.name])


def test_states_of_unknown_classes_are_neither_packed_nor_unpacked():
    assert pack_state({0, 8}, {}) == pack_state({8, 0}, {})  # tables of eight: these lie in the order they came
    state = {(1, 2): [2**70, -(2**63), None, 1.5]}
    assert unpack_state(pack_state(state, {}), {}) == state
    with pytest.raises(KeyError):
        pack_state(random.Random(), {})
    with pytest.raises(ValueError, match="no packed state"):
        unpack_state(msgspec.msgpack.encode(["o", "Popen", "ls"]), {})


def test_a_command_is_measured_in_a_separate_process(run, tmp_path):
    took = run_command(run.folder, RUN_COMMANDS["leaderboard"], tmp_path)
    assert took.seconds > 0.05
    assert 10 < took.megabytes < 1000
    with pytest.raises(RuntimeError, match="exit code 2"):
        run_command(tmp_path, RUN_COMMANDS["leaderboard"], tmp_path)
    arena("bench", "--records", 1000, "--costs", code=2)


@pytest.mark.parametrize("number", [4_000, pytest.param(80_000, marks=pytest.mark.slow)])
def test_memory_is_bounded_and_time_at_most_linear_in_the_number_of_records(tmp_path, monkeypatch, number):
    """The short form of `arena bench --records 1000000`."""
    monkeypatch.setattr(cache, "MIN_CACHED_BYTES", 10**12)
    few, many = (_readings(tmp_path / str(each), each) for each in (number // 8, number))
    for name, (seconds, size) in many.items():
        assert size < few[name][1] + 30 * number + 100_000, f"{name}: {size:,} bytes, with an eighth {few[name][1]:,}"
        assert seconds < 24 * few[name][0], f"{name}: {seconds:.2f} s, with an eighth {few[name][0]:.2f}"


def _readings(folder, number):
    """What reading a run of so many records takes: seconds, and the most bytes at once."""
    registry = load()
    run = make_run(folder, number, registry, players=2)
    setup = restore(run, registry)
    readings = {
        "resume": lambda: Tournament(run, setup).play(SerialExecutor(setup.roster)),
        "leaderboard": lambda: boards_of(RunFolder.open(run.folder)),
        "verify": lambda: check_run(run, registry, 10),
    }
    # Twice: a cache of functions, which other tests have filled, may be enlarged in the first.
    return {name: min(_taken(reading), _taken(reading), key=itemgetter(1)) for name, reading in readings.items()}


def _taken(reading):
    tracemalloc.start()
    began = process_time()
    try:
        reading()
        return process_time() - began, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
