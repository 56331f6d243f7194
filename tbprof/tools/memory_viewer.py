"""Program memory: what each compiled program keeps in memory, when, and for which purpose."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tbprof.advice.summaries import Summaries
from tbprof.analysis.program_memory.live_buffers import Purpose, live_at, live_ever, purposes
from tbprof.analysis.program_memory.program_memory import ProgramMemory
from tbprof.analysis.program_memory.program_peaks import ProgramPeaks
from tbprof.base.lazy import Later
from tbprof.tools.model.datatable import Table, number, text
from tbprof.tools.model.tool import Document
from tbprof.tools.program_memory.heap_records import PURPOSES, heap_record
from tbprof.tools.program_memory.program_choice import (
    choose_memory,
    chosen_event,
    merge_programs,
    required_memory,
    shows_all,
)

PARTS = ("program_peaks", "program_memory")
# Exports show no findings.
_heap_page = Later("tbprof.tools.program_memory.heap_payload.heap_page")


def build(summaries: Summaries) -> Document:
    """The programs of all hosts; the parameters choose one, a memory space and an instant."""
    hosts, params = summaries.hosts, summaries.params
    programs = merge_programs(hosts, summaries.take("program_peaks", ProgramPeaks))
    memories = summaries.take("program_memory", ProgramMemory)
    chosen = choose_memory(hosts, memories, programs, params)
    return Document(
        rows=lambda: heap_record(required_memory(chosen, programs)),
        columns=lambda: _heap_page(hosts, programs, chosen, params),
        table=lambda: _table(required_memory(chosen, programs), params),
        is_empty=not programs,
    )


def _table(memory: ProgramMemory, params: Mapping[str, str]) -> Table:
    """What is in use at the peak, at the `instant`, or ever."""
    is_all = shows_all(params)
    live = live_ever(memory) if is_all else live_at(memory, chosen_event(memory, params))
    order = np.argsort(-live.size_bytes, kind="stable")
    rows, facts = live.buffer[order], memory.facts
    size, unpadded = live.size_bytes[order], live.unpadded_bytes[order]
    purpose = purposes(memory.allocations)[memory.allocation[rows]]
    is_known = live.start[order] >= 0

    def texts(name: str) -> list[str]:
        return [facts.texts[row] for row in getattr(facts, name)[rows].tolist()]

    names = [name + part for name, part in zip(texts("instruction"), texts("part"), strict=True)]
    return Table(
        (
            text("program", "Program", [memory.title] * rows.size),
            number("memory_space", "Memory space", np.full(rows.size, memory.space)),
            text("instruction", "Instruction", names),
            number("size_bytes", "Size (bytes)", size),
            number("unpadded_bytes", "Unpadded size (bytes)", unpadded),
            number("padding_bytes", "Padding (bytes)", size - unpadded),
            text("purpose", "Purpose", [PURPOSES[Purpose(value)] for value in purpose.tolist()]),
            text("shape", "Shape", texts("shape")),
            text("opcode", "Opcode", texts("opcode")),
            text("op_name", "Op Name", texts("op")),
            text("source", "Source", texts("source")),
            number("start", "Start", np.where(is_known, live.start[order], 0)),
            number("end", "End", live.end[order]),
        )
    )
