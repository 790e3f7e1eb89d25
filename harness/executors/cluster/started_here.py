"""A Dask cluster on this machine, in a process of its own: it has no part in the driver's time, and ends with it."""

from __future__ import annotations

import logging
import os
import sys

import dask
from distributed import LocalCluster

HOST = "127.0.0.1"


def serve(workers: int, processes: bool = True) -> None:
    """Begins so many Dask workers of one thread, says where the scheduler is, and ends when stdin does."""
    dask.config.set({"distributed.worker.profile.enabled": False})  # nothing runs there that Dask could look into
    cluster = LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=processes,
        protocol="tcp",
        host=HOST,
        dashboard_address=f"{HOST}:0",  # none that somebody else has
        memory_limit=0,  # bots have limits of arena's own, and nothing else is large
        silence_logs=logging.CRITICAL,
    )
    sys.stdout.write(f"{cluster.scheduler_address}\n")
    sys.stdout.flush()
    sys.stdin.buffer.read()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what Dask says of connections that end is nothing to anybody now
    cluster.close()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
