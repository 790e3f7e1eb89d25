"""Strangers' programs that misbehave: blamed, killed with all that they started, and the run goes on."""

from __future__ import annotations

import os
import socket
import time

import pytest

from harness.executors.pool import LocalPool
from harness.isolation import process
from harness.isolation.doctor import probe
from harness.match import stdio
from harness.match.replay import verify
from harness.match.stdio import MAX_PRINTED_BYTES, TRUNCATED
from tests.isolation.support import (
    BLAMED,
    GAMES,
    HOSTILE,
    LIMITS,
    MEMORY,
    REGISTRY,
    RUDE,
    job,
    left_of,
    program,
    seated,
)

GOOD = ("random", "skittish")


@pytest.fixture(scope="module")
def enforced():
    return {guarantee.name: guarantee.enforced for guarantee in probe()}


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    """One tournament: every hostile program plays against good bots, on two workers."""
    run = tmp_path_factory.mktemp("run")
    outside = tmp_path_factory.mktemp("outside")
    token = f"token-{os.getpid()}-{time.time_ns()}"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        told = f"{listener.getsockname()[1]},{run},{outside},{HOSTILE}"
        strangers = [program(name, told if name == "sneaks" else token) for name in (*BLAMED, *RUDE)]
        table = seated([*REGISTRY.entrants(GOOD), *strangers], logs=str(run / "logs"))
        homes = [entrant.sessions.home for entrant in table.entrants.values()]
        jobs = [job(n, "el-paso", "random", name, "skittish") for n, name in enumerate((*BLAMED, *RUDE))]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(process, "EXIT_CODE_WAIT_S", 2.0)  # an exit code takes its time; more and the pool steps in
            with LocalPool(table, LIMITS, 2, 2 * MEMORY, sweep=True) as pool:
                played = [record for record, *_ in pool.run(jobs)]
        left = left_of(token, told, *homes)
        listener.setblocking(False)
        try:
            listener.accept()[0].close()
            connected = True
        except BlockingIOError:
            connected = False
    return {
        "played": played, "left": left, "connected": connected, "homes": homes, "run": run, "pool": pool,
        "folders": [run, outside, HOSTILE],
    }  # fmt: skip


def of(zoo, name):
    return [record for record in zoo["played"] if name in record.seats]


def test_every_match_is_played_and_no_worker_was_lost(zoo):
    assert len(zoo["played"]) == len(BLAMED) + len(RUDE)
    assert zoo["pool"].losses == []
    for record in zoo["played"]:
        verify(GAMES["el-paso"], record)


@pytest.mark.parametrize(("name", "kind"), BLAMED.items())
def test_the_right_bot_is_blamed(zoo, name, kind):
    for record in of(zoo, name):
        [fault] = record.faults
        assert (record.seats[fault.seat], fault.kind) == (name, kind), fault.detail
        assert fault.detail
        assert record.ranks[fault.seat] == 3


@pytest.mark.parametrize("name", RUDE)
def test_a_misbehaving_program_that_breaks_no_rule_is_not_blamed(zoo, name):
    assert [record.faults for record in of(zoo, name)] == [()]


def test_no_process_is_left(zoo):
    assert zoo["left"] == []


def test_bots_write_nothing_outside_their_folder_and_no_folder_is_left(zoo, enforced):
    assert not any((HOSTILE / home).exists() for home in zoo["homes"])
    if not enforced["writing"]:
        pytest.skip("this machine cannot keep a bot from writing: see arena doctor")
    assert not any((folder / "sneaked").exists() for folder in zoo["folders"])
    assert [path.name for path in zoo["run"].iterdir()] == ["logs"]


def test_bots_cannot_open_network_connections(zoo, enforced):
    if not enforced["network"]:
        pytest.skip("this machine cannot take the network away: see arena doctor")
    assert not zoo["connected"]


def test_stderr_is_kept_up_to_a_size_limit(zoo):
    log = (zoo["run"] / "logs" / "shouts.log").read_bytes()
    match = of(zoo, "shouts")[0].id
    assert log.startswith(f"[{match}] LOUD ".encode())
    assert log.count(TRUNCATED) == len(of(zoo, "shouts"))
    assert len(log) < len(of(zoo, "shouts")) * (MAX_PRINTED_BYTES + 1000)


def test_a_log_has_a_largest_size(tmp_path):
    for _ in range(2):
        stdio.append_to_log(tmp_path / "a" / "loud.log", b"x" * stdio.MAX_LOG_BYTES)
    log = (tmp_path / "a" / "loud.log").read_bytes()
    assert log.endswith(b"[arena: this log is full; the rest is not kept]\n")
    assert len(log) < stdio.MAX_LOG_BYTES + 100


def test_details_say_what_happened(zoo):
    details = {name: of(zoo, name)[0].faults[0].detail for name in BLAMED}
    assert "bytes without an end of line had come" in details["partial_line"]
    assert "sent more than 65536 bytes" in details["endless_line"]
    assert details["segfaults"].startswith("its process ended: SIGSEGV")
    assert details["forks_and_exits"].startswith("its process ended: exit code 3")
    assert "MemoryError" in details["eats_memory"]
    assert "introduces itself otherwise" in details["lies_in_hello"]
    assert "answered message 3 when message 4" in details["answers_twice"]
    assert "1000000, which is not one of: " in details["illegal_code"]
