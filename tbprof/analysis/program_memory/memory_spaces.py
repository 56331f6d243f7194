"""The memory spaces of programs, by the numbers that compilers use."""

from __future__ import annotations

from tbprof.analysis.hlo.host_copies import HOST_SPACE
from tbprof.base.texts import whole_number

DEVICE_SPACE, VMEM_SPACE = 0, 1
# Source: OpenXLA, Layout::kDefaultMemorySpace, kHostMemorySpace, and TPU programs.
_NAMES = {
    DEVICE_SPACE: "device memory",
    VMEM_SPACE: "vector memory (VMEM)",
    2: "scalar memory (SMEM)",
    HOST_SPACE: "host memory",
}


def space_name(space: int) -> str:
    """The name of a memory space, "memory space 6" for an unknown one."""
    return _NAMES.get(space, f"memory space {space}")


def parse_space(text: str) -> int | None:
    """The number of the memory space in a request, device memory for "", None if invalid."""
    return whole_number(text, 18) if text else DEVICE_SPACE
