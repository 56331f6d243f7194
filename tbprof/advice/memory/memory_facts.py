"""What findings about one allocator rest on: its peak by groups, and its steps."""

import numpy as np

from tbprof.advice.finding import shortened, size
from tbprof.advice.memory.memory_findings import Group, PeakFacts, kind_of
from tbprof.analysis.memory.allocators import Allocator
from tbprof.analysis.memory.memory import Memory
from tbprof.analysis.memory.memory_breakdown import Age, Breakdown
from tbprof.analysis.memory.memory_growth import Leaks, StepUsage

_MOST_LEAKS = 3


def find_facts(one: Allocator, peak: Breakdown, steps: StepUsage, leaks: Leaks) -> PeakFacts:
    """The facts of an allocator, of the breakdown at its peak."""
    memory, event = one.memory, one.peak_event
    is_allocation = (peak.age != Age.BEFORE) & (peak.age != Age.STACK)
    is_sized = is_allocation & (peak.requested_bytes >= 0) & (peak.allocated_bytes >= 0)
    return PeakFacts(
        name=one.name,
        is_device=one.is_device,
        is_tensorflow=_is_tensorflow(memory, one.at),
        is_summed=bool(memory.is_summed[one.at]),
        peak_bytes=int(one.summary.peak_bytes[one.at]),
        capacity_bytes=int(one.summary.capacity_bytes[one.at]),
        free_bytes=int(memory.free_bytes[event]) if event >= 0 else -1,
        fragmentation=float(memory.fragmentation[event]) if event >= 0 else float("nan"),
        groups=_groups(memory, peak),
        requested_bytes=int(peak.requested_bytes[is_sized].sum()),
        allocated_bytes=int(peak.allocated_bytes[is_sized].sum()),
        excess_bytes=peak.excess_bytes,
        addressless=int(one.summary.addressless[one.at]),
        end_bytes=steps.end_bytes.tolist(),
        leaks=[
            f"{size(float(leaks.bytes_per_step[row]))} per step of "
            f"{shortened(_text(memory, int(leaks.op[row]))) or 'no named op'}"
            for row in range(min(leaks.steps.size, _MOST_LEAKS))
        ],
    )


def _is_tensorflow(memory: Memory, at: int) -> bool:
    """Whether the events name ops and regions, which TensorFlow's recorder alone does."""
    rows = slice(int(memory.first_event[at]), int(memory.first_event[at + 1]))
    return bool((memory.op[rows] >= 0).any() or (memory.region[rows] >= 0).any())


def _groups(memory: Memory, peak: Breakdown) -> list[Group]:
    """What is in use at the peak by what can be done about it."""
    rows: dict[str, list[int]] = {}
    for row, (age, region) in enumerate(zip(peak.age.tolist(), peak.region.tolist(), strict=True)):
        rows.setdefault(kind_of(_text(memory, region), Age(age)), []).append(row)
    return [
        Group(
            kind,
            int(np.maximum(peak.allocated_bytes[of], 0).sum()),
            int(peak.occurrences[of].sum()),
            _row(memory, peak, of[0]),  # rows come by size
        )
        for kind, of in rows.items()
    ]


def _row(memory: Memory, peak: Breakdown, row: int) -> str:
    """A row of the breakdown for a sentence."""
    op, dtype, shape = (
        _text(memory, int(column[row])) for column in (peak.op, peak.dtype, peak.shape)
    )
    what = " ".join(part for part in (dtype, shape) if part)
    named = shortened(op) or "no named op"
    return f"{size(int(peak.allocated_bytes[row]))} of {named}" + (
        f" ({shortened(what)})" if what else ""
    )


def _text(memory: Memory, row: int) -> str:
    return memory.texts[row] if row >= 0 else ""
