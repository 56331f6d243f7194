"""Captures as they run: all workers of one, each worker, and the queue of the server.

May import `requests`, `protocol` and `probing`.
"""
