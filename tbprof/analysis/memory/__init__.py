"""Allocator memory: events, peaks, usage by step, and breakdowns of memory in use.

The sources are memory events of host threads, and steps of each allocator's device from `steps`.
"""
