"""Searches over all events of a timeline: their language, results and overview."""
