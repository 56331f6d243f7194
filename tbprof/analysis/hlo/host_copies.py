"""Copies of compiled programs between memory spaces of a device, or to and from host memory."""

from __future__ import annotations

from tbprof.base.lazy import regex

# Memory spaces of arrays in host memory (source: XLA, Layout::kHostMemorySpace) and in the vector
# memory of a TPU core; other arrays are in the device's main memory (HBM).
HOST_SPACE = 5
IN_HOST = f"S({HOST_SPACE})"
IN_VMEM = "S(1)"
_COPY = regex(r"(?:async-)?(?:copy|slice|dynamic-slice|dynamic-update-slice)(?:-|\Z)|async-")
_BESIDE = regex(
    r"(?:copy|slice|dynamic-slice|dynamic-update-slice|async-copy)-(?:start|update|done)|async-copy"
)


def is_host_copy(opcode: str, shapes: str, *, is_in_host: bool = False) -> bool:
    """Whether an instruction copies between device and host, or starts or awaits such a copy.

    `shapes` are those of its operands and results, with layouts; `is_in_host` says that the program
    places one of them in host memory, even if the text does not show it.
    """
    return (is_in_host or IN_HOST in shapes) and _COPY.match(opcode) is not None


def is_vmem_copy(opcode: str, shapes: str) -> bool:
    """Whether an instruction copies between a core's vector memory and its main memory."""
    return IN_VMEM in shapes and IN_HOST not in shapes and is_copy(opcode)


def is_copy(opcode: str) -> bool:
    """Whether an opcode is a copy, or starts or awaits a copy or a slice."""
    return opcode == "copy" or _BESIDE.fullmatch(opcode) is not None
