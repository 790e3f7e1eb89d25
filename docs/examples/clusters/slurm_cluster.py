"""Nodes that SLURM gives: arena tournament --cluster slurm_cluster:make, on a machine that may submit jobs.

Here: pip install dask-jobqueue. The scheduler runs here, too, and the nodes must reach it.
"""

from dask_jobqueue import SLURMCluster

JOBS = 10


def make():
    """So many jobs, each a node with all the cores of one job; they play as soon as SLURM starts them."""
    cluster = SLURMCluster(
        queue="main",  # the partition
        cores=16,  # of a job: processes that play
        processes=1,  # one node for each job
        memory="32GB",  # of a job: arena's limits are for each process within it
        walltime="04:00:00",
        job_extra_directives=[],  # such as "--account=games"
        job_script_prologue=["export PYTHONSAFEPATH=1"],  # nothing is imported from the folder that you are in
        scheduler_options={"dashboard": False},
        python="/opt/arena/bin/python",  # where arena and its bots are installed on them
    )
    cluster.scale(jobs=JOBS)
    return cluster
