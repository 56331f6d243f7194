"""The events of a view, cut into tiles and encoded for browsers."""
