"""A Dask cluster as workers: which one, what it computes, and what goes on without it."""
