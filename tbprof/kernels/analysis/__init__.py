"""Loops over sorted rows of events: nesting, spans, phases, groups, iterators; and over programs.

`analysis` calls them. Besides `codes` and `types`, how bytes and texts are read comes in from
`xplane`.
"""
