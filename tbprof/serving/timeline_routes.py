"""The routes of timelines: their parameters are read here, and answered by the engine."""

import gzip
import hashlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

from tbprof.base.errors import BadRequest
from tbprof.serving.requests import Parameters
from tbprof.serving.responses import JSON, TILES, Reply
from tbprof.serving.service import Service
from tbprof.serving.timeline_parameters import TimelineParameters

if TYPE_CHECKING:
    from tbprof.engine.timelines.timeline_requests import (
        HostTimeline,
        Move,
        Query,
        TileFilter,
        TileSpan,
    )

# What a URL with a version says is said once and for all.
_FOREVER = "private, max-age=31536000, immutable"
# Tiles are made for one request: compressing them harder takes longer than making them.
_GZIP_LEVEL = 1
_MAX_LEVEL = 52
_MAX_TILE = 1 << 53
_MAX_ID = (1 << 32) - 1
_MAX_HITS = 10_000
_MAX_BUCKETS = 4096
_GROUPINGS: tuple[Literal["name", "category", "track"], ...] = ("name", "category", "track")
_MOVES: "tuple[Move, ...]" = (
    "next", "previous", "parent", "child", "next_same", "previous_same", "first_same"
)  # fmt: skip

Asked = TimelineParameters


def _timeline(service: Service, parameters: Parameters) -> Reply:
    asked = Asked(parameters)
    opened = _open(service, asked, is_versioned=False)
    return _reply(opened.index(), "no-cache")


def _tiles(asked: Asked, opened: "HostTimeline") -> bytes:
    return opened.tiles(_span(asked), asked.ranges("rows"), _filter(asked))


def _counters(asked: Asked, opened: "HostTimeline") -> bytes:
    return opened.counters(_span(asked), asked.ranges("counters"))


def _busy(asked: Asked, opened: "HostTimeline") -> bytes:
    return opened.busy(
        from_ps=asked.time_ps("from_ps"),
        to_ps=asked.time_ps("to_ps"),
        buckets=asked.integer("buckets", 1, _MAX_BUCKETS, 1),
        sections=asked.ranges("sections"),
    )


def _search(asked: Asked, opened: "HostTimeline") -> bytes:
    return opened.search(
        _query(asked),
        limit=asked.integer("limit", 0, _MAX_HITS, 200),
        after=asked.text("after"),
        from_ps=asked.time_ps("from_ps"),
        to_ps=asked.time_ps("to_ps"),
    )


def _match_overview(asked: Asked, opened: "HostTimeline") -> bytes:
    return opened.match_overview(_query(asked), _span(asked), asked.ranges("rows"))


def _event(asked: Asked, opened: "HostTimeline") -> bytes:
    how = asked.choice("move", _MOVES) if asked.text("move") else None
    return opened.event(asked.integer("id", 0, _MAX_ID), how)


def _flows(asked: Asked, opened: "HostTimeline") -> bytes:
    return opened.flows(asked.integer("id", 0, _MAX_ID))


def _aggregate(asked: Asked, opened: "HostTimeline") -> bytes:
    return opened.aggregate(
        from_ps=asked.time_ps("from_ps"),
        to_ps=asked.time_ps("to_ps"),
        tracks=asked.ranges("tracks"),
        by=asked.choice("by", _GROUPINGS),
    )


def _query(asked: Asked) -> "Query":
    from tbprof.engine.timelines.timeline_requests import parse_query  # heavy, as the engine is

    text, is_regex, has_case = asked.of.required("q"), asked.flag("regex"), asked.flag("case")
    query: Query = parse_query(text, is_regex=is_regex, has_case=has_case)
    return query


def _span(asked: Asked) -> "TileSpan":
    from tbprof.engine.timelines.timeline_requests import TileSpan

    level = asked.integer("level", 0, _MAX_LEVEL)
    first, last = (asked.integer(name, 0, _MAX_TILE) for name in ("from", "to"))
    if last <= first:
        raise BadRequest(f"from={first} to={last} are no tiles", "'to' is not included")
    return TileSpan(level, first, last)


def _filter(asked: Asked) -> "TileFilter":
    from tbprof.engine.timelines.timeline_requests import TileFilter

    return TileFilter(
        name=asked.text("name"),
        is_regex=asked.flag("regex"),
        has_case=asked.flag("case"),
        categories=asked.words("category"),
        min_ps=asked.time_ps("min_ps", 0) or 0,
    )


def _open(service: Service, asked: Asked, *, is_versioned: bool) -> "HostTimeline":
    from tbprof.engine.timelines.timeline_requests import open_timeline

    part, run = asked.part(), asked.of.required("run")
    return open_timeline(
        service.engine(),
        run,
        asked.text("host"),
        part,
        asked.text("version") if is_versioned else None,
    )


def _versioned(
    answer: Callable[[Asked, "HostTimeline"], bytes], content_type: str = JSON
) -> Callable[[Service, Parameters], Reply]:
    """The handler of a route whose content is a function of its URL."""

    def handle(service: Service, parameters: Parameters) -> Reply:
        asked = Asked(parameters)
        opened = _open(service, asked, is_versioned=True)
        return _reply(answer(asked, opened), _FOREVER, content_type)

    return handle


def _reply(content: bytes, cache_control: str, content_type: str = JSON) -> Reply:
    return Reply(
        content,
        content_type,
        etag=hashlib.blake2b(content, digest_size=12).hexdigest(),
        cache_control=cache_control,
        gzipped=lambda: gzip.compress(content, _GZIP_LEVEL, mtime=0),
    )


TIMELINE_ROUTES: Mapping[str, Callable[[Service, Parameters], Reply]] = {
    "timeline": _timeline,
    "timeline_tiles": _versioned(_tiles, TILES),
    "timeline_counters": _versioned(_counters),
    "timeline_busy": _versioned(_busy),
    "timeline_search": _versioned(_search),
    "timeline_marks": _versioned(_match_overview),
    "timeline_event": _versioned(_event),
    "timeline_flows": _versioned(_flows),
    "timeline_aggregate": _versioned(_aggregate),
}
