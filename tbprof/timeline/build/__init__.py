"""Builds timelines from traces: tracks of lines, derived tracks, counters."""
