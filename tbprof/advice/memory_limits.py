"""From what on the memory of a device is said to be short."""

# Percentages of an allocator's capacity, ours: what an allocator rounds up and keeps apart is
# some percents of it, so little more fits above the first.
FULL = (90.0, 98.0)
# Percentage of free memory outside of its largest piece, where at least half is in use: below
# that there is room for any piece.
FRAGMENTED = (50.0, 80.0)
IN_USE = 50.0
