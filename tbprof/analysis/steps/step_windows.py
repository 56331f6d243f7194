"""From where to where the steps of one worker go."""

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.base.values import median, unique
from tbprof.kernels.groups import stretch_windows

# The first and the last step are cut when they hold less than this share of the work of a typical
# step between them, and less than all but a few of these, as steps differ in some programs; with
# fewer than two between them nothing is typical.
_LEAST_WORK = 0.75
_LEAST_INNER = 2
_FEW = 0.1
# A last step ends with its own work, as no next one bounds it. Where steps are usually followed
# by a gap of more than this share of the step, that gap is missing.
_NOTABLE_GAP = 0.05


@dataclass(frozen=True, slots=True)
class Windows:
    """The steps of one worker in order of time: disjoint, each up to the start of the next.

    `own_ps` is a step's length without the gap to the next: up to the end of its own work, and
    what else devices do until then. `group` is -1 for steps that belong to no group of events.
    """

    group: NDArray[np.int64]
    number: NDArray[np.int64]
    label: list[str]
    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]
    own_ps: NDArray[np.int64]

    @property
    def end_ps(self) -> NDArray[np.int64]:
        """[n] the ends."""
        return self.start_ps + self.duration_ps


def tile(
    group: NDArray[np.int64],
    number: NDArray[np.int64],
    label: list[str],
    start_ps: NDArray[np.int64],
    end_ps: NDArray[np.int64],
) -> Windows:
    """Windows of steps that begin and (each by itself) end at these times, in any order.

        begins and ends  |aaaa..bbbb..ccc
        windows          |aaaaaabbbbbbccc

    Of steps that begin at the same time only the longest is left; steps that overlap end where
    the next begins.
    """
    order = np.lexsort((-end_ps, start_ps))
    start, end = start_ps[order], end_ps[order]
    is_kept = np.ones(order.size, bool)
    is_kept[1:] = start[1:] > start[:-1]
    order, start, end = order[is_kept], start[is_kept], end[is_kept]
    following = np.append(start[1:], np.iinfo(np.int64).max)
    own = np.minimum(end, following) - start
    duration = np.append(following[:-1] - start[:-1], own[-1:])
    is_there = duration > 0
    order = order[is_there]
    return Windows(
        group[order],
        number[order],
        [label[at] for at in order.tolist()],
        start[is_there],
        duration[is_there],
        own[is_there],
    )


def find_truncated(
    windows: Windows, work_start_ps: NDArray[np.int64], is_recorded: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """[n] whether a part of a step was not recorded, of those with `is_recorded` [n].

    Of steps in a row the first or the last holds notably less work than those between
    (`work_start_ps`, ascending, are the starts of the worker's executions), or the last lacks the
    gap that follows others: no next one bounds it.
    """
    out = np.zeros(windows.start_ps.size, bool)
    if np.count_nonzero(is_recorded) < 2:
        return out
    is_first, is_last = _ends(is_recorded)
    gap = windows.duration_ps - windows.own_ps
    inner = is_recorded & ~is_last
    if inner.any():
        is_notable = median(gap[inner]) > _NOTABLE_GAP * median(windows.duration_ps[inner])
        out |= is_last & (gap == 0) & is_notable
    inner = is_recorded & ~is_first & ~is_last
    if np.count_nonzero(inner) >= _LEAST_INNER:
        work = np.searchsorted(work_start_ps, windows.end_ps) - np.searchsorted(
            work_start_ps, windows.start_ps
        )
        least = min(
            _LEAST_WORK * median(work[inner]),
            np.quantile(work[inner], _FEW, method="inverted_cdf"),
        )
        out |= (is_first | is_last) & (work < least)
    return out


def find_lacking(
    windows: Windows,
    middle_ps: NDArray[np.int64],
    kind: NDArray[np.int32],
    is_recorded: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """[n] whether a step that is the first or last of a row lacks a kind of op of all between.

    Steps of a compiled program hold the same ops. `middle_ps` and `kind` are those of the worker's
    ops: ends of steps and ops that touch are not always equal.
    """
    is_first, is_last = _ends(is_recorded)
    inner = is_recorded & ~is_first & ~is_last
    if np.count_nonzero(inner) < _LEAST_INNER:
        return np.zeros(windows.start_ps.size, bool)
    step = np.searchsorted(windows.start_ps, middle_ps, side="right") - 1
    is_inside = (step >= 0) & (middle_ps < windows.end_ps[step])
    kinds = int(kind.max(initial=0)) + 1
    step, kinds_of = np.divmod(unique(step[is_inside] * kinds + kind[is_inside]), kinds)
    among = np.bincount(kinds_of[inner[step]], minlength=kinds)
    is_usual = among == np.count_nonzero(inner)
    usual = np.bincount(step[is_usual[kinds_of]], minlength=windows.start_ps.size)
    return (is_first | is_last) & (usual < np.count_nonzero(is_usual))


def _ends(is_recorded: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """[n] the first ones, [n] the last ones of steps in a row."""
    beside = np.concatenate(([False], is_recorded, [False]))
    return is_recorded & ~beside[:-2], is_recorded & ~beside[2:]


def hulls(
    group: NDArray[np.int32] | NDArray[np.int64],
    start_ps: NDArray[np.int64],
    end_ps: NDArray[np.int64],
    groups: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(first start, last end), each [groups], of intervals by group; -1 is left out.

    Groups without intervals have a start after their end.
    """
    first = np.full(groups, np.iinfo(np.int64).max, np.int64)
    last = np.full(groups, np.iinfo(np.int64).min, np.int64)
    stretch_windows(group.astype(np.int32, copy=False), start_ps, end_ps, first, last)
    return first, last
