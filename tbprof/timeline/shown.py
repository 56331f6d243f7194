"""The events that tiles show: all, or those of a filter, with levels of detail of their own."""

from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tbprof.base.jit import kernel
from tbprof.timeline.levels import make_levels, plan_levels
from tbprof.timeline.store import Levels, Timeline

_N = TypeVar("_N", bound=np.generic)

# Rows are made coarser so many events at a time, which bounds what they take on the way.
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Shown:
    """Rows of some events of a timeline: row r has `ids[row_first[r]:row_first[r + 1]]`.

    Where all events are shown `ids` is empty: they are the numbers themselves.
    """

    row_first: NDArray[np.int64]
    ids: NDArray[np.uint32]
    levels: Levels

    @property
    def bytes(self) -> int:
        """How much memory it takes beside the timeline."""
        columns = [getattr(self.levels, field.name) for field in fields(Levels)]
        return sum(column.nbytes for column in (*columns, self.ids)) if self.ids.size else 0


def show_all(timeline: Timeline) -> Shown:
    """All events."""
    return Shown(timeline.row_first, np.empty(0, np.uint32), timeline.levels)


def choose(timeline: Timeline, is_wanted: NDArray[np.bool_], min_ps: int = 0) -> Shown:
    """The events of the types that are wanted [types] that last at least `min_ps`.

    This takes one pass over all events; keep the answer for further views with the same filter.
    """
    rows = timeline.row_first.size - 1
    row_first = np.zeros(rows + 1, np.int64)
    columns = (
        read_only(timeline.row_first), read_only(timeline.type), read_only(timeline.duration_ps),
        is_wanted.astype(np.uint8), min_ps,
    )  # fmt: skip
    _count_chosen(*columns, row_first)
    row_first = np.cumsum(row_first)
    ids = np.empty(int(row_first[-1]), np.uint32)
    _choose(*columns, ids)
    parts = []
    begin = 0
    while begin < rows:
        limit = row_first[begin] + _PIECE
        end = max(begin + 1, int(np.searchsorted(row_first, limit, "right")) - 1)
        first = row_first[begin : end + 1]
        own = ids[first[0] : first[-1]]
        start_ps, duration_ps = timeline.start_ps[own], timeline.duration_ps[own]
        plan = plan_levels(first - first[0], timeline.begin_ps, start_ps, duration_ps)
        made = make_levels(
            plan, first - first[0], own, start_ps, duration_ps, timeline.type[own]
        )  # fmt: skip
        parts.append(made)
        begin = end
    return Shown(row_first, ids, join_levels(parts))


def join_levels(parts: list[Levels]) -> Levels:
    """The levels of consecutive rows, as one."""
    if len(parts) == 1:
        return parts[0]

    def joined(name: str) -> NDArray[Any]:
        empty = np.empty(0, _DTYPES[name])
        return np.concatenate([empty, *(getattr(part, name) for part in parts)])

    def places(name: str) -> NDArray[np.int64]:
        counts = [np.diff(getattr(part, name)) for part in parts]
        return np.concatenate(([0], np.cumsum(np.concatenate([np.empty(0, np.int64), *counts]))))

    return Levels(
        row_first=places("row_first").astype(np.int64),
        first=places("first").astype(np.int64),
        **{name: joined(name) for name in _DTYPES},
    )


_DTYPES: dict[str, Any] = {
    "shift": np.uint8, "start_ps": np.int64, "extent_ps": np.int64, "longest_ps": np.int64,
    "event": np.uint32, "type": np.int32, "count": np.uint32,
}  # fmt: skip


def read_only(array: NDArray[_N]) -> NDArray[_N]:
    """The array as one that cannot be written, as mapped ones are: kernels know but one kind."""
    if not array.flags.writeable:
        return array
    view: NDArray[_N] = array.view()
    view.flags.writeable = False
    return view


@kernel
def _count_chosen(row_first, type_, duration, wanted, min_ps, counted):  # type: ignore[no-untyped-def]
    for row in range(row_first.size - 1):
        for event in range(row_first[row], row_first[row + 1]):
            kind = type_[event]
            is_named = 0 <= kind < wanted.size
            if is_named and wanted[kind] and duration[event] >= min_ps:
                counted[row + 1] += 1


@kernel
def _choose(row_first, type_, duration, wanted, min_ps, ids):  # type: ignore[no-untyped-def]
    at = 0
    for row in range(row_first.size - 1):
        for event in range(row_first[row], row_first[row + 1]):
            kind = type_[event]
            is_named = 0 <= kind < wanted.size
            if is_named and wanted[kind] and duration[event] >= min_ps:
                ids[at] = event
                at += 1
