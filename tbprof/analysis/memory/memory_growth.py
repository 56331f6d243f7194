"""Memory usage by step, and allocations that accumulate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.memory.memory import Memory
from tbprof.analysis.memory.memory_usage import allocator_rows, in_use, own_bytes
from tbprof.analysis.spans.groups import group_rows
from tbprof.base.records import dataclass

# A leak retains memory of at least this many steps, and of this share of them.
_LEAST_STEPS = 3
_LEAST_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class StepUsage:
    """Memory of one allocator by step [s]; -1 if unknown.

    `peak_bytes` is the maximum in use during the step, including its start, and `end_bytes` is in
    use at its end. `kept_bytes` were allocated in the step and are live at the end of the
    recording.
    """

    peak_bytes: NDArray[np.int64]
    end_bytes: NDArray[np.int64]
    kept_bytes: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Leaks:
    """Kinds of allocation [k] that accumulate step after step, most bytes first.

    `op`, `region`, `dtype` and `shape` are indices into `Memory.texts`. `steps` is the number of
    steps whose allocations were not all freed; `bytes_per_step` and `occurrences_per_step` of the
    retained allocations are means over these steps.
    """

    op: NDArray[np.int32]
    region: NDArray[np.int32]
    dtype: NDArray[np.int32]
    shape: NDArray[np.int32]
    bytes_per_step: NDArray[np.float64]
    occurrences_per_step: NDArray[np.float64]
    steps: NDArray[np.int64]


def use_by_step(memory: Memory, allocator: int) -> StepUsage:
    """Return the memory in use during each step and at its end, and what the step retained."""
    rows = allocator_rows(memory, allocator)
    time, used = memory.time_ps[rows], in_use(memory, rows)
    own_steps = memory.steps_of(allocator)
    steps = own_steps.stop - own_steps.start
    begin = np.searchsorted(time, memory.step_begin_ps[own_steps], side="left")
    end = np.searchsorted(time, memory.step_end_ps[own_steps], side="left")
    if steps:  # the last step includes its end
        end[-1] = np.searchsorted(time, memory.step_end_ps[own_steps][-1], side="right")
    before = np.append(used, -1)[begin - 1]
    peak = before.copy()
    has_events = np.flatnonzero(end > begin)
    if has_events.size:
        cuts = np.column_stack((begin[has_events], end[has_events])).ravel()
        inside = np.maximum.reduceat(np.append(used, -1), cuts)[::2]
        peak[has_events] = np.maximum(peak[has_events], inside)
    alive = _left_behind(memory, allocator)
    kept_bytes = np.zeros(steps, np.int64)
    np.add.at(kept_bytes, memory.step[alive], np.maximum(own_bytes(memory, alive), 0))
    return StepUsage(peak, np.append(used, -1)[end - 1], kept_bytes)


def find_leaks(memory: Memory, allocator: int) -> Leaks:
    """Return the kinds of allocation that most steps do not completely free.

    The first and last steps do not count: the first allocates what the program keeps, and the last
    may be incomplete.
    """
    alive = _left_behind(memory, allocator)
    own_steps = memory.steps_of(allocator)
    last = own_steps.stop - own_steps.start - 1
    alive = alive[(memory.step[alive] > 0) & (memory.step[alive] < last)]
    columns = (memory.op, memory.region, memory.dtype, memory.shape)
    code, first = group_rows([column[alive] for column in columns])
    least = max(_LEAST_STEPS, int(np.ceil(_LEAST_SHARE * (last - 1))))
    _, first_of_step = group_rows([code, memory.step[alive]])
    steps = np.bincount(code[first_of_step], minlength=first.size)
    size = np.maximum(own_bytes(memory, alive), 0).astype(np.float64)
    total = np.bincount(code, size, first.size)
    leaking = np.flatnonzero((steps >= least) & (total > 0))
    leaking = leaking[np.argsort(-total[leaking], kind="stable")]
    example = alive[first[leaking]]
    return Leaks(
        op=memory.op[example],
        region=memory.region[example],
        dtype=memory.dtype[example],
        shape=memory.shape[example],
        bytes_per_step=total[leaking] / steps[leaking],
        occurrences_per_step=np.bincount(code, minlength=first.size)[leaking] / steps[leaking],
        steps=steps[leaking],
    )


def _left_behind(memory: Memory, allocator: int) -> NDArray[np.int64]:
    """Return the rows of allocations in steps that are live when the recording ends."""
    rows = allocator_rows(memory, allocator)
    is_alive = memory.is_allocation[rows] & (memory.partner[rows] < 0)
    is_alive &= (memory.address[rows] != 0) & (memory.step[rows] >= 0)
    rows_alive: NDArray[np.int64] = np.flatnonzero(is_alive) + rows.start
    return rows_alive
