"""What cannot be played is refused before the first match, in a sentence that says what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from harness.cli.main import full_message
from harness.cluster import driver
from harness.cluster.connect import diagnose_cluster, open_cluster
from harness.core.errors import ArenaError
from harness.executors.base import ClusterChoice, choose_executor
from harness.isolation.doctor import probe
from harness.runs.request import RunRequest
from tests.cluster.conftest import NODES
from tests.cluster.test_travel import PROGRAM
from tests.executors.test_pool import jobs, table
from tests.support.cli import arena
from tests.support.dask_cluster import DaskCluster

PLUGIN = """
from harness import Bot, hookimpl

class Homebody(Bot):
    def choose(self, view, actions):
        return actions[{turn}]
"""
NOBODY = "tcp://127.0.0.1:9"


def play(address, bots=("random", "diehard"), **asked):
    asked = {"seed": 4, "deals": 1, "quiet": True, **asked}
    return harness.tournament("el-paso", list(bots), cluster=address, **asked)


def test_an_address_without_a_scheduler_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr("harness.cluster.link.CONNECT_TIMEOUT_S", 1.0)
    out = arena("tournament", "--deals", 1, "--cluster", NOBODY, code=2)
    assert f"No Dask scheduler answers at {NOBODY}" in out.stderr
    assert "dask scheduler" in out.stderr
    assert "local:4" in out.stderr
    assert not list(Path("results").iterdir())  # no folder of a run that never began


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("nonsense", "is not a cluster. Give the address"),
        ("local:none", "the number of workers must be"),
        ("local:0", "the number of workers must be"),
        ("tcp://[::1:8786", "is not the address of a Dask scheduler"),
        ("no_such_module:make", "ModuleNotFoundError"),
        ("json:dumps", "failed to create a cluster"),
        ("pathlib:Path", "not a Dask cluster"),
    ],
)
def test_an_invalid_cluster_name_is_refused(named, said):
    with pytest.raises(ArenaError, match=said):
        open_cluster(named)


def test_without_dask_it_says_what_to_install(tmp_path):
    (tmp_path / "distributed.py").write_text("raise ModuleNotFoundError('no', name='distributed')")
    command = [sys.executable, "-m", "harness", "tournament", "--deals", "1", "--cluster", "local:2"]
    done = subprocess.run(
        command, capture_output=True, text=True, env={"PYTHONPATH": str(tmp_path), "PATH": ""}, check=False
    )
    assert done.returncode == 2
    assert "pip install 'arena-harness[cluster]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_workers_0_with_a_cluster_and_ship_without_a_cluster_are_refused():
    with pytest.raises(ArenaError, match="the nodes play"):
        play("local:2", workers=0)
    with pytest.raises(ArenaError, match="none is named"):
        play(None, ship=True)


def test_nodes_with_another_python_version_are_refused_with_a_table(cluster, monkeypatch):
    monkeypatch.setattr(driver, "python_here", lambda: "CPython 3.11.0")
    real = driver.environment_facts
    monkeypatch.setattr(driver, "environment_facts", lambda roster: {**real(roster), "python": "CPython 3.11.0"})
    with pytest.raises(ArenaError) as refused:
        play(cluster.address)
    told = str(refused.value)
    assert "CPython 3.11.0" in told
    assert told.count("tcp://") == NODES
    assert "start its Dask worker with the same Python" in told


@pytest.fixture(scope="module")
def homebodies(tmp_path_factory):
    """A bot that is installed here, and on one node not at all, on one in another version, and on one the same."""
    tmp_path = tmp_path_factory.mktemp("homebodies")
    for place, turn in (("here", 0), ("other", -1), ("nowhere", None)):
        (tmp_path / place).mkdir()
        if turn is not None:
            (tmp_path / place / "homebody.py").write_text(PLUGIN.format(turn=turn))
    with pytest.MonkeyPatch.context() as monkeypatch, DaskCluster(tmp_path) as running:
        monkeypatch.syspath_prepend(str(tmp_path / "here"))
        for place in ("here", "other", "nowhere"):
            running.add_node(name=place, PYTHONPATH=str(tmp_path / place))
        running.wait_for_nodes(3)
        yield running


def test_a_bot_that_is_missing_or_different_on_a_node_is_refused_with_the_nodes_names(homebodies):
    import homebody

    with pytest.raises(ArenaError) as refused:
        play(homebodies.address, ["random", homebody.Homebody])
    table = [line for line in str(refused.value).splitlines() if "bot homebody" in line]
    assert len(table) == 2
    assert any(line.startswith("other") and line.count("sha256:") == 2 for line in table)
    assert any(line.startswith("nowhere") and "missing" in line for line in table)
    assert "send yours along" in str(refused.value)
    assert "--ship" in full_message(refused.value)


@pytest.mark.parametrize(
    ("command", "isolate", "there"),
    [("python told.py", "on", "none of its files"), ("mytool {}/told.py", "off", "missing (no mytool)")],
)
def test_a_program_with_files_or_tools_missing_on_a_node_is_refused(
    cluster, tmp_path, monkeypatch, command, isolate, there
):
    (tmp_path / "told.py").write_text(PROGRAM)
    tool = tmp_path / "bin" / "mytool"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    tool.chmod(0o755)
    monkeypatch.setenv(
        "PATH", os.pathsep.join([str(tool.parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArenaError) as refused:
        play(cluster.address, ["random", f"told=cmd:{command.format(tmp_path)}"], isolate=isolate)
    table = [line for line in str(refused.value).splitlines() if "bot told" in line]
    assert len(table) == NODES
    assert all(line.rstrip().endswith(there) for line in table)
    assert "cannot play" not in str(refused.value)  # there is nothing to be said but what is in the table


def test_a_node_that_joins_later_is_checked_the_same_way(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "homebody.py").write_text(PLUGIN.format(turn=0))
    monkeypatch.syspath_prepend(str(tmp_path / "here"))
    import homebody

    told = []

    def until_told():
        """Matches for as long as it takes."""
        for job in jobs(10**6, "random", "homebody"):
            if told:
                return
            yield job

    with DaskCluster(tmp_path) as running:
        running.add_node(name="fit", PYTHONPATH=str(tmp_path / "here"))
        running.wait_for_nodes(1)
        choice = ClusterChoice(running.address)
        with choose_executor(table(homebody.Homebody), RunRequest().limits, None, cluster=choice) as executor:
            executor.report = told.append
            for number, _ in enumerate(executor.run(until_told())):
                if number == 0:
                    running.add_node(name="unfit")
    assert "The node unfit" in told[0]
    assert "gets no matches" in told[0]
    assert "bot homebody" in told[0]


WITHOUT_ARENA = """
import sys

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "harness":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Nothing())
"""


def test_a_node_without_arena_is_refused_and_its_dask_worker_keeps_running(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_ARENA)
    with DaskCluster(tmp_path) as running:
        node = running.add_node(name="bare", PYTHONPATH=str(tmp_path))
        running.wait_for_nodes(1)
        with pytest.raises(ArenaError, match=r"bare .* cannot play: arena is not installed there"):
            play(running.address)
        told = json.loads(arena("doctor", "--cluster", running.address, "--json", code=1).stdout)
        assert "No module named 'harness'" in told[0]["problem"]
        assert node.poll() is None


def test_a_scheduler_needs_no_arena(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_ARENA)
    with DaskCluster(tmp_path, nodes=1, prefix=["env", f"PYTHONPATH={tmp_path}"]) as running:
        assert play(running.address).complete
        assert [(one.same, one.problem) for one in diagnose_cluster(running.address)] == [(True, "")]


def test_the_doctor_asks_every_node(homebodies):
    code = int(not all(guarantee.enforced for guarantee in probe()))
    table = arena("doctor", "--cluster", homebodies.address, code=code).stdout.splitlines()
    assert table[0].split() == ["node", "host", "threads", "python", "arena", "as", "here", "not", "enforced"]
    assert max(map(len, table[:5])) <= 80
    assert [line.split()[0] for line in table[2:5]] == ["here", "nowhere", "other"]
    assert all(" yes " in line for line in table[2:5])
    assert table[6].startswith("Here: CPython")
