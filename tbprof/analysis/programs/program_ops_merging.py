"""Adds up tables of instructions: those of a host's devices, and those of hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.programs.program_ops import UNKNOWN, ProgramOps
from tbprof.base.records import NamedTuple
from tbprof.base.values import joined

_MOST = 2**63 - 1
_TEXTS = (
    "program_id", "program", "digest", "name", "opcode", "category", "deduplicated_name", "scope",
    "source", "core", "dtype", "result", "operands", "replica_groups", "product_dtype", "tiling",
)  # fmt: skip
_KEY = ("program_id", "digest", "name", "core", "category")
_SUMS = (
    "occurrences", "kernels", "total_ps", "self_ps", "span_ps", "dma_stall_ps", "flops",
    "model_flops", "transcendentals", "bytes_accessed", "hbm_bytes", "cmem_read_bytes",
    "cmem_written_bytes", "vmem_read_bytes", "vmem_written_bytes",
)  # fmt: skip
# Facts of the instruction, which are those of the first of equal rows.
_FACTS = ("product_size", "product_passes", "tile_waste_ppm", "core_use", "move")
_FLAGS = ("is_computed", "is_product", "has_inner", "is_of_argument", "is_entry")
_HOST_SUMS = ("devices", "window_ps", "idle_ps", "sparse_cores", "sparse_core_idle_ps")


class _RowKernels(NamedTuple):
    first: NDArray[np.int64]
    name: list[str]
    occurrences: NDArray[np.int64]
    total_ps: NDArray[np.int64]


def merge_program_ops(parts: Sequence[ProgramOps]) -> ProgramOps:
    """The sum over devices or hosts, rows in the order in which they first appear.

    Rows are the same instruction if the program has the same id and the same instructions. A sum
    with an unknown value is unknown. The order of hosts affects only the order of rows, and the
    choice among different texts.
    """
    return parts[0] if len(parts) == 1 else add_up(parts)


def add_up(parts: Sequence[ProgramOps]) -> ProgramOps:
    """The sum of tables that may have several rows per instruction, such as those of one device."""
    rows, firsts = _number_rows(parts)
    count = len(firsts)
    if len(parts) == 1 and count == len(parts[0].name):
        return parts[0]  # no rows are alike
    row = joined(rows)
    columns: dict[str, Any] = {
        name: [getattr(parts[part], name)[index] for part, index in firsts] for name in _TEXTS
    }
    for name in _FACTS:
        values = [getattr(parts[part], name)[index] for part, index in firsts]
        columns[name] = np.array(values, np.int64)
    columns |= {name: _sum(_column(parts, name), row, count) for name in _SUMS}
    for name in _FLAGS:
        columns[name] = np.zeros(count, bool)
        columns[name][row[_column(parts, name).astype(bool)]] = True
    stack, stacks = _merge_stacks(parts, firsts)
    kernels = _merge_kernels(parts, rows, count)
    return ProgramOps(
        **columns,
        stack=stack,
        first_kernel=kernels.first,
        kernel_name=kernels.name,
        kernel_occurrences=kernels.occurrences,
        kernel_total_ps=kernels.total_ps,
        stacks=stacks,
        device_type=max((part.device_type for part in parts), default=""),
        **{name: sum(getattr(part, name) for part in parts) for name in _HOST_SUMS},
    )


def _number_rows(
    parts: Sequence[ProgramOps],
) -> tuple[list[NDArray[np.int64]], list[tuple[int, int]]]:
    """(merged row of each row of each part, (part, row) where each merged row appears first)."""
    number: dict[tuple[str, ...], int] = {}
    firsts: list[tuple[int, int]] = []
    rows: list[NDArray[np.int64]] = []
    for part, table in enumerate(parts):
        keys = zip(*(getattr(table, name) for name in _KEY), strict=True)
        numbers = []
        for index, key in enumerate(keys):
            if key not in number:
                number[key] = len(firsts)
                firsts.append((part, index))
            numbers.append(number[key])
        rows.append(np.array(numbers, np.int64))
    return rows, firsts


def _column(parts: Sequence[ProgramOps], name: str) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, np.int64), *(getattr(part, name) for part in parts)])


def _sum(values: NDArray[np.int64], row: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """[count] sums by row, `UNKNOWN` if any value is; at most `_MOST`, as sizes may be damaged."""
    out = np.zeros(count, np.int64)
    known = np.maximum(values, 0)
    np.add.at(out, row, known)
    out[np.abs(np.bincount(row, known, count) - out) > _MOST / 2] = _MOST
    out[row[values < 0]] = UNKNOWN
    return out


def _merge_stacks(
    parts: Sequence[ProgramOps], firsts: Sequence[tuple[int, int]]
) -> tuple[NDArray[np.int64], list[str]]:
    number: dict[str, int] = {}
    stack = []
    for part, index in firsts:
        own = int(parts[part].stack[index])
        stack.append(number.setdefault(parts[part].stacks[own], len(number)) if own >= 0 else -1)
    return np.array(stack, np.int64), list(number)


def _merge_kernels(
    parts: Sequence[ProgramOps], rows: Sequence[NDArray[np.int64]], count: int
) -> _RowKernels:
    """The kernels of the merged rows; those of each row are ordered by time, longest first."""
    number: dict[tuple[int, str], int] = {}
    numbers = []
    for part, row in zip(parts, rows, strict=True):
        of_kernel = np.repeat(row, np.diff(part.first_kernel)).tolist()
        numbers += [
            number.setdefault(key, len(number))
            for key in zip(of_kernel, part.kernel_name, strict=True)
        ]
    kernel = np.array(numbers, np.int64)
    occurrences = _sum(_column(parts, "kernel_occurrences"), kernel, len(number))
    total = _sum(_column(parts, "kernel_total_ps"), kernel, len(number))
    return arrange_kernels(
        count,
        np.array([row for row, _ in number], np.int64),
        [name for _, name in number],
        occurrences,
        total,
    )


def arrange_kernels(
    count: int,
    row: NDArray[np.int64],
    name: Sequence[str],
    occurrences: NDArray[np.int64],
    total_ps: NDArray[np.int64],
) -> _RowKernels:
    """Kernels [m], given the `row` of each in a table of `count` rows; by row, longest first."""
    order = np.lexsort((-total_ps, row))
    first = np.searchsorted(row[order], np.arange(count + 1)).astype(np.int64)
    names = [name[index] for index in order.tolist()]
    return _RowKernels(first, names, occurrences[order], total_ps[order])
