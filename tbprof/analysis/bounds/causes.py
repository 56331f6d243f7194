"""Why instructions take longer than they might."""

from enum import IntEnum

# Copies between a device and its host, and exchanges between devices, wait for what connects them,
# of which no peak is known, and for each other.
HOST_LINK, INTERCONNECT = LINKS = "Host link", "Interconnect"


class Cause(IntEnum):
    """Why an instruction takes longer than it might; one has one cause at most."""

    NONE = 0
    COMMAND_BUFFER = 1  # it is a CUDA graph, of which nothing is known
    MOVE = 2  # it moves data and computes nothing
    WIDE_PRODUCT = 3  # it multiplies 32-bit numbers as such
    SMALL_PRODUCT = 4  # it waits for memory, as the arrays that it multiplies are short
    MEMORY = 5  # it waits for memory otherwise
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
