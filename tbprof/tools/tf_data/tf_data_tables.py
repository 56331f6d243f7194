"""The tables of the tf.data page: graphs of calls, pipelines in figures, executions."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.tf_data.tf_data_pipelines import SLOW_PS, Pipeline
from tbprof.analysis.spans.groups import group_rows, reduce_groups
from tbprof.base.records import dataclass
from tbprof.tools.model.datatable import Table, boolean, number, text

# The number of slowest executions of each pipeline with graphs, and in the list.
MOST_EXECUTIONS = 1_000
# The most rows of all graphs together.
_MOST_ROWS = 200_000
_BINS_PER_DECADE = 5

_OTHER, _CRITICAL, _BOTTLENECK = 0, 1, 2


@dataclass(frozen=True, slots=True)
class ChosenCall:
    """The pipeline and the call of it that a page shows; `is_alone` means that no other is sent."""

    pipeline: Pipeline
    rank: int
    is_alone: bool


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Nodes [n] of calls of one pipeline, with the copies of a stage combined."""

    rank: NDArray[np.int64]
    iterator: NDArray[np.int64]
    parent: NDArray[np.int64]  # an iterator, -1 for none
    type: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    total_ps: NDArray[np.int64]
    self_ps: NDArray[np.int64]
    wait_ps: NDArray[np.int64]
    worker_ps: NDArray[np.int64]
    queue_ps: NDArray[np.int64]
    held_ps: NDArray[np.int64]
    calls: NDArray[np.int64]
    iterators: NDArray[np.int64]


def graph_table(pipelines: Sequence[Pipeline], chosen: ChosenCall) -> Table:
    """A row per node of each graph, by pipeline, rank, and parents before children.

    Properties: the choice, and the numbers of executions and of shown ones.
    """
    if chosen.is_alone:
        nodes = [_nodes(chosen.pipeline, chosen.rank, chosen.rank + 1)]
        shown, pipelines = 1, [chosen.pipeline]
    else:
        counts = [_executions(pipeline, _MOST_ROWS // len(pipelines)) for pipeline in pipelines]
        nodes = [
            _nodes(pipeline, 0, count) for pipeline, count in zip(pipelines, counts, strict=True)
        ]
        shown = sum(counts)
    sizes = [node.rank.size for node in nodes]
    ids, parents, types, long_names, parameters = _texts(pipelines, nodes)
    worker_ps = _joined(nodes, "worker_ps").astype(np.float64)
    worker_ps[worker_ps < 0] = np.nan
    return Table(
        (
            text("host", "Host", _repeated([pipeline.host for pipeline in pipelines], sizes)),
            text("input_pipeline", "Input Pipeline",
                 _repeated([pipeline.name for pipeline in pipelines], sizes)),
            number("rank", "Rank", _joined(nodes, "rank")),
            text("name", "Name", ids),
            text("parent", "Parent", parents),
            number("type", "Type", _joined(nodes, "type")),
            text("iterator", "Iterator", types),
            text("long_name", "Long Name", long_names),
            number("start_us", "Start Time (us)", _joined(nodes, "start_ps") / 1e6),
            number("total_us", "Total Duration (us)", _joined(nodes, "total_ps") / 1e6),
            number("self_us", "Self Time (us)", _joined(nodes, "self_ps") / 1e6),
            number("calls", "# Calls", _joined(nodes, "calls")),
            number("wait_us", "Waiting for own threads (us)", _joined(nodes, "wait_ps") / 1e6),
            number("worker_us", "Work of own threads (us)", worker_ps / 1e6),
            number("iterators", "# Iterators", _joined(nodes, "iterators")),
            text("parameters", "Parameters", parameters),
            number("queue_us", "Waiting for a pool (us)", _joined(nodes, "queue_ps") / 1e6),
            number("held_us", "Held up by it (us)", _joined(nodes, "held_ps") / 1e6),
        ),
        {
            "host": chosen.pipeline.host,
            "input_pipeline": chosen.pipeline.name,
            "rank": str(chosen.rank),
            "executions": str(sum(pipeline.calls for pipeline in pipelines)),
            "executions_shown": str(shown),
        },
    )  # fmt: skip


def summary_table(pipelines: Sequence[Pipeline]) -> Table:
    """A row per pipeline, in the order of hosts; times in µs, slow calls exceed 50 µs."""
    edges = _edges(pipelines)
    quantiles = np.array(
        [np.percentile(pipeline.duration_ps, (50, 95)) if pipeline.calls else (np.nan, np.nan)
         for pipeline in pipelines]
    ).reshape(-1, 2)  # fmt: skip

    def figures(of: str) -> NDArray[np.float64]:
        values = [
            getattr(pipeline.duration_ps, of)() if pipeline.calls else np.nan  # min, mean, max, sum
            for pipeline in pipelines
        ]
        return np.array(values, np.float64) / 1e6

    source = [int(pipeline.data.source[pipeline.row]) for pipeline in pipelines]
    return Table(
        (
            text("host", "Host", [pipeline.host for pipeline in pipelines]),
            text("input_pipeline", "Input Pipeline", [pipeline.name for pipeline in pipelines]),
            number("min", "Min (us)", figures("min")),
            number("mean", "Avg (us)", figures("mean")),
            number("max", "Max (us)", figures("max")),
            number("num_calls", "# calls", [pipeline.calls for pipeline in pipelines]),
            number("num_slow_calls", "# slow calls",
                   [pipeline.slow_calls for pipeline in pipelines]),
            boolean("is_device", "Device", [pipeline.is_device for pipeline in pipelines]),
            boolean("is_partial", "Partly recorded",
                    [pipeline.data.is_partial[pipeline.row] for pipeline in pipelines]),
            number("p50", "Median (us)", quantiles[:, 0] / 1e6),
            number("p95", "95th percentile (us)", quantiles[:, 1] / 1e6),
            number("total_us", "Total (us)", figures("sum")),
            text("draws_from", "Draws from", [
                pipeline.data.pipeline_name[row] if row >= 0 else ""
                for pipeline, row in zip(pipelines, source, strict=True)
            ]),
            text("histogram", "Calls by latency",
                 [json.dumps(_histogram(pipeline, edges)) for pipeline in pipelines]),
        ),
        {
            "histogram_edges_us": json.dumps([round(edge, 6) for edge in edges.tolist()]),
            "slow_us": f"{SLOW_PS / 1e6:g}",
        },
    )  # fmt: skip


def executions_table(chosen: ChosenCall) -> Table:
    """A row per call of the chosen pipeline, slowest first, at most 1,000."""
    pipeline = chosen.pipeline
    data, shown = pipeline.data, min(pipeline.calls, MOST_EXECUTIONS)
    calls = slice(pipeline.first, pipeline.first + shown)
    node = data.bottleneck[calls]
    iterator = [int(data.iterator[row]) if row >= 0 else -1 for row in node.tolist()]
    thread = data.call_thread[calls].tolist()
    return Table(
        (
            number("rank", "Rank", np.arange(shown)),
            number("start_us", "Start Time (us)", data.call_start_ps[calls] / 1e6),
            number("duration_us", "Duration (us)", data.call_duration_ps[calls] / 1e6),
            text("bottleneck", "Bottleneck", [
                data.type_name[row] if row >= 0 else "" for row in iterator
            ]),
            text("long_name", "Long Name", [
                pipeline.long_name(row) for row in iterator
            ]),
            text("thread", "Thread", [data.threads[row] if row >= 0 else "" for row in thread]),
            boolean("is_cut", "Made before the recording", data.is_cut[calls]),
        ),
        {
            "host": pipeline.host,
            "input_pipeline": pipeline.name,
            "rank": str(chosen.rank),
            "executions": str(pipeline.calls),
            "executions_shown": str(shown),
        },
    )  # fmt: skip


def _executions(pipeline: Pipeline, rows: int) -> int:
    """How many graphs of the slowest calls fit into this many rows; at least one."""
    most = min(pipeline.calls, MOST_EXECUTIONS)
    if not most:
        return 0
    data = pipeline.data
    nodes = np.diff(data.first_node[pipeline.first : pipeline.first + most + 1])
    drawn = np.cumsum(np.minimum(nodes, len(data.stage_name)))
    # Combined nodes are few rows, but all are read.
    gone_through = np.cumsum(nodes)
    fitting = np.count_nonzero((drawn <= rows) & (gone_through <= 10 * rows))
    return max(1, int(fitting))


def _nodes(pipeline: Pipeline, first: int, last: int) -> _Nodes:
    """The nodes of the calls of these ranks."""
    data = pipeline.data
    bounds = data.first_node[pipeline.first + first : pipeline.first + last + 1]
    begin, end = int(bounds[0]), int(bounds[-1])
    sizes = np.diff(bounds)
    call = np.repeat(np.arange(first, last), sizes)
    iterator = data.iterator[begin:end].astype(np.int64)
    parent = data.parent[begin:end]
    is_bottleneck = np.zeros(end - begin, np.bool_)
    worst = data.bottleneck[pipeline.first + first : pipeline.first + last]
    is_bottleneck[worst[worst >= 0] - begin] = True
    kind = np.where(data.is_critical[begin:end], _CRITICAL, _OTHER)
    kind[is_bottleneck] = _BOTTLENECK
    # The first of a stage's nodes represents all: for the bottleneck, it is the named one.
    code, top = group_rows([call, data.stage[iterator]])
    groups = top.size

    def summed(values: NDArray[np.int64]) -> NDArray[np.int64]:
        return reduce_groups(code, np.array(values[begin:end]), groups)[1]

    worker_ps = np.array(data.worker_ps[begin:end])
    known = np.where(worker_ps >= 0, code, -1).astype(np.int32)
    measured, worked, _, _ = reduce_groups(known, worker_ps, groups)
    iterators, _, _, most = reduce_groups(code, kind.astype(np.int64), groups)
    above = parent[top]
    return _Nodes(
        call[top],
        iterator[top],
        np.where(above >= 0, iterator[top][code[np.maximum(above - begin, 0)]], -1),
        most,
        reduce_groups(code, np.array(data.start_ps[begin:end]), groups)[2],
        summed(data.total_ps),
        summed(data.self_ps),
        summed(data.wait_ps),
        np.where(measured > 0, worked, -1),
        summed(data.queue_ps),
        summed(data.held_ps),
        summed(data.calls),
        iterators,
    )


def _texts(
    pipelines: Sequence[Pipeline], nodes: Sequence[_Nodes]
) -> tuple[list[str], list[str], list[str], list[str], list[str]]:
    """(ids, ids of parents, types, long names, parameters) of all nodes."""
    ids: list[str] = []
    parents: list[str] = []
    types: list[str] = []
    long_names: list[str] = []
    parameters: list[str] = []
    for pipeline, shown in zip(pipelines, nodes, strict=True):
        data = pipeline.data
        id_of = [str(id_) for id_ in data.iterator_id.tolist()]
        rows = shown.iterator.tolist()
        ids += [id_of[row] for row in rows]
        parents += [id_of[row] if row >= 0 else "" for row in shown.parent.tolist()]
        types += [data.type_name[row] for row in rows]
        long_names += [pipeline.long_name(row) for row in rows]
        parameters += [data.parameters[row] for row in rows]
    return ids, parents, types, long_names, parameters


def _repeated(texts: Sequence[str], counts: Sequence[int]) -> list[str]:
    return [value for value, count in zip(texts, counts, strict=True) for _ in range(count)]


def _joined(nodes: Sequence[_Nodes], name: str) -> NDArray[np.int64]:
    return np.concatenate([getattr(node, name) for node in nodes]).astype(np.int64)


def _edges(pipelines: Sequence[Pipeline]) -> NDArray[np.float64]:
    """[bins + 1] bin edges in µs that cover every call, evenly spaced on a logarithmic scale."""
    lengths = [pipeline.duration_ps for pipeline in pipelines if pipeline.calls]
    longest = max((int(length.max()) for length in lengths), default=0) / 1e6
    shortest = min((int(length.min()) for length in lengths), default=0) / 1e6
    low = np.floor(np.log10(max(shortest, 1e-1)))
    high = max(np.ceil(np.log10(max(longest, 1e-1))), low + 1)
    return np.asarray(10.0 ** np.linspace(low, high, int(high - low) * _BINS_PER_DECADE + 1))


def _histogram(pipeline: Pipeline, edges: NDArray[np.float64]) -> list[int]:
    """[bins] calls by latency; those below the first edge are in the first bin."""
    bins = np.searchsorted(edges, pipeline.duration_ps / 1e6, side="right") - 1
    counts = np.bincount(np.clip(bins, 0, edges.size - 2), minlength=edges.size - 1)
    return [int(count) for count in counts.tolist()]
