"""Rules about what the host did: Python, eager ops, compilation, callbacks, reads of results.

May import `devices`.
"""
