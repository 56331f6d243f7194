"""A Dask cluster as workers: its choice, its tasks, and the fallback without it."""
