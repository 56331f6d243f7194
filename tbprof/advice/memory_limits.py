"""The limits from which the memory of a device is reported as short."""

# Percentages of an allocator's capacity, ours: rounding and reserved memory take some percent of
# it, so little more fits above the first.
FULL = (90.0, 98.0)
# Percentage of free memory outside of its largest chunk, if at least half is in use: below that
# there is room for any chunk.
FRAGMENTED = (50.0, 80.0)
IN_USE = 50.0
