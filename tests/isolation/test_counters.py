"""What the kernel counts for the whole machine: no bot reads by it what another does, or what it did itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import pytest

from harness.isolation import doctor
from harness.isolation.launch import Launch
from harness.isolation.process import Process
from tests.support.waiting import PATIENCE

LOOK = """
import json, os
def read(name):
    try:
        return open('/proc/' + name).read()
    except OSError:
        return ''
def in_child(attempt):
    back, there = os.pipe()
    if os.fork() == 0:
        try:
            attempt()
        except OSError as error:
            os.write(there, str(error.errno).encode())
        os._exit(0)
    os.wait()
    os.close(there)
    return os.read(back, 9).decode()
print(json.dumps({
    'counters': [name for name in ('loadavg', 'vmstat', 'uptime', 'locks', 'sys/fs/file-nr', 'pressure/cpu')
                 if read(name)],
    'processes': [name for name in os.listdir('/proc') if name.isdigit()],
    'changing': read('stat') + read('meminfo'),
    'self': bool(read('self/maps') and read('cpuinfo')),
    'session': in_child(os.setsid),
    'autogroup': read('self/autogroup'),
    'room': in_child(lambda: os.statvfs('/usr')),
    'other': in_child(lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 5)),
    'affinity': in_child(lambda: os.sched_setaffinity(os.getppid(), {0})),
    'batch': in_child(lambda: os.sched_setscheduler(os.getppid(), os.SCHED_BATCH, os.sched_param(0))),
}), flush=True)
"""
EPERM, ENOSYS = "1", "38"

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.uname().machine != "x86_64", reason="needs Linux's namespaces and filter"
)


@pytest.fixture(scope="module")
def _walls():
    lacking = [one.name for one in doctor.probe() if not one.enforced]
    if lacking:
        pytest.skip(f"this machine does not enforce {lacking}")


def say(argv, home, readable=()):
    """The first line that a confined program says."""
    home.chmod(0o711)
    process = Process(Launch(tuple(argv), readable=(sys.prefix, sys.base_prefix, *readable)), str(home), memory=0)
    try:
        return process.ask(b"\n", perf_counter() + PATIENCE)
    finally:
        process.kill()


def test_a_sandboxed_program_sees_no_changing_machine_counters(_walls, tmp_path):
    first, second = (json.loads(say([sys.executable, "-S", "-c", LOOK], tmp_path)) for _ in range(2))
    assert first["counters"] == []
    assert first["processes"] == ["1"]
    assert first["self"]
    assert first == second  # above all the number of its session, and what it is told of memory and processors
    assert first["session"] == first["other"] == first["affinity"] == first["batch"] == EPERM
    assert first["room"] == ENOSYS


def test_leaving_the_terminal_creates_no_new_session():
    """Also where arena has a terminal."""
    master, slave = os.openpty()
    code = (
        "import fcntl, os, sys, termios\n"
        "from harness.isolation.confine import _leave_terminal\n"
        "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
        "if os.fork() == 0:\n"
        "    os.close(os.open('/dev/tty', os.O_RDWR))\n"
        "    _leave_terminal()\n"
        "    try: os.open('/dev/tty', os.O_RDWR)\n"
        "    except OSError: print(os.getsid(0) == os.getppid(), os.getpgid(0) == os.getpid(), flush=True)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    with os.fdopen(slave) as terminal:
        done = subprocess.run(
            [sys.executable, "-c", code], stdin=terminal, capture_output=True, text=True, start_new_session=True,
            check=True, cwd=Path(__file__).parents[2],
        )  # fmt: skip
    os.close(master)
    assert done.stdout.split() == ["True", "True"]


SORTS = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void) {
    int n = 300000, *v = malloc(n * sizeof *v);
    for (int i = 0; i < n; i++) v[i] = n - i;
    qsort(v, n, sizeof *v, order);
    printf("%d %d\\n", v[0], sysconf(_SC_PHYS_PAGES) > 0 && sysconf(_SC_NPROCESSORS_ONLN) > 0);
}
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no compiler")
def test_a_static_program_learns_the_size_of_the_machine(_walls, tmp_path):
    source, program = tmp_path / "sorts.c", tmp_path / "sorts"
    source.write_text(SORTS)
    if subprocess.run(
        [shutil.which("gcc"), "-static", "-o", program, source], capture_output=True, check=False
    ).returncode:
        pytest.skip("there are no static libraries")
    assert say([str(program)], tmp_path, [str(program)]) == b"1 1"


JAVA = """
class Main { public static void main(String[] words) throws Exception {
    var child = new ProcessBuilder("/bin/echo", "hi").start();
    var said = new String(child.getInputStream().readAllBytes()).trim();
    var runtime = Runtime.getRuntime();
    System.out.println(said + " " + (runtime.maxMemory() > 1 << 26) + " " + (runtime.availableProcessors() > 0));
} }
"""


@pytest.mark.skipif(shutil.which("java") is None, reason="java is not installed")
def test_java_starts_and_can_start_child_processes(_walls, tmp_path):
    (tmp_path / "Main.java").write_text(JAVA)
    java = str(Path(shutil.which("java")).absolute())
    assert say([java, str(tmp_path / "Main.java")], tmp_path, [str(tmp_path / "Main.java")]) == b"hi true true"


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_node_counts_processors_and_memory(_walls, tmp_path):
    code = "const os = require('os'); console.log(os.cpus().length > 0, os.totalmem() > 0)"
    assert say([str(Path(shutil.which("node")).absolute()), "-e", code], tmp_path) == b"true true"


def test_numpy_computes(_walls, tmp_path):
    pytest.importorskip("numpy")
    code = "import numpy; print(int(numpy.linalg.inv(numpy.eye(90)).sum()))"
    assert say([sys.executable, "-c", code], tmp_path) == b"90"
