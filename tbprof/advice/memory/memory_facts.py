"""The facts that findings about one allocator need: the groups at its peak, and its steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tbprof.advice.sentences import shortened, size
from tbprof.analysis.memory.allocators import Allocator
from tbprof.analysis.memory.memory import Memory
from tbprof.analysis.memory.memory_breakdown import Age, Breakdown
from tbprof.analysis.memory.memory_growth import Leaks, StepUsage
from tbprof.analysis.memory.memory_usage import allocator_rows
from tbprof.base.records import dataclass

_MOST_LEAKS = 3
# Groups of memory in use, by what can be done about them.
ACTIVATIONS, TEMPORARIES, WEIGHTS = "activations", "temporaries", "weights"
EARLIER, BEFORE, STACK, UNNAMED = "earlier_steps", "before_the_recording", "stack", "unnamed"
_KIND_OF_REGION: Mapping[str, str] = {
    "output": ACTIVATIONS,
    "temp": TEMPORARIES,
    "persist": WEIGHTS,
    "dynamic": WEIGHTS,
    "persist/dynamic": WEIGHTS,
}


@dataclass(frozen=True, slots=True)
class PeakGroup:
    """Rows of the breakdown at the peak with the same advice; `largest` describes one of them."""

    kind: str
    bytes: int
    allocations: int
    largest: str


@dataclass(frozen=True, slots=True)
class PeakFacts:
    """The facts about an allocator; unknown bytes are -1, other unknown values NaN.

    `groups` are the groups at the peak; `requested_bytes` and `allocated_bytes` are sums over the
    allocations there. `excess_bytes` is how much the allocations that seem alive exceed what is in
    use. `addressless` counts allocations that cannot be matched with deallocations.

    `end_bytes` [steps] is what was in use at the end of each step. `leaks` describes the ops whose
    live bytes grow, fastest first.
    """

    name: str
    is_device: bool
    is_tensorflow: bool
    is_summed: bool
    peak_bytes: int
    capacity_bytes: int
    free_bytes: int
    fragmentation: float
    groups: Sequence[PeakGroup]
    requested_bytes: int
    allocated_bytes: int
    excess_bytes: int
    addressless: int
    end_bytes: Sequence[int]
    leaks: Sequence[str]

    @property
    def used_percent(self) -> float:
        """The percentage of the capacity that is in use at the peak, NaN if unknown."""
        if self.peak_bytes < 0 or self.capacity_bytes <= 0:
            return float("nan")
        return 100 * self.peak_bytes / self.capacity_bytes


def advice_group(region: str, age: Age) -> str:
    """The group that allocations of a region type and an age belong to."""
    if age in (Age.STACK, Age.BEFORE):
        return STACK if age == Age.STACK else BEFORE
    kind = _KIND_OF_REGION.get(region, UNNAMED)
    return EARLIER if age == Age.EARLIER and kind != WEIGHTS else kind


def find_peak_facts(
    allocator: Allocator, peak: Breakdown, steps: StepUsage, leaks: Leaks
) -> PeakFacts:
    """The facts of an allocator with the breakdown at its peak."""
    memory, event = allocator.memory, allocator.peak_event
    is_allocation = (peak.age != Age.BEFORE) & (peak.age != Age.STACK)
    is_sized = is_allocation & (peak.requested_bytes >= 0) & (peak.allocated_bytes >= 0)
    return PeakFacts(
        name=allocator.name,
        is_device=allocator.is_device,
        is_tensorflow=_is_tensorflow(memory, allocator.row),
        is_summed=bool(memory.is_summed[allocator.row]),
        peak_bytes=int(allocator.summary.peak_bytes[allocator.row]),
        capacity_bytes=int(allocator.summary.capacity_bytes[allocator.row]),
        free_bytes=int(memory.free_bytes[event]) if event >= 0 else -1,
        fragmentation=float(memory.fragmentation[event]) if event >= 0 else float("nan"),
        groups=_groups(memory, peak),
        requested_bytes=int(peak.requested_bytes[is_sized].sum()),
        allocated_bytes=int(peak.allocated_bytes[is_sized].sum()),
        excess_bytes=peak.excess_bytes,
        addressless=int(allocator.summary.addressless[allocator.row]),
        end_bytes=steps.end_bytes.tolist(),
        leaks=[
            f"{size(float(leaks.bytes_per_step[row]))} per step by "
            f"{shortened(_text(memory, int(leaks.op[row]))) or 'an unnamed op'}"
            for row in range(min(leaks.steps.size, _MOST_LEAKS))
        ],
    )


def _is_tensorflow(memory: Memory, allocator: int) -> bool:
    """Whether the events name ops and regions, which only TensorFlow's recorder does."""
    rows = allocator_rows(memory, allocator)
    return bool((memory.op[rows] >= 0).any() or (memory.region[rows] >= 0).any())


def _groups(memory: Memory, peak: Breakdown) -> list[PeakGroup]:
    """The memory in use at the peak, grouped by advice."""
    rows: dict[str, list[int]] = {}
    for row, (age, region) in enumerate(zip(peak.age.tolist(), peak.region.tolist(), strict=True)):
        rows.setdefault(advice_group(_text(memory, region), Age(age)), []).append(row)
    return [
        PeakGroup(
            kind,
            int(np.maximum(peak.allocated_bytes[members], 0).sum()),
            int(peak.occurrences[members].sum()),
            _row(memory, peak, members[0]),  # rows are sorted by size
        )
        for kind, members in rows.items()
    ]


def _row(memory: Memory, peak: Breakdown, row: int) -> str:
    """A row of the breakdown as text for a sentence."""
    op, dtype, shape = (
        _text(memory, int(column[row])) for column in (peak.op, peak.dtype, peak.shape)
    )
    details = " ".join(part for part in (dtype, shape) if part)
    op_name = shortened(op) or "an unnamed op"
    return f"{size(int(peak.allocated_bytes[row]))} by {op_name}" + (
        f" ({shortened(details)})" if details else ""
    )


def _text(memory: Memory, row: int) -> str:
    return memory.texts[row] if row >= 0 else ""
