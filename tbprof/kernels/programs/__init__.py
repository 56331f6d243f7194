"""Loops over compiled programs: their protos as columns, and what their heaps hold.

`analysis` calls them. They import `codes`, `types` and, for reading bytes and texts, `xplane`.
"""
