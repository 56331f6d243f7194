"""A trace as columns: the interface between reading and analysis."""
