"""Searches over all events of a timeline: their language, hits and marks."""
