"""The filter of system calls: its policy on each kind of machine, and what is left where a kernel gives less."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from time import perf_counter

import pytest

from harness.isolation import doctor, seccomp
from harness.isolation.launch import Launch, with_absolute_paths
from harness.isolation.process import Process
from harness.isolation.seccomp import MACHINES, NEW_NAMESPACES, SYSCALL_NUMBERS, syscall_number
from tests.support import lesser_rights
from tests.support.waiting import PATIENCE

HEADERS = {"x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "aarch64": "/usr/include/asm-generic/unistd.h"}
SETLK, GETLK, SET_FLAGS, SET_PIPE_SIZE = 6, 5, 4, 1031
SETSIG = 10
SEND_BUFFER, RECEIVE_BUFFER = 7, 8
SET_DUMPABLE, SET_NAME = 4, 15
UNIX, INET, NETLINK, PACKET, VSOCK = 1, 2, 16, 17, 40
STREAM, DATAGRAM = 1, 2
ALLOWED, KILLED = 0, -1
HARMLESS = {"x86_64": (0, 1, 9, 57, 59, 231), "aarch64": (63, 64, 222, 221, 94)}
"""read, write, mmap, fork, execve, exit_group."""


def answer(machine, number, *arguments, has_rootfs=True, audit=None):
    """What the filter answers to a call: 0 lets it through, an errno refuses it, -1 ends the process."""
    program = seccomp.assemble(machine, has_rootfs)
    data = {0: number, 4: audit or seccomp.ARCHITECTURES[machine]}
    data |= {16 + 8 * place: value for place, value in enumerate(arguments)}
    step, value = 0, 0
    while True:
        code, given, jump_true, jump_false = program[step]
        step += 1
        match code:
            case 0x20:
                value = data.get(given, 0)
            case 0x54:
                value &= given
            case 0x05:
                step += given
            case 0x15:
                step += jump_true if value == given else jump_false
            case 0x35:
                step += jump_true if value >= given else jump_false
            case 0x45:
                step += jump_true if value & given else jump_false
            case 0x06:
                return {0x7FFF_0000: ALLOWED, 0x8000_0000: KILLED}.get(given, given & 0xFFFF)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("has_rootfs", [True, False])
def test_every_call_of_the_policy_is_refused_and_others_are_not(machine, has_rootfs):
    for denied in seccomp.DENIED:
        for call in denied.calls:
            number = syscall_number(call, machine)
            if number is not None:
                assert answer(machine, number, has_rootfs=has_rootfs) == denied.error, call
    assert {answer(machine, number, has_rootfs=has_rootfs) for number in HARMLESS[machine]} == {ALLOWED}


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_are_refused_by_their_arguments(machine):
    def call(name, *arguments, has_rootfs=True):
        return answer(machine, syscall_number(name, machine), *arguments, has_rootfs=has_rootfs)

    for bit in range(32):
        assert call("clone", 1 << bit) == (errno.EPERM if NEW_NAMESPACES >> bit & 1 else ALLOWED)
    assert call("fcntl", 3, SET_FLAGS) == ALLOWED
    assert call("fcntl", 3, SETLK) == call("fcntl", 3, GETLK) == errno.ENOLCK
    assert call("fcntl", 3, SET_PIPE_SIZE) == call("setsockopt", 3, 1, SEND_BUFFER) == errno.EPERM
    assert call("fcntl", 3, SETSIG) == errno.EPERM
    assert call("timer_create", 1, 0, 0) == call("openat2", 3, 0, 0, 0) == errno.ENOSYS
    assert call("openat", 3, 0, os.O_RDONLY) == ALLOWED
    assert call("openat", 3, 0, os.O_TMPFILE | os.O_RDWR) == errno.EOPNOTSUPP
    assert call("setsockopt", 3, 1, RECEIVE_BUFFER) == ALLOWED
    assert call("setpriority", 0, 0, 5) == call("sched_setaffinity", 0) == call("prlimit64", 0) == ALLOWED
    assert call("setpriority", 0, 1, 5) == call("setpriority", 1, 0, 5) == errno.EPERM
    assert call("sched_setaffinity", 1) == call("prlimit64", 1) == errno.EPERM
    assert call("preadv2", 3, 0, 0, 0, 0, 0) == ALLOWED
    assert call("preadv2", 3, 0, 0, 0, 0, 8) == errno.EOPNOTSUPP
    assert call("prctl", SET_NAME) == ALLOWED
    assert call("prctl", SET_DUMPABLE) == errno.EPERM
    assert call("socket", UNIX, STREAM) == ALLOWED
    assert {call("socket", family) for family in (INET, NETLINK, PACKET, VSOCK)} == {errno.EAFNOSUPPORT}
    assert call("socket", UNIX, STREAM, has_rootfs=False) == errno.EPERM
    assert call("socketpair", UNIX, STREAM | 0o2000000, has_rootfs=False) == ALLOWED
    assert call("socketpair", UNIX, DATAGRAM, has_rootfs=False) == errno.EPERM


def test_system_calls_of_other_architectures_do_not_bypass_the_filter():
    i386 = 0x4000_0003
    assert answer("x86_64", 0, audit=i386) == KILLED
    assert answer("aarch64", 63, audit=i386) == KILLED
    assert answer("x86_64", 0x4000_0000 | 0) == errno.ENOSYS
    with pytest.raises(OSError, match="no list of system calls for vax"):
        seccomp.assemble("vax", has_rootfs=True)


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_are_those_of_the_kernels_headers(machine):
    header = Path(HEADERS[machine])
    if not header.is_file():
        pytest.skip("no headers of the kernel are installed")
    known = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text()))
    _check_result = {call: int(known[call]) for call in SYSCALL_NUMBERS if call in known}
    assert _check_result == {call: syscall_number(call, machine) for call in _check_result}
    assert len(_check_result) > 70


needs_root = pytest.mark.skipif(
    sys.platform != "linux" or os.getuid() != 0 or os.uname().machine not in MACHINES, reason="only root becomes others"
)
ARENA = [sys.executable, "-m", "harness"]
UNSHARE = (syscall_number("unshare", os.uname().machine) or 0) if sys.platform == "linux" else 0
NO_NAMESPACES, NOTHING = (UNSHARE,), (UNSHARE, lesser_rights.LANDLOCK)
ROOT, ORDINARY = 0, lesser_rights.SOMEBODY
PLACES = [
    (ROOT, (), True, set()),
    (ORDINARY, (), True, set()),
    (ORDINARY, (lesser_rights.LANDLOCK,), True, set()),
    (ROOT, NO_NAMESPACES, True, {"others"}),
    (ORDINARY, NO_NAMESPACES, True, {"processes", "others"}),
    (ROOT, NOTHING, True, {"writing", "reading", "others", "channels"}),
    (ORDINARY, NOTHING, True, {"processes", "writing", "reading", "others", "channels"}),
    (ORDINARY, (), False, {"network", "channels", "kernel"}),
]


@cache
def doctor_there(user, refused, filters):
    """What `arena doctor` does in such a place: several tests ask for it."""
    return lesser_rights.run([*ARENA, "doctor", "--json"], user, refused, filters)


@needs_root
@pytest.mark.parametrize(("user", "refused", "filters", "lacking"), PLACES)
def test_doctor_is_correct_with_any_set_of_privileges(user, refused, filters, lacking):
    done = doctor_there(user, refused, filters)
    data = json.loads(done.stdout)
    if not lacking and not data["strict"]:
        pytest.skip(f"this machine gives less than that: {data['through']}")
    assert {name for name, kept in data["enforced"].items() if not kept} >= lacking
    assert data["strict"] is (not lacking)
    assert done.returncode == (1 if lacking else 0)
    assert set(data["through"]) == {name for name, kept in data["enforced"].items() if not kept}


@pytest.fixture
def open_folder():
    """A folder that every user can enter; pytest's own are closed, and closed again by each further session."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


@needs_root
@pytest.mark.parametrize(("user", "refused"), [(place[0], place[1]) for place in PLACES if place[2]])
def test_warnings_and_refusals_name_the_guarantees_that_doctor_reports_missing(user, refused, open_folder):
    data = json.loads(doctor_there(user, refused, True).stdout)
    lacking = {doctor.GUARANTEES[name][0] for name, kept in data["enforced"].items() if not kept}
    words = ["tournament", "--game=el-paso", "--bot=random", "--bot=skittish", "--deals=1", "--workers=0", "--name=r"]

    def play(isolate):
        return lesser_rights.run([*ARENA, *words, f"--isolate={isolate}"], user, refused, cwd=str(open_folder))

    strict = play("strict")
    assert strict.returncode == (2 if lacking else 0), strict.stderr
    assert named(strict.stderr) == lacking
    assert (open_folder / "results" / "r").exists() == (not lacking)
    if lacking:
        lenient = play("on")
        assert lenient.returncode == 0, lenient.stderr
        assert named(lenient.stderr) == lacking


def named(text):
    """The guarantees that a text says are not enforced."""
    flat = " ".join(text.split())
    return {words for words, _ in doctor.GUARANTEES.values() if words in flat and "does not enforce that" in flat}


def said_by(command, home):
    """What a confined command says to an empty line."""
    argv = with_absolute_paths(command)
    home.chmod(0o711)
    process = Process(Launch(argv, readable=(sys.prefix, sys.base_prefix)), str(home), memory=0)
    try:
        return process.exchange(b"\n", perf_counter() + PATIENCE)
    finally:
        process.kill()


def test_the_filter_allows_what_honest_programs_need(tmp_path):
    """Threads, children, pipes, pairs of sockets, temporary files, their own priority: nothing is in their way."""
    code = (
        "import asyncio, os, resource, subprocess, sys, tempfile, threading, multiprocessing\n"
        "def double(x, queue): queue.put(2 * x)\n"
        "threading.Thread(target=len, args=('',)).start()\n"
        "assert asyncio.run(asyncio.sleep(0, 3)) == 3\n"
        "assert subprocess.run(['/bin/sh', '-c', 'echo hi'], capture_output=True).stdout == b'hi\\n'\n"
        "tempfile.TemporaryFile().write(b'x')\n"
        "forked = multiprocessing.get_context('fork')\n"
        "queue = forked.Queue()\n"
        "child = forked.Process(target=double, args=(4, queue)); child.start()\n"
        "assert queue.get() == 8; child.join()\n"
        "assert os.nice(0) + 1 == os.nice(1)\n"
        "os.sched_setaffinity(0, os.sched_getaffinity(0))\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))\n"
        "assert len(open('/proc/self/maps').read()) > len(open('/proc/self/comm').read())\n"
        "print('fine', flush=True)\n"
    )
    assert said_by([sys.executable, "-S", "-c", code], tmp_path) == b"fine"


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_node_starts_behind_the_filter(tmp_path):
    assert said_by(["node", "-e", "console.log([1, 2].map(x => x + 1))"], tmp_path) == b"[ 2, 3 ]"


@needs_root
@pytest.mark.parametrize("refused", [(), NO_NAMESPACES, NOTHING])
def test_bots_play_with_any_available_sandbox_mechanism(refused, open_folder):
    """A bot with a module, data, an engine that is installed in place: also where nothing but Landlock is there."""
    (open_folder / "helper.py").write_text("ONE = 1\n")
    (open_folder / "w.txt").write_text("1")
    (open_folder / "mine.py").write_text(
        "import harness, helper\nfrom pathlib import Path\n"
        "class Mine(harness.Bot):\n    files = ('w.txt',)\n"
        "    def choose(self, view, actions):\n"
        "        return actions[int((Path(__file__).parent / 'w.txt').read_text()) - helper.ONE]\n"
    )
    words = ["tournament", "--isolate=on", "--game=el-paso", "--bot=random", "--bot=mine.py", "--deals=1", "--name=r"]
    done = lesser_rights.run([*ARENA, *words], ORDINARY, refused, cwd=str(open_folder))
    assert done.returncode == 0, done.stderr
    lines = (open_folder / "results" / "r" / "games.jsonl").read_text().splitlines()
    assert [json.loads(line)["faults"] for line in lines] == [[], []]
