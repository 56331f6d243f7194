"""The memory of a program for our own page, in columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.finding import as_memory_json
from tbprof.advice.memory.program_memory_findings import find_program_memory_findings
from tbprof.analysis.program_memory.live_buffers import (
    LiveBuffers,
    Purpose,
    live_at,
    live_ever,
    purposes,
)
from tbprof.analysis.program_memory.memory_savings import hole_bytes
from tbprof.analysis.program_memory.memory_spaces import space_name
from tbprof.analysis.program_memory.program_memory import ProgramMemory
from tbprof.base.texts import NumberedTexts, cut
from tbprof.base.values import take_rows
from tbprof.tools.program_memory.heap_points import points_of
from tbprof.tools.program_memory.heap_records import PURPOSES
from tbprof.tools.program_memory.program_choice import (
    ChosenProgram,
    ProgramEntry,
    chosen_event,
    number_in,
    shows_all,
)

# Enough for any screen.
MOST_POINTS = 3000
_MOST_BARS = 1500
# Shapes of tuples may be as long as the program.
_MOST_TEXT = 2000
_TEXTS = ("instruction", "part", "opcode", "shape", "op", "source")


def heap_page(
    hosts: Sequence[str],
    programs: Sequence[ProgramEntry],
    chosen: ChosenProgram,
    params: Mapping[str, str],
) -> dict[str, object]:
    """Every program's peak, and the memory of one over time and at an instant."""
    memory = chosen.memory
    head = {
        "hosts": list(hosts),
        "programs": _programs(programs, len(hosts)),
        "chosen": chosen.row,
        "host": chosen.host if chosen.row >= 0 else "",
        "reason": memory.reason,
        "spaces": [
            {"space": space, "label": space_name(space), "peak_bytes": peak}
            for space, peak in _spaces(memory, programs[chosen.row] if chosen.row >= 0 else None)
        ],
        "space": memory.space,
    }
    if memory.reason:
        return head
    texts = NumberedTexts("")
    return {
        **head,
        "figures": _figures(memory),
        "timeline": _timeline(memory, params, texts),
        "bars": _bars(memory, params, texts),
        "live": _live(memory, params, texts),
        "findings": list(map(as_memory_json, find_program_memory_findings(memory))),
        "texts": texts.all(),
    }


def _programs(programs: Sequence[ProgramEntry], hosts: int) -> dict[str, object]:
    return {
        "name": [program.name for program in programs],
        "program_id": [program.program_id for program in programs],
        "has_run": [program.has_run for program in programs],
        "peak_bytes": [program.device_bytes for program in programs],
        "reason": [program.reason for program in programs],
        # "" where all hosts have it.
        "host": [program.hosts[0] if len(program.hosts) < hosts else "" for program in programs],
        "hosts": [len(program.hosts) for program in programs],
    }


def _spaces(memory: ProgramMemory, program: ProgramEntry | None) -> list[tuple[int, int]]:
    peaks = {} if program is None else dict(program.spaces)
    return [(space, peaks.get(space, 0)) for space in memory.spaces.tolist()]


def _figures(memory: ProgramMemory) -> dict[str, object]:
    """Bytes of the whole space; those of the heap are at its peak."""
    kinds, total, use = memory.allocations, memory.allocations.size_bytes, memory.use
    purpose = purposes(kinds)

    def of(wanted: NDArray[np.bool_]) -> int:
        return int(total[wanted].sum())

    heap_bytes = memory.peak_bytes - memory.fixed_bytes
    planned = of(kinds.is_planned)
    live = live_at(memory, use.peak)
    return {
        "entry": memory.entry,
        "peak_bytes": memory.peak_bytes,
        "peak_event": use.peak,
        "peak_instruction": memory.instructions[use.instruction[use.peak]] if use.peak >= 0 else "",
        "events": use.instruction.size,
        "padding_bytes": int((live.size_bytes - live.unpadded_bytes).sum()),
        "parameter_bytes": of(kinds.is_parameter),
        "output_bytes": of(kinds.is_output),
        "donated_bytes": of(kinds.is_parameter & kinds.is_output),
        "constant_bytes": of(purpose == Purpose.CONSTANT),
        "temporary_bytes": heap_bytes,
        "thread_local_bytes": of(kinds.is_thread_local),
        "reserved_bytes": of(~kinds.is_thread_local),
        "hole_bytes": hole_bytes(memory),
        # The size of temporary arrays with unknown lifetimes.
        "untraced_bytes": max(planned - heap_bytes - hole_bytes(memory), 0),
        "buffers": memory.id.size,
        "scoped_bytes": memory.scoped_bytes if memory.scoped_bytes >= 0 else None,
        "scoped_instruction": memory.scoped_instruction,
    }


def _window(memory: ProgramMemory, params: Mapping[str, str]) -> tuple[int, int]:
    """The first event that is shown, and the one after the last."""
    events = memory.use.instruction.size
    begin = min(number_in(params, "from_event", 0), max(events - 1, 0))
    end = min(number_in(params, "to_event", events), events)
    return (begin, end) if begin < end else (0, events)


def _timeline(
    memory: ProgramMemory, params: Mapping[str, str], texts: NumberedTexts
) -> dict[str, object]:
    """The memory in use after the events of the window, or after a sample with all extremes."""
    use = memory.use
    begin, end = _window(memory, params)
    points = points_of(use.in_use_bytes, begin, end, MOST_POINTS)
    in_use = use.in_use_bytes[points] + memory.fixed_bytes
    padding = use.in_use_bytes[points] - use.unpadded_bytes[points]
    return {
        "from_event": begin,
        "to_event": end,
        "is_sampled": bool(points.size < end - begin),
        "event": points,
        "in_use_bytes": in_use,
        "unpadded_bytes": in_use - padding if padding.any() else None,
        "instruction": [
            texts.number(memory.instructions[row]) for row in use.instruction[points].tolist()
        ],
    }


def _bars(
    memory: ProgramMemory, params: Mapping[str, str], texts: NumberedTexts
) -> dict[str, object]:
    """The memory that is in use in the window, as bars at their places; the largest areas.

    Allocations are placed one after another, those that are in use throughout first.
    """
    live = live_ever(memory)
    begin, end = _window(memory, params)
    shown = np.minimum(live.end, end) - np.maximum(live.start, begin)
    shown[live.start < 0] = max(end - begin, 1)
    rows = np.flatnonzero(shown > 0)
    area = shown[rows] * live.size_bytes[rows].astype(np.float64)
    kept = np.sort(rows[np.argsort(-area, kind="stable")[:_MOST_BARS]])
    kinds = memory.allocations
    order = np.lexsort((kinds.index, ~kinds.is_fixed))
    order = order[~kinds.is_thread_local[order]]
    base = np.zeros(kinds.index.size, np.int64)
    base[order] = np.cumsum(kinds.size_bytes[order]) - kinds.size_bytes[order]
    buffer = live.buffer[kept]
    is_fixed = kinds.is_fixed[memory.allocation[buffer]]
    offset = np.where(is_fixed, 0, memory.offset_bytes[buffer])
    return {
        **_described(memory, take_rows(live, kept), texts, ("instruction", "part", "shape")),
        "offset_bytes": base[memory.allocation[buffer]] + offset,
        "start": live.start[kept],
        "end": live.end[kept],
        "total_bytes": int(kinds.size_bytes[order].sum()),
        "left_out": int(rows.size - kept.size),
        "left_out_bytes": int(live.size_bytes[rows].sum() - live.size_bytes[kept].sum()),
    }


def _live(
    memory: ProgramMemory, params: Mapping[str, str], texts: NumberedTexts
) -> dict[str, object]:
    """The memory in use at the chosen instant, or at any time; the largest first."""
    is_all, event = shows_all(params), chosen_event(memory, params)
    live = live_ever(memory) if is_all else live_at(memory, event)
    live = take_rows(live, np.argsort(-live.size_bytes, kind="stable"))
    events = memory.use.instruction.size
    is_fixed = live.start < 0
    return {
        "event": event,
        "is_peak": event == memory.use.peak and not is_all,
        "is_all": is_all,
        "in_use_bytes": None if is_all else int(live.size_bytes.sum()),
        "at": texts.number(
            memory.instructions[memory.use.instruction[event]] if event >= 0 else ""
        ),
        **_described(memory, live, texts, _TEXTS),
        "start": np.where(is_fixed, 0, live.start),
        "instants": np.where(is_fixed, events, live.end - np.maximum(live.start, 0)),
    }


def _described(
    memory: ProgramMemory, live: LiveBuffers, texts: NumberedTexts, names: Sequence[str]
) -> dict[str, object]:
    """Columns of memory: sizes, purpose, and facts as numbers of texts."""
    purpose = purposes(memory.allocations)[memory.allocation[live.buffer]]
    labels = {value: texts.number(label) for value, label in PURPOSES.items()}
    columns: dict[str, object] = {
        name: [
            texts.number(cut(memory.facts.texts[row], _MOST_TEXT))
            for row in getattr(memory.facts, name)[live.buffer].tolist()
        ]
        for name in names
    }
    return {
        **columns,
        "purpose": [labels[Purpose(value)] for value in purpose.tolist()],
        "is_donated": memory.allocations.is_output[memory.allocation[live.buffer]]
        & memory.allocations.is_parameter[memory.allocation[live.buffer]],
        "size_bytes": live.size_bytes,
        "unpadded_bytes": live.unpadded_bytes,
    }
