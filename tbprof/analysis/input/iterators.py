"""The iterators of a host's input pipelines: types, parameters, and which one feeds which."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.input.iterator_events import IteratorEvents
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.vocabulary import input_names
from tbprof.base import names
from tbprof.base.records import dataclass
from tbprof.events import stats as stat_kinds
from tbprof.events.space import Plane
from tbprof.events.stats import BYTES, StatRows

# Stats that identify a call instead of describing how the iterator was set up.
_OF_CALLS = frozenset({
    names.EXECUTION_ID, "parent_id", names.GROUP_ID, names.STEP_NAME, names.STEP_NUMBER,
    names.IS_EAGER, names.ROOT, names.ASYNC, names.PRODUCER_TYPE, names.PRODUCER_ID,
    names.CONSUMER_TYPE, names.CONSUMER_ID, names.RUN_ID,
})  # fmt: skip
# Reading the stats of single events is slow: parameters are read for this many iterators only.
_MOST_DESCRIBED = 20_000


@dataclass(frozen=True, slots=True)
class Iterators:
    """Iterators [i] in order of their first calls; `of_call` [n] is the iterator of each call.

    `parent` is the iterator that each one feeds, -1 if that was not recorded. `is_root`: the
    program itself calls it. `is_device`: it fetches elements of a host pipeline for a device.
    `is_async`: its threads work ahead. `is_waiting`: its self time is a wait for threads or other
    pipelines. `is_stray`: its parent was not recorded, but another iterator with the parent's name
    was. `stage` [i] is a row of `stage_name`, as in `TfData`. `parameters` are JSON objects as
    text.
    """

    of_call: NDArray[np.int32]
    id: NDArray[np.uint64]
    parent_id: NDArray[np.uint64]
    parent: NDArray[np.int64]
    long_name: list[str]
    type_name: list[str]
    stage: NDArray[np.int32]
    stage_name: list[str]
    is_root: NDArray[np.bool_]
    is_device: NDArray[np.bool_]
    is_async: NDArray[np.bool_]
    is_waiting: NDArray[np.bool_]
    is_stray: NDArray[np.bool_]
    parameters: list[str]

    def waiting_above(self) -> NDArray[np.int64]:
        """Return [i] the nearest recorded iterator above each one that is waiting, -1 for none."""
        up = self.parent.copy()
        for _ in range(_doublings(up.size)):
            goes_on = (up >= 0) & ~self.is_waiting[up]
            up[goes_on] = up[up[goes_on]]
        return np.where((up >= 0) & self.is_waiting[up], up, -1)

    def top(self) -> NDArray[np.int64]:
        """Return [i] the outermost recorded iterator above each; one in the cycle for cycles."""
        up = np.where(self.parent >= 0, self.parent, np.arange(self.parent.size))
        for _ in range(_doublings(up.size)):
            up = up[up]
        return up


def _doublings(size: int) -> int:
    """Return how many pointer doublings traverse a chain of this size."""
    return size.bit_length() + 1


def find_iterators(planes: Sequence[IteratorEvents]) -> Iterators:
    """Return the iterators of the calls; if calls of an id differ, the first call counts."""
    id_ = np.concatenate([events.id for events in planes])
    parent_id = np.concatenate([events.parent_id for events in planes])
    start = np.concatenate([events.calls.start_ps for events in planes])
    order = np.argsort(start, kind="stable")
    code, first = group_rows([id_[order].view(np.int64)])
    of_call = np.empty(order.size, np.int32)
    of_call[order] = code
    last_known = _last_known(planes, order, code, first.size)
    first = order[first]
    by_id = np.argsort(id_[first])
    parents = parent_id[first]
    position = np.minimum(np.searchsorted(id_[first][by_id], parents), by_id.size - 1)
    is_known = (id_[first][by_id[position]] == parents) & (parents != 0)
    # Thousands of iterators have few distinct names.
    names_of = [events.plane.types.name[events.type] for events in planes]
    unique, name = np.unique(np.concatenate(names_of)[first], return_inverse=True)
    texts = planes[0].plane.strings.take(unique.tolist())
    parts = [input_names.parts_of(text) for text in texts]
    recorded = set(parts)
    of_text, stage_name = stages_of(texts)
    types = [text.rpartition("::")[2] for text in stage_name]
    stage = of_text[name]

    def each(holds: Callable[[tuple[str, ...]], bool]) -> NDArray[np.bool_]:
        return np.array([holds(part) for part in parts], np.bool_)[name]

    is_device, is_waiting = each(input_names.is_device_iterator), each(input_names.is_buffered)
    return Iterators(
        of_call,
        id_[first],
        parents,
        np.where(is_known, by_id[position], -1),
        [texts[row] for row in name.tolist()],
        [types[row] for row in stage.tolist()],
        stage,
        stage_name,
        each(lambda path: len(path) == 1),
        is_device,
        is_waiting & ~is_device,
        is_waiting,
        each(lambda path: path[:-1] in recorded) & ~is_known,
        _parameters(planes, last_known),
    )


def stages_of(long_names: Sequence[str]) -> tuple[NDArray[np.int32], list[str]]:
    """Return ([n] the stage of each iterator name, the stage names in order of occurrence)."""
    rows: dict[str, int] = {}
    stage = [rows.setdefault(input_names.stage_name(name), len(rows)) for name in long_names]
    return np.array(stage, np.int32), list(rows)


def _last_known(
    planes: Sequence[IteratorEvents],
    order: NDArray[np.int64],
    code: NDArray[np.int32],
    iterators: int,
) -> NDArray[np.int64]:
    """Return [i] the last call of each iterator, in time `order`, with complete parameters.

    If another thread holds the stage's lock, a call records "unavailable" instead of numbers. An
    iterator without a complete call gets its last call.
    """
    is_complete = np.concatenate([events.is_complete for events in planes])[order]
    last = np.empty(iterators, np.int64)
    last[code] = order
    last[code[is_complete]] = order[is_complete]
    return last


def _parameters(planes: Sequence[IteratorEvents], last: NDArray[np.int64]) -> list[str]:
    """Return [i] the stats of each iterator's call `last` as the text of a JSON object."""
    out = ["{}"] * last.size
    begin = 0
    for events in planes:
        end = begin + events.id.size
        rows = np.flatnonzero((begin <= last[:_MOST_DESCRIBED]) & (last[:_MOST_DESCRIBED] < end))
        texts = _json_texts(events.plane, events.source[last[rows] - begin])
        for row, text in zip(rows.tolist(), texts, strict=True):
            out[row] = text
        begin = end
    return out


def _json_texts(plane: Plane, source: NDArray[np.int64]) -> list[str]:
    """Return the parameters of the events at `source` [n] as texts of JSON objects."""
    stats = plane.stat_rows(source)
    names_of = plane.strings.take(stats.names.tolist())
    is_wanted = np.array([name not in _OF_CALLS for name in names_of] + [False], np.bool_)
    wanted = (is_wanted[stats.name] & (stats.kind != BYTES)).tolist()
    name, kind, bits = stats.name.tolist(), stats.kind.tolist(), stats.bits.tolist()
    out = []
    for begin, end in zip(stats.begin.tolist(), stats.end.tolist(), strict=True):
        values = {
            names_of[name[row]]: _value(stats, names_of, row, kind[row], bits[row])
            for row in range(begin, end)
            if wanted[row]
        }
        out.append(json.dumps({name: value for name, value in values.items() if value is not None}))
    return out


def _value(
    stats: StatRows, names_of: Sequence[str], row: int, kind: int, bits: int
) -> int | float | str | None:
    match kind:
        case stat_kinds.DOUBLE:
            number = float(stats.bits[row].view(np.float64))
            return number if math.isfinite(number) else None
        case stat_kinds.UINT64:
            return bits % 2**64
        case stat_kinds.INT64:
            return bits
        case stat_kinds.REFERENCE:
            return names_of[bits] if bits >= 0 else None
    return stats.text(row)
