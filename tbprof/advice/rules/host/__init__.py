"""Rules about the host: Python, eager ops, compilation, callbacks, reads of results.

May import `devices`.
"""
