"""The times of device events by the device's own clock."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.vocabulary.lines import named_lines
from tbprof.base import names
from tbprof.base.records import dataclass, replace
from tbprof.base.values import median, unique
from tbprof.events.space import Events, Plane
from tbprof.events.stats import StatColumn
from tbprof.kernels.analysis.line_fits import find_line

CLOCK_STATS = (names.DEVICE_OFFSET, names.DEVICE_DURATION)

# The number of ops at which the clocks are compared, and the largest drift: two crystals of about
# 100 ppm each.
_SAMPLES = 90
_MOST_DRIFT = 2e-4
# Programs are usually misplaced by less than this (observed: 0.2 s). Larger jumps of a clock are
# detected if `_IN_A_ROW` consecutive ops differ, smaller ones if as many consecutive programs do.
_MOST_ERROR_PS = 5 * 10**11
_IN_A_ROW = 5
# The error of programs that the file places correctly, and the smallest jump that matters.
_EXACT_PS = 10**9
_LEAST_JUMP_PS = 10**10
# Longer times (40 hours, as in the reader) are damaged.
_MOST_PS = 2**57


def _device_times(
    events: Events, stats: Mapping[str, StatColumn]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(start, duration) in ps by the device's own clock for events that have it.

    `stats` holds the columns of `CLOCK_STATS`. Source: xplane_schema.h, kDeviceOffsetPs.
    """
    offset, length = stats[names.DEVICE_OFFSET], stats[names.DEVICE_DURATION]
    timed = offset.is_integer & length.is_integer
    origin = events.lines.start_ps[events.line] if len(events) else np.zeros(0, np.int64)
    start = np.where(timed, origin + offset.integers(), events.start_ps)
    return start, np.where(timed, np.maximum(length.integers(), 0), events.duration_ps)


def nesting_order(
    first_event: NDArray[np.int64], start: NDArray[np.int64], duration: NDArray[np.int64]
) -> NDArray[np.int64]:
    """[n] the rows by (line, start, longest first), so that a parent precedes its children."""
    is_after = start[1:] > start[:-1]
    is_after |= (start[1:] == start[:-1]) & (duration[1:] <= duration[:-1])
    is_after[first_event[(first_event > 0) & (first_event < start.size)] - 1] = True
    if is_after.all():
        return np.arange(start.size)
    line = np.repeat(np.arange(first_event.size - 1), np.diff(first_event))
    return np.lexsort((-duration, start, line))


@dataclass(frozen=True, slots=True)
class Clock:
    """Shifts of the times of a plane's lines, so that they match those of its ops.

    Recorders place ops on the host's clock program by program, with errors of up to 0.2 s
    (observed: 100 equal steps of 784 ms appear as 551 to 982 ms). The device's clock is exact, but
    has another origin and drifts. Here it is shifted as a whole, and times in the file move with
    the ops next to them. `begin` and `end` are the file's times at which ops start and end,
    ascending, each with its shift. They are empty if only the file's times are known: if ops lack
    the device's clock, or if it jumps by `jump_ps`.
    """

    begin: NDArray[np.int64]
    begin_shift: NDArray[np.int64]
    end: NDArray[np.int64]
    end_shift: NDArray[np.int64]
    jump_ps: int = 0

    def place(
        self, start: NDArray[np.int64], duration: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(start, duration) [n] of the file's events, such as steps and programs, shifted.

        The start of an event moves with the op that follows, its end with the op before: the file
        may place both anywhere between two ops.
        """
        if not self.begin.size:
            return start, duration
        begin = self._with_next(start, start)
        end = start + duration
        previous = np.searchsorted(self.end, end, "right") - 1
        shift = np.where(previous < 0, self.begin_shift[0], self.end_shift[previous])
        following = np.searchsorted(self.begin, end)
        latest = np.append(self.begin + self.begin_shift, np.iinfo(np.int64).max)[following]
        return begin, np.maximum(np.minimum(end + shift, latest) - begin, 0)

    def place_waits(
        self, start: NDArray[np.int64], duration: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(start, duration) [n] of a core's waits between ops, shifted with the op that follows."""
        if not self.begin.size:
            return start, duration
        end = start + duration
        begin = self._with_next(start, end)
        return begin, np.maximum(self._with_next(end, end) - begin, 0)

    def _with_next(self, time: NDArray[np.int64], until: NDArray[np.int64]) -> NDArray[np.int64]:
        """Times [n] shifted like the op that follows `until`, but not into the previous op."""
        shift = np.append(self.begin_shift, self.end_shift[-1])
        moved = time + shift[np.searchsorted(self.begin, until)]
        previous = np.searchsorted(self.end, time, "right") - 1
        earliest = (self.end + self.end_shift)[previous]
        out: NDArray[np.int64] = np.where(previous >= 0, np.maximum(moved, earliest), moved)
        return out


@dataclass(frozen=True, slots=True)
class CoreOps:
    """The ops of a core [n]: as in the file, by the core's own clock, and on the host's clock.

    `own_start` and `own_duration` are by the core's clock if the events have it. `begin` and `end`
    are on the host's clock; they are the file's times if not all ops have the core's clock, or if
    it jumps.
    """

    events: Events
    own_start: NDArray[np.int64]
    own_duration: NDArray[np.int64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    clock: Clock


def find_core_ops(plane: Plane, *lines: str) -> CoreOps:
    """The ops on the lines with these names, computed once."""
    rows = named_lines(plane, *lines)
    return plane.cache.get_or_compute(("core ops", *rows), lambda: place_ops(plane.events(rows)))


def place_ops(events: Events) -> CoreOps:
    """The ops `events` of one core, on the host's clock."""
    stats = events.stats(CLOCK_STATS)
    start, duration = _device_times(events, stats)
    file_end = events.start_ps + events.duration_ps
    is_timed = all(bool(stats[name].is_integer.all()) for name in CLOCK_STATS)
    by_file = CoreOps(events, start, duration, events.start_ps, file_end, _no_clock())
    if not len(events) or not is_timed:
        return by_file
    if max(abs(int(start.min())), abs(int(start.max())), int(duration.max())) > _MOST_PS:
        return by_file
    offset, drift = _fit(start, events.start_ps - start)
    origin = int(start.min())
    error = events.start_ps - _shifted(start, origin, offset, drift)
    jump = _jump(start, error)
    jump = jump if jump > _MOST_ERROR_PS else _lasting_jump(events, error)
    if jump:
        return replace(by_file, clock=_no_clock(jump))
    begins, ends = (_shifted(time, origin, offset, drift) for time in (start, start + duration))
    begin, first = np.unique(events.start_ps, return_index=True)
    end, last = np.unique(file_end, return_index=True)
    clock = Clock(begin, begins[first] - begin, end, ends[last] - end)
    return CoreOps(events, start, duration, begins, ends, clock)


@lru_cache(maxsize=1)
def _pairs(samples: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs of samples that are far enough apart; cached, since most cores have as many."""
    return np.triu_indices(samples, max(samples // 4, 1))


def _no_clock(jump_ps: int = 0) -> Clock:
    nothing = np.zeros(0, np.int64)
    return Clock(nothing, nothing, nothing, nothing, jump_ps)


def _shifted(time: NDArray[np.int64], origin: int, offset: int, drift: float) -> NDArray[np.int64]:
    """Times of the device's clock on the host's clock."""
    out: NDArray[np.int64] = time + offset + np.rint((time - origin) * drift).astype(np.int64)
    return out


def _jump(time: NDArray[np.int64], error: NDArray[np.int64]) -> int:
    """The largest median error of the file's times over blocks of consecutive ops."""
    order = np.argsort(time, kind="stable")
    blocks = max(1, time.size // _IN_A_ROW)
    size, longer = divmod(time.size, blocks)  # the first blocks have one more
    chosen = np.arange(0, blocks, blocks // 100 + 1)
    begin = chosen * size + np.minimum(chosen, longer)
    most = 0
    for begins, rows in ((begin[chosen < longer], size + 1), (begin[chosen >= longer], size)):
        if begins.size:
            middle = median(error[order[begins[:, None] + np.arange(rows)]], axis=1)
            most = max(most, int(np.abs(middle).max()))
    return most


def _lasting_jump(ops: Events, error: NDArray[np.int64]) -> int:
    """The error of the file's times over consecutive programs, if it is the same; 0 if not.

    Recorders misplace programs by varying times, and place every few of them correctly. If several
    consecutive ones are misplaced by the same time, one of the clocks has jumped.

        error of programs |0 9 5 0 7 0 0 3 3 3 3 8 3|   a jump by 3
    """
    runs = ops.plane.events(named_lines(ops.plane, names.XLA_MODULES_LINE))
    run = np.searchsorted(np.sort(runs.start_ps), ops.start_ps, "right")
    order = np.argsort(run, kind="stable")
    first = np.flatnonzero(np.diff(run[order], prepend=-1))
    is_wrong = np.minimum.reduceat(np.abs(error[order]), first) > _EXACT_PS
    edges = np.flatnonzero(np.diff(is_wrong, prepend=False, append=False)).reshape(-1, 2)
    edges = edges[edges[:, 1] - edges[:, 0] >= _IN_A_ROW]
    if not edges.size:
        return 0
    count = np.diff(np.append(first, run.size))
    middle = error[np.lexsort((error, run))][first + count // 2]
    for begin, end in edges.tolist():
        values = np.sort(middle[begin:end])
        alike = np.searchsorted(values, values + 2 * _EXACT_PS, "right") - np.arange(values.size)
        best = int(alike.argmax())
        jump = abs(int(values[best + alike[best] // 2]))
        if alike[best] >= max(_IN_A_ROW, values.size / 3) and jump >= _LEAST_JUMP_PS:
            return jump
    return 0


def _fit(time: NDArray[np.int64], shift: NDArray[np.int64]) -> tuple[int, float]:
    """(shift at the first time, drift) of the line that is closest to a third of the shifts.

    The other shifts may have any error (observed: more than half do).

    Source: Rousseeuw, "Least Median of Squares Regression", 1984, with a lower quantile in place of
    the median.
    """
    order = np.argsort(time, kind="stable")
    rows = order[unique(np.linspace(0, time.size - 1, _SAMPLES).astype(np.int64))]
    when = (time[rows] - time[rows[0]]).astype(np.float64)
    value = shift[rows].astype(np.float64)
    early, late = _pairs(rows.size)
    span = when[late] - when[early]
    drift = np.divide(value[late] - value[early], span, out=np.zeros_like(span), where=span > 0)
    at_first = value[early] - drift * when[early]
    third = rows.size // 3
    best = find_line(when, value, at_first, drift, _MOST_DRIFT, third, np.empty(rows.size))
    if best < 0:  # all samples are at one time, or no line fits with a possible drift
        return int(median(value)), 0.0
    return round(float(at_first[best])), float(drift[best])
