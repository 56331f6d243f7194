"""Copies that compiled programs make between a device's memory and the host's."""

import re

# Memory space of arrays that lie in the host's memory. Source: XLA, Layout::kHostMemorySpace.
HOST_SPACE = 5
IN_HOST = f"S({HOST_SPACE})"
_COPY = re.compile(r"(?:async-)?(?:copy|slice|dynamic-slice|dynamic-update-slice)(?:-|\Z)|async-")


def is_host_copy(opcode: str, shapes: str, *, is_in_host: bool = False) -> bool:
    """Whether an instruction copies between both memories, or starts or awaits such a copy.

    `shapes` are those of its operands and results with their layouts; `is_in_host` says that the
    program places one of them in the host's memory, where the text does not.
    """
    return (is_in_host or IN_HOST in shapes) and _COPY.match(opcode) is not None
