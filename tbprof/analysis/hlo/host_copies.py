"""Copies that compiled programs make between the memories of a device, and those of the host."""

from tbprof.base.lazy import regex

# Memory spaces of arrays that lie in the host's memory (source: XLA, Layout::kHostMemorySpace), and
# in the vector memory of a TPU core; others lie in the main memory of the device (HBM).
HOST_SPACE = 5
IN_HOST = f"S({HOST_SPACE})"
IN_VMEM = "S(1)"
_COPY = regex(r"(?:async-)?(?:copy|slice|dynamic-slice|dynamic-update-slice)(?:-|\Z)|async-")
_BESIDE = regex(
    r"(?:copy|slice|dynamic-slice|dynamic-update-slice|async-copy)-(?:start|update|done)|async-copy"
)


def is_host_copy(opcode: str, shapes: str, *, is_in_host: bool = False) -> bool:
    """Whether an instruction copies between both memories, or starts or awaits such a copy.

    `shapes` are those of its operands and results with their layouts; `is_in_host` says that the
    program places one of them in the host's memory, where the text does not.
    """
    return (is_in_host or IN_HOST in shapes) and _COPY.match(opcode) is not None


def is_vmem_copy(opcode: str, shapes: str) -> bool:
    """Whether an instruction copies between a core's vector memory and its main memory."""
    return IN_VMEM in shapes and IN_HOST not in shapes and is_copy(opcode)


def is_copy(opcode: str) -> bool:
    """Whether an opcode is that of a copy, or of what starts or awaits a copy or a slice."""
    return opcode == "copy" or _BESIDE.fullmatch(opcode) is not None
