"""How each part of a file's timeline is built."""

from __future__ import annotations

from tbprof.engine.hosts.space_pool import OpenSpace
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.parts import PartKey
from tbprof.storage.runs import TraceFile
from tbprof.timeline.build.build import build_timeline
from tbprof.timeline.build.derived import find_derived
from tbprof.timeline.build.tracks import find_tracks
from tbprof.timeline.model.store import Timeline


def build_events(_file: TraceFile, _summaries: SummaryCache, open_space: OpenSpace) -> Timeline:
    """What is in the file."""
    space, _, _ = open_space
    return build_timeline(space, find_tracks(space))


def build_derived(file: TraceFile, summaries: SummaryCache, open_space: OpenSpace) -> Timeline:
    """What is derived from it; steps are those of the other pages."""
    space, programs, _ = open_space
    steps = summaries.parts(file, [PartKey("steps", ("",))])["steps"].value
    return build_timeline(space, find_derived(space, programs, steps), has_counters=False)
