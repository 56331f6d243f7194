"""Loops that write events as JSON and CSV, and tables as JSON.

`timeline.export` and `engine` call them. Of other packages, they import `xplane.passes`,
`codes` and `types`.
"""
