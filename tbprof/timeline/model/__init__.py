"""What a timeline is: tracks, rows, levels of detail, counters, kinds of events.

Plain columns that are kept and mapped; nothing here reads a trace.
"""
