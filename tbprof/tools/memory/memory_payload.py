"""The memory profile for our own page, in columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.finding import as_memory_json
from tbprof.advice.memory.memory_facts import find_peak_facts
from tbprof.advice.memory.memory_findings import find_memory_findings
from tbprof.analysis.memory.allocators import Allocator
from tbprof.analysis.memory.memory import Memory
from tbprof.analysis.memory.memory_breakdown import Age, Breakdown, break_down
from tbprof.analysis.memory.memory_growth import Leaks, StepUsage, find_leaks, use_by_step
from tbprof.analysis.memory.memory_samples import sample_events
from tbprof.analysis.memory.memory_usage import allocator_rows, event_at, in_use
from tbprof.analysis.tpu.program_runs import ProgramRuns
from tbprof.base.values import unique
from tbprof.tools.memory.memory_choice import chosen, instant, wanted_event
from tbprof.tools.memory.memory_records import AGES, BEFORE_OP, STACK_OP
from tbprof.tools.memory.peak_programs import program_at_peak

# Enough for any screen, and for a small chart among others.
MOST_POINTS = 2000
_PREVIEW_POINTS = 200
# A pod has thousands of memories.
_MOST_PICTURED = 32
_KINDS = ("op", "region", "dtype", "shape")


def page_payload(
    hosts: Sequence[str],
    allocators: Sequence[Allocator],
    runs: Mapping[str, ProgramRuns],
    params: Mapping[str, str],
) -> dict[str, object]:
    """Every allocator's figures, and one of them over time and at an instant."""
    chosen_row = chosen(allocators, params)
    allocator = allocators[chosen_row]
    memory = allocator.memory
    peak = break_down(memory, allocator.row, allocator.peak_event)
    event = wanted_event(allocator, params)
    at_ps = instant(params, "at_ps")
    shown = peak if event == allocator.peak_event else break_down(memory, allocator.row, event)
    steps, leaks = use_by_step(memory, allocator.row), find_leaks(memory, allocator.row)
    texts = _UsedTexts(memory)
    facts = find_peak_facts(allocator, peak, steps, leaks)
    pictured = _pictured(allocators, chosen_row)
    return {
        "hosts": list(hosts),
        "memory_ids": [
            {
                **_figures(each),
                "peak_program": program_at_peak(each, runs),
                "preview": _preview(each) if row in pictured else None,
            }
            for row, each in enumerate(allocators)
        ],
        "pictured": pictured,
        "chosen": chosen_row,
        "begin_ps": memory.begin_ps,
        "end_ps": memory.end_ps,
        "timeline": _timeline(allocator, params, texts),
        "steps": _steps(allocator, steps),
        "breakdown": {
            "at_ps": at_ps if at_ps is not None else shown.at_ps,
            "is_peak": event == allocator.peak_event,
            "in_use_bytes": _known(shown.in_use_bytes),
            "rows": _rows(shown, texts),
        },
        "findings": list(map(as_memory_json, find_memory_findings(facts))),
        "leaks": _leaks(memory, leaks),
        "texts": texts.used,
    }


class _UsedTexts:
    """The texts of a payload, numbered in order of use."""

    def __init__(self, memory: Memory) -> None:
        self._all = memory.texts
        self._number = np.full(len(memory.texts) + 1, -1, np.int32)  # the last is for none
        self.used: list[str] = []

    def numbers(self, rows: NDArray[np.int32]) -> NDArray[np.int32]:
        """The numbers of rows of `Memory.texts`, -1 for none."""
        new = unique(rows[rows >= 0])
        new = new[self._number[new] < 0]
        self._number[new] = np.arange(len(self.used), len(self.used) + new.size)
        self.used += [self._all[row] for row in new.tolist()]
        return self._number[rows]

    def add(self, text: str) -> int:
        """The number of a text that is not in the trace."""
        self.used.append(text)
        return len(self.used) - 1


def _figures(allocator: Allocator) -> dict[str, object]:
    memory, peak = allocator.memory, allocator.peak_event
    is_known = peak >= 0
    step = int(memory.step[peak]) if is_known else -1
    fragmentation = float(memory.fragmentation[peak]) if is_known else np.nan
    return {
        "id": allocator.id,
        "host": allocator.host,
        "name": allocator.name,
        "label": allocator.label,
        "kind": "device" if allocator.is_device else "host",
        "begin_ps": memory.begin_ps,
        "end_ps": memory.end_ps,
        **{
            name: allocator.figure(name)
            for name in (
                "allocations", "deallocations", "capacity_bytes", "lifetime_bytes", "peak_bytes",
                "end_bytes", "unmatched_frees", "reused_addresses", "addressless",
            )
        },
        "peak_ps": int(memory.time_ps[peak]) if is_known else None,
        "peak_step": memory.label_of(allocator.row, step),
        "peak_stack_bytes": _known(int(memory.stack_bytes[peak])) if is_known else None,
        "peak_heap_bytes": _known(int(memory.heap_bytes[peak])) if is_known else None,
        "peak_free_bytes": _known(int(memory.free_bytes[peak])) if is_known else None,
        "peak_fragmentation": None if np.isnan(fragmentation) else fragmentation,
        "is_summed": bool(memory.is_summed[allocator.row]),
    }  # fmt: skip


def _pictured(allocators: Sequence[Allocator], chosen: int) -> list[int]:
    """The allocators with a small chart, devices first, since they run out of memory.

    If there are too many, those whose peak is the largest share of their capacity.
    """
    is_many = len(allocators) > _MOST_PICTURED

    def rank(row: int) -> tuple[bool, float]:
        return not allocators[row].is_device, -allocators[row].used_share if is_many else 0.0

    rows = sorted(range(len(allocators)), key=rank)[:_MOST_PICTURED]
    return rows if chosen in rows else [chosen, *rows]


def _preview(allocator: Allocator) -> dict[str, object]:
    memory = allocator.memory
    rows = allocator_rows(memory, allocator.row)
    first, last = int(memory.time_ps[rows.start]), int(memory.time_ps[rows.stop - 1])
    events = sample_events(memory, allocator.row, first, last, _PREVIEW_POINTS)
    return {"time_ps": memory.time_ps[events], "bytes": in_use(memory, events)}


def _timeline(
    allocator: Allocator, params: Mapping[str, str], texts: _UsedTexts
) -> dict[str, object]:
    """The state after each event of the window; preceded by the state before the window."""
    memory = allocator.memory
    begin, end = instant(params, "from_ps"), instant(params, "to_ps")
    begin = memory.begin_ps if begin is None else begin
    end = memory.end_ps if end is None else end
    before = event_at(memory, allocator.row, begin - 1)
    time = memory.time_ps[allocator_rows(memory, allocator.row)]
    events = int(np.searchsorted(time, end, "right") - np.searchsorted(time, begin, "left"))
    rows = sample_events(memory, allocator.row, begin, end, MOST_POINTS - 1)
    is_sampled = rows.size < events
    carried = 0
    if before >= 0 and begin <= end:
        rows, carried = np.append(before, rows), 1
    time = memory.time_ps[rows]
    time[:carried] = begin
    kind = memory.is_allocation[rows].astype(np.int8)
    kind[:carried] = -1
    own = [_signed(memory.requested_bytes[rows], kind), _signed(memory.allocated_bytes[rows], kind)]
    columns: dict[str, NDArray[Any]] = {name: getattr(memory, name)[rows] for name in _KINDS}
    step = memory.step[rows]
    for column in (*columns.values(), step):
        column[:carried] = -1
    return {
        "from_ps": begin,
        "to_ps": end,
        "events": max(events, 0),
        "is_sampled": is_sampled,
        "time_ps": time,
        "stack_bytes": memory.stack_bytes[rows],
        "heap_bytes": memory.heap_bytes[rows],
        "free_bytes": memory.free_bytes[rows],
        "fragmentation": memory.fragmentation[rows],
        "is_allocation": kind,
        "requested_bytes": own[0],
        "allocated_bytes": own[1],
        **{name: texts.numbers(column) for name, column in columns.items()},
        "step": step,
    }


def _signed(sizes: NDArray[np.int64], kind: NDArray[np.int8]) -> NDArray[Any]:
    """Sizes of events, negative for releases; null if unknown or without an event."""
    signed = np.where(kind == 0, -sizes, sizes)
    is_unknown = (sizes < 0) | (kind < 0)
    return np.where(is_unknown, np.nan, signed) if is_unknown.any() else signed


def _steps(allocator: Allocator, usage: StepUsage) -> dict[str, object]:
    rows = allocator.memory.steps_of(allocator.row)
    return {
        "label": allocator.memory.step_label[rows],
        "begin_ps": allocator.memory.step_begin_ps[rows],
        "end_ps": allocator.memory.step_end_ps[rows],
        "peak_bytes": usage.peak_bytes,
        "end_bytes": usage.end_bytes,
        "kept_bytes": usage.kept_bytes,
    }


def _rows(breakdown: Breakdown, texts: _UsedTexts) -> dict[str, object]:
    columns = {name: texts.numbers(getattr(breakdown, name)) for name in _KINDS}
    for age, op in ((Age.BEFORE, BEFORE_OP), (Age.STACK, STACK_OP)):
        rows = np.flatnonzero(breakdown.age == age)
        if rows.size:
            columns["op"][rows] = texts.add(op)
    return {
        **columns,
        "allocated_bytes": breakdown.allocated_bytes,
        "requested_bytes": breakdown.requested_bytes,
        "occurrences": breakdown.occurrences,
        "age": [AGES[Age(age)] for age in breakdown.age.tolist()],
        "step": breakdown.step,
        "since_ps": breakdown.since_ps,
    }


def _leaks(memory: Memory, leaks: Leaks) -> list[dict[str, object]]:
    def text(row: int) -> str:
        return memory.texts[row] if row >= 0 else ""

    return [
        {
            **{name: text(int(getattr(leaks, name)[row])) for name in _KINDS},
            "bytes_per_step": float(leaks.bytes_per_step[row]),
            "occurrences_per_step": float(leaks.occurrences_per_step[row]),
            "steps": int(leaks.steps[row]),
        }
        for row in range(leaks.steps.size)
    ]


def _known(value: int) -> int | None:
    return value if value >= 0 else None
