"""The positions of search results on their rows, at the resolution of the view."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.errors import BadRequest
from tbprof.kernels.timeline.hit_rows import find_spans
from tbprof.timeline.model.open_timeline import OpenTimeline
from tbprof.timeline.search.search_results import SearchResults

_MOST_SPANS = 1 << 22
_MOST_LEVEL = 62


def overview_spans(
    open_timeline: OpenTimeline,
    results: SearchResults,
    level: int,
    from_ps: int,
    to_ps: int,
    rows: NDArray[np.int64],
) -> dict[int, NDArray[np.int64]]:
    """Per row [m, 2] begin and end of spans of the results that overlap [from_ps, to_ps).

    Results that touch one bucket of 2^level ps are one span, from the first start to the last end.
    The time taken depends on the number of buckets, not on that of results. Rows without results,
    and rows that do not exist, are left out. Raises BadRequest if there would be too many spans.
    """
    columns, timeline = open_timeline.columns, open_timeline.timeline
    level = max(0, min(level, _MOST_LEVEL))
    rows = rows[(rows >= 0) & (rows < columns.row_first.size - 1)]
    from_ps, to_ps = max(from_ps, timeline.begin_ps), min(to_ps, timeline.end_ps + 1)
    # One that begins before the window, and one for each bucket.
    buckets = max(0, to_ps - from_ps) // (1 << level) + 3
    room = np.minimum(results.row_first[rows + 1] - results.row_first[rows], buckets)
    if room.sum() > _MOST_SPANS:
        raise BadRequest(
            f"up to {int(room.sum()):,} marks on {rows.size:,} rows",
            f"ask for fewer rows or a coarser level: at most {_MOST_SPANS:,} marks",
        )
    first = np.append(0, np.cumsum(room)).astype(np.int64)
    spans = np.empty((int(first[-1]), 2), np.int64)
    count = np.zeros(rows.size, np.int64)
    view = (timeline.begin_ps, level, from_ps, to_ps)
    find_spans(
        results.event, results.row_first, columns.start_ps, columns.duration_ps, columns.crowded,
        rows, view, first, spans, count,
    )  # fmt: skip
    return {
        row: spans[begin : begin + size]
        for row, begin, size in zip(rows.tolist(), first[:-1].tolist(), count.tolist(), strict=True)
        if size
    }
