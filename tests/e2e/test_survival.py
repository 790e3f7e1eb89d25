"""The organiser's night: a run is killed in every way, continued, and ends as if nothing had happened."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from harness.core.records import GameRecord
from tests.support.run_folders import records, table, written
from tests.support.waiting import PATIENCE, wait_for

ARENA = Path(sys.executable).with_name("arena")
FIELD = ["--game", "el-paso", "--game", "x-pasch", "--bot", "random", "--bot", "skittish", "--bot", "diehard",
         "--bot", "founder", "--bot", "raider", "--seed", 5]  # fmt: skip


def start(*args: object) -> subprocess.Popen[bytes]:
    """A run in a process group of its own."""
    return subprocess.Popen(
        [ARENA, "tournament", *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )


def run(*args: object) -> tuple[int, str, str]:
    with start(*args) as process:
        out, err = process.communicate(timeout=5 * PATIENCE)
    return process.returncode, out.decode(), err.decode()


def wait_while_it_runs(process: subprocess.Popen[bytes], happened: Callable[[], object], what: str) -> None:
    """Waits until something has happened; the run that makes it happen must not end before."""
    wait_for(lambda: happened() or process.poll() is not None, what, 5 * PATIENCE)
    if process.poll() is not None:
        out, err = process.communicate()
        pytest.fail(f"the run ended, with exit code {process.returncode}, before {what}:\n{out!r}\n{err.decode()}")


def says(process: subprocess.Popen[bytes], text: bytes) -> Callable[[], bool]:
    """Whether a run has said this on stderr by now."""
    assert process.stderr is not None
    descriptor, heard = process.stderr.fileno(), b""
    os.set_blocking(descriptor, False)

    def said() -> bool:
        nonlocal heard
        with suppress(BlockingIOError):
            heard += os.read(descriptor, 65536)
        return text in heard

    return said


def workers_of(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in text.split()]


def wait_until_gone(pids: list[int]) -> None:
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), "workers end with their parent")


def kill(process: subprocess.Popen[bytes], how: str, rng: random.Random) -> None:
    """Ends a run, or a part of it, in one of three ways."""
    if how == "worker":
        workers = wait_for(lambda: workers_of(process.pid), "there are workers")
        with suppress(ProcessLookupError):
            os.kill(rng.choice(workers), signal.SIGKILL)
        return
    workers = workers_of(process.pid)
    if how == "group":
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.communicate()
    wait_until_gone(workers)


def torment(deals: int, moments: int, extra: tuple[object, ...] = ()) -> None:
    """Kills a run, at first when it has just begun, then at random moments, each some records farther; continues it,
    and compares it with an undisturbed one."""
    rng = random.Random(moments)
    assert run(*FIELD, *extra, "--deals", deals, "--workers", 0, "--name", "quiet")[0] == 0
    farther = written("quiet") // (2 * moments + 1)  # it must not be over when we come to kill it
    process = start(*FIELD, *extra, "--deals", deals, "--name", "hard")
    wait_while_it_runs(process, Path("results/hard/run.json").exists, "there is a run")
    kill(process, "group", rng)
    for _ in range(moments):
        if process.returncode is not None:
            process = start("--resume", "results/hard", "--workers", rng.choice([1, 2, 3]))
        enough = written("hard") + rng.randint(1, farther)
        wait_while_it_runs(process, lambda enough=enough: written("hard") >= enough, f"{enough} records are written")
        kill(process, rng.choice(["parent", "group", "worker"]), rng)
    if process.returncode is not None:
        process = start("--resume", "results/hard", "--workers", rng.choice([1, 2, 3]))
    _, err = process.communicate(timeout=5 * PATIENCE)
    assert process.returncode == 0, err.decode()
    assert records("hard") == records("quiet")
    assert table("hard") == table("quiet")


@pytest.mark.parametrize("extra", [(), ("--format", "swiss:rounds=3")], ids=["round-robin", "swiss"])
def test_a_run_killed_at_random_moments_and_resumed_ends_like_an_undisturbed_one(extra):
    torment(deals=100 if not extra else 30, moments=4, extra=extra)


@pytest.mark.slow
@pytest.mark.parametrize("extra", [(), ("--format", "swiss:rounds=6"), ("--format", "knockout")])
def test_a_long_run_killed_ten_times_and_resumed_ends_like_an_undisturbed_one(extra):
    torment(deals=800 if not extra else 300, moments=10, extra=extra)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_ends_the_run_cleanly_and_prints_the_resume_command(number):
    process = start(*FIELD, "--deals", 100000, "--name", "a")
    wait_while_it_runs(process, lambda: written("a"), "there is a record")
    workers = workers_of(process.pid)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1  # not complete
    assert b"diehard" in out
    assert b"arena tournament --resume results/a" in err
    assert Path("results/a/leaderboard.md").exists()
    assert not Path("results/a/lock").exists()
    wait_until_gone(workers)


def test_the_second_signal_stops_the_run_immediately():
    process = start(*FIELD, "--deals", 100000, "--name", "a", "--bot", _sleeper(), "--move-time", 0, "--workers", 1)
    wait_while_it_runs(process, Path("asleep").exists, "a bot is asleep")
    workers = workers_of(process.pid)
    process.send_signal(signal.SIGINT)
    wait_while_it_runs(process, says(process, b"once more to stop now"), "the first signal is answered")
    with pytest.raises(subprocess.TimeoutExpired):  # the sleeper is being waited for
        process.wait(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + signal.SIGINT
    assert b"Continue with: arena tournament --resume results/a" in err
    wait_until_gone(workers)
    records("a")


def _sleeper() -> str:
    Path("sleeper.py").write_text(
        "import pathlib, time\nfrom harness import Bot\nclass Sleeper(Bot):\n"
        "    def choose(self, view, actions):\n        pathlib.Path('asleep').touch()\n        time.sleep(10**6)\n"
    )
    return "sleeper.py"


def test_a_run_has_one_writer_and_the_lock_of_a_killed_process_is_ignored():
    process = start(*FIELD, "--deals", 100000, "--name", "a")
    wait_while_it_runs(process, lambda: written("a"), "there is a record")
    code, _, err = run("--resume", "results/a")
    assert code == 2
    assert f"is being written by another process ({process.pid})" in err
    process.kill()
    process.communicate()
    assert Path("results/a/lock").exists()
    before = written("a")
    with start("--resume", "results/a") as again:
        wait_while_it_runs(again, lambda: written("a") > before, "there is one more record")
        again.send_signal(signal.SIGINT)
        _, said = again.communicate(timeout=PATIENCE)
    assert again.returncode == 1, said
    assert b"Not complete" in said


def test_a_folder_deleted_while_running_is_noticed():
    import shutil

    process = start(*FIELD, "--deals", 100000, "--name", "a")
    wait_while_it_runs(process, lambda: written("a"), "there is a record")
    workers = workers_of(process.pid)
    shutil.rmtree("results/a")
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert b"was moved or deleted while the run was being played" in b" ".join(err.split())
    assert b"Traceback" not in err
    wait_until_gone(workers)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_full_disk_loses_nothing_that_was_written(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["/bin/mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        code, _, err = run(*FIELD, "--deals", 100000, "--name", "a", "--results", disk)
        assert code == 2
        assert "No space left on device" in err
        assert "--resume" in err
        assert "Traceback" not in err
        lines = (disk / "a" / "games.jsonl").read_bytes()
        assert lines.endswith(b"\n")
        assert len([msgspec.json.decode(line, type=GameRecord) for line in lines.splitlines()]) > 20
    finally:
        subprocess.run(["/bin/umount", disk], check=True)


def test_bots_that_iterate_over_sets_play_the_same_in_every_process():
    Path("setter.py").write_text(
        "from harness import Bot\nclass Setter(Bot):\n    def choose(self, view, actions):\n"
        "        return {str(a): a for a in actions}[next(iter({str(a) for a in actions}))]\n"
    )
    for name in ("one", "two"):
        code, _, err = run(
            "--game", "el-paso", "--bot", "setter.py", "--bot", "random", "--deals", 3, "--seed", 1, "--name", name
        )
        assert code == 0, err
    assert records("one") == records("two")
