"""The routes of timelines: parameters are read here, the engine answers."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

from tbprof.base.digests import blake2b
from tbprof.base.errors import BadRequest
from tbprof.serving.http_requests import Parameters
from tbprof.serving.responses import JSON, TILES, Reply
from tbprof.serving.routes.timeline_parameters import TimelineParameters
from tbprof.serving.service import Service

if TYPE_CHECKING:
    from tbprof.engine.timelines.timeline_requests import (
        EventMove,
        HostTimeline,
        Order,
        Query,
        TileFilter,
        TileSpan,
    )

# The content of a URL with a version never changes.
_FOREVER = "private, max-age=31536000, immutable"
# Tiles are made for one request: compressing them harder takes longer than making them.
_GZIP_LEVEL = 1
_MAX_LEVEL = 52
_MAX_TILE = 1 << 53
_MAX_ID = (1 << 32) - 1
_MAX_HITS = 10_000
_MAX_BUCKETS = 4096
_GROUPINGS: tuple[Literal["name", "category", "track"], ...] = ("name", "category", "track")
_ORDERS: tuple[Order, ...] = ("top_down", "bottom_up")
_MOVES: tuple[EventMove, ...] = (
    "next", "previous", "parent", "child", "next_same", "previous_same", "first_same"
)  # fmt: skip


def _timeline(service: Service, parameters: Parameters) -> Reply:
    request = TimelineParameters(parameters)
    timeline = _open(service, request, is_versioned=False)
    return _reply(timeline.index(), "no-cache")


def _tiles(request: TimelineParameters, timeline: HostTimeline) -> bytes:
    return timeline.tiles(_span(request), request.ranges("rows"), _filter(request))


def _counters(request: TimelineParameters, timeline: HostTimeline) -> bytes:
    return timeline.counters(_span(request), request.ranges("counters"))


def _busy(request: TimelineParameters, timeline: HostTimeline) -> bytes:
    return timeline.busy(
        from_ps=request.time_ps("from_ps"),
        to_ps=request.time_ps("to_ps"),
        buckets=request.integer("buckets", 1, _MAX_BUCKETS, 1),
        sections=request.ranges("sections"),
    )


def _in_use(request: TimelineParameters, timeline: HostTimeline) -> bytes:
    return timeline.in_use(request.time_ps("from_ps"), request.time_ps("to_ps"))


def _search(request: TimelineParameters, timeline: HostTimeline) -> bytes:
    return timeline.search(
        _query(request),
        limit=request.integer("limit", 0, _MAX_HITS, 200),
        after=request.text("after"),
        from_ps=request.time_ps("from_ps"),
        to_ps=request.time_ps("to_ps"),
    )


def _match_overview(request: TimelineParameters, timeline: HostTimeline) -> bytes:
    return timeline.match_overview(_query(request), _span(request), request.ranges("rows"))


def _event(request: TimelineParameters, timeline: HostTimeline) -> bytes:
    move = request.choice("move", _MOVES) if request.text("move") else None
    return timeline.event(request.integer("id", 0, _MAX_ID), move)


def _flows(request: TimelineParameters, timeline: HostTimeline) -> bytes:
    return timeline.flows(request.integer("id", 0, _MAX_ID))


def _aggregate(request: TimelineParameters, timeline: HostTimeline) -> bytes:
    return timeline.aggregate(
        from_ps=request.time_ps("from_ps"),
        to_ps=request.time_ps("to_ps"),
        tracks=request.ranges("tracks"),
        by=request.choice("by", _GROUPINGS),
    )


def _calls(request: TimelineParameters, timeline: HostTimeline) -> bytes:
    return timeline.call_tree(
        from_ps=request.time_ps("from_ps"),
        to_ps=request.time_ps("to_ps"),
        tracks=request.ranges("tracks"),
        order=request.choice("order", _ORDERS),
        is_by_track=request.flag("by_track"),
    )


def _query(request: TimelineParameters) -> Query:
    from tbprof.engine.timelines.timeline_requests import parse_query  # heavy, as the engine is

    text, is_regex, has_case = (
        request.parameters.required("q"),
        request.flag("regex"),
        request.flag("case"),
    )
    query: Query = parse_query(text, is_regex=is_regex, has_case=has_case)
    return query


def _span(request: TimelineParameters) -> TileSpan:
    from tbprof.engine.timelines.timeline_requests import TileSpan

    level = request.integer("level", 0, _MAX_LEVEL)
    first, last = (request.integer(name, 0, _MAX_TILE) for name in ("from", "to"))
    if last <= first:
        raise BadRequest(f"from={first} to={last} is not a range of tiles", "'to' is not included")
    return TileSpan(level, first, last)


def _filter(request: TimelineParameters) -> TileFilter:
    from tbprof.engine.timelines.timeline_requests import TileFilter

    return TileFilter(
        name=request.text("name"),
        is_regex=request.flag("regex"),
        has_case=request.flag("case"),
        categories=request.words("category"),
        min_ps=request.time_ps("min_ps", 0) or 0,
    )


def _open(service: Service, request: TimelineParameters, *, is_versioned: bool) -> HostTimeline:
    from tbprof.engine.timelines.timeline_requests import open_timeline

    part, run = request.part(), request.parameters.required("run")
    return open_timeline(
        service.engine(),
        run,
        request.text("host"),
        part,
        request.text("version") if is_versioned else None,
    )


def _versioned(
    answer: Callable[[TimelineParameters, HostTimeline], bytes], content_type: str = JSON
) -> Callable[[Service, Parameters], Reply]:
    """The handler of a route whose content is a function of its URL."""

    def handle(service: Service, parameters: Parameters) -> Reply:
        request = TimelineParameters(parameters)
        timeline = _open(service, request, is_versioned=True)
        return _reply(answer(request, timeline), _FOREVER, content_type)

    return handle


def _reply(content: bytes, cache_control: str, content_type: str = JSON) -> Reply:
    return Reply(
        content,
        content_type,
        etag=blake2b(content, digest_size=12).hexdigest(),
        cache_control=cache_control,
        gzipped=lambda: gzip.compress(content, _GZIP_LEVEL, mtime=0),
    )


TIMELINE_ROUTES: Mapping[str, Callable[[Service, Parameters], Reply]] = {
    "timeline": _timeline,
    "timeline_tiles": _versioned(_tiles, TILES),
    "timeline_counters": _versioned(_counters),
    "timeline_busy": _versioned(_busy),
    "timeline_in_use": _versioned(_in_use),
    "timeline_search": _versioned(_search),
    "timeline_marks": _versioned(_match_overview),
    "timeline_event": _versioned(_event),
    "timeline_flows": _versioned(_flows),
    "timeline_aggregate": _versioned(_aggregate),
    "timeline_calls": _versioned(_calls),
}
