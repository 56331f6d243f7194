"""The input pipelines of all hosts: their calls, their stages, and how slow they are."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.bottlenecks import HIGHLY_INPUT_BOUND, MODERATELY_INPUT_BOUND
from tbprof.advice.finding import Severity
from tbprof.advice.tf_data.tf_data_stages import Kind, kind_of
from tbprof.analysis.input.tf_data import TfData
from tbprof.analysis.spans.groups import group_rows, reduce_groups, sums_of_groups
from tbprof.analysis.spans.intervals import busy_time
from tbprof.analysis.vocabulary.input_names import parts_of
from tbprof.base.records import dataclass

# A call that takes longer is slow. Source: the TensorFlow profiler guide.
SLOW_PS = 50_000_000
# Calls this long are reported even if they are rare.
STALL_PS = 10_000_000_000


@dataclass(frozen=True, slots=True)
class StageWork:
    """The work of a stage in some calls: times in ps as in `TfData`, and its number of calls.

    `worker_ps` is -1 if unknown.
    """

    total_ps: int
    self_ps: int
    wait_ps: int
    worker_ps: int
    queue_ps: int
    held_ps: int
    calls: int
    is_critical: bool

    @property
    def filled_ps(self) -> int:
        """How long other stages waited for a pool that the stage's functions occupied."""
        return max(self.held_ps - self.self_ps, 0)


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of a pipeline: all of its iterators, of which there may be thousands.

    `parent` is the stage that it feeds, an index into the list of stages, -1 for the root.
    `slowest` is its work in the slowest call with a known bottleneck (`Pipeline.rank`), `overall`
    that in all calls, where `self_ps` and `held_ps` count only calls in which the stage was on the
    critical path.
    """

    long_name: str
    type_name: str
    kind: Kind
    parts: tuple[str, ...]
    iterators: int
    parent: int
    parameters: Mapping[str, object]
    slowest: StageWork
    overall: StageWork

    def number(self, name: str) -> float:
        """A parameter as a finite number of at least 0, NaN if the trace does not contain one."""
        try:
            value = float(str(self.parameters.get(name)))
        except ValueError:
            return math.nan
        return value if 0 <= value < math.inf else math.nan

    def is_set(self, name: str) -> bool | None:
        """A parameter as a bool, None if it is not in the trace."""
        value = self.parameters.get(name)
        if value is None:
            return None
        return str(value).lower() in ("true", "1")


@dataclass(frozen=True, slots=True)
class Pipeline:
    """One pipeline: `row` of a host's `data`; `first` and `last` enclose its calls there."""

    host: str
    data: TfData
    row: int
    first: int
    last: int

    @property
    def name(self) -> str:
        """The name in tables: "Host:0"."""
        return self.data.pipeline_name[self.row]

    @property
    def is_device(self) -> bool:
        """Whether the pipeline fetches from a host's pipeline for a device."""
        return bool(self.data.is_device[self.row])

    @property
    def calls(self) -> int:
        """The number of calls."""
        return self.last - self.first

    @property
    def start_ps(self) -> NDArray[np.int64]:
        """[calls] the start of each call, in ps."""
        return self.data.call_start_ps[self.first : self.last]

    @property
    def duration_ps(self) -> NDArray[np.int64]:
        """[calls] the duration of each call in ps, descending."""
        return self.data.call_duration_ps[self.first : self.last]

    @property
    def max_ps(self) -> int:
        """The duration of the slowest call."""
        return int(self.duration_ps[0]) if self.calls else 0

    @property
    def total_ps(self) -> int:
        """The total duration of all calls."""
        return int(self.duration_ps.sum())

    @property
    def slow_calls(self) -> int:
        """The number of calls that took longer than 50 µs."""
        return int(np.count_nonzero(self.duration_ps > SLOW_PS))

    @property
    def rank(self) -> int:
        """The index of the slowest call that shows what it waited for; 0 if none does."""
        is_cut = self.data.is_cut[self.first : self.last]
        return int(is_cut.argmin()) if is_cut.size else 0

    @property
    def bottleneck(self) -> int:
        """The first iterator of the stage that is the bottleneck of that call, -1 for none."""
        node = int(self.data.bottleneck[self.first + self.rank]) if self.calls else -1
        return int(self.data.iterator[node]) if node >= 0 else -1

    def long_name(self, iterator: int) -> str:
        """The name of an iterator's stage, "" for the iterator -1."""
        return self.data.stage_name[self.data.stage[iterator]] if iterator >= 0 else ""

    @property
    def is_cut(self) -> bool:
        """Whether no call shows what it waited for: elements were begun before the recording."""
        return bool(self.data.is_cut[self.first : self.last].all())

    @property
    def explained_calls(self) -> int:
        """The number of calls that show what they waited for, or of all calls if none does."""
        cut = int(np.count_nonzero(self.data.is_cut[self.first : self.last]))
        return self.calls - cut or self.calls

    def share(self) -> float:
        """The percentage of time in calls, from the first one's start to the last one's end.

        NaN with fewer than two: a single call fills its own time.
        """
        if self.calls < 2:
            return math.nan
        order = np.argsort(self.start_ps, kind="stable")
        start, duration = self.start_ps[order], self.duration_ps[order]
        busy, window = busy_time(np.array([0, start.size], np.int64), start, duration)
        return 100.0 * busy / window if window else math.nan

    def severity(self) -> Severity:
        """How much the calls hold up the program.

        "high" or "moderate": calls take at least 20 or 5 percent of the time, and at least one is
        slow. "low": they take less, but a call takes 10 ms or more. "good": no call is slow, or
        calls are too short to matter.
        """
        if self.max_ps <= SLOW_PS:
            return "good"
        share = self.share()
        if math.isnan(share):
            return "moderate"
        if share >= HIGHLY_INPUT_BOUND:
            return "high"
        if share >= MODERATELY_INPUT_BOUND:
            return "moderate"
        return "low" if self.max_ps >= STALL_PS else "good"


def is_bound(severity: Severity) -> bool:
    """Whether a program is input-bound by a pipeline of this severity."""
    return severity in ("high", "moderate")


def find_pipelines(hosts: Sequence[str], parts: Sequence[TfData]) -> list[Pipeline]:
    """The pipelines of all hosts, in the order of hosts, then of their rows."""
    return [
        Pipeline(host, data, row, int(data.first_call[row]), int(data.first_call[row + 1]))
        for host, data in zip(hosts, parts, strict=True)
        for row in range(len(data.pipeline_name))
    ]


def deciding_pipelines(pipelines: Sequence[Pipeline]) -> list[Pipeline]:
    """The pipelines that explain a host's input: its host pipelines, or all if it has none."""
    with_host = {pipeline.host for pipeline in pipelines if not pipeline.is_device}
    return [
        pipeline
        for pipeline in pipelines
        if not pipeline.is_device or pipeline.host not in with_host
    ]


def find_stages(pipeline: Pipeline) -> list[Stage]:
    """The stages of a pipeline that were called, the root first, each after the stage it feeds."""
    data = pipeline.data
    if not pipeline.calls:
        return []
    bounds = data.first_node[pipeline.first : pipeline.last + 1]
    begin, end = int(bounds[0]), int(bounds[-1])
    slowest = (bounds[pipeline.rank : pipeline.rank + 2] - begin).tolist()
    # Calls that do not show what they waited for count only if no call does.
    is_explained = ~data.is_cut[pipeline.first : pipeline.last] | pipeline.is_cut
    is_critical = data.is_critical[begin:end] & np.repeat(is_explained, np.diff(bounds))
    iterator = data.iterator[begin:end].astype(np.int64)
    code, first = group_rows([data.stage[iterator]])
    columns = _work_columns(data, slice(begin, end), is_critical)
    overall = _work(code, columns, first.size)
    in_slowest = _work(code[slice(*slowest)], columns[:, slice(*slowest)], first.size)
    parent = data.parent[begin + first] - begin
    copies, latest = _copies(iterator, code, first.size)
    stages = []
    for stage, row in enumerate(first.tolist()):
        name = data.stage_name[data.stage[iterator[row]]]
        long_name = data.long_name[int(iterator[row])]
        stages.append(
            Stage(
                name,
                data.type_name[int(iterator[row])],
                kind_of(long_name, is_device=pipeline.is_device),
                parts_of(name),
                int(copies[stage]),
                _stage_above(code, int(parent[stage]), stage),
                parameters_of(data.parameters[int(latest[stage])]),
                in_slowest[stage],
                overall[stage],
            )
        )
    return stages


def _stage_above(code: NDArray[np.int32], parent: int, stage: int) -> int:
    """The stage of a parent node; -1 if there is none, or if it would not come before `stage`."""
    above = int(code[parent]) if parent >= 0 else -1
    return above if above < stage else -1


def _copies(
    iterator: NDArray[np.int64], code: NDArray[np.int32], groups: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(number of iterators, the latest of them) of each group."""
    _, first = group_rows([iterator])
    count, _, _, latest = reduce_groups(code[first], iterator[first], groups)
    return count, latest


def _work_columns(data: TfData, nodes: slice, is_critical: NDArray[np.bool_]) -> NDArray[np.int64]:
    """[columns, nodes] the times that `StageWork` sums up, and whether workers' time is known."""
    worker_ps = data.worker_ps[nodes]
    on_path = (data.self_ps, data.wait_ps, data.queue_ps, data.held_ps)
    return np.stack(
        [
            data.total_ps[nodes],
            data.calls[nodes],
            *(np.where(is_critical, values[nodes], 0) for values in on_path),
            is_critical.astype(np.int64),
            np.maximum(worker_ps, 0),
            (worker_ps >= 0).astype(np.int64),
        ]
    )


def _work(code: NDArray[np.int32], columns: NDArray[np.int64], groups: int) -> list[StageWork]:
    """The work of each group of nodes."""
    return [
        StageWork(
            total,
            self_ps,
            waited,
            worked if known else -1,
            queued,
            held_ps,
            calls,
            is_critical > 0,
        )
        for total, calls, self_ps, waited, queued, held_ps, is_critical, worked, known in (
            sums_of_groups(code, columns, groups).tolist()
        )
    ]


def parameters_of(text: str) -> dict[str, object]:
    """The parameters of an iterator; {} if the text is not a JSON object."""
    try:
        parameters = json.loads(text)
    except ValueError:
        return {}
    return parameters if isinstance(parameters, dict) else {}
