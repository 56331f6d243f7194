"""Loops over sorted rows of events: nesting, spans, phases, groups and iterators.

`analysis` calls them. They import `codes`, `types` and, for looking up addresses, `xplane`.
"""
