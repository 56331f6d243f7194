"""Samples memory events so that a graph shows how usage changed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.memory.memory import Memory
from tbprof.analysis.memory.memory_usage import allocator_rows, in_use
from tbprof.base.values import unique


def sample_events(
    memory: Memory, allocator: int, from_ps: int, to_ps: int, points: int
) -> NDArray[np.int64]:
    """Return at most `points` events of an allocator from `from_ps` to `to_ps` (inclusive).

    Rows are ascending. If there are more events, the window is divided into equal buckets, and the
    sample has the first minimum and the first maximum of the memory in use of each bucket, so
    extremes are exact, and the first and last events of the window. `points` is at least 4.
    """
    rows = allocator_rows(memory, allocator)
    time = memory.time_ps[rows]
    begin = int(np.searchsorted(time, from_ps, side="left"))
    end = int(np.searchsorted(time, to_ps, side="right"))
    if end - begin <= points:
        return np.arange(rows.start + begin, rows.start + max(begin, end), dtype=np.int64)
    time = time[begin:end]
    used = in_use(memory, slice(rows.start + begin, rows.start + end))
    buckets = max((points - 2) // 2, 1)
    # Use floats, because spans may be large; either bucket is correct for an event at an edge.
    edges = np.linspace(float(time[0]), float(time[-1]), buckets + 1)[1:-1]
    starts = unique(np.append(0, np.searchsorted(time, edges.astype(np.int64))))
    starts = starts[starts < time.size]
    kept_rows = [np.array([0, time.size - 1]), _first(used, starts, np.minimum)]
    kept_rows.append(_first(used, starts, np.maximum))
    sampled: NDArray[np.int64] = unique(np.concatenate(kept_rows)) + rows.start + begin
    return sampled


def _first(
    value: NDArray[np.int64], starts: NDArray[np.int64], extreme: np.ufunc
) -> NDArray[np.int64]:
    """Return the first row of each bucket with its extreme value."""
    best = extreme.reduceat(value, starts)
    sizes = np.diff(np.append(starts, value.size))
    reached = np.flatnonzero(value == np.repeat(best, sizes))
    first: NDArray[np.int64] = reached[np.searchsorted(reached, starts)]
    return first
