"""Loops over the tracks of a timeline: layout, levels of detail, tiles, searches, sums.

`timeline` calls them. Heaps of rows are inlined from `row_heaps.pxd`, walks over tracks from
`track_rows.pxd`; of other packages, only `codes` and `types` are imported.
"""
