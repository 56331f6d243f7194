"""The ops of a TPU core by kind: an event type is one instruction of one program."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.devices.device_clock import CoreOps, find_core_ops, nesting_order
from tbprof.analysis.spans.groups import group_rows, reduce_groups
from tbprof.analysis.spans.intervals import busy_time
from tbprof.analysis.spans.nesting import nest, self_times
from tbprof.analysis.vocabulary.lines import named_lines
from tbprof.analysis.vocabulary.op_names import UNKNOWN_TYPE, OpCategory, OpName, parse_provenance
from tbprof.base import names
from tbprof.base.lazy import regex
from tbprof.base.records import dataclass
from tbprof.events.space import Plane

UNNAMED = "(unnamed)"
# Stats with the text of an instruction; the last one has only its shape.
INSTRUCTION_TEXTS = ("long_name", "hlo_text", "shape_with_layout")
_NAME = regex(r"%?([A-Za-z_][\w.\-]*)")
# The work of an op, which TPUs state per kind of op or per execution.
WORK = (names.FLOPS, names.MODEL_FLOPS, names.BYTES_ACCESSED)


@dataclass(frozen=True, slots=True)
class TpuKinds:
    """One row per event type that ran; `type` is a row of the plane's types, -1 for unnamed ones.

    Ops of a core nest (a loop contains its body); `self_ps` is the time that no child covers.
    `work` [n, 3] sums the work that events state, in the order of `WORK`; if `has_work` is False,
    only their type states it. The busy time is the union of the ops. The window includes the steps,
    since a core may wait at either end of a step.
    """

    type: NDArray[np.int64]
    occurrences: NDArray[np.int64]
    total_ps: NDArray[np.int64]
    self_ps: NDArray[np.int64]
    work: NDArray[np.int64]
    has_work: NDArray[np.bool_]
    busy_ps: int
    window_ps: int


def find_tpu_kinds(plane: Plane, *lines: str) -> TpuKinds:
    """The kinds of op on the lines with these names, in the order in which they first ran."""
    key = "tpu kinds", *named_lines(plane, *lines)
    return plane.cache.get_or_compute(key, lambda: _find(plane, find_core_ops(plane, *lines)))


def _find(plane: Plane, ops: CoreOps) -> TpuKinds:
    events, has_clock = ops.events, ops.clock.begin.size > 0
    stats = events.stats(WORK)
    start = ops.own_start if has_clock else events.start_ps
    duration = ops.own_duration if has_clock else events.duration_ps
    first = events.first_event
    order = nesting_order(first, start, duration)
    start, duration = start[order], duration[order]
    code, kinds = group_rows([events.type[order].astype(np.int64)])
    parent = nest(first, start, duration)
    count, total, _, _ = reduce_groups(code, duration, kinds.size)
    _, self_ps, _, _ = reduce_groups(code, self_times(parent, start, duration), kinds.size)
    # The work of the event if stated (as for custom calls), else that of its type.
    work = [
        reduce_groups(code, np.maximum(stats[name].integers()[order], 0), kinds.size)[1]
        for name in WORK
    ]
    busy, window = busy_time(first, start, duration)
    merged = events.aggregated
    stat = plane.event_stats(merged.source, [names.SELF_DURATION])[names.SELF_DURATION]
    merged_own = np.where(stat.is_integer, stat.bits, merged.duration_ps)
    merged_work = np.zeros((merged.type.size, len(WORK)), np.int64)
    return TpuKinds(
        np.concatenate([events.type[order][kinds], merged.type]).astype(np.int64),
        np.concatenate([count, merged.occurrences]),
        np.concatenate([total, merged.duration_ps]),
        np.concatenate([self_ps, merged_own]),
        np.concatenate([np.stack(work, axis=1), merged_work]),
        np.repeat([True, False], [kinds.size, merged.type.size]),
        busy,
        window + _beyond(plane, ops),
    )


def _beyond(plane: Plane, ops: CoreOps) -> int:
    """How long the core's steps last before its first op and after its last one, in ps.

    Steps have only the file's times, so they are placed on the clock of the ops.
    """
    steps = plane.events(named_lines(plane, *names.STEP_LINES))
    if not len(steps) or not ops.begin.size:
        return 0
    step_start, step_duration = ops.clock.place(steps.start_ps, steps.duration_ps)
    before = int(ops.begin.min()) - int(step_start.min())
    after = int((step_start + step_duration).max()) - int(ops.end.max())
    return max(before, 0) + max(after, 0)


class TpuOpNames:
    """The framework ops of a plane's event types."""

    def __init__(self, plane: Plane) -> None:
        stats = plane.types.stats([names.TF_OP, names.HLO_CATEGORY])
        self._strings = plane.strings
        self._types = plane.types
        self._provenance = stats[names.TF_OP].texts()
        self._category = stats[names.HLO_CATEGORY].texts()

    def op(self, row: int) -> OpName:
        """The op for tables: the framework op, else the instruction that the compiler added."""
        if row < 0:
            return OpName(OpCategory.UNKNOWN, UNNAMED, UNKNOWN_TYPE)
        op = parse_provenance(self._strings[int(self._provenance[row])])
        if op.name:
            return OpName(op.category, op.name, op.type or UNKNOWN_TYPE)
        label = int(self._types.display_name[row])
        text = self._strings[label if label >= 0 else int(self._types.name[row])]
        # Instructions that the compiler added have no framework op, but an HLO category.
        return OpName(OpCategory.UNKNOWN, text or UNNAMED, self.category(row) or UNKNOWN_TYPE)

    def category(self, row: int) -> str:
        """The HLO category of a type, "" if none is stated."""
        return self._strings[int(self._category[row])] if row >= 0 else ""


def instruction_name(plane: Plane, row: int) -> str:
    """The instruction that events of a type executed: by its text, else the label of the type."""
    if row < 0:
        return UNNAMED
    event = plane.strings[int(plane.types.name[row])]
    label = int(plane.types.display_name[row])
    match = _NAME.match(event)
    written = match[1] if match and " = " in event else ""
    return written or (plane.strings[label] if label >= 0 else "") or event or UNNAMED


def instruction_text(event: str, label: str, stated: Sequence[str]) -> str:
    """The text of an instruction: the event's name, a stat, or one composed of its shape.

    `stated` are the stats `INSTRUCTION_TEXTS`, none without a type.
    """
    for text in (event, *stated[:-1]):
        if " = " in text:
            return text
    return f"%{label} = {stated[-1]}" if stated and stated[-1] else event
