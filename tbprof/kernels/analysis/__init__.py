"""Loops over sorted rows of events: nesting, spans, phases, groups, iterators; and over programs.

`analysis` calls them. They import `codes`, `types` and, for reading bytes and texts, `xplane`.
"""
