"""The causes why instructions take longer than necessary."""

from __future__ import annotations

from enum import IntEnum

# Copies between a device and its host, and exchanges between devices, wait for these links, whose
# peaks are unknown, and for each other.
HOST_LINK, INTERCONNECT = LINKS = "Host link", "Interconnect"


class Cause(IntEnum):
    """Why an instruction takes longer than necessary; each has at most one cause."""

    NONE = 0
    COMMAND_BUFFER = 1  # it is a CUDA graph with unknown contents
    MOVE = 2  # it moves data and computes nothing
    WIDE_PRODUCT = 3  # it multiplies 32-bit numbers
    SMALL_PRODUCT = 4  # it waits for memory, since a dimension of its arrays is small
    MEMORY = 5  # it waits for memory for another reason
    PARTIAL_TILES = 6  # its kernel multiplies tiles that its arrays do not fill


CAUSE_NAMES = {
    Cause.NONE: "",
    Cause.COMMAND_BUFFER: "command buffer",
    Cause.MOVE: "moves data",
    Cause.WIDE_PRODUCT: "32-bit product",
    Cause.SMALL_PRODUCT: "small product",
    Cause.MEMORY: "memory-bound",
    Cause.PARTIAL_TILES: "partial tiles",
}
