"""Answers the requests of the trace viewer's routes about the timelines of hosts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import numpy as np
import orjson
from numpy.typing import NDArray

from tbprof.base.errors import BadRequest, HostNotFound, NoData, Stale, TbprofError
from tbprof.base.lazy import Later
from tbprof.base.records import dataclass
from tbprof.engine.engine import Engine
from tbprof.engine.timelines.timeline_cache import TimelineCache, VersionedTimeline
from tbprof.engine.timelines.timeline_index import timeline_index
from tbprof.kernels.codes import TILE_SHIFT
from tbprof.storage.runs import Run, TraceFile
from tbprof.timeline.build.busy import busy_shares
from tbprof.timeline.model.counter_points import query_counter
from tbprof.timeline.model.store import Timeline
from tbprof.timeline.tiles.tiles import encode_tiles
from tbprof.timeline.tiles.visible_events import TileFilter, find_visible

if TYPE_CHECKING:
    from tbprof.timeline.calls.call_tree import Order as Order
    from tbprof.timeline.questions.aggregate import By
    from tbprof.timeline.questions.details import EventMove as EventMove
    from tbprof.timeline.questions.steps_of_events import StepWindows
    from tbprof.timeline.search.query import Query as Query

__all__ = ["QUESTIONS", "HostTimeline", "TileFilter", "TileSpan", "open_timeline", "parse_query"]

# The modules of questions are imported late, so that the first view does not wait for them.
_aggregate = Later("tbprof.timeline.questions.aggregate.aggregate")
_call_tree = Later("tbprof.timeline.calls.call_tree.call_tree")
_details = Later("tbprof.timeline.questions.details.details")
_move = Later("tbprof.timeline.questions.details.move")
_flows = Later("tbprof.timeline.questions.flows.flows")
_match_overview = Later("tbprof.timeline.search.search.match_overview")
_search = Later("tbprof.timeline.search.search.search")
parse_query = Later("tbprof.timeline.search.query.parse_query")
_tracks_in_use = Later("tbprof.timeline.questions.tracks_in_use.tracks_in_use")
_step_windows = Later("tbprof.timeline.questions.steps_of_events.step_windows")
_filter = Later("tbprof.timeline.tiles.event_filter.passing_types")
QUESTIONS = (_aggregate, _call_tree, _details, _flows, _search, _filter)

# Half-open; no ranges mean everything.
Ranges = Sequence[tuple[int, int]]

_MOST_CHUNKS = 65_536
_MOST_COUNTED = 4096  # counters times tiles


@dataclass(frozen=True, slots=True)
class TileSpan:
    """Tiles `first` to `last` (excluded) at a level."""

    level: int
    first: int
    last: int

    def within(self, timeline: Timeline) -> tuple[int, int]:
        """(from_ps, to_ps), cut to the timeline, so that no time is out of range."""
        shift = self.level + TILE_SHIFT
        end = timeline.end_ps - timeline.begin_ps + 1
        first, last = (min(tile << shift, end) for tile in (self.first, self.last))
        return timeline.begin_ps + first, timeline.begin_ps + last


class HostTimeline:
    """One part of one host's timeline. Answers are response bodies: JSON, except for tiles."""

    def __init__(
        self, timelines: TimelineCache, file: TraceFile, part: str, versioned: VersionedTimeline
    ) -> None:
        self._timelines, self._file, self._part = timelines, file, part
        self._version, self._open_timeline = versioned.version, versioned.open_timeline
        self._timeline = versioned.open_timeline.timeline

    def index(self) -> bytes:
        """The index: sections, tracks, counters."""
        which = self._file.host, self._part, self._version
        return self._open_timeline.cache.get_or_compute(
            ("index", which), lambda: _json(timeline_index(self._timeline, *which))
        )

    def tiles(self, span: TileSpan, rows: Ranges, only: TileFilter) -> bytes:
        """The tiles of a view, as `encode_tiles` writes them."""
        chosen = _numbers(rows, self._timeline.row_first.size - 1, "row")
        chunks = chosen.size * (span.last - span.first)
        if chunks > _MOST_CHUNKS:
            raise BadRequest(
                f"{chosen.size:,} rows of {span.last - span.first:,} tiles are {chunks:,} chunks",
                f"ask for {_MOST_CHUNKS:,} at a time",
            )
        visible = find_visible(self._open_timeline, only)
        return encode_tiles(self._timeline, visible, span.level, span.first, span.last, chosen)

    def counters(self, span: TileSpan, counters: Ranges) -> bytes:
        """The values of counters in each bucket of some tiles, and before these."""
        chosen = _numbers(counters, len(self._timeline.counters), "counter")
        tiles = span.last - span.first
        if chosen.size * tiles > _MOST_COUNTED:
            raise BadRequest(
                f"{chosen.size:,} counters in {tiles:,} tiles are too many",
                f"ask for {_MOST_COUNTED:,} at a time, or at a coarser level",
            )
        first, last = span.first << TILE_SHIFT, span.last << TILE_SHIFT
        values_by_counter = {}
        for counter in chosen.tolist():
            points = query_counter(self._timeline, counter, span.level, first, last)
            values_by_counter[str(counter)] = {
                "time_ps": points.time_ps,
                "min": points.low,
                "max": points.high,
                "last": points.last,
            }
        return _json({"counters": values_by_counter})

    def busy(self, from_ps: int | None, to_ps: int | None, buckets: int, sections: Ranges) -> bytes:
        """The busy share of each section in equal parts of a window."""
        begin, end = self._window(from_ps, to_ps)
        shares = {
            str(section): busy_shares(self._timeline, section, begin, end, buckets)
            for section in _numbers(sections, len(self._timeline.sections), "section").tolist()
        }
        return _json({"sections": shares})

    def in_use(self, from_ps: int | None, to_ps: int | None) -> bytes:
        """The tracks with events in a window, and the counters with values in it."""
        begin, end = self._window(from_ps, to_ps)
        used = _tracks_in_use(self._open_timeline, begin, end)
        return _json({"tracks": used.tracks, "counters": used.counters})

    def search(
        self,
        query: Query,
        *,
        limit: int,
        after: str,
        from_ps: int | None,
        to_ps: int | None,
    ) -> bytes:
        """A page of the events that match a query."""
        with self._reading_for(query):
            page = _search(
                self._open_timeline, query, limit=limit, after=after, from_ps=from_ps, to_ps=to_ps
            )
        return _json(page)

    def match_overview(self, query: Query, span: TileSpan, rows: Ranges) -> bytes:
        """Where on some rows the events are that match a query."""
        from_ps, to_ps = span.within(self._timeline)
        chosen = _numbers(rows, self._timeline.row_first.size - 1, "row")
        with self._reading_for(query):
            overview = _match_overview(
                self._open_timeline,
                query,
                level=span.level,
                from_ps=from_ps,
                to_ps=to_ps,
                rows=chosen,
            )
        return _json(overview)

    def event(self, event: int, move: EventMove | None) -> bytes:
        """The details of an event, or of the one that a move leads to; null if there is none."""
        steps = self._derived_steps()
        with self._reading():
            target = event if move is None else _move(self._open_timeline, event, move)
            if target is None:
                return _json(None)
            return _json(_details(self._open_timeline, target, steps=steps))

    def flows(self, event: int) -> bytes:
        """The causes and effects of an event."""
        with self._reading():
            return _json(_flows(self._open_timeline, event))

    def aggregate(self, from_ps: int | None, to_ps: int | None, tracks: Ranges, by: By) -> bytes:
        """Sums over a window, by name, category or track."""
        begin, end = self._window(from_ps, to_ps)
        chosen = self._tracks(tracks)
        return _json(
            _aggregate(self._open_timeline, from_ps=begin, to_ps=end, tracks=chosen, by=by)
        )

    def call_tree(
        self,
        from_ps: int | None,
        to_ps: int | None,
        tracks: Ranges,
        order: Order,
        *,
        is_by_track: bool,
    ) -> bytes:
        """The nested events of a window as a tree of calls."""
        begin, end = self._window(from_ps, to_ps)
        tree = _call_tree(
            self._open_timeline, from_ps=begin, to_ps=end, tracks=self._tracks(tracks), order=order,
            is_by_track=is_by_track,
        )  # fmt: skip
        return _json(tree)

    def _derived_steps(self) -> list[StepWindows]:
        """The steps that are derived from the file, whether requested before or not.

        Otherwise answers would depend on the order of requests.
        """
        try:
            derived = self._timelines.open(self._file, "derived")
        except TbprofError:  # the request for that part reports it
            return []
        return [_step_windows(derived.open_timeline, "derived")]

    def _reading(self) -> AbstractContextManager[VersionedTimeline]:
        """A block in which questions about the file share what they decode."""
        return self._timelines.asking(self._file, self._part)

    def _reading_for(self, query: Query) -> AbstractContextManager[object]:
        """Such a block if a query needs the file, which is not needed for names."""
        if query.needs_file:
            return self._reading()
        return nullcontext()

    def _tracks(self, tracks: Ranges) -> list[int] | None:
        """The requested tracks, None for all."""
        return _numbers(tracks, len(self._timeline.tracks), "track").tolist() if tracks else None

    def _window(self, from_ps: int | None, to_ps: int | None) -> tuple[int, int]:
        """The requested window, by default all of the timeline; at least 1 ps."""
        begin = self._timeline.begin_ps if from_ps is None else from_ps
        end = self._timeline.end_ps if to_ps is None else to_ps
        if end < begin:
            raise BadRequest(f"the span from {begin:,} to {end:,} ps ends before it begins")
        return begin, max(end, begin + 1)


def open_timeline(
    engine: Engine, run: str, host: str, part: str, version: str | None
) -> HostTimeline:
    """The timeline, built with the first request; `host` may be empty for a single host.

    Raises RunNotFound, HostNotFound, NoData, and Stale if `version` is outdated.
    """
    file = engine.trace(run, host) or _file(engine.run(run), host)
    if version is not None and version != engine.timelines.version(file, part):
        raise Stale(
            f"the timeline of {file.host} is not of version {version[:80]!r}: its file has changed",
            "request 'timeline' again, and continue with the version that it names",
        )
    return HostTimeline(engine.timelines, file, part, engine.timeline(run, file, part))


def _file(run: Run, host: str) -> TraceFile:
    if not run.files:
        raise NoData(
            f"run {run.name!r} has no trace files",
            "the capture may have failed, or may still be writing: check its log",
        )
    if not host and len(run.files) == 1:
        return run.files[0]
    for file in run.files:
        if file.host == host:
            return file
    first = ", ".join(file.host for file in run.files[:5])
    if not host:
        raise BadRequest(f"run {run.name!r} has several hosts", f"name one: its hosts are {first}")
    raise HostNotFound(f"host {host[:80]!r} is not in run {run.name!r}", f"its hosts are {first}")


def _numbers(ranges: Ranges, size: int, noun: str) -> NDArray[np.int64]:
    """The numbers in the ranges, ascending, each once; all below `size` if there is no range."""
    if not ranges:
        return np.arange(size, dtype=np.int64)
    most = max(last for _, last in ranges)
    if most > size:
        raise BadRequest(f"there is no {noun} {most - 1:,}", f"there are {size:,}, from 0 on")
    mask = np.zeros(size, np.bool_)
    for first, last in ranges:
        mask[first:last] = True
    return np.flatnonzero(mask)


def _json(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
