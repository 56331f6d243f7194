"""Loops that write the events of a timeline as JSON and CSV.

`timeline.export` calls them. Of other rooms `xplane.passes` comes in, with `codes` and `types`.
"""
