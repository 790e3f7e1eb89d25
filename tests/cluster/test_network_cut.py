"""Nodes on machines of their own, as far as the network goes: its wires are cut for a while, and nothing is lost."""

from __future__ import annotations

import pytest

from tests.cluster.test_survival_there import luck, torment
from tests.support.namespaces import Machines, why_not

ALONE = why_not()
pytestmark = pytest.mark.skipif(bool(ALONE), reason=ALONE or "there are namespaces")


def cut_wires(folder, ways, deals, patient):
    rng = luck()
    with Machines(3) as machines:
        torment(folder, deals, [rng.choice(ways) for ways in ways], rng, machines=machines, patient=patient)


def test_a_network_failure_of_a_few_seconds_loses_nothing(tmp_path):
    cut_wires(tmp_path, [["cut_the_wire_of_a_node"]], 60, patient=False)


@pytest.mark.slow
def test_network_failures_of_twenty_seconds_lose_nothing(tmp_path):
    every = ["cut_the_wire_of_a_node", "cut_all_wires"]
    cut_wires(tmp_path, [every[:1], every[1:], every], 300, patient=True)
