"""Loops over the bytes of XPlane files: the wire format, events, stats, ids, texts.

`xplane` calls them. What is inlined into several is in `wire.pxd`; of other rooms,
only `codes` and `types` are imported.
"""
