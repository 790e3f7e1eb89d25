"""A cluster for the tests that do not harm it."""

from __future__ import annotations

import pytest

pytest.importorskip("distributed", reason="a cluster needs Dask: pip install 'arena-harness[cluster]'")

from tests.support.dask_cluster import DaskCluster


@pytest.fixture(scope="package")
def cluster(tmp_path_factory):
    with DaskCluster(tmp_path_factory.mktemp("cluster"), nodes=3) as running:
        yield running
