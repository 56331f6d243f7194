"""Timelines as files: Chrome trace JSON and CSV, piece by piece."""
