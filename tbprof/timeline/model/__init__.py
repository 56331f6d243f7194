"""The data of timelines: tracks, rows, levels of detail, counters, kinds of events.

Plain columns that are stored and mapped; nothing here reads a trace.
"""
