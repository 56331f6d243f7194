"""Loops over sorted rows of events: nesting, spans, phases, groups, iterators.

`analysis` calls them. Nothing but `codes` and `types` comes in from other rooms.
"""
