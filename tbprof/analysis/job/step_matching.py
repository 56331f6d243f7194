"""Matches the steps of two hosts if programs did not number them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.base.values import median

# Picoseconds from a common origin must fit in an int64: 100 days.
_FARTHEST_NS = 100 * 86_400 * 10**9
# Steps of two hosts may be the same if their median durations differ by at most this factor.
_ALIKE = 1.5
# Clocks alone identify steps that overlap by at least this share of their time.
_SURE = 0.75
# Durations identify steps if they correlate over at least this many steps and this share of the
# steps of one host, by at least this many standard deviations (of Fisher's z).
_LEAST_STEPS = 8
_LEAST_SHARED = 0.5
_BY_CHANCE = 4.0
# Shifts whose correlation is within this much of the best one are equally good.
_AS_WELL = 0.1
_MOST_SHIFTS = 64


@dataclass(frozen=True, slots=True)
class HostSteps:
    """The steps [n] of one host in time order.

    `repeat` counts earlier steps with the same number and label. Times are in ps since `epoch_ns`,
    which is 0 if the trace has no time of day. `has_explicit_numbers`: the program numbered them.
    """

    number: NDArray[np.int64]
    label: list[str]
    repeat: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]
    epoch_ns: int
    has_explicit_numbers: bool

    def __len__(self) -> int:
        return len(self.label)

    @property
    def length_ps(self) -> NDArray[np.int64]:
        """[n] the durations of the steps."""
        return self.end_ps - self.start_ps


Basis = Literal["lengths", "clocks", "order"]


@dataclass(frozen=True, slots=True)
class Match:
    """A match of a host's steps with those of another host, the lead.

    Step i of the host is step i + `shift` of the lead. `by` is the evidence: durations of steps,
    clocks, or only their order. `apart_ps` is how much later the host's steps are by its clock,
    None if a trace has no time of day. `is_sure`: the clocks neither contradict the match nor fit
    another one about as well. `shares_time`: steps of both hosts overlap in time.
    """

    shift: int
    by: Basis
    apart_ps: float | None
    is_sure: bool
    shares_time: bool


def match_steps(lead: HostSteps, host: HostSteps) -> Match:
    """Return the match by the first of these criteria that applies.

    - Durations: steps whose durations correlate are the same. If several shifts fit, as with
      periodic steps, the clocks decide.
    - Order: hosts that recorded equally many steps of about the same duration recorded the same
      steps.
    - Clocks: a step is the one of the lead with which it overlaps most. Unless they overlap almost
      completely or differ in duration, no step may lie outside the lead's steps.
    """
    clock, share = _by_clocks(lead, host)
    more = len(lead) - len(host)
    in_order = _between(clock or 0, 0, more)
    by_lengths = _by_lengths(
        lead.length_ps,
        host.length_ps,
        lambda candidate: (candidate != clock, abs(candidate - in_order)),
    )
    is_as_long = are_as_long(lead, host)
    by: Basis
    if by_lengths is not None:
        by, shift = "lengths", by_lengths
    elif clock is not None and (clock == in_order or not is_as_long or (more and share >= _SURE)):
        by, shift = "clocks", clock
    else:
        by, shift = "order", in_order
    is_sure = shift == clock and (by != "clocks" or share >= _SURE or (is_as_long and not more))
    return Match(shift, by, _apart(lead, host, shift), is_sure, clock is not None)


def are_as_long(host_steps: HostSteps, other: HostSteps) -> bool:
    """Whether the steps of two hosts have about the same median duration."""
    short, long = sorted(float(median(host.length_ps)) for host in (host_steps, other))
    return long <= _ALIKE * short


def _between(value: int, begin: int, end: int) -> int:
    return min(max(value, min(begin, end)), max(begin, end))


def epochs_apart_ps(lead: HostSteps, host: HostSteps) -> int | None:
    """Return ps to add to a host's times to get times of the lead; None if unknown."""
    apart = host.epoch_ns - lead.epoch_ns
    if abs(apart) > _FARTHEST_NS or (host.epoch_ns == 0) != (lead.epoch_ns == 0):
        return None
    return apart * 1000


def _apart(lead: HostSteps, host: HostSteps, shift: int) -> float | None:
    """Return the median ps by which a host's steps are later than the lead's matching steps."""
    origin = epochs_apart_ps(lead, host)
    first, last = max(0, -shift), min(len(host), len(lead) - shift)
    if origin is None or first >= last:
        return None
    between = host.start_ps[first:last] - lead.start_ps[first + shift : last + shift]
    return float(median(between)) + origin


def _by_clocks(lead: HostSteps, host: HostSteps) -> tuple[int | None, float]:
    """Return (the shift with the largest overlap in time, None if there is none; its share)."""
    origin = epochs_apart_ps(lead, host)
    if origin is None:
        return None, 0.0
    start, end = host.start_ps + origin, host.end_ps + origin
    first = np.searchsorted(np.maximum.accumulate(lead.end_ps), start, "right")
    last = np.searchsorted(lead.start_ps, end, "left")
    pairs = np.maximum(last - first, 0)
    own_rows = np.repeat(np.arange(len(host)), pairs)
    begin = np.repeat(first, pairs)
    offset = np.arange(own_rows.size) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    lead_rows = begin + offset
    shared = np.minimum(end[own_rows], lead.end_ps[lead_rows]) - np.maximum(
        start[own_rows], lead.start_ps[lead_rows]
    )
    if not shared.size or int(shared.max()) <= 0:
        return None, 0.0
    weight = np.bincount(lead_rows - own_rows + len(host), np.maximum(shared, 0).astype(np.float64))
    best = int(np.argmax(weight))
    matches = lead_rows - own_rows + len(host) == best
    length = np.minimum(host.length_ps[own_rows[matches]], lead.length_ps[lead_rows[matches]])
    return best - len(host), float(weight[best] / max(int(length.sum()), 1))


def _by_lengths(
    lead: NDArray[np.int64], host: NDArray[np.int64], order: Callable[[int], tuple[bool, int]]
) -> int | None:
    """Return the shift, first in `order`, at which durations correlate by rank.

    None if durations are not evidence. Equal durations except for one step are not: each host may
    have a slow step of its own.
    """
    a, b = _ranks(lead), _ranks(host)
    least = max(_LEAST_STEPS, int(np.ceil(_LEAST_SHARED * min(a.size, b.size))))
    if min(a.size, b.size) < least:
        return None
    steps, r = _correlations(a, b)
    r[steps < least] = 0.0
    shifts = np.flatnonzero(_deviations(r, steps) >= _BY_CHANCE)
    if not shifts.size:
        return None
    shifts = shifts[r[shifts] >= r[shifts].max() - _AS_WELL]
    best = shifts[np.argsort(-r[shifts], kind="stable")][:_MOST_SHIFTS]
    candidates = sorted((best - (b.size - 1)).tolist(), key=order)
    return next((shift for shift in candidates if _is_of_several(a, b, shift)), None)


def _ranks(values: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return [n] ranks of values, with mean 0; equal values have the same rank."""
    _, value, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    ranks: NDArray[np.float64] = (last - (count - 1) / 2)[value] - (values.size + 1) / 2
    return ranks


def _correlations(
    a: NDArray[np.float64], b: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return (pairs, correlation of a[i + shift] with b[i]) by shift, from -(len(b) - 1) on.

    The correlation is 0 if values do not vary. Computed with Fourier transforms, because hosts may
    have 100,000 steps.
    """
    size = a.size + b.size - 1

    def sums(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        product = np.fft.rfft(x, 2 * size) * np.fft.rfft(y[::-1], 2 * size)
        total: NDArray[np.float64] = np.fft.irfft(product, 2 * size)[:size]
        return total

    all_a, all_b = np.ones(a.size), np.ones(b.size)
    pairs = np.maximum(np.rint(sums(all_a, all_b)), 1)
    sum_a, sum_b = sums(a, all_b), sums(all_a, b)
    both = sums(a, b) - sum_a * sum_b / pairs
    varies = [
        np.maximum(sums(a * a, all_b) - sum_a**2 / pairs, 0),
        np.maximum(sums(all_a, b * b) - sum_b**2 / pairs, 0),
    ]
    rounding = 1e-6 * pairs
    is_there = (varies[0] > rounding) & (varies[1] > rounding)
    r = np.divide(both, np.sqrt(varies[0] * varies[1]), out=np.zeros(size), where=is_there)
    return pairs.astype(np.int64), r


def _deviations(r: NDArray[np.float64], pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the distance of correlations from 0 in standard deviations, given the pairs of each.

    Source: Fisher's z-transformation. Correlations are limited to values below 1, because few pairs
    may correlate perfectly by chance.
    """
    most = 1 - 2 / np.maximum(pairs, 2) ** 2
    z: NDArray[np.float64] = np.arctanh(np.clip(r, -most, most)) * np.sqrt(np.maximum(pairs - 3, 0))
    return z


def _is_of_several(a: NDArray[np.float64], b: NDArray[np.float64], shift: int) -> bool:
    """Whether durations correlate at a shift even without the step that contributes most."""
    first, last = max(0, -shift), min(b.size, a.size - shift)
    x, y = a[first + shift : last + shift], b[first:last]
    most = int(np.argmax((x - x.mean()) * (y - y.mean())))
    x, y = (np.concatenate([sequence[:most], sequence[most + 1 :]]) for sequence in (x, y))
    if not (np.ptp(x) and np.ptp(y)):
        return False
    x, y = x - x.mean(), y - y.mean()
    r = np.array([x @ y / np.sqrt((x @ x) * (y @ y))])
    return bool(_deviations(r, np.array([x.size]))[0] >= _BY_CHANCE)
