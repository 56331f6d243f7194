"""The instructions that ran on a GPU, with the kernels of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.devices.devices import text_stat
from tbprof.analysis.devices.tensor_cores import CoreUse, core_use, is_amd
from tbprof.analysis.gpu.gpu_events import GpuKinds, find_gpu_kinds
from tbprof.analysis.gpu.gpu_work import executions_of, rows_by_instruction
from tbprof.analysis.gpu.graph_kernels import WHOLE_GRAPH
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.programs.instruction_facts import (
    COMMAND_BUFFER,
    InstructionFacts,
    InstructionReader,
)
from tbprof.analysis.programs.matrix_products import tiling_of
from tbprof.analysis.programs.op_rows import (
    InstructionWork,
    KernelTimes,
    OpRows,
    ProgramName,
    Times,
    computed_work,
    id_text,
)
from tbprof.analysis.programs.program_ops import NOT_IN_HLO, UNKNOWN, ProgramOps
from tbprof.analysis.vocabulary.kernel_tiles import tile_of
from tbprof.analysis.vocabulary.op_names import CONTROL
from tbprof.base import names
from tbprof.events.space import Plane

_NO_USE = CoreUse.UNKNOWN


def gpu_program_ops(plane: Plane, programs: Programs, reader: InstructionReader) -> ProgramOps:
    """The instructions of one GPU; other work has one row per name of kernel or copy."""
    kinds = find_gpu_kinds(plane, programs)
    rows = OpRows()
    for of_instruction in rows_by_instruction(kinds):
        _add_instruction(rows, kinds, of_instruction, programs, reader, plane)
    others: dict[str, list[int]] = defaultdict(list)
    for row, instruction in enumerate(kinds.instruction):
        if not instruction:
            others[kinds.event_name[row] or "(unnamed)"].append(row)
    for name, of_name in others.items():
        first = of_name[0]
        category = COMMAND_BUFFER if name.startswith(WHOLE_GRAPH) else NOT_IN_HLO
        facts = InstructionFacts(category=category, scope=kinds.op[first].name)
        count = _sum(kinds.occurrences, of_name)
        total = _sum(kinds.total_ps, of_name)
        rows.add(
            ProgramName(), name, facts, Times(count, count, total, total),
            _recorded(kinds, of_name) or InstructionWork(),
        )  # fmt: skip
    return rows.table(
        device_type="GPU", devices=int(bool(kinds.occurrences.size)), window_ps=kinds.window_ps,
        idle_ps=kinds.window_ps - kinds.busy_ps,
    )  # fmt: skip


def _add_instruction(
    rows: OpRows,
    kinds: GpuKinds,
    of_instruction: list[int],
    programs: Programs,
    reader: InstructionReader,
    plane: Plane,
) -> None:
    first = of_instruction[0]
    number, module, name = (
        kinds.program_id[first], kinds.module[first], kinds.instruction[first],
    )  # fmt: skip
    program = ProgramName(
        id_text(number), module or programs.name(number), reader.digest(number, module)
    )
    facts = reader.read(number, module, name)
    if facts is None:
        facts = InstructionFacts(scope=kinds.op[first].name)
    is_graph = any(kinds.event_name[row].startswith(WHOLE_GRAPH) for row in of_instruction)
    if is_graph or name.startswith(names.COMMAND_BUFFER):
        facts = facts._replace(category=COMMAND_BUFFER)
    use = _NO_USE
    if facts.is_product:
        longest = max(of_instruction, key=kinds.total_ps.__getitem__)
        use = _core_use(kinds, longest, programs, plane)
        tile = tile_of(kinds.event_name[longest])
        tiling = tiling_of(facts.product_rows, facts.product_columns, tile)
        if tiling.text:
            facts = facts._replace(tiling=tiling.text, tile_waste_ppm=tiling.waste_ppm)
    executions = executions_of(kinds, of_instruction)
    total = _sum(kinds.total_ps, of_instruction)
    launches = _sum(kinds.occurrences, of_instruction)
    work = _recorded(kinds, of_instruction)
    if work is None:
        # The work of a loop's kernels is that of the instructions in it.
        cost = None if facts.opcode in CONTROL else facts.cost
        work = computed_work(cost, executions)
    rows.add(
        program, name, facts, Times(executions, launches, total, total), work,
        _kernels(kinds, of_instruction),
        core_use=use,
    )  # fmt: skip


def _core_use(kinds: GpuKinds, row: int, programs: Programs, plane: Plane) -> CoreUse:
    """Whether a kernel runs on matrix units."""
    major = plane.stats.get(names.COMPUTE_MAJOR, -1)
    return core_use(
        kinds.event_name[row],
        is_amd=is_amd(text_stat(plane, names.DEVICE_VENDOR), text_stat(plane, names.GPU_NAME)),
        compute_major=major if isinstance(major, int) else -1,
        fusion=programs.fusion(kinds.program_id[row], kinds.module[row], kinds.instruction[row]),
    )


def _recorded(kinds: GpuKinds, rows: Sequence[int]) -> InstructionWork | None:
    """The work that events state, None if they state none."""
    flops, moved = _sum(kinds.flops, rows), _sum(kinds.bytes_accessed, rows)
    if not flops and not moved:
        return None
    return InstructionWork(flops, flops, UNKNOWN, moved or UNKNOWN, moved or UNKNOWN)


def _sum(column: NDArray[np.int64], rows: Sequence[int]) -> int:
    """The sum of a few rows, without a NumPy call, which would take longer."""
    return sum(map(column.item, rows))


def _kernels(kinds: GpuKinds, rows: Sequence[int]) -> list[KernelTimes]:
    times: dict[str, list[int]] = {}
    for row in rows:
        sums = times.setdefault(kinds.event_name[row], [0, 0])
        sums[0] += int(kinds.occurrences[row])
        sums[1] += int(kinds.total_ps[row])
    return [(name, count, total) for name, (count, total) in times.items()]
