"""Tables of instructions that tests write by hand."""

from typing import Any

import numpy as np
from xplane.generate import body, scalar

from tbprof.analysis.devices.peaks import Peaks
from tbprof.analysis.programs.program_ops import ProgramOps

_TEXTS = (
    "program_id", "program", "digest", "name", "opcode", "category", "deduplicated_name", "scope",
    "source", "core", "dtype", "result", "operands", "replica_groups", "product_dtype", "tiling",
)  # fmt: skip
_USUAL: dict[str, Any] = {
    "program_id": "7", "program": "jit_f", "digest": "d", "opcode": "fusion",
    "category": "loop fusion", "dtype": "f32", "stack": -1, "occurrences": 1, "kernels": 1,
    "dma_stall_ps": -1, "transcendentals": 0, "hbm_bytes": None, "cmem_read_bytes": -1,
    "cmem_written_bytes": -1, "vmem_read_bytes": -1, "vmem_written_bytes": -1, "flops": 0,
    "bytes_accessed": 0, "is_computed": True, "is_product": False, "has_inner": False,
    "product_size": -1, "core_use": -1,
}  # fmt: skip
_FLAGS = ("is_computed", "is_product", "has_inner", "is_of_argument", "is_entry")


def program_ops(*rows: dict[str, Any], **of_host: Any) -> ProgramOps:
    """The rows with what is usual where they say nothing.

    Times are given as `us`, from which others follow; `flops` are those of the model, too, and
    `bytes_accessed` those in the main memory.
    """
    filled = [_filled(row) for row in rows]
    columns: dict[str, Any] = {}
    for name in list(ProgramOps.__annotations__):
        if name == "first_kernel":
            break
        values = [row.get(name, "" if name in _TEXTS else 0) for row in filled]
        kind = bool if name in _FLAGS else np.int64
        columns[name] = values if name in _TEXTS else np.array(values, kind)
    return ProgramOps(
        **columns,
        first_kernel=np.zeros(len(rows) + 1, np.int64),
        kernel_name=[],
        kernel_occurrences=np.zeros(0, np.int64),
        kernel_total_ps=np.zeros(0, np.int64),
        **{"stacks": [], "device_type": "GPU", "devices": 1, **of_host},
    )


def by_name(ops: ProgramOps, *columns: str) -> dict[str, list[Any]]:
    """The values of columns by the name of the instruction."""
    values = [getattr(ops, column) for column in columns]
    return {name: [column[row] for column in values] for row, name in enumerate(ops.name)}


def access(kind: int, space: int, count: int) -> bytes:
    """What TPUs record of a kind of access to a memory: that many bytes."""
    return body(1, scalar(1, kind) + scalar(2, space) + scalar(3, count))


def _filled(row: dict[str, Any]) -> dict[str, Any]:
    filled = {**_USUAL, **row}
    time_ps = int(filled.pop("us", 0) * 1_000_000)
    for name in ("total_ps", "self_ps"):
        filled.setdefault(name, time_ps)
    filled.setdefault("span_ps", filled["total_ps"])
    filled.setdefault("model_flops", filled["flops"])
    if filled["hbm_bytes"] is None:
        filled["hbm_bytes"] = filled["bytes_accessed"]
    return filled


def peaks(flops: dict[str, float] | None = None, memories: dict[str, float] | None = None) -> Peaks:
    """Peaks in 10^9 operations and bytes per second."""
    flops, memories = flops or {}, memories or {}
    return Peaks(
        list(flops), np.array([*flops.values()], float), ["table"] * len(flops),
        list(memories), np.array([*memories.values()], float), ["recorded"] * len(memories),
    )  # fmt: skip
