"""Search over all events of a timeline: counts, positions, and the events in time order."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.base import names
from tbprof.base.errors import BadRequest
from tbprof.base.values import union
from tbprof.timeline.model.category_names import CATEGORIES
from tbprof.timeline.model.open_timeline import OpenTimeline
from tbprof.timeline.model.store import TypeTable
from tbprof.timeline.search.match_overview import overview_spans
from tbprof.timeline.search.query import Query, text_test
from tbprof.timeline.search.rows import row_ids
from tbprof.timeline.search.search_results import (
    SearchResults,
    count_by_track,
    count_types,
    events_of_types,
    in_range,
    next_results,
    results_of,
)
from tbprof.timeline.search.stat_search import events_from_source, events_with_stat

# The results of one page.
MOST_RESULTS = 10_000
# Stands for a stat in details: the full name, if another one is shown.
_LONG_NAME = "long_name"
_EVER = (-(1 << 62), 1 << 62)


def search(
    open_timeline: OpenTimeline,
    query: Query,
    *,
    limit: int = 200,
    after: str = "",
    from_ps: int | None = None,
    to_ps: int | None = None,
) -> dict[str, Any]:
    """One page of the events that match a query, in time order, and their total number.

    `count` events of `types` different names; `tracks` by id; `cursor` asks for the next page as
    `after`, "" on the last one. With a range, only events count that overlap [from_ps, to_ps). An
    empty query finds nothing.
    """
    begin = _EVER[0] if from_ps is None else from_ps
    end = _EVER[1] if to_ps is None else to_ps
    follows = _parse_cursor(after)
    results = find_results(open_timeline, query, within=(begin, end))
    size = max(0, min(limit, MOST_RESULTS))
    page = next_results(open_timeline.columns, results, follows, size + 1).tolist()
    return {
        "count": len(results),
        "types": count_types(open_timeline, results),
        "hits": [open_timeline.place(event) for event in page[:size]],
        "cursor": _cursor(open_timeline, page[size - 1]) if len(page) > size > 0 else "",
        "tracks": {
            str(track): count for track, count in count_by_track(open_timeline, results).items()
        },
        "error": None,
    }


def match_overview(
    open_timeline: OpenTimeline,
    query: Query,
    *,
    level: int,
    from_ps: int,
    to_ps: int,
    rows: Sequence[int] | NDArray[np.int64],
) -> dict[str, Any]:
    """The positions of results on some rows: spans [begin, end] that overlap [from_ps, to_ps).

    Results in one bucket of 2^level ps, counted from the timeline's begin, are one span. Rows
    without results are left out.
    """
    results = find_results(open_timeline, query)
    spans = overview_spans(
        open_timeline, results, level, from_ps, to_ps, np.asarray(rows, np.int64)
    )
    return {"rows": {str(row): row_spans.tolist() for row, row_spans in spans.items()}}


def find_results(
    open_timeline: OpenTimeline, query: Query, *, within: tuple[int, int] = _EVER
) -> SearchResults:
    """The events that match a query; those of the latest few queries are cached."""
    if query.is_empty:
        return results_of(open_timeline.columns, np.empty(0, np.uint32))
    if within == _EVER:
        return _kept(open_timeline, query, lambda: _find(open_timeline, query))

    def find_within() -> SearchResults:
        return in_range(open_timeline.columns, find_results(open_timeline, query), *within)

    return _kept(open_timeline, (query, within), find_within)


def _kept(
    open_timeline: OpenTimeline, key: Hashable, find: Callable[[], SearchResults]
) -> SearchResults:
    return open_timeline.answers.get_or_compute(key, find, lambda results: results.nbytes)


def matching_types(types: TypeTable, query: Query) -> NDArray[np.bool_]:
    """[types + 1] which types the query matches, by name or category; the last is for no type."""
    if query.scope == "category":
        return _of_category(types, _categories(query))
    is_whole = query.scope == "whole"
    test = _by_text(text_test(query), [*types.name, *types.full_name])
    patterns = [
        test[name] or ((is_whole or not is_instruction(full)) and test[full])
        for name, full in zip(types.name, types.full_name, strict=True)
    ]
    is_named = np.array([*patterns, False], np.bool_)
    if query.category:
        is_named &= _of_category(types, _category_named(query.category))
    return is_named


def _of_category(types: TypeTable, is_wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """[types + 1] which types are of the wanted categories."""
    return np.append(is_wanted[types.category], np.False_)


def is_instruction(full_name: str) -> bool:
    """Whether a full name is the text of an HLO instruction, which names its operands, too."""
    return full_name.startswith("%") and " = " in full_name


def _by_text(
    test: Callable[[Sequence[str]], NDArray[np.bool_]], texts: Iterable[str]
) -> dict[str, bool]:
    """The result of a test for each text, computed once per text."""
    unique = list(dict.fromkeys(texts))
    return dict(zip(unique, test(unique).tolist(), strict=True))


def _categories(query: Query) -> NDArray[np.bool_]:
    if query.is_regex:
        return text_test(query)([name for name, _ in CATEGORIES])
    return _category_named(query.text)


def _category_named(text: str) -> NDArray[np.bool_]:
    names = [name for name, _ in CATEGORIES]
    if text.casefold() not in names:
        raise BadRequest(
            f"there is no category {text[:80]!r}", f"categories are {', '.join(names)}"
        )
    return np.array([name == text.casefold() for name in names], np.bool_)


def _find(open_timeline: OpenTimeline, query: Query) -> SearchResults:
    if query.row is not None:
        ids = row_ids(
            open_timeline.timeline, open_timeline.space, open_timeline.programs, query.row
        )
        return results_of(open_timeline.columns, ids.astype(np.uint32))
    if query.scope == "arg":
        matches = events_with_stat(open_timeline, query)
        if query.key.casefold() == _LONG_NAME:
            longer = events_of_types(
                open_timeline.columns, _long_names(open_timeline.timeline.types, query)
            ).event
            matches = union(matches, longer)
        return results_of(open_timeline.columns, matches)
    if query.scope == "source":
        matches = events_from_source(open_timeline, query)
        frames = events_of_types(
            open_timeline.columns, _frames(open_timeline.timeline.types, query)
        ).event
        return results_of(open_timeline.columns, union(matches, frames))
    return events_of_types(
        open_timeline.columns, matching_types(open_timeline.timeline.types, query)
    )


def _frames(types: TypeTable, query: Query) -> NDArray[np.bool_]:
    """[types + 1] which types are Python frames in the requested source.

    Their names contain the location: `$file.py:12 function`.
    """
    frames = [name for name in types.name if name.startswith(names.PYTHON_FRAME)]
    test = _by_text(text_test(query), frames)
    return np.array([*(test.get(name, False) for name in types.name), False], np.bool_)


def _long_names(types: TypeTable, query: Query) -> NDArray[np.bool_]:
    """[types + 1] which types have a separate full name that matches."""
    test = _by_text(text_test(query), types.full_name)
    full_names = [
        name != full and test[full] for name, full in zip(types.name, types.full_name, strict=True)
    ]
    return np.array([*full_names, False], np.bool_)


def _parse_cursor(text: str) -> tuple[int, int] | None:
    if not text:
        return None
    start, _, event = text.rpartition(".")
    digits = start.removeprefix("-")
    if not (digits.isdecimal() and event.isdecimal() and text.isascii() and len(text) < 32):
        raise BadRequest(
            f"after={text[:80]!r} is not a cursor", "use the cursor of the page before"
        )
    return int(start), int(event)


def _cursor(open_timeline: OpenTimeline, event: int) -> str:
    return f"{int(open_timeline.timeline.start_ps[event])}.{event}"
