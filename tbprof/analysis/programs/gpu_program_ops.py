"""The instructions that ran on a GPU, with the kernels of each."""

from collections import defaultdict
from collections.abc import Sequence

from tbprof.analysis.gpu.gpu_events import GpuKinds, find_gpu_kinds
from tbprof.analysis.gpu.gpu_work import executions_of, rows_by_instruction
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.programs.instruction_facts import (
    CONTROL,
    InstructionFacts,
    InstructionReader,
)
from tbprof.analysis.programs.op_rows import (
    KernelTimes,
    OpRows,
    ProgramName,
    Times,
    Work,
    computed_work,
    id_text,
)
from tbprof.analysis.programs.program_ops import NOT_IN_HLO, UNKNOWN, ProgramOps
from tbprof.events.space import Plane

# The thunk of a CUDA graph: what it ran is not told apart.
_COMMAND_BUFFER = "command_buffer"
COMMAND_BUFFER = "inside a command buffer"


def gpu_program_ops(plane: Plane, programs: Programs, reader: InstructionReader) -> ProgramOps:
    """The instructions of one GPU; work that belongs to none has a row per kernel or copy."""
    kinds = find_gpu_kinds(plane, programs)
    rows = OpRows()
    for of_instruction in rows_by_instruction(kinds):
        _add_instruction(rows, kinds, of_instruction, programs, reader)
    others: dict[str, list[int]] = defaultdict(list)
    for row, instruction in enumerate(kinds.instruction):
        if not instruction:
            others[kinds.event_name[row] or "(unnamed)"].append(row)
    for name, of_name in others.items():
        first = of_name[0]
        facts = InstructionFacts(category=NOT_IN_HLO, scope=kinds.op[first].name)
        count = int(kinds.occurrences[of_name].sum())
        total = int(kinds.total_ps[of_name].sum())
        rows.add(
            ProgramName(), name, facts, Times(count, count, total, total),
            _recorded(kinds, of_name) or Work(),
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
        is_buffer = name.startswith(_COMMAND_BUFFER)
        facts = InstructionFacts(scope=kinds.op[first].name)
        facts = facts._replace(category=COMMAND_BUFFER) if is_buffer else facts
    executions = executions_of(kinds, of_instruction)
    total = int(kinds.total_ps[of_instruction].sum())
    launches = int(kinds.occurrences[of_instruction].sum())
    work = _recorded(kinds, of_instruction)
    if work is None:
        # What the kernels of a loop do is the work of the instructions in it.
        cost = None if facts.opcode in CONTROL else facts.cost
        work = computed_work(cost, executions)
    rows.add(
        program, name, facts, Times(executions, launches, total, total), work,
        _kernels(kinds, of_instruction),
    )  # fmt: skip


def _recorded(kinds: GpuKinds, rows: Sequence[int]) -> Work | None:
    """The work that events state, None if they state none."""
    flops, moved = int(kinds.flops[rows].sum()), int(kinds.bytes_accessed[rows].sum())
    if not flops and not moved:
        return None
    return Work(flops, flops, UNKNOWN, moved or UNKNOWN, moved or UNKNOWN)


def _kernels(kinds: GpuKinds, rows: Sequence[int]) -> list[KernelTimes]:
    times: dict[str, list[int]] = {}
    for row in rows:
        sums = times.setdefault(kinds.event_name[row], [0, 0])
        sums[0] += int(kinds.occurrences[row])
        sums[1] += int(kinds.total_ps[row])
    return [(name, count, total) for name, (count, total) in times.items()]
