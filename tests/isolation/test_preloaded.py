"""Supervisors are forked from a process that has loaded Arena and ends with it; forks cannot count each other."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import pytest

from harness.isolation import launch
from harness.isolation.accounting import children_of
from harness.isolation.launch import ROOT, Launch, with_absolute_paths
from harness.isolation.process import Process
from tests.isolation.support import processes
from tests.support.waiting import PATIENCE, wait_for, within

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forked on Linux only")

LOOK = """
import gc, os, sys
from types import FunctionType
from zlib import crc32
sys.path.insert(0, sys.argv[2])
from harness.isolation import kernel, supervisor
def look():
    seen = [sys.getallocatedblocks(), gc.get_count()]
    new = [bytes(size) for size in range(0, 480, 16) for _ in range(4)]
    seen += map(id, new)
    # where Python counts how often code has run
    seen += [
        crc32(each.__code__._co_code_adaptive)
        for module in list(sys.modules.values()) if module.__name__.startswith("harness")
        for each in vars(module).values() if type(each) is FunctionType
    ]
    os.write(1, f"{crc32(repr(seen).encode())} {len(seen)}".encode())
    os._exit(0)
kernel.set_command_line = lambda text: None
supervisor.main = look
os.dup2(int(sys.argv[3]), 3)
supervisor.serve()
"""


def test_no_fork_sees_by_its_memory_how_many_there_were_before():
    (ours, theirs), (back, there) = socket.socketpair(), os.pipe()
    arguments = [json.dumps([path for path in sys.path if path]), str(ROOT), str(theirs.fileno())]
    command = [sys.executable, "-S", "-c", LOOK, *arguments]
    server = subprocess.Popen(command, 0, stdin=subprocess.PIPE, pass_fds=[theirs.fileno()])
    theirs.close()
    seen = set()
    with server, ours, within():
        for number in range(20):
            with open(os.memfd_create("orders"), "wb", 0) as file:  # noqa: PTH123 - a descriptor
                file.write(json.dumps({"limits": {"folder": f"arena-{number:02}"}}).encode())
                socket.send_fds(ours, [b" "], [0, there, 2, file.fileno()])
            server.stdin.write(b" ")
            os.waitpid(int.from_bytes(ours.recv(8)), 0)
            seen.add(os.read(back, 100))
        server.stdin.close()
        assert server.wait() == 0  # it ends with its input
    os.close(back)
    os.close(there)
    [(_, compared)] = [each.split() for each in seen]
    assert int(compared) > 500


@pytest.fixture
def start():
    """Starts a strict process that answers once; `home` is where its folders are."""
    home = tempfile.mkdtemp(prefix="arena-test-")
    Path(home).chmod(0o711)
    argv = with_absolute_paths([sys.executable, "-S", "-c", "print(1, flush=True); input()"])

    def make():
        return Process(Launch(argv, readable=(sys.prefix, sys.base_prefix)), home, strict=True)

    make.home = home
    yield make
    assert processes(home) == []
    shutil.rmtree(home)


def preloaded():
    """The processes that wait for requests to fork."""
    called = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children_of(os.getpid())}
    return [pid for pid, command in called.items() if b"supervisor.serve()" in command]


def test_forks_are_our_children_and_are_listed_with_their_folders(start):
    process = start()
    assert process.ask(b"", perf_counter() + PATIENCE) == b"1"
    assert process.pid in children_of(os.getpid())
    assert {each.strip() for each in processes(process.folder)} == {f"arena {process.folder}"}
    process.kill()


def test_after_it_was_killed_another_one_is_started(start):
    start().kill()
    [old] = preloaded()
    os.kill(old, signal.SIGKILL)
    for _ in range(2):  # the first is a new Python
        process = start()
        assert process.ask(b"", perf_counter() + PATIENCE) == b"1"
        process.kill()
    wait_for(lambda: set(preloaded()) - {old}, "another one waits for requests")


def test_one_that_was_stopped_is_replaced(start):
    start().kill()
    [old] = preloaded()
    launch._Preloaded.requests.settimeout(0.1)
    os.kill(old, signal.SIGSTOP)
    for _ in range(2):
        process = start()
        assert process.ask(b"", perf_counter() + PATIENCE) == b"1"
        process.kill()
    assert old not in children_of(os.getpid())  # no zombie either
    [new] = preloaded()
    assert new != old


def test_an_interrupted_request_leaves_no_answer_for_the_next_one(start, monkeypatch):
    start().kill()
    with monkeypatch.context() as patched:
        patched.setattr(launch.socket, "send_fds", send_and_interrupt(socket.send_fds))
        with pytest.raises(KeyboardInterrupt):
            start()
    wait_for(lambda: processes(start.home) == [], "the program that was started nevertheless ends")
    for _ in range(2):
        process = start()
        assert process.ask(b"", perf_counter() + PATIENCE) == b"1"
        assert {each.strip() for each in processes(process.folder)} == {f"arena {process.folder}"}
        process.kill()


def send_and_interrupt(send):
    """Sends a request, and is interrupted before the answer comes."""

    def interrupted(*given):
        send(*given)
        raise KeyboardInterrupt

    return interrupted


def test_no_inheritable_descriptor_reaches_a_supervisor(start, tmp_path):
    descriptor = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    for pid in preloaded():
        os.kill(pid, signal.SIGKILL)
    try:
        for _ in range(2):  # the first may be a new Python
            process = start()
            assert process.ask(b"", perf_counter() + PATIENCE) == b"1"
            here = [process.pid, *preloaded()]
            opened = {each.readlink() for pid in here for each in Path(f"/proc/{pid}/fd").iterdir()}
            assert tmp_path not in opened
            process.kill()
    finally:
        os.close(descriptor)
