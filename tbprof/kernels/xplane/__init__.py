"""Loops over the bytes of XPlane files: the wire format, events, stats, ids, texts.

`xplane` calls them. Shared inline functions are in `wire.pxd`; of other packages, only `codes` and
`types` are imported.
"""
