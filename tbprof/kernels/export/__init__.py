"""Loops that write events as JSON and CSV, and tables as JSON.

`timeline.export` and `engine` call them. Of other rooms `xplane.passes` comes in, with `codes` and
`types`.
"""
