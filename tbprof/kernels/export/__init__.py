"""Loops that write events as JSON and CSV, and tables as JSON.

`timeline.export` and `engine` call them. Of other rooms, they import `xplane.passes`,
`codes` and `types`.
"""
