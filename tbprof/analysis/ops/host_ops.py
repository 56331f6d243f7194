"""Ops that ran on host threads: TensorFlow and JAX ops, tf.data iterators, XLA programs on CPU."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_events import eager_calls, has_flag, host_events
from tbprof.analysis.host.input_stages import find_input_stages
from tbprof.analysis.host.late_ends import LateEnds, find_late_ends
from tbprof.analysis.ops.op_metrics import HOST, OpGatherer
from tbprof.analysis.spans.code_sums import sum_by_code
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.spans.nesting import inherit, nest
from tbprof.analysis.vocabulary.lines import host_planes
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.analysis.vocabulary.op_names import (
    NAMES_AT_ONCE,
    UNKNOWN_TYPE,
    OpCategory,
    OpName,
    parse_op_name,
    parse_provenance,
)
from tbprof.base import names
from tbprof.base.values import take_rows, unique
from tbprof.events.space import Events, Plane, Space

_NO_OP = -1
# An `EagerExecute` event, which is no op, but states how the ops inside it ran.
_MARKER = -2
# The name of a marker that represents the op that it ran.
_CALL = f"{names.EAGER_EXECUTE}: "


def gather_host_ops(space: Space, programs: Programs, gatherer: OpGatherer) -> None:
    """Adds the ops of the host planes, and the time that none of them covers as idle time.

    An event is an op if its name parses to one (see `parse_op_name`), or if it ran an HLO
    instruction (`hlo_op`). Other events between two nested ops are ignored: an op inside another
    one on the same thread is its child, and its time is not part of the other's self time. If eager
    ops have no events of their own (observed on CPU, TensorFlow 2.21), their calls represent them.
    The work of an op may go on after its event (`late_ends`), and lasts until then. Idle time is
    the window from the first to the last op minus the union of all ops of all threads.
    """
    for plane in host_planes(space):
        events, code, ops = find_op_events(plane, programs)
        eager = unique(np.maximum(code[_is_eager(plane, events, code, ops)], _NO_OP)).tolist()
        # Iterators and XLA instructions are never executed eagerly.
        eager = [op for op in eager if op >= 0 and ops[op].category == OpCategory.TENSORFLOW]
        is_eager = np.zeros(len(ops), bool)
        is_eager[eager] = True
        times = events.first_event, events.start_ps, events.duration_ps
        late_code, late = _late_ends(plane, events, code)
        sums, busy, window = sum_by_code(times, code, len(ops), late.spans)
        np.add.at(sums[1], late_code, late.late_ps)
        np.add.at(sums[2], late_code, late.own_ps)
        ran = np.flatnonzero(sums[0])
        count, total, own = sums[:, ran]
        _add(gatherer, [ops[index] for index in ran.tolist()], (count, total, own), is_eager[ran])
        _gather_aggregated(plane, events, gatherer)
        gatherer.add_idle(HOST, window - busy)
        gatherer.host_window_ps += window


def _late_ends(
    plane: Plane, events: Events, code: NDArray[np.int32]
) -> tuple[NDArray[np.int32], LateEnds]:
    """(op of each event that is one and whose work went on after it, their late ends)."""
    late = find_late_ends(plane)
    if not late.source.size:
        return code[:0], late
    rows, late = late.among(events)
    is_op = code[rows] >= 0
    return code[rows[is_op]], take_rows(late, is_op)


def _add(
    gatherer: OpGatherer,
    ops: Sequence[OpName],
    times: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    is_eager: NDArray[np.bool_] | None = None,
) -> None:
    """Adds ops [n] with (occurrences, total time, self time)."""
    sums = dict(zip(("occurrences", "total_ps", "self_ps"), times, strict=True))
    flags = {} if is_eager is None else {"is_eager": is_eager}
    gatherer.add(HOST, [op.name for op in ops], [op.type for op in ops], sums, flags)


def find_op_events(
    plane: Plane, programs: Programs
) -> tuple[Events, NDArray[np.int32], list[OpName]]:
    """(events of a host, the op of each, the ops); events that are no ops have negative numbers."""
    events = host_events(plane, is_kept=False)
    op, ops = _classify(plane, events, programs)
    if (op == _MARKER).any():
        rows = np.flatnonzero(op != _NO_OP)
        events, op = events.select(rows), op[rows]
        _classify_calls(plane, events, op, ops)
    return events, op, ops


def _classify(
    plane: Plane, events: Events, programs: Programs
) -> tuple[NDArray[np.int32], list[OpName]]:
    """(op [n] per event, the ops by name); _NO_OP and _MARKER for other events."""
    ops: list[OpName] = []
    index: dict[str, int] = {}

    def number(named: Sequence[OpName]) -> list[int]:
        positions = [index.setdefault(op.name, len(index)) for op in named]
        for op, position in zip(named, positions, strict=True):
            if position == len(ops):
                ops.append(op)
            elif not ops[position].type:
                ops[position] = op
        return positions

    families = name_families(plane)
    category = families.classify(_category, np.int8)
    used = events.used_types(category.size - 1)
    used = used[category[used] != OpCategory.UNKNOWN]
    texts = plane.strings.take(plane.types.name[used].tolist())
    of_type = np.full(category.size, _NO_OP, np.int32)  # the last: events of no type
    of_type[used] = number(_parsed(texts, category[used]))
    of_type[_is_marker(plane)] = _MARKER
    out: NDArray[np.int32] = events.by_type(of_type)
    if names.HLO_OP in plane.stat_names:
        _classify_hlo(plane, events, programs, out, number)
    if names.STAGE_ID in plane.stat_names:
        _classify_stages(plane, events, out, ops, number)
    return out, ops


def _is_marker(plane: Plane) -> NDArray[np.bool_]:
    """[types + 1] whether events of the type are eager calls."""
    return name_families(plane).classify(names.EAGER_EXECUTE.__eq__, np.bool_)


def _category(text: str) -> OpCategory:
    return parse_op_name(text).category


def _parsed(texts: Sequence[str], category: NDArray[np.int8]) -> list[OpName]:
    """[n] what `parse_op_name` returns for names of these categories, but faster."""
    is_tensorflow = (category == OpCategory.TENSORFLOW).tolist()
    return [
        _tensorflow_op(text) if is_op else parse_op_name(text)
        for text, is_op in zip(texts, is_tensorflow, strict=True)
    ]


@functools.lru_cache(maxsize=NAMES_AT_ONCE)
def _tensorflow_op(text: str) -> OpName:
    if text.endswith(":"):
        return parse_op_name(text)
    return OpName(OpCategory.TENSORFLOW, *text.split(":", 1))


def _classify_hlo(
    plane: Plane,
    events: Events,
    programs: Programs,
    out: NDArray[np.int32],
    number: Callable[[Sequence[OpName]], list[int]],
) -> None:
    """Assigns the framework op of the instruction to events that ran an HLO instruction."""
    texts = plane.types.full_names
    is_end = np.array([text.startswith(names.THUNK_END) for text in [*texts, ""]])
    rows = np.flatnonzero((out == _NO_OP) & ~events.by_type(is_end))
    stats = events.stats([names.HLO_OP, names.HLO_MODULE, names.PROGRAM_ID], rows)
    hlo = stats[names.HLO_OP].texts()
    has_op = hlo >= 0
    rows, hlo = rows[has_op], hlo[has_op]
    module = stats[names.HLO_MODULE].texts()[has_op]
    program = stats[names.PROGRAM_ID].integers(-1)[has_op]
    code, first = group_rows([hlo, module, program])
    ops: list[OpName] = []
    for row in first.tolist():
        instruction = plane.strings[int(hlo[row])].rpartition("::")[2]
        where = (int(program[row]), plane.strings[int(module[row])], instruction)
        op = parse_provenance(programs.op_name(*where))
        if op.category == OpCategory.UNKNOWN:
            type_ = programs.op_type(*where) or UNKNOWN_TYPE
            op = OpName(OpCategory.JAX, op.name or instruction, type_)
        ops.append(op)
    out[rows] = np.array(number(ops), np.int64)[code]


def _classify_calls(
    plane: Plane, events: Events, out: NDArray[np.int32], ops: list[OpName]
) -> None:
    """Turns eager markers of single ops into ops if no op was recorded inside them."""
    markers = np.flatnonzero(out == _MARKER)
    if not markers.size or names.EAGER_OP not in plane.stat_names:
        return
    parent = nest(events.first_event, events.start_ps, events.duration_ps)
    has_op = np.zeros(out.size + 1, np.bool_)
    has_op[parent[out >= 0]] = True
    is_single, called = eager_calls(plane)
    is_op = is_single & (called >= 0) & ~has_op[markers]
    code, first = group_rows([called[is_op]])
    out[markers[is_op]] = len(ops) + code
    texts = plane.strings.take(called[is_op][first].tolist())
    ops.extend(OpName(OpCategory.TENSORFLOW, f"{_CALL}{text}", text) for text in texts)


def _classify_stages(
    plane: Plane,
    events: Events,
    out: NDArray[np.int32],
    ops: Sequence[OpName],
    number: Callable[[Sequence[OpName]], list[int]],
) -> None:
    """Turns each input pipeline stage into its own op, with the stage's category as type."""
    stages = find_input_stages(events, np.flatnonzero(out >= 0))
    code, first = group_rows([out[stages.rows], stages.stage, stages.category])
    stage_ops: list[OpName] = []
    for index in first.tolist():
        op = ops[int(out[stages.rows[index]])]
        type_ = plane.strings[int(stages.category[index])]
        stage_ops.append(OpName(op.category, stages.label(op.name, index), type_))
    out[stages.rows] = np.array(number(stage_ops), np.int64)[code]


def _is_eager(
    plane: Plane, events: Events, code: NDArray[np.int32], ops: Sequence[OpName]
) -> NDArray[np.bool_]:
    """[n] whether an op ran eagerly.

    Grouped files state it in `is_eager`. In other files, an op is eager if the nearest
    `EagerExecute` around it on its thread does not run a function. Markers that represent ops are
    eager.
    """
    eager = np.zeros(len(events), bool)
    if names.EAGER_OP in plane.stat_names:
        eager = np.array([op.name.startswith(_CALL) for op in ops] + [False, False])[code]
    if names.IS_EAGER in plane.stat_names:
        return eager | has_flag(events, names.IS_EAGER)
    if not (code == _MARKER).any():
        return eager
    parent = nest(events.first_event, events.start_ps, events.duration_ps)
    runs = np.full(len(events), -1, np.int64)
    runs[events.rows_of(_is_marker(plane))], _ = eager_calls(plane)
    ran_eagerly: NDArray[np.bool_] = eager | (inherit(parent, runs) == 1)
    return ran_eagerly


def _gather_aggregated(plane: Plane, events: Events, gatherer: OpGatherer) -> None:
    """Adds aggregated events, which have no position and state their self time."""
    merged = events.aggregated
    if not merged.type.size:
        return
    self_column = plane.event_stats(merged.source, [names.SELF_DURATION])[names.SELF_DURATION]
    own_ps = np.where(self_column.is_integer, self_column.bits, merged.duration_ps)
    texts = plane.types.full_names
    ops = [parse_op_name(texts[row] if row >= 0 else "") for row in merged.type.tolist()]
    rows = np.flatnonzero(np.array([op.category for op in ops]) != OpCategory.UNKNOWN)
    times = merged.occurrences[rows], merged.duration_ps[rows], own_ps[rows]
    _add(gatherer, [ops[row] for row in rows.tolist()], times)
