"""Memory profile: the memory that every allocator had in use over time, and what used it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.summaries import Summaries
from tbprof.analysis.memory.allocators import Allocator, find_allocators
from tbprof.analysis.memory.memory import Memory
from tbprof.analysis.memory.memory_breakdown import Age, Breakdown, break_down
from tbprof.analysis.tpu.program_runs import ProgramRuns
from tbprof.base.lazy import Later
from tbprof.tools.memory.memory_choice import allocator_named, wanted_event
from tbprof.tools.memory.memory_records import AGES, BEFORE_OP, STACK_OP, profile_records
from tbprof.tools.model.datatable import Numbers, Table, number, text
from tbprof.tools.model.tool import Document

PARTS = ("memory", "program_runs")
# Exports show no findings.
_page_payload = Later("tbprof.tools.memory.memory_payload.page_payload")


def build(summaries: Summaries) -> Document:
    """The memory of all hosts; the parameters choose an allocator, an instant and a window."""
    allocators = find_allocators(summaries.hosts, summaries.take("memory", Memory))
    runs = summaries.take("program_runs", ProgramRuns)
    return Document(
        rows=lambda: profile_records(summaries.hosts, allocators, runs),
        columns=lambda: _page_payload(
            summaries.hosts,
            allocators,
            dict(zip(summaries.hosts, runs, strict=True)),
            summaries.params,
        ),
        table=lambda: _table(allocators, summaries.params),
        is_empty=not allocators,
    )


def _table(allocators: Sequence[Allocator], params: Mapping[str, str]) -> Table:
    """What is in use at the peak, or at `at_ps`, of the named allocator, else of all."""
    row = allocator_named(allocators, params)
    wanted = allocators if row < 0 else [allocators[row]]
    shown = [
        (allocator, break_down(allocator.memory, allocator.row, wanted_event(allocator, params)))
        for allocator in wanted
    ]

    def column(name: str) -> NDArray[np.int64]:
        return np.concatenate([getattr(rows, name).astype(np.int64) for _, rows in shown])

    def known(name: str) -> Numbers:
        values = column(name)
        is_known = values >= 0
        return values if is_known.all() else np.where(is_known, values, np.nan)

    return Table(
        (
            text(
                "memory_id",
                "Memory ID",
                [allocator.id for allocator, rows in shown for _ in rows.op],
            ),
            text("op_name", "Op Name", [op for pair in shown for op in _ops(*pair)]),
            number("allocated_bytes", "Allocation Size (bytes)", known("allocated_bytes")),
            number("requested_bytes", "Requested Size (bytes)", known("requested_bytes")),
            number("occurrences", "Occurrences", column("occurrences")),
            *(
                text(id_, label, [value for pair in shown for value in _texts(*pair, name)])
                for id_, label, name in (
                    ("region_type", "Region type", "region"),
                    ("data_type", "Data type", "dtype"),
                    ("shape", "Shape", "shape"),
                )
            ),
            text("age", "Age", [AGES[Age(age)] for age in column("age").tolist()]),
            text(
                "step",
                "Step",
                [
                    allocator.memory.label_of(allocator.row, step)
                    for allocator, rows in shown
                    for step in rows.step.tolist()
                ],
            ),
            number(
                "since_ms",
                "Since (ms)",
                np.where(column("since_ps") < 0, np.nan, column("since_ps") / 1e9),
            ),
        )
    )


def _texts(allocator: Allocator, breakdown: Breakdown, name: str) -> list[str]:
    texts = allocator.memory.texts
    return [texts[row] if row >= 0 else "" for row in getattr(breakdown, name).tolist()]


def _ops(allocator: Allocator, breakdown: Breakdown) -> list[str]:
    ours = {Age.BEFORE: BEFORE_OP, Age.STACK: STACK_OP}
    ages = [Age(age) for age in breakdown.age.tolist()]
    return [
        ours.get(age, op) for age, op in zip(ages, _texts(allocator, breakdown, "op"), strict=True)
    ]
