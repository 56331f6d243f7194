"""The timelines of a plane: found by their headers, then their events as columns."""
