"""The limits from which findings report that the memory of a device is scarce, and their words."""

from __future__ import annotations

from tbprof.advice.sentences import owner, percent

# Percentages of an allocator's capacity, ours. Rounding and reserved memory take a few percent of
# it, so hardly anything fits above the first.
FULL = (90.0, 98.0)
# Percentages of free memory outside of its largest chunk, where at least half of the memory is in
# use: below that, there is room for large chunks.
FRAGMENTED = (50.0, 80.0)
IN_USE = 50.0

ALLOCATE_ALIKE = (
    "Use only a few different sizes (constant batch and sequence lengths), and allocate "
    "large tensors first."
)


def full_title(allocator: str, used_percent: float) -> str:
    """How full an allocator is."""
    return f"The memory of {owner(allocator)} is {percent(used_percent)} full at its peak"


def fragmented_title(allocator: str, scattered_percent: float) -> str:
    """How fragmented its free memory is."""
    return f"The free memory on {owner(allocator)} is {percent(scattered_percent)} fragmented"


def largest_chunk(free: str, largest: str) -> str:
    """What fragmented memory has no room for; `free` says how much is free."""
    return (
        f"The largest chunk of the {free} is {largest}: a larger tensor does not fit, even if "
        "more is free in total."
    )
