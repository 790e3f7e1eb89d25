"""Play a run on the workers of a Dask cluster, with the same records as on one core."""
