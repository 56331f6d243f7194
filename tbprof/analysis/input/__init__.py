"""Input pipelines: their events, ops, iterators, and who waits for them."""
