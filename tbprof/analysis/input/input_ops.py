"""Input ops of a host: work of the input pipeline's threads, and waits for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_events import host_events
from tbprof.analysis.input.input_events import (
    OPS,
    InputEvents,
    InputKind,
    OpIndex,
    find_input_events,
)
from tbprof.analysis.spans.groups import group_rows, reduce_groups
from tbprof.analysis.spans.nesting import inherit, nest, self_times
from tbprof.analysis.vocabulary.input_names import ITERATOR, InputCategory
from tbprof.analysis.vocabulary.lines import host_planes
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.base.lazy import regex
from tbprof.base.records import dataclass, field
from tbprof.base.values import is_in
from tbprof.events.space import Events, Plane, Space

FUNCTION_OPS = "Ops of captured functions"
NO_CATEGORY = -1

_MOST = 2**63 - 1
# Makes the iterator of a dataset that the program iterates over, with those of all its stages.
# Source: tensorflow/core/data/root_dataset.cc, and dataset.cc, DatasetBase::MakeIterator.
_MAKING = "MakeIterator::RootDataset"
# Thread names of a pool differ only in a trailing number: "tf_data_iterator_resource/-174523725".
_THREAD_NUMBER = regex(r"/-?\d+\Z")


class InputRole(IntEnum):
    """Whether a thread worked for the pipeline or waited for it."""

    WORK = 0
    WAIT = 1


@dataclass(frozen=True, slots=True)
class InputOps:
    """Input ops and activities, one row each. Times are in ps.

    `self_ps` is the time of an op's own events minus that of other ops inside them. `wait_ps` is
    the part in which the op's caller waited: for a buffer that other threads fill, for pool threads
    to run a function, or for another pipeline. `background_ps` is work that threads did for the op
    outside its own events: producers, and functions that pool threads ran.

    An activity groups events of the same name that work for the same op (`activity_op`, an index,
    -1 if unknown) on threads of the same name, `activity_threads` of them. Its self time excludes
    all other activities inside. Its category is -1 if the program waits for the pipeline as a
    whole; `program_wait_ps` is the total of these waits. `python_ps` is the time of Python
    functions in the graph, `making_ps` the time of creating iterators for the program.
    `has_device_put`: a call of jax.device_put was recorded. `has_infeed`: some devices fetch their
    own input.
    """

    name: list[str]
    category: NDArray[np.int64]
    count: NDArray[np.int64]
    total_ps: NDArray[np.int64]
    self_ps: NDArray[np.int64]
    wait_ps: NDArray[np.int64]
    background_ps: NDArray[np.int64]
    activity_name: list[str]
    activity_op: NDArray[np.int64]
    activity_role: NDArray[np.int64]
    activity_category: NDArray[np.int64]
    activity_thread: list[str]
    activity_threads: NDArray[np.int64]
    activity_count: NDArray[np.int64]
    activity_total_ps: NDArray[np.int64]
    activity_self_ps: NDArray[np.int64]
    program_wait_ps: int
    python_ps: int
    python_count: int
    making_ps: int
    making_count: int
    has_jax: bool
    has_device_put: bool
    has_infeed: bool

    @property
    def work_ps(self) -> NDArray[np.int64]:
        """[n] the work for each op in ps, inside its own events and in the background."""
        work: NDArray[np.int64] = np.maximum(self.self_ps - self.wait_ps, 0) + self.background_ps
        return work

    @property
    def has_tf_data(self) -> bool:
        """Whether tf.data iterators were recorded."""
        return any(name.startswith(ITERATOR) for name in self.name)

    @property
    def has_pipeline(self) -> bool:
        """Whether the trace would show waits for input: tf.data, instrumented stages or infeeds."""
        is_wait = (self.activity_role == InputRole.WAIT).any()
        is_stage = (self.category != InputCategory.ENQUEUE).any()
        return bool(is_wait or is_stage or self.has_infeed)

    def work_of(self, category: InputCategory) -> int:
        """Return the work of a category in ps; activities without an op are preprocessing."""
        total = int(self.work_ps[self.category == category].sum())
        if category == InputCategory.PREPROCESSING:
            is_loose = (self.activity_op < 0) & (self.activity_role == InputRole.WORK)
            total += int(self.activity_self_ps[is_loose].sum())
        return total


def find_input_ops(space: Space, _programs: Programs) -> InputOps:
    """Return the input ops of all threads of a host."""
    gatherer = _Gatherer()
    for plane in host_planes(space):
        _gather(plane, host_events(plane), gatherer)
    return gatherer.table()


def merge_input_ops(parts: Sequence[InputOps]) -> InputOps:
    """Return the sums over hosts, by op and by activity."""
    if len(parts) == 1:
        return parts[0]
    gatherer = _Gatherer()
    for part in parts:
        ops = np.array(
            [
                gatherer.index.number(name, InputCategory(category))
                for name, category in zip(part.name, part.category.tolist(), strict=True)
            ],
            np.int64,
        )
        figures = np.stack([getattr(part, name) for name in _OF_OPS], axis=1)
        gatherer.add_ops(ops, figures)
        keys = zip(
            part.activity_name,
            np.append(ops, -1)[part.activity_op].tolist(),
            part.activity_role.tolist(),
            part.activity_category.tolist(),
            part.activity_thread,
            strict=True,
        )
        figures = np.stack([getattr(part, name) for name in _OF_ACTIVITIES], axis=1)
        for key, row in zip(keys, figures.tolist(), strict=True):
            gatherer.add_activity(key, *row)
        gatherer.totals.update({name: getattr(part, name) for name in _TOTALS})
        gatherer.flags.update(name for name in _FLAGS if getattr(part, name))
    return gatherer.table()


_OF_OPS = ("count", "total_ps", "self_ps", "wait_ps", "background_ps")
_OF_ACTIVITIES = (
    "activity_threads", "activity_count", "activity_total_ps", "activity_self_ps",
)  # fmt: skip
_TOTALS = ("program_wait_ps", "python_ps", "python_count", "making_ps", "making_count")
_FLAGS = ("has_jax", "has_device_put", "has_infeed")
# Name, op, role, category, thread.
_ActivityKey = tuple[str, int, int, int, str]


@dataclass(slots=True)
class _Gatherer:
    """Accumulates rows by key over planes or hosts."""

    index: OpIndex = field(default_factory=OpIndex)
    ops: dict[int, list[int]] = field(default_factory=dict)
    activities: dict[_ActivityKey, list[int]] = field(default_factory=dict)
    totals: Counter[str] = field(default_factory=Counter)
    flags: set[str] = field(default_factory=set)

    def add_ops(self, ops: NDArray[np.int64], figures: NDArray[np.int64]) -> None:
        """Add rows [n, 5] for ops [n]: count, then total, self, wait and background ps."""
        for op, row in zip(ops.tolist(), figures.tolist(), strict=True):
            sums = self.ops.setdefault(op, [0] * 5)
            for index, value in enumerate(row):
                sums[index] += value

    def add_activity(self, key: _ActivityKey, *figures: int) -> None:
        """Add threads, count, total and self ps to an activity."""
        sums = self.activities.setdefault(key, [0] * 4)
        for index, value in enumerate(figures):
            sums[index] += value

    def table(self) -> InputOps:
        """Return the rows as columns, in order of first occurrence."""
        ops = [self.ops.get(number, [0] * 5) for number in range(len(self.index.names))]
        keys = list(self.activities)
        activities = list(self.activities.values())
        columns: list[Any] = [
            list(self.index.names),
            np.array(self.index.categories, np.int64),
            *_columns(ops, len(_OF_OPS)),
            [key[0] for key in keys],
            np.array([key[1] for key in keys], np.int64),
            np.array([key[2] for key in keys], np.int64),
            np.array([key[3] for key in keys], np.int64),
            [key[4] for key in keys],
            *_columns(activities, len(_OF_ACTIVITIES)),
            *(self.totals[name] for name in _TOTALS),
            *(name in self.flags for name in _FLAGS),
        ]
        return InputOps(*columns)


def _columns(rows: Sequence[Sequence[int]], width: int) -> list[NDArray[np.int64]]:
    """Return columns of figures, clipped to int64, because times may be corrupt."""
    return [
        np.array([max(0, min(_MOST, row[index])) for row in rows], np.int64)
        for index in range(width)
    ]


def _gather(plane: Plane, events: Events, gatherer: _Gatherer) -> None:
    rows = find_input_events(plane, events, gatherer.index)
    makings = events.rows_of(name_families(plane).classify(_MAKING.__eq__, np.bool_))
    gatherer.totals.update(
        program_wait_ps=_program_wait(rows),
        python_ps=rows.python_ps,
        python_count=rows.python_count,
        making_ps=int(events.duration_ps[makings].sum()),
        making_count=makings.size,
    )
    gatherer.flags.update(name for name in _FLAGS if getattr(rows, name))
    self_ps = self_times(rows.parent, rows.events.start_ps, rows.events.duration_ps)
    is_device = rows.op_kind == InputKind.DEVICE_OP
    waits = (InputKind.GET_NEXT, InputKind.BUFFERED_OP, InputKind.AWAITED_FUNCTION)
    is_wait = is_in(rows.kind, waits) | is_device
    _gather_ops(rows, self_ps, is_wait, gatherer)
    _gather_activities(plane, rows, self_ps, is_wait, gatherer)


def _program_wait(rows: InputEvents) -> int:
    """Return the ps of the outermost requests for a batch."""
    is_request = rows.kind == InputKind.GET_NEXT
    within = inherit(rows.parent, np.where(is_request, 1, -1))
    is_inner = (rows.parent >= 0) & (within[rows.parent] == 1)
    return int(rows.events.duration_ps[is_request & ~is_inner].sum())


def _gather_ops(
    rows: InputEvents, self_ps: NDArray[np.int64], is_wait: NDArray[np.bool_], gatherer: _Gatherer
) -> None:
    ops = len(gatherer.index.names)
    op_rows = np.flatnonzero(is_in(rows.kind, OPS))
    calls, op = rows.events.select(op_rows), rows.op[op_rows]
    parent = nest(calls.first_event, calls.start_ps, calls.duration_ps)
    op_self_ps = self_times(parent, calls.start_ps, calls.duration_ps)
    count, total, _, _ = reduce_groups(op, calls.duration_ps, ops)
    _, total_own, _, _ = reduce_groups(op, op_self_ps, ops)
    _, wait, _, _ = reduce_groups(np.where(is_wait, rows.op, -1), self_ps, ops)
    is_background = rows.op_kind < 0
    _, background, _, _ = reduce_groups(np.where(is_background, rows.op, -1), self_ps, ops)
    figures = np.stack((count, total, total_own, wait, background), axis=1)
    gatherer.add_ops(np.arange(ops), figures)


def _gather_activities(
    plane: Plane,
    rows: InputEvents,
    self_ps: NDArray[np.int64],
    is_wait: NDArray[np.bool_],
    gatherer: _Gatherer,
) -> None:
    events = rows.events
    is_op = is_in(rows.kind, OPS)
    is_execution = rows.kind == InputKind.EXECUTION
    # Key activities by op number, or by type for other events; executions are one activity.
    activity = np.where(is_op, rows.op, np.where(is_execution, -1, events.type.astype(np.int64)))
    form = is_op.astype(np.int64) + 2 * is_execution
    role = is_wait.astype(np.int64)
    thread, threads = _threads(plane, events)
    line = events.line.astype(np.int64)
    thread_of = thread[line] if line.size else line
    code, first = group_rows([activity, form, rows.op, role, thread_of])
    count, total, _, _ = reduce_groups(code, events.duration_ps, first.size)
    _, total_own, _, _ = reduce_groups(code, self_ps, first.size)
    _, once = group_rows([code, line])
    lines = np.bincount(code[once], minlength=first.size)
    for group, row in enumerate(first.tolist()):
        op = int(rows.op[row])
        if is_op[row]:
            name = gatherer.index.names[op]
        elif is_execution[row]:
            name = FUNCTION_OPS
        else:
            name = plane.strings[int(plane.types.name[int(events.type[row])])]
        key = (
            name,
            op,
            int(role[row]),
            _category(int(rows.kind[row]), op, gatherer.index),
            threads[int(thread_of[row])],
        )
        gatherer.add_activity(
            key, int(lines[group]), int(count[group]), int(total[group]), int(total_own[group])
        )


def _category(kind: int, op: int, index: OpIndex) -> int:
    if kind == InputKind.GET_NEXT:
        return NO_CATEGORY
    return int(index.categories[op] if op >= 0 else InputCategory.PREPROCESSING)


def _threads(plane: Plane, events: Events) -> tuple[NDArray[np.int64], list[str]]:
    """Return ([lines] thread row, thread names); lines that differ in a number are one pool."""
    numbers: dict[str, int] = {}
    thread = [
        numbers.setdefault(_THREAD_NUMBER.sub("", text), len(numbers))
        for text in plane.strings.take(events.lines.name.tolist())
    ]
    return np.array(thread, np.int64), list(numbers)
