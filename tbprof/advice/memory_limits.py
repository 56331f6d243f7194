"""The limits from which findings report that the memory of a device is scarce."""

# Percentages of an allocator's capacity, ours. Rounding and reserved memory take a few percent of
# it, so hardly anything fits above the first.
FULL = (90.0, 98.0)
# Percentages of free memory outside of its largest chunk, where at least half of the memory is in
# use: below that, there is room for large chunks.
FRAGMENTED = (50.0, 80.0)
IN_USE = 50.0
