"""The input pipelines of a host, reconstructed from iterator calls."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_events import host_events
from tbprof.analysis.input.iterator_calls import Calls, visit, work_in_windows
from tbprof.analysis.input.iterator_events import (
    IteratorCalls,
    IteratorTimes,
    cut_circles,
    find_iterator_events,
)
from tbprof.analysis.input.iterators import Iterators, find_iterators
from tbprof.analysis.input.joined_calls import adopt_calls, join_calls
from tbprof.analysis.input.pool_waits import Pieces, pool_waits
from tbprof.analysis.vocabulary.input_names import parts_of
from tbprof.analysis.vocabulary.lines import host_planes
from tbprof.base.records import dataclass
from tbprof.events.space import Space


@dataclass(frozen=True, slots=True)
class TfData:
    """Iterators [i], pipelines [p], their calls [c], and per call the nodes [m] of its graph.

    Iterators are in the order of their first events. `parent_id` is the id of the iterator that
    calls one, 0 for none; it may have no events itself. `long_name` is as recorded. `stage` [i] is
    a row of `stage_name`, which are long names without the numbers of copies: the iterators of a
    stage are copies of it, such as `interleave` creates for each of its inputs. `type_name` is the
    last part of the stage name ("ParallelMapV2"). `is_async` marks stages whose own threads work
    ahead of their callers. `parameters` are the latest recorded parameters of a stage as the text
    of a JSON object, "{}" for none: `{"parallelism": 8, "deterministic": "true"}`.

    A pipeline comprises the calls through one outermost iterator, its `root`. Host pipelines are
    first, then device pipelines, which fetch from host pipelines; each kind is in order of its
    first call and numbered: "Host:0", "Device:0". `source` is the host pipeline from which a device
    pipeline fetches, -1 if unknown and for host pipelines. Pipeline p has the calls
    `first_call[p]:first_call[p + 1]`, longest first, so the position is the rank; calls of equal
    duration are in time order. `call_thread` is a row of `threads`. `is_partial` [p] marks
    pipelines whose outermost iterator was not recorded; their calls are those of the outermost
    recorded iterator.

    Call c has the nodes `first_node[c]:first_node[c + 1]`, one per iterator that worked for it on
    any thread, the root first and each after its `parent` (a row of nodes, -1 for the root).
    `start_ps` is the start of the first of the node's `calls`, `total_ps` the sum of their
    durations, and `self_ps` the part in which no stage below worked; overlapping children count
    once. During `queue_ps` of that, functions of the stage waited for a pool thread. `held_ps` is
    how long the node delayed the call: its self time, except that waits for the pool are attributed
    to the stage whose functions occupied it, if that is a stage of the call. `is_critical` marks
    the critical path: stages that were waited for, from the root down, with all of their copies.
    `bottleneck` [c] is the first node of the critical stage that delayed the call longest, copies
    added up, -1 if none did. `is_cut` [c]: the bottleneck is unreliable, because for most of that
    time it waited for an element whose production began before the recording, so that the slow
    stage below is missing.

    Work of a stage's own threads is not in its self time, which is a wait for them. `worker_ps` is
    how long they worked for the stage during the call, excluding stages below (threads add up), -1
    for stages without such threads in the trace. `wait_ps` is the part of `self_ps` that is a wait
    for an element from them, 0 for synchronous stages. Times are ps since `Space.start_ns`.

    `loops` counts calls that were excluded because they led back to an iterator above them;
    `orphans` counts iterators that are not roots and whose parent has no events.
    """

    iterator_id: NDArray[np.uint64]
    parent_id: NDArray[np.uint64]
    type_name: list[str]
    long_name: list[str]
    is_async: NDArray[np.bool_]
    parameters: list[str]
    stage: NDArray[np.int32]
    stage_name: list[str]
    pipeline_name: list[str]
    is_device: NDArray[np.bool_]
    is_partial: NDArray[np.bool_]
    root: NDArray[np.int32]
    source: NDArray[np.int32]
    first_call: NDArray[np.int64]
    call_start_ps: NDArray[np.int64]
    call_duration_ps: NDArray[np.int64]
    call_thread: NDArray[np.int32]
    bottleneck: NDArray[np.int64]
    is_cut: NDArray[np.bool_]
    first_node: NDArray[np.int64]
    iterator: NDArray[np.int32]
    parent: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    total_ps: NDArray[np.int64]
    self_ps: NDArray[np.int64]
    worker_ps: NDArray[np.int64]
    wait_ps: NDArray[np.int64]
    queue_ps: NDArray[np.int64]
    held_ps: NDArray[np.int64]
    calls: NDArray[np.int64]
    is_critical: NDArray[np.bool_]
    threads: list[str]
    loops: int
    orphans: int

    @property
    def has_events(self) -> bool:
        """Whether any iterator calls were recorded."""
        return bool(self.long_name)


def find_tf_data(space: Space, _programs: Programs) -> TfData:
    """Return the input pipelines of a host; without rows if the trace has no tf.data events."""
    iterator_events = [
        find_iterator_events(plane, host_events(plane)) for plane in host_planes(space)
    ]
    planes = [events for events in iterator_events if events is not None]
    if not planes:
        return _nothing()
    calls = join_calls(planes)
    iterators = find_iterators(planes)
    adopt_calls(calls, iterators)
    cuts = sum(events.cuts for events in planes) + cut_circles(calls.above)
    return _table(calls, cuts, iterators, _find_pipelines(calls, iterators))


def _nothing() -> TfData:
    numbers, codes = np.zeros(0, np.int64), np.zeros(0, np.int32)
    claims, ids = np.zeros(0, np.bool_), np.zeros(0, np.uint64)
    zero = np.zeros(1, np.int64)
    return TfData(
        ids, ids, [], [], claims, [], codes, [],
        [], claims, claims, codes, codes, zero,
        numbers, numbers, codes, numbers, claims, zero,
        codes, numbers, numbers, numbers, numbers,
        numbers, numbers, numbers, numbers, numbers, claims,
        [], 0, 0,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Pipelines:
    """Pipelines [p] by outermost iterator, and the calls of each, longest first."""

    root: NDArray[np.int64]
    is_device: NDArray[np.bool_]
    is_partial: NDArray[np.bool_]
    source: NDArray[np.int64]
    first_call: NDArray[np.int64]
    call: NDArray[np.int64]


def _find_pipelines(calls: IteratorCalls, iterators: Iterators) -> _Pipelines:
    is_device = iterators.is_device
    top = iterators.top()
    fetches = np.zeros(top.size, np.bool_)
    fetches[top[is_device]] = True
    of_call = iterators.of_call
    # A device iterator calls a host iterator, which is nevertheless a pipeline of its own.
    above = np.maximum(calls.above, 0)
    is_fetched = (calls.above >= 0) & iterators.is_root[of_call] & is_device[of_call[above]]
    called, caller = of_call[is_fetched], top[of_call[above[is_fetched]]]
    calls.above[is_fetched] = -1
    # A pipeline that a function of another pipeline calls is part of the latter, even in calls
    # without a recorded caller at the start or end of the recording.
    is_root = iterators.is_root.copy()
    is_root[of_call[calls.above >= 0]] = False
    is_partial = _find_partial(iterators, top)
    rows = np.flatnonzero((calls.above < 0) & (is_root | is_partial)[of_call])
    of_row = of_call[rows].astype(np.int64)
    roots, first, pipeline = np.unique(of_row, return_index=True, return_inverse=True)
    began = np.full(roots.size, np.iinfo(np.int64).max)
    np.minimum.at(began, pipeline, calls.start_ps[rows])
    order = np.lexsort((first, began, fetches[roots]))
    number = np.empty(roots.size, np.int64)
    number[order] = np.arange(roots.size)
    pipeline = number[pipeline]
    roots = roots[order]
    by_rank = np.lexsort((calls.start_ps[rows], -calls.duration_ps[rows], pipeline))
    first_call = np.concatenate(([0], np.cumsum(np.bincount(pipeline, minlength=roots.size))))
    source = np.full(is_root.size, -1)
    hosts = np.flatnonzero(~fetches[roots])
    if hosts.size == 1:
        source[:] = hosts[0]
    of_root = np.full(is_root.size, -1)
    of_root[roots] = np.arange(roots.size)
    source[caller] = of_root[called]
    return _Pipelines(
        roots,
        fetches[roots],
        is_partial[roots],
        np.where(fetches[roots], source[roots], -1),
        first_call.astype(np.int64),
        rows[by_rank],
    )


def _find_partial(iterators: Iterators, top: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return [i] whether an iterator is the outermost recorded one of a pipeline without a root.

    If another iterator with its parent's name was recorded, it belongs to that pipeline: the parent
    stage was recreated and not called yet.
    """
    is_top = np.zeros(top.size, np.bool_)
    is_top[top] = True
    return is_top & ~iterators.is_stray & ~iterators.is_root


def _table(calls: IteratorCalls, cuts: int, iterators: Iterators, pipelines: _Pipelines) -> TfData:
    of_call = pipelines.call
    queue_ps, filler = _pool_waits(calls, iterators)
    visits = visit(
        of_call,
        Calls(
            calls.above, iterators.of_call, calls.start_ps, calls.duration_ps, calls.is_cut,
            calls.late_ps, queue_ps, filler,
        ),
        iterators.stage,
    )  # fmt: skip
    number = np.repeat(np.arange(of_call.size), np.diff(visits.first_node))
    begin = calls.start_ps[of_call]
    worked = _work(calls, iterators, visits.iterator, number, begin, calls.duration_ps[of_call])
    is_waiting = iterators.is_waiting[visits.iterator]
    lines, thread = np.unique(calls.line[of_call], return_inverse=True)
    return TfData(
        iterators.id,
        iterators.parent_id,
        iterators.type_name,
        iterators.long_name,
        iterators.is_async,
        iterators.parameters,
        iterators.stage,
        iterators.stage_name,
        _names(pipelines.is_device),
        pipelines.is_device,
        pipelines.is_partial,
        pipelines.root.astype(np.int32),
        pipelines.source.astype(np.int32),
        pipelines.first_call,
        begin,
        calls.duration_ps[of_call],
        thread.astype(np.int32),
        visits.bottleneck,
        visits.is_cut,
        visits.first_node,
        visits.iterator,
        visits.parent,
        visits.start_ps,
        visits.total_ps,
        visits.self_ps,
        worked,
        np.where(is_waiting, visits.self_ps - visits.late_ps, 0),
        visits.queue_ps,
        visits.held_ps,
        visits.calls,
        visits.is_critical,
        [calls.threads[line] for line in lines.tolist()],
        visits.loops + cuts,
        _count_orphans(iterators),
    )


def _count_orphans(iterators: Iterators) -> int:
    """Return how many iterators feed a stage without calls.

    Iterators that feed one copy of a stage do not count if another copy is called: these are an
    epoch prepared at the end of the recording, or an unused input of an interleave.
    """
    rows = np.flatnonzero((iterators.parent < 0) & ~iterators.is_root)
    if not rows.size:
        return 0
    stages = {parts_of(name) for name in iterators.long_name}
    return sum(parts_of(iterators.long_name[row])[:-1] not in stages for row in rows.tolist())


def _work(
    calls: IteratorCalls,
    iterators: Iterators,
    iterator: NDArray[np.int32],
    call: NDArray[np.int64],
    begin_ps: NDArray[np.int64],
    duration_ps: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return [m] ps that threads worked for each node outside its calls, -1 if none ever did."""
    known_rows, owner = _known(iterators, calls.work.id)
    return work_in_windows(
        owner,
        calls.work.start_ps[known_rows],
        calls.work.end_ps[known_rows],
        calls.work_sign[known_rows],
        iterator.astype(np.int64),
        begin_ps[call],
        (begin_ps + duration_ps)[call],
    )


def _pool_waits(
    calls: IteratorCalls, iterators: Iterators
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return by call (ps that functions of its stage waited for a pool, the stage occupying it)."""
    stage = iterators.stage[iterators.of_call].astype(np.int64)
    ends = calls.start_ps + calls.duration_ps
    queued = _by_stage(calls.queues, iterators)
    ran = _by_stage(calls.runs, iterators)
    return pool_waits(queued, ran, Pieces(stage, calls.start_ps, ends))


def _by_stage(times: IteratorTimes, iterators: Iterators) -> Pieces:
    """Return the spans of known iterators with their stages."""
    rows, owner = _known(iterators, times.id)
    stage = iterators.stage[owner].astype(np.int64)
    return Pieces(stage, times.start_ps[rows], times.end_ps[rows])


def _known(
    iterators: Iterators, id_: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (indices of ids that belong to iterators, the iterators)."""
    by_id = np.argsort(iterators.id)
    position = np.minimum(np.searchsorted(iterators.id[by_id], id_), by_id.size - 1)
    known_rows = np.flatnonzero(iterators.id[by_id[position]] == id_)
    return known_rows, by_id[position[known_rows]]


def _names(is_device: NDArray[np.bool_]) -> list[str]:
    hosts = int(np.count_nonzero(~is_device))
    return [
        f"Device:{row - hosts}" if is_device[row] else f"Host:{row}"
        for row in range(is_device.size)
    ]
