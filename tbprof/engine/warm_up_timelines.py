"""Asks a small timeline everything that pages ask, so that the kernels of the answers are ready."""

from typing import get_args

import numpy as np

from tbprof.analysis.hlo import Programs
from tbprof.analysis.steps import Steps
from tbprof.events.space import Space
from tbprof.timeline.aggregate import By, aggregate
from tbprof.timeline.build import build_timeline
from tbprof.timeline.busy import busy_shares
from tbprof.timeline.counter_points import query_counter
from tbprof.timeline.derived import find_derived
from tbprof.timeline.details import Move, details, move
from tbprof.timeline.flows import flows
from tbprof.timeline.kept import freeze
from tbprof.timeline.opened import OpenTimeline
from tbprof.timeline.search import marks, search
from tbprof.timeline.shown import choose, show_all
from tbprof.timeline.tiles import encode_tiles
from tbprof.timeline.tracks import find_tracks

_SEARCHES = ("a", "arg:flops=1", "source:a", "category:compute", "whole:kernel", "kernel:kernel")

# About so many events are asked about: all of a small timeline.
_EVENTS = 64


def ask_timelines(space: Space, programs: Programs, steps: Steps) -> None:
    """Builds both parts of the timeline of a space, and asks them."""
    for timeline in (
        build_timeline(space, find_derived(space, programs, steps), has_counters=False),
        build_timeline(space, find_tracks(space)),
    ):
        _ask(OpenTimeline(freeze(timeline), lambda: space))


def _ask(opened: OpenTimeline) -> None:
    timeline = opened.timeline
    rows = np.arange(timeline.row_first.size - 1)
    end_ps = timeline.end_ps
    for shown in (
        show_all(timeline),
        choose(timeline, np.ones(len(timeline.types.name), np.bool_)),
    ):
        encode_tiles(timeline, shown, 0, 0, 1, rows)
    busy_shares(timeline, 0, timeline.begin_ps, end_ps, 2)
    if timeline.counters:
        query_counter(timeline, 0, 20, timeline.begin_ps, end_ps)
    for text in _SEARCHES:
        search(opened, text, from_ps=timeline.begin_ps, to_ps=end_ps)
        marks(opened, text, level=0, from_ps=timeline.begin_ps, to_ps=end_ps, rows=rows)
    search(opened, "a.*b", is_regex=True)
    for by in get_args(By):
        aggregate(opened, from_ps=timeline.begin_ps, to_ps=end_ps, by=by)
    events = timeline.start_ps.size
    for event in range(0, events, max(1, events // _EVENTS)):
        details(opened, event)
        flows(opened, event)
        for how in get_args(Move):
            move(opened, event, how)
