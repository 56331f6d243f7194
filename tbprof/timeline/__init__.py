"""Timelines for the trace viewer: every event of a trace on its track, at every level of detail."""
