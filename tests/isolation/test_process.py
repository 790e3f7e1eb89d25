"""A bot's process: its limits, its end, and what is left of it when the machine gives no namespaces."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from harness.isolation import process as processes_of_bots
from harness.isolation.launch import Launch, with_absolute_paths
from harness.isolation.process import DeadlinePassed, Process, ProcessEnded
from harness.match.faults import BotFault
from tests.isolation.support import left_of, processes
from tests.support.waiting import PATIENCE, wait_for, within

HERE = Path(__file__).parent


@pytest.fixture
def start():
    """Starts a script of a few lines; `home` is where its folders are."""
    home = tempfile.mkdtemp(prefix="arena-test-")
    Path(home).chmod(0o711)
    made = []

    def make(code, **limits):
        argv = with_absolute_paths([sys.executable, "-S", "-c", code])
        launch = Launch(argv, readable=(sys.prefix, sys.base_prefix))
        made.append(Process(launch, home, **limits))
        return made[-1]

    make.home = home
    yield make
    for process in made:
        if process.alive:
            process.kill()
    assert list(Path(home).iterdir()) == []
    shutil.rmtree(home)
    assert left_of(home) == []


def soon(seconds=PATIENCE):
    return time.perf_counter() + seconds


def test_a_line_is_reassembled_from_any_number_of_writes(start):
    echo = start("import sys,time\nfor l in sys.stdin:\n for c in l: sys.stdout.write(c); sys.stdout.flush()")
    assert echo.ask(b"one\n", soon()) == b"one"
    assert echo.ask(b"two and more\n", soon()) == b"two and more"


def test_two_lines_at_once_are_taken_one_by_one(start):
    twice = start("import sys\nfor l in sys.stdin: sys.stdout.write(l + l.upper()); sys.stdout.flush()")
    assert twice.ask(b"a\n", soon()) == b"a"
    assert twice.ask(b"b\n", soon()) == b"A"


def test_the_deadline_applies_to_a_process_that_does_not_read_stdin(start):
    deaf = start("import time; time.sleep(9999)")
    with pytest.raises(DeadlinePassed), within():
        deaf.ask(b"x" * 1_000_000 + b"\n", soon(0.4))


def test_a_line_that_is_too_long_is_an_error(start):
    with pytest.raises(BotFault, match="more than 50000 bytes"):
        start("while True: print('x' * 9999, end='')").ask(b"\n", soon(), 50_000)


def test_the_exit_code_and_the_last_line_of_stderr_are_reported(start):
    process = start("import sys; sys.stderr.write('one\\nalas at 0x7f001122\\n'); sys.exit(7)")
    with pytest.raises(ProcessEnded):
        process.ask(b"\n", soon())
    assert process.kill(PATIENCE) == "exit code 7"
    assert process.last_stderr_line() == "alas at 0x..."


def test_a_dismissed_program_may_finish_its_work(start, tmp_path):
    done = tmp_path / "done"
    process = start(f"import time\ninput()\ntime.sleep(0.2)\nopen({str(done)!r}, 'w')", confined=False)
    with within():
        process.dismiss(b"bye\n", 9999)
    assert done.exists()
    assert not process.running


def test_a_program_that_waits_for_input_ends_when_its_stdin_is_closed(start):
    process = start("import sys\nfor line in sys.stdin: print(line, flush=True)")
    assert process.ask(b"one\n", soon()) == b"one"
    with within():
        process.dismiss(b"bye\n", 9999)


def test_a_program_that_does_not_exit_is_killed_after_the_grace_period(start):
    process = start("import time\ntime.sleep(9999)")
    began = time.perf_counter()
    with within():
        process.dismiss(b"bye\n", 0.3)
    assert time.perf_counter() - began >= 0.3
    assert not process.running
    with within():
        process.dismiss(b"bye\n", 9999)


def test_a_process_can_start_at_a_function_of_a_module(start):
    launch = Launch(entry="json:loads", request={}, readable=(sys.prefix, sys.base_prefix, str(HERE.parents[1])))
    process = Process(launch, start.home)
    with pytest.raises(BotFault, match="exit code 126: arena: cannot start it: the JSON object must be str"):
        process.exchange(b"\n", soon())


def test_a_process_that_exceeds_its_cpu_time_is_killed(start):
    process = start("while True: pass", cpu=1)
    with pytest.raises(ProcessEnded):
        process.ask(b"\n", soon())
    assert process.kill(PATIENCE) == "SIGKILL"


def test_the_process_does_not_inherit_environment_variables(start, monkeypatch):
    monkeypatch.setenv("ARENA_SECRET", "x")
    told = start("import os; print(sorted(os.environ))").ask(b"\n", soon()).decode()
    assert "SECRET" not in told
    assert "HOME" in told


@pytest.mark.parametrize("confined", [True, False])
def test_children_do_not_outlive_it(start, confined, monkeypatch):
    monkeypatch.setattr(processes_of_bots, "KILL_AFTER_S", PATIENCE)
    scatter = (
        "import os,time\n"
        "for _ in range(5):\n"
        " if os.fork() == 0:\n"
        "  try: os.setsid()\n"
        "  except PermissionError: os.setpgid(0, 0)\n"
        "  os.fork()\n"
        "  time.sleep(999)\n"
        "print(1, flush=True)"
    )
    process = start(scatter + "\ntime.sleep(999)", confined=confined)
    process.ask(b"\n", soon())
    began = time.perf_counter()
    process.kill()
    assert time.perf_counter() - began < PATIENCE  # the supervisor did it and need not be killed
    assert left_of(scatter) == []


@pytest.mark.parametrize("confined", [True, False])
def test_the_process_ends_when_its_parent_is_killed(start, confined):
    """Killed from outside without a chance to clear up, arena still leaves no bot behind."""
    program = "import os,time; os.fork(); print(1, flush=True); time.sleep(999)"
    code = (
        "import sys,time; sys.path.insert(0, sys.argv[1])\n"
        "from harness.isolation.launch import Launch, with_absolute_paths\n"
        "from harness.isolation.process import Process\n"
        f"argv = with_absolute_paths([sys.executable, '-S', '-c', {program!r}])\n"
        "launch = Launch(argv, readable=(sys.prefix, sys.base_prefix))\n"
        f"both = [Process(launch, sys.argv[2], None, confined={confined}) for _ in range(2)]\n"  # the second is forked
        f"[each.ask(b'\\n', time.perf_counter() + {PATIENCE}) for each in both]\n"
        "print('ready', flush=True); time.sleep(999)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code, str(HERE.parents[1]), start.home], stdout=subprocess.PIPE, text=True
    )
    with parent:
        assert parent.stdout.readline() == "ready\n"
        assert len(processes(start.home)) >= 3  # with the parent
        parent.kill()
    wait_for(lambda: processes(start.home) == [], "no bot is left behind")
    for folder in Path(start.home).iterdir():
        shutil.rmtree(folder)


def test_a_supervisor_that_is_stopped_is_killed(start):
    process = start("import time; print(1, flush=True); time.sleep(999)")
    process.ask(b"\n", soon())
    os.kill(process.pid, signal.SIGSTOP)
    process.kill()
    assert not process.running


def test_a_command_gets_absolute_paths(tmp_path):
    (tmp_path / "bot.js").touch()
    argv = with_absolute_paths(["sh", "bot.js", "--level", "3"])
    assert argv[1:] == (str(tmp_path / "bot.js"), "--level", "3")
    assert argv[0].startswith("/")


SHARED_MEMORY = """
import os
found = []
for name in ("smaps", "smaps_rollup", "numa_maps", "pagemap", f"task/{os.getpid()}/smaps", "status", "maps", "limits"):
    try:
        with open(f"/proc/self/{name}", "rb") as file:
            found.append((name, bool(file.read(8))))
    except OSError:
        pass
print(*(name for name, _ in found), len(os.listdir("/proc/self/fd")) > 2, open("/proc/meminfo").read(8), flush=True)
input()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_a_strict_bot_cannot_read_what_memory_others_share_with_it(start):
    """Two bots could pass messages by the pages of a file that they touch."""
    found = start(SHARED_MEMORY, strict=True).ask(b"", soon())
    assert found == b"status maps limits True MemTotal"
