"""The causes and effects of an event: launches, producers, flows of asynchronous work."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.context_links import CROWD
from tbprof.timeline.model.open_timeline import OpenTimeline
from tbprof.timeline.questions.flow_index import (
    ASYNC,
    FROM,
    TO,
    FlowIndex,
    Link,
    flow_index,
    keys_of,
)
from tbprof.timeline.questions.nearby import enclosed

_KINDS = {
    Link.CORRELATION: "launch",
    Link.CONTEXT: "produce",
    Link.FLOW: "flow",
    Link.RUN: "launch",
}

# The rows at both ends of flows.
_Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]


def flows(open_timeline: OpenTimeline, event: int, limit: int = 200) -> dict[str, Any]:
    """The flows of one event, `total` of them; the first `limit` by time.

    Kinds are `launch` (of work on a device), `produce` (a context that producer and consumer
    share), `flow` and `async` (the stat `flow`, with its complete chain; `async` for asynchronous
    events). For an event without flows, the launches that it encloses on its track are returned,
    and `is_enclosed` is true. Derived events have none. Raises EventNotFound if there is no such
    event.

        Python   |oooooooo           flows of o: l to k, enclosed
                 |.ll                flows of l, and of k: l to k
        Stream   |......kkk
    """
    index = flow_index(open_timeline)
    keys = keys_of(open_timeline, event)
    flow_kinds: dict[tuple[int, int], str] = {}
    total = 0
    for link, key, extra in zip(
        keys.link.tolist(), keys.key.tolist(), keys.extra.tolist(), strict=True
    ):
        of_key, count = _of_key(open_timeline, index, (Link(link), key, extra), event, limit)
        total += count - len(of_key.keys() & flow_kinds.keys())
        flow_kinds = {**of_key, **flow_kinds}
    is_enclosed = not flow_kinds
    if is_enclosed:
        flow_kinds, total = _enclosed(open_timeline, index, event, limit)
    start = open_timeline.timeline.start_ps
    pairs = sorted(flow_kinds, key=lambda pair: (int(start[pair[0]]), int(start[pair[1]]), pair))
    return {
        "flows": [
            {
                "kind": flow_kinds[pair],
                "from": open_timeline.place(pair[0]),
                "to": open_timeline.place(pair[1]),
            }
            for pair in pairs[:limit]
        ],
        "total": total,
        "is_enclosed": is_enclosed and total > 0,
    }


def _of_key(
    open_timeline: OpenTimeline,
    index: FlowIndex,
    key: tuple[Link, int, int],
    event: int,
    limit: int,
) -> tuple[dict[tuple[int, int], str], int]:
    """(kind by (from, to) of up to `limit` flows of an event by one key, their number).

    For `flow` stats, all flows with that key.
    """
    rows = index.rows(*key)
    ids, side = index.event[rows].astype(np.int64), index.side[rows]
    order = np.lexsort((ids, open_timeline.timeline.start_ps[ids]))
    ids, side = ids[order], side[order]
    if key[0] == Link.FLOW:
        maker_rows, user_rows = _chain(side)
        near = np.argsort(np.abs(maker_rows - int(np.argmax(ids == event))), kind="stable")
        maker_rows, user_rows = maker_rows[near], user_rows[near]
    elif key[0] == Link.CONTEXT:
        maker_rows, user_rows = _shared(ids, side, event)
    else:
        maker_rows, user_rows = _launched(side)
        keeps = (ids[maker_rows] == event) | (ids[user_rows] == event)
        maker_rows, user_rows = maker_rows[keeps], user_rows[keeps]
    keeps = ids[maker_rows] != ids[user_rows]
    maker_rows, user_rows = maker_rows[keeps], user_rows[keeps]
    total, maker_rows, user_rows = maker_rows.size, maker_rows[:limit], user_rows[:limit]
    is_async = (side[maker_rows] & side[user_rows] & ASYNC) > 0
    pairs = zip(ids[maker_rows].tolist(), ids[user_rows].tolist(), is_async.tolist(), strict=True)
    return {(a, b): "async" if both else _KINDS[key[0]] for a, b, both in pairs}, total


def _launched(side: NDArray[np.uint8]) -> _Pairs:
    """Launches and what they launched; a reused number belongs to the latest launch.

    Clocks of devices may run ahead: work before any launch belongs to the first.
    """
    makers, users = np.flatnonzero(side & FROM), np.flatnonzero(side & TO)
    if not makers.size:
        return makers, makers
    return makers[np.maximum(np.searchsorted(makers, users) - 1, 0)], users


def _shared(ids: NDArray[np.int64], side: NDArray[np.uint8], event: int) -> _Pairs:
    """The producers of a context that an event consumes, or the consumers of what it produces."""
    makers, users = np.flatnonzero(side & FROM), np.flatnonzero(side & TO)
    if makers.size >= CROWD and users.size >= CROWD:  # such a context shows nothing
        return makers[:0], users[:0]
    own_makers = makers[ids[makers] == event]
    own_users = users[ids[users] == event]
    maker_rows = np.concatenate(
        [np.repeat(own_makers, users.size), np.repeat(makers, own_users.size)]
    )
    other = np.concatenate([np.tile(users, own_makers.size), np.tile(own_users, makers.size)])
    return maker_rows, other


def _chain(side: NDArray[np.uint8]) -> _Pairs:
    """For each event that a flow enters, the latest event before it that the flow leaves."""
    rows = np.arange(side.size)
    latest = np.maximum.accumulate(np.where(side & FROM, rows, -1))
    before = np.append(-1, latest)[: side.size]
    users = np.flatnonzero(((side & TO) > 0) & (before >= 0))
    return before[users], users


def _enclosed(
    open_timeline: OpenTimeline, index: FlowIndex, event: int, limit: int
) -> tuple[dict[tuple[int, int], str], int]:
    """(the first launches that an event encloses, how many there are)."""
    rows = [
        index.launch_row[np.searchsorted(index.launch, low) : np.searchsorted(index.launch, high)]
        for low, high in enclosed(open_timeline, event)
    ]
    every = np.concatenate([np.empty(0, np.uint32), *rows])
    start = open_timeline.timeline.start_ps[index.event[every]]
    flow_kinds: dict[tuple[int, int], str] = {}
    for row in every[np.argsort(start, kind="stable")][:limit].tolist():
        key = (Link.CORRELATION, int(index.key[row]), int(index.extra[row]))
        flow_kinds.update(_of_key(open_timeline, index, key, int(index.event[row]), limit)[0])
    return flow_kinds, max(every.size, len(flow_kinds))
