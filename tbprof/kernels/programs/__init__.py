"""Loops over compiled programs: their protos as columns, and the contents of their heaps.

`analysis` calls them. They import `codes`, `types` and, for reading bytes and texts, `xplane`.
"""
