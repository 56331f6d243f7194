"""The instructions that ran on a TPU core, with their work as recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tbprof.analysis.devices.device_clock import find_core_ops
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.programs.instruction_facts import (
    InstructionFacts,
    InstructionReader,
    facts_of_text,
)
from tbprof.analysis.programs.op_rows import (
    NO_WORK,
    InstructionWork,
    OpRows,
    ProgramName,
    Times,
    computed_work,
    id_text,
)
from tbprof.analysis.programs.program_ops import (
    NOT_IN_HLO,
    SPARSE_CORE,
    TENSOR_CORE,
    UNKNOWN,
    ProgramOps,
)
from tbprof.analysis.spans.groups import reduce_groups
from tbprof.analysis.tpu.accessed_memory import AccessedBytes, read_breakdown
from tbprof.analysis.tpu.tpu_kinds import (
    INSTRUCTION_TEXTS,
    UNNAMED,
    WORK,
    TpuKinds,
    find_tpu_kinds,
    instruction_name,
    instruction_text,
)
from tbprof.analysis.tpu.tpu_pairs import Pair, ends_that_state, find_pairs
from tbprof.analysis.vocabulary.lines import is_sparse_core
from tbprof.base import names
from tbprof.base.lazy import regex
from tbprof.base.records import NamedTuple
from tbprof.events.space import Plane

_DMA_STALL = "dma_stall_duration_ps"
# An execution of a program: "jit_f(12190760917235803885)".
_EXECUTION = regex(r"([^%()=]{1,400})\(([0-9]{1,20})\)\Z")
# Their work depends on the called function, so it is unknown if the type states none.
_CALLS = ("custom-call", "custom call")


class _Row(NamedTuple):
    """The row of a kind of op, before pairs are joined."""

    program: ProgramName
    name: str
    facts: InstructionFacts
    times: Times
    work: InstructionWork
    breakdown: bytes | None


def tpu_program_ops(plane: Plane, programs: Programs, reader: InstructionReader) -> ProgramOps:
    """The instructions of one core; types state work per execution, or events state it."""
    kinds = find_tpu_kinds(plane, *names.OP_LINES)
    instructions = list(_rows(plane, kinds, programs, reader))
    is_sparse = is_sparse_core(plane)
    rows = OpRows()
    for row in _joined(instructions, find_pairs(plane, programs)):
        core = SPARSE_CORE if is_sparse else TENSOR_CORE
        rows.add(row.program, row.name, row.facts, row.times, row.work, core=core)
    has_rows = int(bool(instructions))
    idle = kinds.window_ps - kinds.busy_ps
    if is_sparse:
        return rows.table(device_type="TPU", sparse_cores=has_rows, sparse_core_idle_ps=idle)
    return rows.table(device_type="TPU", devices=has_rows, window_ps=kinds.window_ps, idle_ps=idle)


def _rows(
    plane: Plane, kinds: TpuKinds, programs: Programs, reader: InstructionReader
) -> Iterator[_Row]:
    """One row per kind of op."""
    types = _TypeReader(plane, programs, reader)
    stalls = _dma_stalls(plane, kinds)
    numbers = zip(
        kinds.type.tolist(), kinds.occurrences.tolist(), kinds.total_ps.tolist(),
        kinds.self_ps.tolist(), kinds.work.tolist(), kinds.has_work.tolist(), stalls, strict=True,
    )  # fmt: skip
    for type_, occurrences, total, own, work, has_work, stall in numbers:
        program, name, facts = types.read(type_)
        times = Times(occurrences, occurrences, total, own, None, stall)
        stated = work if has_work else None
        yield _Row(
            program, name, facts, times, types.work(type_, facts, occurrences, stated),
            types.breakdown(type_),
        )  # fmt: skip


class _TypeReader:
    """Reads the instructions of a plane's event types."""

    def __init__(self, plane: Plane, programs: Programs, reader: InstructionReader) -> None:
        texts = (
            names.HLO_CATEGORY, names.TF_OP, "deduplicated_name", "source", "source_stack",
            *INSTRUCTION_TEXTS,
        )  # fmt: skip
        stats = plane.types.stats([names.PROGRAM_ID, names.MEMORY_BREAKDOWN, *WORK, *texts])
        self._reader = reader
        self._programs = programs
        self._plane = plane
        self._strings = plane.strings
        self._types = plane.types
        self._program = stats[names.PROGRAM_ID].integers(-1)
        self._texts = {name: stats[name].texts() for name in texts}
        self._breakdown = stats[names.MEMORY_BREAKDOWN]
        self._work = [stats[name] for name in WORK]
        self._modules = _executed_modules(plane)

    def read(self, row: int) -> tuple[ProgramName, str, InstructionFacts]:
        """The program, name and facts of a type, -1 for events without one."""
        if row < 0:
            return ProgramName(), UNNAMED, InstructionFacts(category=NOT_IN_HLO)
        event = self._strings[int(self._types.name[row])]
        name = instruction_name(self._plane, row)
        number = int(self._program[row])
        program = self._program_name(number)
        facts = self._reader.read(number, program.name, name) if number != -1 else None
        if facts is None:
            stated = [self._text(row, stat) for stat in INSTRUCTION_TEXTS]
            facts = facts_of_text(instruction_text(event, name, stated))
            if number == -1 and not self._text(row, names.HLO_CATEGORY):
                facts = facts._replace(category=NOT_IN_HLO)
        return program, name, self._with_stated(row, facts)

    def _with_stated(self, row: int, facts: InstructionFacts) -> InstructionFacts:
        category = self._text(row, names.HLO_CATEGORY)
        return facts._replace(
            opcode=facts.opcode or category,
            category=category or facts.category,
            deduplicated_name=self._text(row, "deduplicated_name") or facts.deduplicated_name,
            scope=self._text(row, names.TF_OP) or facts.scope,
            source=self._text(row, "source") or facts.source,
            stack=self._text(row, "source_stack").strip("\n") or facts.stack,
        )

    def _program_name(self, number: int) -> ProgramName:
        if number == -1:
            return ProgramName()
        text = id_text(number)
        name = self._programs.name(number) or self._modules.get(text, "")
        return ProgramName(text, name, self._reader.digest(number, ""))

    def _text(self, row: int, name: str) -> str:
        return self._strings[int(self._texts[name][row])]

    def work(
        self, row: int, facts: InstructionFacts, occurrences: int, stated: Sequence[int] | None
    ) -> InstructionWork:
        """The work of all executions: stated by events or types, else by the program's shapes."""
        has = [row >= 0 and bool(stat.is_present[row]) for stat in self._work]
        if stated is None:
            each = [int(stat.integers()[row]) if row >= 0 else 0 for stat in self._work]
            stated = [max(number, 0) * occurrences for number in each]
        flops, model, accessed = stated
        computed = computed_work(facts.cost, occurrences)
        is_silent = not any(stated) and (not any(has) or facts.category in _CALLS)
        if is_silent:
            return computed
        model = model or flops
        is_known = bool(flops or model or ((has[0] or has[1]) and facts.category not in _CALLS))
        memories = self._memories(row, occurrences)
        moved = accessed if accessed or has[2] else UNKNOWN
        return InstructionWork(
            flops if is_known else UNKNOWN,
            model if is_known else UNKNOWN,
            computed.transcendentals,
            moved,
            moved if memories is None else memories.hbm,
            *((UNKNOWN,) * 4 if memories is None else memories[1:]),
        )

    def breakdown(self, row: int) -> bytes | None:
        """The recorded breakdown of the bytes of one execution."""
        return self._breakdown.blob(row) if row >= 0 else None

    def _memories(self, row: int, occurrences: int) -> AccessedBytes | None:
        blob = self.breakdown(row)
        memories = read_breakdown(blob) if blob else None
        return None if memories is None else AccessedBytes(*(n * occurrences for n in memories))


def _executed_modules(plane: Plane) -> dict[str, str]:
    """The names of the programs that ran on the plane, by id."""
    texts = plane.types.full_names
    matches = (_EXECUTION.match(text) for text in texts if text.endswith(")"))
    return {match[2]: match[1] for match in matches if match}


def _dma_stalls(plane: Plane, kinds: TpuKinds) -> list[int]:
    """[kinds] the time that ops waited for transfers, -1 if not recorded."""
    nothing = [UNKNOWN] * kinds.type.size
    if _DMA_STALL not in plane.stat_names:
        return nothing
    events = find_core_ops(plane, *names.OP_LINES).events
    stat = events.stats([_DMA_STALL])[_DMA_STALL]
    number = {type_: kind for kind, type_ in enumerate(kinds.type[kinds.has_work].tolist())}
    of_type = np.full(int(events.type.max(initial=-1)) + 2, -1, np.int32)
    for type_, kind in number.items():
        of_type[type_] = kind
    code = np.where(stat.is_integer, events.by_type(of_type), -1)
    count, total, _, _ = reduce_groups(code, np.maximum(stat.integers(), 0), kinds.type.size)
    return [int(number) for number in np.where(count > 0, total, UNKNOWN)]


def _joined(rows: list[_Row], pairs: Sequence[Pair]) -> list[_Row]:
    """The rows, with the work of each pair of a start and its end stated once, at the end."""
    for start, end, span_ps in pairs:
        work = _once(rows[start], rows[end])
        rows[end] = rows[end]._replace(times=rows[end].times._replace(span_ps=span_ps), work=work)
        rows[start] = rows[start]._replace(work=NO_WORK._replace(is_computed=work.is_computed))
    return rows


def _once(start: _Row, end: _Row) -> InstructionWork:
    """The work of a pair: start or end may state all of it, or each its own memory accesses."""
    both = zip(InstructionWork._fields, start.work, end.work, strict=True)
    figures: dict[str, Any] = {key: max(values) for key, *values in both}
    stated = ends_that_state(start.breakdown, end.breakdown)
    works = [row.work for row, counts in zip((start, end), stated, strict=True) if counts]
    if works:
        figures |= {
            key: sum(getattr(work, key) for work in works)
            for key in InstructionWork._fields if key.startswith(_MEMORIES)
        }  # fmt: skip
    return InstructionWork(**figures)


_MEMORIES = ("hbm_", "cmem_", "vmem_")
