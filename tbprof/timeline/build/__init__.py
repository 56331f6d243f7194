"""Makes timelines of traces: tracks of lines, derived tracks, counters."""
