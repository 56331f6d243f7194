"""Input pipelines: events, ops, iterators, and waits for input.

The sources are host threads and stage names. Recommendations are in `advice`.
"""
