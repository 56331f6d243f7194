"""Copies of compiled programs between memory spaces of a device, or to and from host memory."""

from __future__ import annotations

# Memory spaces of arrays in host memory (source: XLA, Layout::kHostMemorySpace) and in the vector
# memory of a TPU core; other arrays are in the device's main memory (HBM).
HOST_SPACE = 5
IN_HOST = f"S({HOST_SPACE})"
IN_VMEM = "S(1)"
# The ends of opcodes that work beside others.
ASYNC_PARTS = ("start", "update", "done")
_COPIES = ("copy", "slice", "dynamic-slice", "dynamic-update-slice")
_PARTS_OF_COPIES = (*(f"{copy}-" for copy in _COPIES), "async-")
_BESIDE = {f"{copy}-{part}" for copy in (*_COPIES, "async-copy") for part in ASYNC_PARTS}


def is_host_copy(opcode: str, shapes: str, *, is_in_host: bool = False) -> bool:
    """Whether an instruction copies between device and host, or starts or awaits such a copy.

    `shapes` are those of its operands and results, with layouts; `is_in_host` says that the program
    places one of them in host memory, even if the text does not show it.
    """
    is_part = opcode in _COPIES or opcode.startswith(_PARTS_OF_COPIES)
    return is_part and (is_in_host or IN_HOST in shapes)


def is_vmem_copy(opcode: str, shapes: str) -> bool:
    """Whether an instruction copies between a core's vector memory and its main memory."""
    return IN_VMEM in shapes and IN_HOST not in shapes and is_copy(opcode)


def is_copy(opcode: str) -> bool:
    """Whether an opcode is a copy, or starts or awaits a copy or a slice."""
    return opcode in ("copy", "async-copy") or opcode in _BESIDE
