"""The organiser's night on a cluster: nodes, agents, the scheduler and the driver are killed, frozen and replaced, and
the run ends as if nothing had happened."""

from __future__ import annotations

import random
import secrets
import subprocess
import sys

import pytest

import harness
from harness.cluster import agent
from tests.support import dawdler
from tests.support.tormented_run import TormentedRun
from tests.support.waiting import wait_for

SURVIVED = [
    "kill_a_node",
    "kill_all_nodes",
    "kill_an_agent",
    "kill_a_pool_worker",
    "freeze_a_node",
    "freeze_a_node_for_good",
    "freeze_an_agent",
    "freeze_the_scheduler",
    "freeze_the_driver",
]
ENDED = ["kill_the_driver", "interrupt_it", "interrupt_it_twice"]
EVERY = [*SURVIVED, *ENDED, "kill_the_scheduler"]
IDLE_DRIVER = """
import sys, time
from harness.executors.base import ClusterChoice, Roster, choose_executor
from harness.runs.request import RunRequest
with choose_executor(Roster({}, {}), RunRequest().limits, None, cluster=ClusterChoice(sys.argv[1])):
    print("nodes are ready", flush=True)
    time.sleep(10**6)
"""


def play_quietly(deals):
    """The same run, undisturbed, on one core."""
    asked = {"seed": 5, "move_time": 60, "isolate": "off", "quiet": True, "workers": 0, "name": "quiet"}
    bots = ["random", "skittish", "diehard", f"dawdler={dawdler.__file__}"]
    assert harness.tournament("el-paso", bots=bots, deals=deals, **asked).complete


def luck():
    """Random moments and victims, from a seed that is shown when the test fails."""
    seed = secrets.randbelow(1_000_000)
    sys.stderr.write(f"seed {seed}\n")
    return random.Random(seed)


def torment(folder, deals, ways, rng, where=(), **asked):
    """Disturbs a run in these ways, one after another, and compares it with an undisturbed one."""
    with TormentedRun(folder, rng, deals, **asked) as run:
        play_quietly(deals)
        for way in ways:
            run.disturb(way)
        run.finish(*where)


def test_a_cluster_run_with_every_kind_of_failure_ends_like_an_undisturbed_one(tmp_path):
    rng = luck()
    ways = rng.sample(SURVIVED + ENDED, len(SURVIVED + ENDED))
    last, where = rng.choice([("kill_the_scheduler", ()), ("lose_the_cluster", ("--workers", 2))])
    torment(tmp_path, 100, [*ways, last], rng, where, threads=(1, 2, 1))


def test_idle_agents_exit_when_their_driver_is_killed(cluster):
    with subprocess.Popen([sys.executable, "-c", IDLE_DRIVER, cluster.address], stdout=subprocess.PIPE) as driver:
        assert driver.stdout.readline() == b"nodes are ready\n"
        assert cluster.agents()
        driver.kill()
    wait_for(
        lambda: not cluster.agents(), "agents leave", agent.EXIT_WHEN_IDLE_S / 2
    )  # before they would leave by themselves


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 30, 5))
def test_a_cluster_run_with_five_failures_ends_like_an_undisturbed_one(tmp_path, first):
    rng = luck()
    ways = [EVERY[number % len(EVERY)] for number in range(first, first + 5)]
    torment(tmp_path, 150, rng.sample(ways, len(ways)), rng, threads=(1, 2, 1))
