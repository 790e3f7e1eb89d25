"""Machines that you can reach by SSH with a key: arena tournament --cluster ssh_cluster:make

Here: pip install asyncssh. The first host is the scheduler's, every other one a node.
"""

from distributed import SSHCluster

HOSTS = ["node1", "node1", "node2", "node3"]


def make():
    """One node on each host, with a thread for each of its cores."""
    return SSHCluster(
        HOSTS,
        connect_options={"known_hosts": None},  # or leave it out: hosts must then be in ~/.ssh/known_hosts
        scheduler_options={"dashboard": False},
        worker_options={"nthreads": 16},
        remote_python="/opt/arena/bin/python",  # where arena and its bots are installed on them
    )
