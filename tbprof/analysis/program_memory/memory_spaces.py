"""The memory spaces that programs use, by the numbers that compilers give them."""

from tbprof.analysis.hlo.host_copies import HOST_SPACE

DEVICE_SPACE, VMEM_SPACE = 0, 1
# Source: OpenXLA, Layout::kDefaultMemorySpace, kHostMemorySpace, and TPU programs.
_NAMES = {
    DEVICE_SPACE: "device memory",
    VMEM_SPACE: "vector memory (VMEM)",
    2: "scalar memory (SMEM)",
    HOST_SPACE: "host memory",
}


def space_name(space: int) -> str:
    """What a memory space is, "memory space 6" for one that is not known."""
    return _NAMES.get(space, f"memory space {space}")


def parse_space(text: str) -> int | None:
    """The number of a memory space in a request, the device's memory if it has none."""
    if not text:
        return DEVICE_SPACE
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None
