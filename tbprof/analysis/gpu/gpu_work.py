"""Operations and bytes of GPU ops: as recorded, else computed from the shapes of their programs."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.costs.cost import UNKNOWN, Cost
from tbprof.analysis.gpu.gpu_events import GpuKinds, find_gpu_kinds
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.vocabulary.op_names import CONTROL
from tbprof.base.caches import computed_once
from tbprof.base.lazy import Later
from tbprof.base.records import dataclass
from tbprof.base.values import as_counts
from tbprof.events.space import Plane

if TYPE_CHECKING:
    from tbprof.analysis.costs.program_costs import ProgramCosts
    from tbprof.analysis.hlo.module import Module

# Few traces of GPUs contain programs.
_program_costs = Later("tbprof.analysis.costs.program_costs.ProgramCosts")
_largest_of = Later("tbprof.analysis.hlo.hlo_shapes.largest_dtype")
_multiplies = Later("tbprof.analysis.hlo.instruction.multiplies")

_MAIN_MEMORY = 0


@dataclass(frozen=True, slots=True)
class GpuWork:
    """The work of each kind [n] of a GPU's events, over all of its executions.

    Only sums over all kinds of an instruction are meaningful: its work is attributed to the kind
    that takes longest. `is_apart` [n] marks the kind of an instruction that has no other but copies
    and memsets.
    `is_computed` [n] marks work that is computed from the shapes of the program, where bytes that
    caches serve are included; `is_unknown` [n] marks kinds of instructions with an unknown cost.
    `dtype` [n] is the element type of most operations, "" if unknown, and `is_product` [n] says
    that they are matrix products.
    """

    flops: NDArray[np.int64]
    bytes: NDArray[np.int64]
    hbm_bytes: NDArray[np.int64]
    is_computed: NDArray[np.bool_]
    is_unknown: NDArray[np.bool_]
    is_apart: NDArray[np.bool_]
    dtype: list[str]
    is_product: NDArray[np.bool_]

    @property
    def of_kernels(self) -> tuple[NDArray[np.int64], ...]:
        """(operations, bytes, bytes in main memory) [n], -1 if they are not of a kind alone."""
        is_recorded = ~self.is_computed & ((self.flops > 0) | (self.bytes > 0))
        is_known = is_recorded | (self.is_computed & self.is_apart)
        has_bytes = is_known & (self.is_computed | (self.bytes > 0))
        counts = (self.flops, is_known), (self.bytes, has_bytes), (self.hbm_bytes, has_bytes)
        return tuple(np.where(is_valid, count, -1) for count, is_valid in counts)


@computed_once
def find_gpu_work(plane: Plane, programs: Programs) -> GpuWork:
    """The work of the kinds of one plane. Source: XLA's programs in the trace."""
    kinds = find_gpu_kinds(plane, programs)
    flops, moved = kinds.flops.tolist(), kinds.bytes_accessed.tolist()
    in_main = list(moved)
    dtype = [""] * len(flops)
    is_computed, is_unknown, is_apart, is_product = np.zeros((4, len(flops)), bool)
    costs: dict[int, ProgramCosts] = {}
    for rows in rows_by_instruction(kinds):
        first = rows[0]
        module = programs.module(kinds.program_id[first], kinds.module[first])
        if module is None:
            continue
        instruction = module.index.find(kinds.instruction[first])
        cost = _cost(costs, module, instruction)
        if instruction >= 0 and cost is not None:
            is_product[rows] = _multiplies(module, instruction)
            for row in rows:
                dtype[row] = cost.dtype or _largest_dtype(module, instruction)
        if cost is None or any(flops[row] or moved[row] for row in rows):
            continue
        is_unknown[rows] = not cost.is_known
        if not cost.is_known:
            continue
        executions = executions_of(kinds, rows)
        computing = [row for row in rows if not kinds.copy[row]] or rows
        longest = max(computing, key=kinds.total_ps.__getitem__)
        flops[longest] = cost.all_flops * executions
        moved[longest] = cost.bytes * executions
        in_main[longest] = (cost.read[_MAIN_MEMORY] + cost.written[_MAIN_MEMORY]) * executions
        is_computed[rows] = True
        is_apart[computing] = len(computing) == 1
    counts = as_counts(flops), as_counts(moved), as_counts(in_main)
    return GpuWork(*counts, is_computed, is_unknown, is_apart, dtype, is_product)


def rows_by_instruction(kinds: GpuKinds) -> list[list[int]]:
    """The rows of each instruction that launched anything."""
    rows = defaultdict(list)
    for row, instruction in enumerate(kinds.instruction):
        if instruction:
            rows[kinds.program_id[row], kinds.module[row], instruction].append(row)
    return list(rows.values())


def _largest_dtype(module: Module, row: int) -> str:
    return str(_largest_of((*module.shapes.of(row).shapes, *module.operand_shapes(row))))


def _cost(costs: dict[int, ProgramCosts], module: Module, row: int) -> Cost | None:
    """The cost of an instruction, None for one whose computations run separately."""
    if row < 0:
        return UNKNOWN
    if module.opcode(row) in CONTROL:
        return None
    if id(module) not in costs:
        costs[id(module)] = _program_costs(module)
    return costs[id(module)].of_row(row)


def executions_of(kinds: GpuKinds, rows: list[int]) -> int:
    """The number of executions of an instruction: that of most of its kernels.

    A kernel that it launches twice ran more often, one that only some executions need less often.
    """
    if len(rows) == 1:
        return int(kinds.occurrences[rows[0]])
    launches: Counter[str] = Counter()
    for row in rows:
        launches[kinds.event_name[row]] += int(kinds.occurrences[row])
    often = Counter(launches.values())
    return min(often, key=lambda count: (-often[count], count))
