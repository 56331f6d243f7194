"""Pairs of ops of a TPU core: one starts an asynchronous transfer, the other waits for it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tbprof.analysis.devices.device_clock import find_core_ops
from tbprof.analysis.hlo.awaited import awaited_in, awaited_start
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.tpu.tpu_kinds import find_tpu_kinds, instruction_name
from tbprof.base import names
from tbprof.base.caches import computed_once
from tbprof.base.records import NamedTuple
from tbprof.events.space import Plane

_DONE, _UPDATE = "-done", "-update"


class Pair(NamedTuple):
    """Rows of `TpuKinds`, and the total time from all starts to their ends."""

    start: int
    end: int
    span_ps: int


@computed_once
def find_pairs(plane: Plane, programs: Programs) -> list[Pair]:
    """The pairs of a core that ran, of the kinds on `names.OP_LINES`.

    The text of an end names its start. Programs are used if there is no text, or if there are
    updates between the two.
    """
    types = find_tpu_kinds(plane, *names.OP_LINES).type.tolist()
    program = plane.types.stats([names.PROGRAM_ID])[names.PROGRAM_ID].integers(-1)
    awaited = dict(_awaited(plane, types, program.tolist(), programs))
    if not awaited:
        return []
    number = {
        (int(program[row]), instruction_name(plane, row)): kind
        for kind, row in enumerate(types)
        if row >= 0
    }
    spans = _PairSpans(plane)
    pairs: list[Pair] = []
    for end, name in awaited.items():
        start = number.get((int(program[types[end]]), name))
        span_ps = spans.between(types[start], types[end]) if start is not None else None
        if start is not None and span_ps is not None:
            pairs.append(Pair(start, end, span_ps))
    return pairs


def _awaited(
    plane: Plane, types: list[int], program: list[int], programs: Programs
) -> Iterator[tuple[int, str]]:
    """(kind, the name of its start) of each end."""
    category = plane.types.stats([names.HLO_CATEGORY])[names.HLO_CATEGORY].texts().tolist()
    event, strings = plane.types.name.tolist(), plane.strings
    for kind, row in enumerate(types):
        text = strings[event[row]] if row >= 0 else ""
        if _DONE not in text and (row < 0 or _DONE not in strings[category[row]]):
            continue
        name = awaited_in(text)
        if not name or _UPDATE in name:
            module = programs.module(program[row], "")
            done = module.index.find(instruction_name(plane, row)) if module is not None else -1
            if module is not None and done >= 0:
                start = awaited_start(module, done)
                name = module.name_of(start) if start >= 0 else ""
        if name:
            yield kind, name


def ends_that_state(start: bytes | None, end: bytes | None) -> tuple[bool, bool]:
    """Whether the byte breakdowns of the start and of the end count: only one of two equal ones."""
    if start == end or not (start and end):
        return bool(start), not start and bool(end)
    return True, True


class _PairSpans:
    """Measures the time from the start of one op to the end of the other."""

    def __init__(self, plane: Plane) -> None:
        ops = find_core_ops(plane, *names.OP_LINES)
        order = np.argsort(ops.events.type, kind="stable")
        self._type = ops.events.type[order]
        self._start = ops.own_start[order]
        self._end = self._start + ops.own_duration[order]

    def between(self, start_type: int, end_type: int) -> int | None:
        """The sum over all executions of the end, in ps; None if there is no complete pair.

        The n-th end completes the n-th start. Ends before the first start, and those without a
        start, take as long as a pair on average.
        """
        starts = np.sort(self._start[self._rows(start_type)])
        ends = np.sort(self._end[self._rows(end_type)])
        if not starts.size or not ends.size:
            return None
        first = int(np.searchsorted(ends, starts[0], "right"))
        pairs = min(starts.size, ends.size - first)
        if pairs <= 0:
            return None
        total = int(ends[first : first + pairs].sum()) - int(starts[:pairs].sum())
        return total * int(ends.size) // pairs

    def _rows(self, type_: int) -> slice:
        begin, end = np.searchsorted(self._type, [type_, type_ + 1]).tolist()
        return slice(begin, end)
