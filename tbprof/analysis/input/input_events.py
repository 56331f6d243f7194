"""The events of an input pipeline on a host plane, with the op that each belongs to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.host.host_events import (
    CAPTURED_FUNCTION,
    EXECUTIONS,
    function_runs,
)
from tbprof.analysis.host.host_roles import is_jitted
from tbprof.analysis.host.input_stages import find_input_stages
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.spans.nesting import inherit, nest
from tbprof.analysis.vocabulary import input_names
from tbprof.analysis.vocabulary.input_names import InputCategory
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.analysis.vocabulary.op_names import parse_op_name
from tbprof.base import names
from tbprof.base.lazy import regex
from tbprof.base.records import dataclass, field
from tbprof.base.values import is_in
from tbprof.events.space import Events, Plane

# Source: jax/_src/api.py, device_put.
_DEVICE_PUT = regex(r"\$api\.py:\d+ device_put\Z")


class InputKind:
    """The role of an event in the pipeline: plain integers, as in `CausalKind`."""

    NONE = 0
    OP = 1
    BUFFERED_OP = 2  # its self time is a wait
    DEVICE_OP = 3  # all of its time is a wait
    GET_NEXT = 4  # the program waits for its next batch
    PRODUCER = 5
    FUNCTION = 6
    ASYNC_FUNCTION = 7
    EXECUTION = 8
    PYTHON = 9
    AWAITED_FUNCTION = 10  # the caller waits while threads of a pool run it


OPS = (InputKind.OP, InputKind.BUFFERED_OP, InputKind.DEVICE_OP)


@dataclass(slots=True)
class OpIndex:
    """Op numbers by name. If an op occurs with several categories, the first one counts."""

    names: list[str] = field(default_factory=list)
    categories: list[InputCategory] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def number(self, name: str, category: InputCategory) -> int:
        """Return the number of an op; adds new ops."""
        code = self._numbers.get(name)
        if code is None:
            code = self._numbers[name] = len(self.names)
            self.names.append(name)
            self.categories.append(category)
        return code

    def get(self, name: str) -> int:
        """Return the number of an op, -1 if it is unknown."""
        return self._numbers.get(name, -1)


@dataclass(frozen=True, slots=True)
class InputEvents:
    """The events [n] of a pipeline.

    `op` is the op that a row is or works for, -1 if unknown. `parent` is the enclosing row, -1 for
    none. `op_kind` is the kind of the innermost op that a row is or is inside of, -1 outside ops.
    `python_ps` and `python_count` are the totals of Python functions, which have no rows.
    """

    events: Events
    kind: NDArray[np.int8]
    op: NDArray[np.int64]
    parent: NDArray[np.int32]
    op_kind: NDArray[np.int64]
    python_ps: int
    python_count: int
    has_jax: bool
    has_device_put: bool
    has_infeed: bool


def find_input_events(plane: Plane, events: Events, ops: OpIndex) -> InputEvents:
    """Return the pipeline events of a host plane; adds their ops to `ops`."""
    types = _classify(plane, events, ops)
    kind = events.by_type(types.kind)
    staged, stage_op = _find_stages(plane, events, ops)
    kind[staged] = InputKind.OP
    is_wanted = kind != InputKind.NONE
    if not is_in(types.kind, (InputKind.FUNCTION, InputKind.ASYNC_FUNCTION)).any():
        is_wanted &= kind != InputKind.EXECUTION
    rows = np.flatnonzero(is_wanted)
    events, kind = events.select(rows), kind[rows]
    op = types.op[events.type]
    op[np.searchsorted(rows, staged)] = stage_op
    is_python = kind == InputKind.PYTHON
    python_ps = int(events.duration_ps[is_python].sum())
    is_function = is_in(kind, (InputKind.FUNCTION, InputKind.ASYNC_FUNCTION))
    runs = function_runs(events, is_function, kind == InputKind.EXECUTION)
    awaited = runs[(runs >= 0) & (events.line[runs] != events.line)]
    kind[awaited[kind[awaited] == InputKind.FUNCTION]] = InputKind.AWAITED_FUNCTION
    keep = np.flatnonzero(~is_python & ((kind != InputKind.EXECUTION) | (runs >= 0)))
    events, kind, op, runs = events.select(keep), kind[keep], op[keep], runs[keep]
    parent = nest(events.first_event, events.start_ps, events.duration_ps)
    is_op = is_in(kind, OPS)
    op = _attribute(types.feeds[events.type], kind, op, parent)
    is_execution = kind == InputKind.EXECUTION
    op[is_execution] = op[np.searchsorted(keep, runs[is_execution])]
    return InputEvents(
        events,
        kind,
        op,
        parent,
        inherit(parent, np.where(is_op, kind.astype(np.int64), -1)),
        python_ps,
        int(np.count_nonzero(is_python)),
        types.has_jax,
        types.has_device_put,
        types.has_infeed,
    )


@dataclass(frozen=True, slots=True)
class _Types:
    """The role of each event type of a plane; the last row is for events without a type.

    `op` is the op of a type, `feeds` the op whose threads call an iterator; -1 for none.
    """

    kind: NDArray[np.int8]
    op: NDArray[np.int64]
    feeds: NDArray[np.int64]
    has_jax: bool
    has_device_put: bool
    has_infeed: bool


def _classify(plane: Plane, events: Events, ops: OpIndex) -> _Types:
    families = name_families(plane)
    kinds = families.classify(_kind_of, np.int8)
    used = events.used_types(kinds.size - 1)
    kind = np.full(kinds.size, InputKind.NONE, np.int8)
    kind[used] = kinds[used]
    op, feeds = np.full((2, kinds.size), -1, np.int64)

    def texts_of(rows: NDArray[np.int64]) -> list[str]:
        return plane.strings.take(plane.types.name[rows].tolist())

    is_iterator = families.classify(input_names.is_iterator, np.bool_)[used]
    rows = used[is_iterator]
    texts = texts_of(rows)
    categories = input_names.categories(texts)
    op[rows] = [ops.number(*key) for key in zip(texts, categories, strict=True)]
    feeds[rows] = [ops.get(input_names.op_above(text)) for text in texts]
    rows = used[~is_iterator & (kinds[used] == InputKind.OP)]
    op[rows] = [
        ops.number(parse_op_name(text).name, InputCategory.ENQUEUE) for text in texts_of(rows)
    ]
    return _Types(
        kind,
        op,
        feeds,
        bool(families.classify(is_jitted, np.bool_)[used].any()),
        bool(families.classify(_is_device_put, np.bool_)[used].any()),
        bool(families.classify(input_names.is_infeed, np.bool_)[used].any()),
    )


def _is_device_put(text: str) -> bool:
    return _DEVICE_PUT.match(text) is not None


def _kind_of(text: str) -> int:
    if input_names.is_iterator(text):
        parts = input_names.parts_of(text)
        if input_names.is_device_iterator(parts):
            return InputKind.DEVICE_OP
        return InputKind.BUFFERED_OP if input_names.is_buffered(parts) else InputKind.OP
    if input_names.is_enqueue(text):
        return InputKind.OP
    if input_names.is_get_next(text):
        return InputKind.GET_NEXT
    if input_names.is_producer(text):
        return InputKind.PRODUCER
    if text.startswith(CAPTURED_FUNCTION):
        return InputKind.ASYNC_FUNCTION if text == names.ASYNC_FUNCTION else InputKind.FUNCTION
    if text in EXECUTIONS:
        return InputKind.EXECUTION
    return InputKind.PYTHON if input_names.is_python_function(text) else InputKind.NONE


def _find_stages(
    plane: Plane, events: Events, ops: OpIndex
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (rows, op of each) of the events whose stats identify them as stages."""
    if names.STAGE_ID not in plane.stat_names:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    stages = find_input_stages(events, np.arange(len(events)))
    type_of = events.type[stages.rows]
    code, first = group_rows([type_of, stages.stage, stages.category])
    numbers = np.empty(first.size, np.int64)
    for group, event in enumerate(first.tolist()):
        row = int(type_of[event])
        text = plane.strings[int(plane.types.name[row])] if row >= 0 else ""
        category = input_names.stage_category(plane.strings[int(stages.category[event])])
        numbers[group] = ops.number(stages.label(parse_op_name(text).name, event), category)
    return stages.rows, numbers[code]


def _attribute(
    feeds: NDArray[np.int64],
    kind: NDArray[np.int8],
    op: NDArray[np.int64],
    parent: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Return [n] the op of each row. A producer works for the op that its iterators feed."""
    op = op.copy()
    called = np.flatnonzero(is_in(kind, OPS) & (parent >= 0))[::-1]
    called = called[kind[parent[called]] == InputKind.PRODUCER]
    op[parent[called]] = feeds[called]
    op = inherit(parent, op)
    op[kind == InputKind.GET_NEXT] = -1
    return op
