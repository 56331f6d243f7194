"""Waits of input pipeline functions for a pool thread, and the stages that occupy the pool.

pool       |hhhhhhhhhhhf.....     h: function of a parallel map, f: function of a filter
Filter     |.ffffffffffff....     its function is enqueued and waits until h ends
queued     |..qqqqqqqqq......     9 of the filter's 12, which the map causes
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.base.values import unique

# Consider this many stages as occupants of the pool: those whose functions ran longest.
_MOST_FILLERS = 16


@dataclass(frozen=True, slots=True)
class Pieces:
    """Spans [n] from `start_ps` to `end_ps` of the stages `stage`."""

    stage: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]

    def of(self, stage: int) -> Pieces:
        """Return the non-empty spans of one stage."""
        rows = np.flatnonzero((self.stage == stage) & (self.end_ps > self.start_ps))
        return Pieces(self.stage[rows], self.start_ps[rows], self.end_ps[rows])


def pool_waits(
    queued: Pieces, ran: Pieces, calls: Pieces
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (queue_ps, filler), both [calls].

    `queue_ps` is how long functions of a call's stage waited for a pool thread during the call.
    `filler` is the stage whose functions ran longest meanwhile, -1 if no pipeline function ran.
    `queued` are spans from enqueuing a function until a thread starts it, `ran` spans in which
    threads ran functions. Time in which another function of the same stage ran is not a wait,
    because the stage occupies the pool itself.
    """
    queue_ps = np.zeros(calls.stage.size, np.int64)
    filler = np.full(calls.stage.size, -1, np.int64)
    runs = {stage: ran.of(stage) for stage in _longest_first(ran)[:_MOST_FILLERS]}
    runs = {stage: pieces for stage, pieces in runs.items() if pieces.stage.size}
    for stage in unique(queued.stage).tolist():
        rows = np.flatnonzero(calls.stage == stage)
        begin, end = _alone(queued.of(stage), ran.of(stage))
        if not rows.size or not begin.size:
            continue
        window = calls.start_ps[rows], calls.end_ps[rows]
        queue_ps[rows] = np.rint(_within(begin, end, np.ones(begin.size), *window))
        others = [run for run in runs if run != stage]
        if not others:
            continue
        # [stages, pieces] the work of each stage while a piece waited, as a share of all work.
        worked = np.array([_worked(runs[other], begin, end) for other in others])
        total = worked.sum(axis=0)
        share = np.divide(worked, total, out=np.zeros_like(worked), where=total > 0)
        blame = np.array([_within(begin, end, worked_share, *window) for worked_share in share])
        most = blame.argmax(axis=0)
        is_known = blame[most, np.arange(rows.size)] > 0
        filler[rows] = np.where(is_known, np.array(others, np.int64)[most], -1)
    return queue_ps, filler


def _longest_first(ran: Pieces) -> list[int]:
    """Return the stages whose functions ran, longest total first."""
    stages, code = np.unique(ran.stage, return_inverse=True)
    total = np.bincount(code, (ran.end_ps - ran.start_ps).astype(np.float64), stages.size)
    return [int(stage) for stage in stages[np.argsort(-total, kind="stable")].tolist()]


def _alone(queued: Pieces, ran: Pieces) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ascending (begin, end) of the spans in which something is queued and nothing runs."""
    edges = np.concatenate((queued.start_ps, queued.end_ps, ran.start_ps, ran.end_ps))
    signs = np.repeat(np.array([1, -1, 1, -1]), np.repeat((queued.stage.size, ran.stage.size), 2))
    is_queued = np.arange(edges.size) < 2 * queued.stage.size
    order = np.argsort(edges, kind="stable")
    edges = edges[order]
    waiting = np.cumsum(np.where(is_queued, signs, 0)[order]) > 0
    running = np.cumsum(np.where(is_queued, 0, signs)[order]) > 0
    pieces = np.flatnonzero((waiting & ~running)[:-1] & (np.diff(edges) > 0))
    return edges[pieces].astype(np.float64), edges[pieces + 1].astype(np.float64)


def _worked(
    ran: Pieces, begin: NDArray[np.float64], end: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return [n] ps that threads worked from `begin` to `end`; concurrent work adds up."""
    edges = np.concatenate((ran.start_ps, ran.end_ps))
    change = np.repeat((1.0, -1.0), ran.stage.size)
    order = np.argsort(edges, kind="stable")
    positions = edges[order].astype(np.float64)
    threads = np.cumsum(change[order])
    until = np.concatenate(([0.0], np.cumsum(threads[:-1] * np.diff(positions))))
    return np.asarray(np.interp(end, positions, until) - np.interp(begin, positions, until))


def _within(
    begin: NDArray[np.float64],
    end: NDArray[np.float64],
    weight: NDArray[np.float64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return [n] weighted ps of the pieces from `first` to `last`."""
    edges = np.stack((begin, end), axis=1).ravel()
    length = np.cumsum(weight * (end - begin))
    until = np.stack((np.concatenate(([0.0], length[:-1])), length), axis=1).ravel()
    return np.asarray(np.interp(last, edges, until) - np.interp(first, edges, until))
