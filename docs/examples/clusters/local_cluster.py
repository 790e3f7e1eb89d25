"""A Dask cluster on this machine: arena tournament --cluster local_cluster:make"""

from distributed import LocalCluster


def make():
    """Two nodes of one thread."""
    # With security=True Dask makes TLS keys: otherwise every user of this machine could run code as you.
    return LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", security=True)
