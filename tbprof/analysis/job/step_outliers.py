"""Finds steps that take much longer than others, and whether they recur periodically."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.job.step_means import StepMeans
from tbprof.analysis.vocabulary.phases import PHASES, Phase
from tbprof.base.records import dataclass, replace
from tbprof.base.values import difference, median, unique

# A step is an outlier from this many deviations above the median.
DEVIATIONS = 5.0
# Fewer deviations suffice for a step at its due time in a period: what recurs varies in duration.
_DEVIATIONS_IF_DUE = 2.5
# If more than this share of the other steps take as long, durations simply vary.
_MOST_LIKE_DUE = 0.1
# The deviation of few steps is itself uncertain: assume at least these shares of the median.
_LEAST_DEVIATION = 0.03
_LEAST_OF_FEW = 0.4  # divided by the number of steps
FEWEST_STEPS = 4
# Limits of the share of all steps that may be outliers: one-off, and recurring.
MOST_ONCE = 0.2
MOST_RECURRING = 1 / 3
# The ratio for a normal distribution. Source: Rousseeuw and Croux, "Alternatives to the median
# absolute deviation", 1993.
_MAD_TO_SIGMA = 1.4826
_SHORTEST_PERIOD = 3
_FEWEST_MEMBERS = 3
_PERIODS = 3
# Two steps are a period only if at most this many steps are slow.
_MOST_WITH_PAIR = 3
# Examine the pairs of at most this many slow steps for a period.
_MOST_STARTS = 64
# A recurring step whose excess is this many times the usual one has an additional cause.
_OTHER_CAUSE = 3.0
_ALIKE = 1.25
# Limits of the probability that slow steps are equally far apart by chance: exactly, and within one
# step.
_CHANCE_OF_PERIOD = 0.03
_CHANCE = 0.02
# A phase is the cause of an outlier if it explains at least this share of the excess.
MOST_OF_IT = 0.5


@dataclass(frozen=True, slots=True)
class Period:
    """Outliers that recur every `period` steps; `step` [n] are steps of the job, ascending.

    `excess_ps` is the mean time by which they exceed a typical step.
    """

    period: int
    step: NDArray[np.int64]
    excess_ps: float

    @property
    def cost_ps(self) -> float:
        """The cost in ps of these outliers per step, on average."""
        return self.excess_ps / self.period


@dataclass(frozen=True, slots=True)
class StepOutliers:
    """The outliers: one entry per step of the job; times in ps.

    `excess_ps` is how much longer an outlier takes than the mean typical step, 0 for other steps.
    `phase` is the phase that explains at least half of that excess, -1 if none does. `typical_ps`
    is the mean of the typical steps, NaN if there are none.
    """

    is_outlier: NDArray[np.bool_]
    excess_ps: NDArray[np.float64]
    phase: NDArray[np.int64]
    typical_ps: float
    periods: tuple[Period, ...] = ()

    @property
    def step(self) -> NDArray[np.int64]:
        """[n] the outliers, ascending."""
        return np.flatnonzero(self.is_outlier)

    @property
    def once(self) -> NDArray[np.int64]:
        """[n] the outliers that do not recur, ascending."""
        recurring = [period.step for period in self.periods]
        return difference(self.step, np.concatenate([self.step[:0], *recurring]))


NO_OUTLIERS = StepOutliers(
    np.zeros(0, np.bool_), np.zeros(0, np.float64), np.zeros(0, np.int64), float("nan")
)


def find_outliers(means: StepMeans, number: NDArray[np.int64] | None) -> StepOutliers:
    """Return the outliers among the counted steps.

    `number` [steps] are the program's own step numbers, None if it did not number them. Steps are
    compared with the median, in median absolute deviations, which outliers do not affect. Outliers
    that recur in every k-th step may be a third of all steps. If there are many other outliers,
    durations simply vary, and only steps far beyond the others are outliers:

        ...A....A....A...     a period of 5
        A................     the first one alone
        .A.AA..A.A.AA....     none: two kinds of steps
        Z.A.AA..A.A.AA...     Z alone, if it takes several times as long as A
    """
    is_slow = _slow(means, DEVIATIONS)
    is_slowish = _slow(means, _DEVIATIONS_IF_DUE)
    place = np.flatnonzero(is_slow)
    rough = means.duration_ps - _median(means.duration_ps[means.is_counted & ~is_slow])
    causes = _phases(means, is_slowish, means.is_counted & ~is_slow, rough)
    periods = _find_periods(is_slow, is_slowish, rough, causes, means.is_counted, number)
    recurring = unique(np.concatenate([place[:0], *(steps for _, steps in periods)]))
    counted_steps = means.steps
    if recurring.size > MOST_RECURRING * counted_steps + 1:
        periods, recurring = [], place[:0]
    once = difference(place, recurring)
    most = max(1, int(MOST_ONCE * counted_steps))
    if once.size > most:
        periods, recurring, once = [], place[:0], _far_beyond(place, rough)
        once = once if once.size <= most else place[:0]
    is_outlier = np.zeros(means.duration_ps.size, np.bool_)
    is_outlier[recurring] = is_outlier[once] = True
    is_typical = means.is_counted & ~is_outlier
    typical = float(means.duration_ps[is_typical].mean()) if is_typical.any() else float("nan")
    excess = np.where(is_outlier, np.maximum(means.duration_ps - typical, 0.0), 0.0)
    phase = _phases(means, is_outlier, is_typical, excess)
    return StepOutliers(
        is_outlier,
        excess,
        phase,
        typical,
        tuple(
            Period(k, steps, float(excess[steps].mean()))
            for k, steps in periods
            # Two steps may recur by chance, unless they are slow for the same reason.
            if steps.size > 2 or (phase[steps[0]] >= 0 and phase[steps[0]] == phase[steps[1]])
        ),
    )


def typical(means: StepMeans, outliers: StepOutliers) -> StepMeans:
    """Return the same means with averages over the steps that are not outliers."""
    return replace(means, is_counted=means.is_counted & ~outliers.is_outlier)


def _slow(means: StepMeans, deviations: float) -> NDArray[np.bool_]:
    """Return [steps] whether a step is more than `deviations` above the median."""
    values = means.duration_ps[means.is_counted]
    if values.size < FEWEST_STEPS:
        return np.zeros(means.duration_ps.size, np.bool_)
    middle = _median(values)
    deviation = _MAD_TO_SIGMA * _median(np.abs(values - middle))
    least = max(_LEAST_DEVIATION, _LEAST_OF_FEW / values.size) * middle
    limit = middle + deviations * max(deviation, least)
    return means.is_counted & (means.duration_ps > limit)


def _median(values: NDArray[np.float64]) -> float:
    return float(median(values)) if values.size else float("nan")


def _phases(
    means: StepMeans,
    is_outlier: NDArray[np.bool_],
    is_typical: NDArray[np.bool_],
    excess_ps: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Return [steps] the phase that explains most of an outlier's excess, -1 for none."""
    phase = np.full(is_outlier.size, -1, np.int64)
    if not is_outlier.any() or not is_typical.any():
        return phase
    more = means.phase_ps - means.phase_ps[is_typical].mean(axis=0)
    largest = more.argmax(axis=1)
    has_most = more[np.arange(largest.size), largest] >= MOST_OF_IT * excess_ps
    return np.where(is_outlier & has_most, largest, phase)


def _find_periods(
    is_slow: NDArray[np.bool_],
    is_slowish: NDArray[np.bool_],
    excess: NDArray[np.float64],
    causes: NDArray[np.int64],
    is_counted: NDArray[np.bool_],
    number: NDArray[np.int64] | None,
) -> list[tuple[int, NDArray[np.int64]]]:
    """Return (period, steps) of recurring slow steps; a step is in one period only."""
    periods: list[tuple[int, NDArray[np.int64]]] = []
    is_left, is_like, is_considered = is_slow.copy(), is_slowish.copy(), is_counted.copy()
    is_considered[:1] = False  # many programs do something in every k-th step except the first one
    while len(periods) < _PERIODS and is_left.any():
        is_bounded = is_considered.copy()
        is_bounded[-1:] = (
            False  # a step includes what follows its own work, except for the last step
        )
        best = (
            _best_period(is_left, is_left, excess, causes, is_bounded)
            or _best_period(is_left, is_like, excess, causes, is_bounded)
            or _loose_period(np.flatnonzero(is_left), excess, is_counted.size)
            or (
                number is not None
                and _best_period(is_left, is_left, excess, causes, is_considered, number)
            )
        )
        if not best:
            break
        periods.append(best)
        is_left[best[1]] = is_like[best[1]] = is_considered[best[1]] = False
    return periods


def _best_period(
    is_slow: NDArray[np.bool_],
    is_like: NDArray[np.bool_],
    excess: NDArray[np.float64],
    causes: NDArray[np.int64],
    is_considered: NDArray[np.bool_],
    number: NDArray[np.int64] | None = None,
) -> tuple[int, NDArray[np.int64]] | None:
    """Return (period, steps) with the largest total excess, None if there is none.

    Every considered step of the period must be in `is_like`, and most of its steps must be slow. If
    steps are numbered, two suffice, provided that programs usually begin a period there: the number
    of the step, or of the next one, is a multiple of the period.
    """
    best: tuple[float, int, NDArray[np.int64]] | None = None
    starts = np.flatnonzero(is_like)[:_MOST_STARTS]
    for index, first in enumerate(starts.tolist()):
        for second in starts[index + 1 :].tolist():
            period = second - first
            if period < _SHORTEST_PERIOD:
                continue
            expected = np.arange(first % period, is_considered.size, period)
            if not (is_like[expected] | ~is_considered[expected]).all():
                continue
            members = _alike(expected[is_like[expected]], excess)
            if not _recurs(members, is_slow, is_like, excess, causes, is_considered) and (
                number is None
                or starts.size > _MOST_WITH_PAIR
                or not _is_pair(members, period, excess, number)
            ):
                continue
            excess_ps = float(excess[members].sum())
            if best is None or excess_ps > best[0]:
                best = (excess_ps, period, members)
    return None if best is None else best[1:]


def _recurs(
    members: NDArray[np.int64],
    is_slow: NDArray[np.bool_],
    is_like: NDArray[np.bool_],
    excess: NDArray[np.float64],
    causes: NDArray[np.int64],
    is_considered: NDArray[np.bool_],
) -> bool:
    """Whether steps recur: three or more, mostly slow, and few other steps take as long.

    The first step is not evidence: it is slow in most programs. Positions that are likely by chance
    do not count. Steps that are slow for another reason, or several times as slow, are not part of
    that estimate.
    """
    others = difference(np.flatnonzero(is_like & ~is_slow), members)
    later = members[members > 0]
    if (
        later.size < _FEWEST_MEMBERS
        or 2 * is_slow[members].sum() <= members.size
        or others.size > _MOST_LIKE_DUE * is_considered.sum()
    ):
        return False
    usual = _median(excess[members])
    is_alike = (excess <= _OTHER_CAUSE * usual) & (excess >= usual / _OTHER_CAUSE)
    if np.ptp(causes[members]) == 0:
        is_alike &= causes == causes[members[0]]
    is_alike[members] = True
    first = int(members.size - later.size)
    slow = int(np.count_nonzero((is_like & is_alike)[first:]))
    return chance_of_period(excess.size - first, slow, int(later.size)) <= _CHANCE_OF_PERIOD


@functools.cache
def chance_of_period(steps: int, slow: int, members: int) -> float:
    """Return the expected number of chance periods with at least `members` steps.

    `slow` of `steps` are slow, at random positions. A period of `k` can start at `k` positions, and
    has steps ÷ k members each time.
    """
    period = np.arange(_SHORTEST_PERIOD, (steps - 1) // (members - 1) + 1)
    size, longer = steps // period, steps % period
    ways = np.concatenate([period - longer, longer])
    size = np.concatenate([size, size + 1])
    is_possible = (size >= members) & (size <= slow)
    # Of [count - 1]: how likely `count` given steps are all slow.
    others = np.arange(slow)
    chance = np.cumprod((slow - others) / (steps - others))
    return float(ways[is_possible] @ chance[size[is_possible] - 1])


def _alike(hits: NDArray[np.int64], excess: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the steps without an additional cause, such as a first step that compiles."""
    return hits[excess[hits] <= _OTHER_CAUSE * _median(excess[hits])] if hits.size else hits


def _far_beyond(hits: NDArray[np.int64], excess: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the steps several times beyond the others, such as a first step that compiles."""
    return hits[excess[hits] > _OTHER_CAUSE * _median(excess[hits])] if hits.size else hits


def _is_pair(
    members: NDArray[np.int64],
    period: int,
    excess: NDArray[np.float64],
    number: NDArray[np.int64],
) -> bool:
    """Whether two steps look like a period. The job's first step is slow for other reasons."""
    if members.size != 2 or members[0] == 0:
        return False
    low, high = sorted(excess[members].tolist())
    numbers = number[members]
    is_multiple = not (numbers % period).any() or not ((numbers + 1) % period).any()
    return bool(high <= _ALIKE * low and is_multiple and np.diff(numbers)[0] == period)


def _loose_period(
    place: NDArray[np.int64], excess: NDArray[np.float64], steps: int
) -> tuple[int, NDArray[np.int64]] | None:
    """Return (period, steps) with distances that vary by one step, such as time-based events."""
    members = _alike(place, excess)
    if members.size < _FEWEST_MEMBERS:
        return None
    gaps: Sequence[int] = np.diff(members).tolist()
    period = round(float(np.mean(gaps)))
    is_even = all(abs(gap - period) <= 1 for gap in gaps)
    reaches = members[0] <= period and steps - 1 - members[-1] <= period
    if period <= _SHORTEST_PERIOD or not is_even or not reaches:
        return None
    # The share of all placements of equally many slow steps that look like this.
    count = int(members.size)
    alike = (period + 1) * 3 ** (count - 1)
    return (period, members) if alike <= _CHANCE * math.comb(steps, count) else None


def phase_of(outliers: StepOutliers, steps: NDArray[np.int64]) -> Phase | None:
    """Return the phase that is the cause of at least half of `steps`, None if there is none."""
    counts = np.bincount(outliers.phase[steps][outliers.phase[steps] >= 0], minlength=PHASES)
    return Phase(int(counts.argmax())) if 2 * counts.max() > steps.size else None
