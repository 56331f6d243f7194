"""Flows between events: keys that both sides of a flow have, sorted once."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.tpu_groups import core_number
from tbprof.analysis.vocabulary.lines import host_planes, process_of
from tbprof.base import names
from tbprof.base.caches import computed_once
from tbprof.base.records import dataclass
from tbprof.base.values import join_tables
from tbprof.events.space import Plane
from tbprof.events.stats import StatColumn
from tbprof.timeline.model.open_timeline import OpenTimeline
from tbprof.timeline.search.stat_search import plane_events

FLOW = "flow"
_STATS = (
    names.CORRELATION_ID,
    names.PRODUCER_TYPE,
    names.PRODUCER_ID,
    names.CONSUMER_TYPE,
    names.CONSUMER_ID,
    names.CONSUMER_PROCESS,
    FLOW,
    names.ASYNC,
    names.RUN_ID,
    names.QUEUE_ID,
    names.DEVICE_ORDINAL,
    names.CORE_TYPE,
)
_DEVICE_PREFIX = "/device:"
# Of the stat `flow` 2 bits are the direction, 56 the id, 6 the category. Source: XFlow in
# xplane_utils.h and xplane_schema.h.
_FLOW_BITS = 56
# Runs of a program are numbered differently on host and device beyond these bits (observed).
_RUN_MASK = (1 << 27) - 1
_EXTRA = 0x7FFFFFFF


class Link(IntEnum):
    """The kind of key of a flow."""

    CORRELATION = 0
    CONTEXT = 1
    FLOW = 2
    RUN = 3


# Sides of a flow: an event may be on both.
FROM = 1
TO = 2
ASYNC = 4


@dataclass(frozen=True, slots=True)
class FlowIndex:
    """The events with keys of flows, ordered by (link, key).

    Those of link k are rows `first[k]:first[k + 1]`. Events belong together if `key` and `extra`
    (other values that must agree) are equal; `side` is FROM, TO or both, with ASYNC for
    asynchronous events. `launch` are the launches with launched work, ascending, and `launch_row`
    their rows.
    """

    first: NDArray[np.int64]
    key: NDArray[np.int64]
    extra: NDArray[np.int32]
    event: NDArray[np.uint32]
    side: NDArray[np.uint8]
    launch_row: NDArray[np.uint32]
    launch: NDArray[np.uint32]

    @property
    def nbytes(self) -> int:
        """The memory of its arrays."""
        columns = (self.first, self.key, self.extra, self.event, self.side)
        return sum(column.nbytes for column in (*columns, self.launch_row, self.launch))

    def rows(self, link: int, key: int, extra: int) -> NDArray[np.int64]:
        """The rows of the events with this key."""
        low, high = int(self.first[link]), int(self.first[link + 1])
        keys = self.key[low:high]
        begin, end = (low + int(np.searchsorted(keys, key, side)) for side in ("left", "right"))
        return np.flatnonzero(self.extra[begin:end] == extra) + begin


@dataclass(frozen=True, slots=True)
class FlowKeys:
    """Collected keys of flows; columns [m]."""

    link: NDArray[np.uint8]
    key: NDArray[np.int64]
    extra: NDArray[np.int32]
    event: NDArray[np.uint32]
    side: NDArray[np.uint8]


_NO_KEYS = FlowKeys(
    np.empty(0, np.uint8), np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.uint32),
    np.empty(0, np.uint8),
)  # fmt: skip


def flow_index(open_timeline: OpenTimeline) -> FlowIndex:
    """The index of a timeline, made on first use: one pass over the events' stats.

    It is cached with the latest answers: for a large trace it takes as much as one or two columns.
    """
    return open_timeline.answers.get_or_compute(
        "flows", lambda: _index(open_timeline), lambda index: index.nbytes
    )


def keys_of(open_timeline: OpenTimeline, event: int) -> FlowKeys:
    """The keys of one event."""
    track = open_timeline.track(open_timeline.row(event))
    source = open_timeline.timeline.source[event : event + 1]
    planes = open_timeline.space.planes if track.plane >= 0 else ()
    if not 0 <= track.plane < len(planes) or source[0] < 0:
        return _NO_KEYS
    plane = planes[track.plane]
    return _read(
        open_timeline, plane, np.array([event], np.uint32), source, _process(open_timeline, plane)
    )


def _index(open_timeline: OpenTimeline) -> FlowIndex:
    pieces = []
    for events in plane_events(open_timeline, is_recorded=True):
        if not events.plane.stat_names.isdisjoint(_STATS):
            process = _process(open_timeline, events.plane)
            for ids, rows in events.pieces(1 << 18):
                source = open_timeline.timeline.source[rows]
                pieces.append(_read(open_timeline, events.plane, ids, source, process))
    keys = join_tables([_NO_KEYS, *pieces])
    parts = [_ordered(keys, link) for link in Link]
    first = np.append(0, np.cumsum([rows.size for rows in parts])).astype(np.int64)
    order = np.concatenate(parts)
    event, side = keys.event[order], keys.side[order]
    key, is_launch = keys.key[order], (side[: first[1]] & FROM) > 0
    launches = np.flatnonzero(is_launch)
    launches = launches[_are_in(key[: first[1]][~is_launch], key[launches])]
    launches = launches[np.argsort(event[launches], kind="stable")]
    launch_row = launches.astype(np.uint32)
    return FlowIndex(first, key, keys.extra[order], event, side, launch_row, event[launches])


def _are_in(known: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """[n] which values are among the ascending `known`."""
    if not known.size:
        return np.zeros(values.size, np.bool_)
    position = np.minimum(np.searchsorted(known, values), known.size - 1)
    is_in: NDArray[np.bool_] = known[position] == values
    return is_in


def _ordered(keys: FlowKeys, link: int) -> NDArray[np.int64]:
    """The rows of a link by key."""
    rows = np.flatnonzero(keys.link == link)
    return rows[np.argsort(keys.key[rows], kind="stable")]


def _process(open_timeline: OpenTimeline, plane: Plane) -> int:
    """The process of a plane; cores do not state theirs: that of the host itself."""
    if names.PROCESS_ID not in plane.stats:
        plane = next(iter(host_planes(open_timeline.space)), plane)
    return process_of(plane)


def _read(
    open_timeline: OpenTimeline,
    plane: Plane,
    ids: NDArray[np.uint32],
    source: NDArray[np.int64],
    process: int,
) -> FlowKeys:
    """The keys of some events of a plane."""
    known = plane.stat_names
    stats = plane.event_stats(source, [name for name in _STATS if name in known])
    return join_tables([
        _NO_KEYS,
        *_correlations(stats, ids, is_device=plane.name.startswith(_DEVICE_PREFIX)),
        *_contexts(stats, ids, process),
        *_flows(stats, ids),
        *_runs(open_timeline, plane, stats, ids),
    ])  # fmt: skip


def _correlations(
    stats: dict[str, StatColumn], ids: NDArray[np.uint32], *, is_device: bool
) -> Iterator[FlowKeys]:
    """A launch on the host and the launched work on a device share a number; 0 for none."""
    if names.CORRELATION_ID in stats:
        stat = stats[names.CORRELATION_ID]
        rows = np.flatnonzero(stat.is_integer & (stat.bits != 0))
        side = np.full(rows.size, TO if is_device else FROM)
        yield _keys(Link.CORRELATION, ids[rows], stat.bits[rows], np.zeros_like(rows), side)


def _contexts(
    stats: dict[str, StatColumn], ids: NDArray[np.uint32], process: int
) -> Iterator[FlowKeys]:
    """Producers and consumers of a context have the same type, id and process."""
    for side, id_name, type_name in (
        (FROM, names.PRODUCER_ID, names.PRODUCER_TYPE),
        (TO, names.CONSUMER_ID, names.CONSUMER_TYPE),
    ):
        if id_name in stats and type_name in stats:
            id_, type_ = stats[id_name], stats[type_name]
            rows = np.flatnonzero(id_.is_integer & type_.is_integer)
            process_of = np.full(rows.size, process)
            if side == TO and names.CONSUMER_PROCESS in stats:
                process_of = stats[names.CONSUMER_PROCESS].integers(process)[rows]
            extra = type_.bits[rows] + 64 * process_of
            yield _keys(Link.CONTEXT, ids[rows], id_.bits[rows], extra, np.full(rows.size, side))


def _flows(stats: dict[str, StatColumn], ids: NDArray[np.uint32]) -> Iterator[FlowKeys]:
    """The stat `flow` of XLA and TFRT; 1 is into the event, 2 out of it, 3 both."""
    if FLOW in stats:
        stat = stats[FLOW]
        rows = np.flatnonzero(stat.is_integer & ((stat.bits & 3) != 0))
        bits = stat.bits[rows]
        side = np.where(bits & 1, TO, 0) + np.where(bits & 2, FROM, 0)
        if names.ASYNC in stats:
            side += np.where(stats[names.ASYNC].integers()[rows] != 0, ASYNC, 0)
        id_ = (bits >> 2) & ((1 << _FLOW_BITS) - 1)
        yield _keys(Link.FLOW, ids[rows], id_, (bits >> (2 + _FLOW_BITS)) & 63, side)


def _runs(
    open_timeline: OpenTimeline, plane: Plane, stats: dict[str, StatColumn], ids: NDArray[np.uint32]
) -> Iterator[FlowKeys]:
    """The launch of a program on a TPU core, and its run there, have the same run, queue and core.

    Callbacks of a run have the same values.
    """
    if names.RUN_ID not in stats or names.QUEUE_ID not in stats:
        return
    is_core = plane.name.startswith(names.TPU_PREFIX)
    rows = np.flatnonzero(stats[names.RUN_ID].is_integer & stats[names.QUEUE_ID].is_integer)
    side = np.full(rows.size, TO)
    if not is_core:
        side = _launch_sides(open_timeline)[open_timeline.timeline.type[ids[rows]]]
    rows, side = rows[side > 0], side[side > 0]
    device = np.full(rows.size, core_number(plane))
    if not is_core and names.DEVICE_ORDINAL in stats:
        device = stats[names.DEVICE_ORDINAL].integers(-1)[rows]
    core = np.zeros(rows.size, np.int64)
    if names.CORE_TYPE in stats:
        core = stats[names.CORE_TYPE].integers()[rows]
    extra = (stats[names.QUEUE_ID].bits[rows] << 16) ^ (device << 4) ^ core
    yield _keys(Link.RUN, ids[rows], stats[names.RUN_ID].bits[rows] & _RUN_MASK, extra, side)


@computed_once
def _launch_sides(open_timeline: OpenTimeline) -> NDArray[np.int64]:
    """[types + 1] FROM for types of launches of programs, TO for their callbacks, else 0."""
    sides = {names.ENQUEUE_PROGRAM: FROM, names.COMPLETE_CALLBACKS: TO}
    return np.array([*(sides.get(name, 0) for name in open_timeline.timeline.types.full_name), 0])


def _keys(
    link: Link,
    event: NDArray[np.uint32],
    key: NDArray[np.int64],
    extra: NDArray[np.int64],
    side: NDArray[np.int64],
) -> FlowKeys:
    low_extra = (extra & _EXTRA).astype(np.int32)
    return FlowKeys(
        np.full(event.size, link, np.uint8), key, low_extra, event, side.astype(np.uint8)
    )
