"""The compiled loops: what cannot be done by columns at once, as Cython in pure Python.

Each fills arrays that its caller gives, allocates nothing and holds no interpreter lock. Names that
several share are in `codes.py`; types of arrays in `types.pxd`; what is compiled into its callers,
such as varints, in `wire.pxd` and `heaps.pxd`. Nothing else of the project may come in.
"""
