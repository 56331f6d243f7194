"""Which step an event is in, by the windows of the steps that a timeline shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from tbprof.base.caches import computed_once
from tbprof.base.records import dataclass
from tbprof.timeline.model.open_timeline import OpenTimeline
from tbprof.timeline.model.store import Timeline


@dataclass(frozen=True, slots=True)
class StepWindows:
    """The tracks of steps of one part of a timeline: ranges of ids, by the section's name.

    `number` is the number of each label's step in the job, by the first start.
    """

    part: str
    timeline: Timeline
    tracks: list[tuple[str, int, int]]
    number: dict[str, int]


@computed_once
def step_windows(open_timeline: OpenTimeline, part: str) -> StepWindows:
    """The steps of the timeline of a part; none if it has no step tracks."""
    timeline = open_timeline.timeline
    tracks = []
    starts: dict[str, int] = {}
    for track in timeline.tracks:
        if track.kind != "steps" or not track.rows:
            continue
        first, last = timeline.row_first[track.first_row : track.first_row + 2].tolist()
        tracks.append((timeline.sections[track.section].name, first, last))
        for event in range(first, last):
            label = _label(timeline, event)
            start = int(timeline.start_ps[event])
            starts[label] = min(start, starts.get(label, start))
    order = sorted(starts, key=lambda label: (starts[label], label))
    return StepWindows(part, timeline, tracks, {label: index for index, label in enumerate(order)})


def step_of_event(windows: StepWindows, section: str, start_ps: int) -> dict[str, Any] | None:
    """The step in which an event of a section starts: its label, id, part and number.

    The section's own steps count first, then those of other sections, in their order.
    """
    tracks = sorted(windows.tracks, key=lambda track: track[0] != section)
    timeline = windows.timeline
    for _, first, last in tracks:
        starts = timeline.start_ps[first:last]
        event = first + int(np.searchsorted(starts, start_ps, "right")) - 1
        if event >= first and start_ps < timeline.start_ps[event] + timeline.duration_ps[event]:
            return step_of(windows, event)
    return None


def step_of(windows: StepWindows, event: int) -> dict[str, Any]:
    """The step of an event on a step track of the windows' own timeline."""
    label = _label(windows.timeline, event)
    return {
        "label": label, "id": event, "part": windows.part, "number": windows.number.get(label, -1)
    }  # fmt: skip


def _label(timeline: Timeline, event: int) -> str:
    type_ = int(timeline.type[event])
    return timeline.types.name[type_] if type_ >= 0 else ""
