"""What a killed run leaves is cleared by the next, a large field keeps few processes, and long lines are refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from pathlib import Path
from unittest.mock import Mock

import pytest

from harness.core.errors import UsageError
from harness.executors.base import Roster
from harness.executors.serial import SerialExecutor
from harness.isolation import launch
from harness.isolation.entrants import (
    MAX_IDLE_PROGRAMS,
    IsolationPolicy,
    ProcessLRU,
    enter_command,
    isolate_all,
    process_lru,
)
from harness.isolation.launch import Launch, with_absolute_paths
from harness.isolation.process import Process
from harness.isolation.protocol import MAX_LINE_BYTES
from harness.match.faults import BotFault
from harness.plugins.entrants import BotRef, renamed
from harness.runs.setup import installed
from tests.isolation.support import GAMES, HOSTILE, PATIENT, REGISTRY, job, seated
from tests.support.waiting import PATIENCE, wait_for

KEEPER = "from harness.isolation.launch import new_folder; print(new_folder(), flush=True); input()"


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    tmp_path.chmod(0o755)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_folders_of_killed_processes_are_removed_and_folders_in_use_are_kept(temporary):
    owners = [
        subprocess.Popen([sys.executable, "-c", KEEPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    dead, living = (owner.stdout.readline().strip() for owner in owners)
    ours = launch.new_folder()
    (temporary / "arena-of-somebody").mkdir()  # nobody has said that it may be removed
    (temporary / "arena-link").symlink_to(living)
    Path(dead, "bot-1").mkdir()
    assert launch.remove_stale_folders() == []
    owners[0].kill()
    owners[0].wait()
    assert launch.remove_stale_folders() == [dead]
    assert launch.remove_stale_folders() == []
    left = {path.name for path in temporary.iterdir()}
    assert left == {Path(living).name, Path(ours).name, "arena-of-somebody", "arena-link"}
    launch.remove_folder(ours)
    owners[1].communicate("\n")
    owners[0].communicate()
    assert launch.remove_stale_folders() == [living]


def test_a_folder_without_an_owner_is_removed_after_an_hour_unless_it_is_not_ours(temporary):
    old, young, foreign = (temporary / name for name in ("arena-0_oldold", "arena-youngone", "arena-of-somebody"))
    for folder in (old, young, foreign):
        (folder / "bot-1").mkdir(parents=True)
    for folder in (old, foreign):
        os.utime(folder, (time.time() - 2 * launch.STALE_AFTER_S,) * 2)
    assert launch.remove_stale_folders() == [str(old)]
    assert {path.name for path in temporary.iterdir()} == {young.name, foreign.name}


def test_the_run_after_a_killed_one_clears_its_folders(temporary):
    game = [sys.executable, "-m", "harness", "tournament", "--game", "el-paso", "--bot", "random", "--bot", "skittish",
            "--results", str(temporary / "results"), "--workers", "1", "-q"]  # fmt: skip
    killed = subprocess.Popen([*game, "--isolate", "--deals", "100000"], start_new_session=True)
    wait_for(lambda: list(temporary.glob("arena-*/bot-*")), "bots are started")
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert list(temporary.glob("arena-*"))
    subprocess.run([*game, "--deals", "1"], check=True, capture_output=True)
    assert list(temporary.glob("arena-*")) == []


def test_isolated_bots_keep_a_bounded_number_of_processes(monkeypatch):
    most = 3  # the real limit is tested below, with programs: an isolated bot takes its time to start
    monkeypatch.setattr(process_lru(), "max_idle", most)
    bot = REGISTRY.entrant("random")
    names = [f"bot-{number}" for number in range(8)]
    table = seated([renamed(bot, name) for name in names], limits=PATIENT)
    jobs = [job(number, "el-paso", *names[number : number + 4]) for number in range(0, 8, 4)]
    kept = []
    with SerialExecutor(table, PATIENT) as executor:
        for played in executor.run(jobs):
            assert not played.record.faults
            kept.append(sum(len(entrant.sessions.idle) for entrant in table.entrants.values()))
        assert max(kept) == most
        last = [name for name in names if table.entrants[name].sessions.idle]
        assert last == names[-most:]
    assert not any(entrant.sessions.idle for entrant in table.entrants.values())


def test_forty_programs_keep_a_bounded_number_of_processes():
    command = f"{sys.executable} -S {HOSTILE / 'polite_one.py'}"  # starts in a tenth of the time of an isolated bot
    program = enter_command(BotRef("polite", command=command), "off")
    names = [f"program-{number}" for number in range(40)]
    policy = IsolationPolicy("off", PATIENT, keep=True)
    table = Roster(GAMES, isolate_all({name: renamed(program, name) for name in names}, policy, GAMES))
    jobs = [job(number, "el-paso", *names[number : number + 4]) for number in range(0, 40, 4)]
    kept = []
    with SerialExecutor(table, PATIENT) as executor:
        for played in executor.run(jobs):
            assert not played.record.faults
            kept.append(sum(len(entrant.sessions.idle) for entrant in table.entrants.values()))
        assert max(kept) == MAX_IDLE_PROGRAMS
        last = [name for name in names if table.entrants[name].sessions.idle]
        assert last == names[-MAX_IDLE_PROGRAMS:]
    assert not any(entrant.sessions.idle for entrant in table.entrants.values())


class Keeper:
    def __init__(self, waiting):
        self.idle = deque(Mock() for _ in range(waiting))


def test_the_least_recently_used_program_is_closed_first():
    kept, (a, b, c) = ProcessLRU(max_idle=3), (Keeper(1), Keeper(1), Keeper(1))
    for keeper in (a, b, c, a):
        kept.mark_used(keeper)
    d = Keeper(1)
    kept.mark_used(d)
    assert [len(keeper.idle) for keeper in (a, b, c, d)] == [1, 0, 1, 1]
    d.idle += [Mock(), Mock()]
    kept.mark_used(d)
    assert [len(keeper.idle) for keeper in (a, b, c, d)] == [0, 0, 0, 3]
    assert process_lru().max_idle == MAX_IDLE_PROGRAMS


@pytest.mark.parametrize("parts", [1, 2, 7])
@pytest.mark.parametrize(("size", "fits"), [(MAX_LINE_BYTES, True), (MAX_LINE_BYTES + 1, False), (120_000, False)])
def test_a_line_of_more_than_64_kb_is_refused_however_it_comes(temporary, size, fits, parts):
    code = (
        f"import sys, time; sys.stdin.readline(); data = b'x' * {size} + b'\\n'; step = len(data) // {parts} + 1\n"
        f"for start in range(0, len(data), step):\n"
        f"    sys.stdout.buffer.write(data[start : start + step]); sys.stdout.buffer.flush()\n"
        f"sys.stdin.readline()\n"
    )
    argv = with_absolute_paths([sys.executable, "-S", "-c", code])
    home = launch.new_folder()
    process = Process(Launch(argv, readable=(sys.prefix, sys.base_prefix)), home)
    try:
        if fits:
            assert len(process.exchange(b"?\n", time.perf_counter() + PATIENCE)) == size
        else:
            with pytest.raises(BotFault, match="more than 65536 bytes in one line"):
                process.exchange(b"?\n", time.perf_counter() + PATIENCE)
    finally:
        process.kill()
        launch.remove_folder(home)


@pytest.mark.parametrize(("size", "fits"), [(MAX_LINE_BYTES, True), (MAX_LINE_BYTES + 1, False)])
def test_a_hello_has_the_same_limit(tmp_path, monkeypatch, size, fits):
    monkeypatch.chdir(tmp_path)
    hello = '{"type":"hello","protocol":1}'
    Path("long_hello.py").write_text(f"input(); print({hello!r}.ljust({size})); input()")
    command = f"cmd:{sys.executable} -S long_hello.py"
    if fits:
        installed().entrant(command)
    else:
        with pytest.raises(UsageError, match="sent more than 65536 bytes in one line"):
            installed().entrant(command)
