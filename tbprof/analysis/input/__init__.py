"""Input pipelines: their events, ops, iterators, and who waits for them.

Works on host threads and names of stages; what a page advises about it belongs in `advice`.
"""
