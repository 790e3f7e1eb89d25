"""Nodes that others use too, that change under a run, or that nobody answers for: nothing is lost, and nobody waits."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from distributed import Client

import harness
from harness.cluster import agent, driver, nodes
from harness.core.errors import ArenaError
from harness.executors.base import ClusterChoice, choose_executor
from harness.runs.request import RunRequest
from tests.cluster.conftest import THREADS
from tests.executors.test_pool import jobs, plain, table
from tests.support.dask_cluster import DaskCluster
from tests.support.waiting import wait_for, within

LIMITS = RunRequest(move_time=60).limits
PLUGIN = """
from harness import Bot

class Homebody(Bot):
    def choose(self, view, actions):
        return actions[{turn}]
"""


def executor(address, *strange, should_stop=lambda: False):
    return choose_executor(table(*strange), LIMITS, None, should_stop, cluster=ClusterChoice(address))


def test_a_node_whose_bot_code_changes_during_a_run_gets_no_more_matches(tmp_path, monkeypatch):
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "homebody_there.py").write_text(PLUGIN.format(turn=0))
    monkeypatch.syspath_prepend(str(tmp_path / "here"))
    import homebody_there

    told = []
    with DaskCluster(tmp_path) as running:
        running.add_node(name="there", PYTHONPATH=str(tmp_path / "there"))
        running.wait_for_nodes(1)
        with executor(running.address, homebody_there.Homebody) as some, pytest.raises(ArenaError) as lost:
            some.report = told.append
            for number, (record, *_) in enumerate(some.run(jobs(10**6, "random", "homebody"))):
                assert not record.faults
                if number == 0:
                    (tmp_path / "there" / "homebody_there.py").write_text(PLUGIN.format(turn=-1))
                    for pid in running.agents():
                        os.kill(pid, signal.SIGKILL)
    assert "No node can play any more" in str(lost.value)
    assert "bot homebody" in str(lost.value)
    assert any("gets no matches" in sentence for sentence in told)


def _sleep_until_deleted(file):
    while file.exists():
        time.sleep(0.1)


@pytest.fixture
def other_user(cluster, tmp_path):
    """Another user of the cluster: a function that keeps a node busy until the test ends."""
    busy = tmp_path / "busy"
    busy.touch()
    with Client(cluster.address, set_as_default=False) as client:
        held = []

        def keep_busy(address):
            held.extend(client.map(_sleep_until_deleted, [busy] * THREADS, workers=[address], pure=False))

        yield SimpleNamespace(client=client, keep_busy=keep_busy)
        busy.unlink()
        client.gather(held)


def test_matches_queued_behind_another_users_task_are_played_on_another_node(cluster, other_user, monkeypatch):
    monkeypatch.setattr(nodes, "LATE_AFTER_S", 1.0)
    held, given = [], []

    def enough():
        """Matches until one node has been held up, and some more."""
        for job in jobs(10**6):
            if len(given) > 400 and held:
                return
            given.append(job)
            yield job

    with executor(cluster.address) as some:
        played = []
        for one in some.run(enough()):
            played.append(one)
            if len(played) == 50:
                [at] = [node.address for node in some._nodes.values()][:1]
                other_user.keep_busy(at)
                held.append(at)
        assert plain(played).keys() == {job.spec.id for job in given}


def test_a_run_starts_although_another_user_keeps_a_node_busy(cluster, other_user, monkeypatch):
    monkeypatch.setattr(driver, "START_WITHOUT_AFTER_S", 1.0)
    at = next(iter(other_user.client.scheduler_info(n_workers=-1)["workers"]))
    other_user.keep_busy(at)
    wait_for(lambda: len(other_user.client.processing().get(at, ())) == THREADS, "the node is busy")
    with executor(cluster.address) as some:
        assert len(plain(some.run(jobs(20)))) == 20
        assert [node.state for node in some._nodes.values() if node.address == at] == ["asked"]


def test_an_address_that_accepts_connections_but_sends_nothing_is_refused(monkeypatch):
    monkeypatch.setattr("harness.cluster.link.CONNECT_TIMEOUT_S", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as mute, within(), pytest.raises(ArenaError, match="No Dask scheduler"):
        executor(f"tcp://127.0.0.1:{mute.getsockname()[1]}").__enter__()


class _Door:
    def __init__(self, busy):
        self.busy, self.left = busy, False

    def leave(self, unless_busy=False):
        self.left = not (unless_busy and self.busy)


def test_a_dask_worker_drops_old_idle_runs_but_never_busy_ones(monkeypatch):
    class Worker:
        local_directory, state = "/nowhere", SimpleNamespace(nthreads=1, tasks={})

        def get_current_task(self):
            return "task"

    made = []

    class Fresh(_Door):
        def __init__(self, *_args):
            super().__init__(busy=False)
            made.append(self)

        def facts(self):
            return b"facts"

    monkeypatch.setattr("distributed.get_worker", Worker)
    monkeypatch.setattr(agent, "NodeService", Fresh)
    monkeypatch.setattr(agent, "MAX_RUNS", 3)
    monkeypatch.setattr(agent, "_services", type(agent._services)())
    services = agent._services
    playing, idle = _Door(busy=True), _Door(busy=False)
    services.update(playing=playing, idle=idle)
    agent.prepare("new", b"", {})
    assert list(services) == ["playing", "idle", "new"]
    agent.prepare("newer", b"", {})
    assert list(services) == ["playing", "new", "newer"]
    assert idle.left
    assert not playing.left
    for one in made:
        one.busy = True
    agent.prepare("newest", b"", {})
    assert list(services) == ["playing", "new", "newer", "newest"]


def test_modules_in_the_working_directory_are_not_imported_by_arena_or_its_bots(tmp_path):
    """With a file called like a module of Python's own, and one that a bot looks for."""
    (tmp_path / "random.py").write_text("raise RuntimeError('not this one')")
    (tmp_path / "sub").mkdir()
    (tmp_path / "notes_of_mine.py").write_text("")
    (tmp_path / "sub" / "odd.py").write_text(
        "from harness import Bot, hookimpl\n"
        "try:\n    import notes_of_mine\n    TURN = -1\nexcept ImportError:\n    TURN = 0\n"
        "class Odd(Bot):\n    def choose(self, view, actions):\n        return actions[TURN]\n"
        "@hookimpl\ndef arena_bots():\n    return [Odd]\n"
    )
    asked = ["--game", "el-paso", "--bot", "random", "--bot", "sub/odd.py", "--deals", "2", "--seed", "4", "-q"]
    for name, way in (("here", ["--workers", "1"]), ("there", ["--cluster", "local:1"])):
        command = [sys.executable, "-P", "-m", "harness", "tournament", *asked, "--name", name, *way]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    here, there = harness.open_run("here"), harness.open_run("there")
    assert {one.id: one.without_timing() for one in there} == {one.id: one.without_timing() for one in here}
