"""Timelines of hosts as clients see them: built once, cached, queried, and streamed as events.

The trace viewer's side of the engine; timelines themselves are in `tbprof.timeline`.
"""
