"""A cluster for the tests that do not harm it."""

from __future__ import annotations

import pytest

pytest.importorskip("distributed", reason="a cluster needs Dask: pip install 'arena-harness[cluster]'")

from tests.support.dask_cluster import DaskCluster

NODES = 2
THREADS = 2
"""Threads of each node."""


@pytest.fixture(scope="package")
def cluster(tmp_path_factory):
    with DaskCluster(tmp_path_factory.mktemp("cluster"), nodes=NODES, threads=THREADS) as running:
        yield running
