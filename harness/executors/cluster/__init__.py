"""Many machines: a run's matches on the workers of a Dask cluster, with the same records as on one core.

Here: `driver` is the executor, `cluster_nodes` what it knows of the machines, `open_matches` what it has given them,
`link` its line to the scheduler, `places` what `--cluster` can name. There, on each node, `door` is in the Dask worker
and has an `agent` beside it, a process of arena's own whose local pool plays. Between the two: `node_messages`, the
roster on its way (`travel`), and `node_facts`, by which a node that has other code than we have is found before it
plays.
"""
