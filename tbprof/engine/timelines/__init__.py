"""Timelines of hosts as clients see them: built once, kept, asked, and streamed as events.

The trace viewer's side of the engine; what a timeline is lies in `tbprof.timeline`.
"""
