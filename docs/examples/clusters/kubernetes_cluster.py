"""Pods that play: arena tournament --cluster kubernetes_cluster:make

Here: pip install dask-kubernetes, and a kubeconfig; in the cluster, Dask's operator.
"""

from dask_kubernetes.operator import KubeCluster, make_cluster_spec

IMAGE = "registry.example.org/arena:1"
"""Has Python of your version, arena-harness[cluster] and the bots' packages."""
NODES, CORES = 10, "4"


def spec():
    """What the operator is asked for."""
    needs = {"cpu": CORES, "memory": "8Gi"}
    made = make_cluster_spec("arena", image=IMAGE, n_workers=NODES, resources={"requests": needs, "limits": needs})
    worker = made["spec"]["worker"]["spec"]["containers"][0]
    worker["args"] += ["--nthreads", CORES]  # processes that play in each pod
    return made


def make():
    """The cluster, which is deleted when the run is over."""
    return KubeCluster(custom_cluster_spec=spec())
