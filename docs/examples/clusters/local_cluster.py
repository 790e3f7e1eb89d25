"""A Dask cluster on this machine: arena tournament --cluster local_cluster:make"""

import tempfile

from distributed import LocalCluster


def make():
    """Two nodes of one thread."""
    return LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        security=True,  # Dask makes TLS keys: otherwise every user of this machine could run code as you
        local_directory=tempfile.mkdtemp(),  # by default a folder that any user may have created before
    )
