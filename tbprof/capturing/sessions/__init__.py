"""Captures as they run: all workers of one, each worker, and the queue of the server.

`requests`, `protocol` and `probing` may come in.
"""
