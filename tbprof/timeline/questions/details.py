"""Everything about one event: its data in the file, the events around it, and similar events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from tbprof.analysis.host.late_ends import find_late_ends
from tbprof.base import names
from tbprof.base.errors import BadRequest
from tbprof.timeline.model.category_names import CATEGORIES
from tbprof.timeline.model.open_timeline import OpenTimeline, shorten
from tbprof.timeline.model.store import Track
from tbprof.timeline.questions.event_facts import Facts, find_hlo, find_source_location, read_facts
from tbprof.timeline.questions.event_links import find_page_links
from tbprof.timeline.questions.nearby import children, enclosing
from tbprof.timeline.questions.same_name import find_same_name, same_name
from tbprof.timeline.questions.stat_text import ShownStat, read_stats
from tbprof.timeline.questions.steps_of_events import (
    StepWindows,
    step_of,
    step_of_event,
    step_windows,
)
from tbprof.timeline.search.search_results import next_results, previous_result

EventMove = Literal[
    "next", "previous", "parent", "child", "next_same", "previous_same", "first_same"
]  # fmt: skip
MOVES: tuple[EventMove, ...] = get_args(EventMove)

_MOST_FRAMES = 256


def details(
    open_timeline: OpenTimeline, event: int, *, steps: Sequence[StepWindows] = ()
) -> dict[str, Any]:
    """All about an event; its `step` is the first found in `steps`, else in this timeline.

    `self_ps` is what its direct children on the track leave. `same_name` covers the events of the
    same name and kind. Raises EventNotFound if there is no such event.
    """
    row = open_timeline.row(event)
    track, timeline = open_timeline.track(row), open_timeline.timeline
    facts = read_facts(open_timeline, event)
    around = enclosing(open_timeline, event)
    duration = int(timeline.duration_ps[event])
    step = _step(open_timeline, event, track, steps)
    type_ = int(timeline.type[event])
    source = int(timeline.source[event])
    return {
        **open_timeline.place(event),
        "full_name": facts.name,
        "category": CATEGORIES[timeline.types.category[type_] if type_ >= 0 else 0][0],
        "depth": row - track.first_row,
        "self_ps": duration - children(open_timeline, event).covered_ps,
        "stack": [
            {"id": frame, "name": shorten(open_timeline.name(frame))}
            for frame in around[-_MOST_FRAMES:]
        ],
        "step": step,
        "stats": [
            stat.as_json()
            for stat in (*_late_work(facts, source), *read_stats([*facts.own, *facts.shared]))
        ],
        "hlo": find_hlo(open_timeline, facts),
        "source": find_source_location(open_timeline, facts),
        "same_name": same_name(open_timeline, event),
        "links": find_page_links(open_timeline, facts, step),
    }


def _late_work(facts: Facts, source: int) -> list[ShownStat]:
    """How long the work of an instruction on a CPU went on after its event, none if it did not."""
    plane = facts.plane
    if plane is None or facts.is_device:
        return []
    if names.THUNK_END + facts.name not in plane.types.full_names:
        return []
    late = find_late_ends(plane)
    return [
        ShownStat("late_work_ps", "Work after the event", value, "ps")
        for value in late.late_ps[late.source == source].tolist()
    ]


def _step(
    open_timeline: OpenTimeline, event: int, track: Track, steps: Sequence[StepWindows]
) -> dict[str, Any] | None:
    own = step_windows(open_timeline, "events")
    if track.kind == "steps":
        same = [step for step in steps if step.timeline is open_timeline.timeline]
        return step_of((*same, own)[0], event)
    section = open_timeline.timeline.sections[track.section].name
    start = int(open_timeline.timeline.start_ps[event])
    steps_of_event = (step_of_event(windows, section, start) for windows in (*steps, own))
    return next(filter(None, steps_of_event), None)


def move(open_timeline: OpenTimeline, event: int, how: EventMove) -> int | None:
    """The event that a move leads to, None if there is none.

    `next` and `previous` are on the row, `parent` is the innermost event around it, `child` the
    first directly within it; `next_same`, `previous_same` and `first_same` are of the same name
    and kind, in order of time. Raises EventNotFound if there is no such event.
    """
    row = open_timeline.row(event)
    target = -1
    if how == "next":
        target = event + 1 if event + 1 < open_timeline.columns.row_first[row + 1] else -1
    elif how == "previous":
        target = event - 1 if event > open_timeline.columns.row_first[row] else -1
    elif how == "parent":
        target = next(reversed(enclosing(open_timeline, event)), -1)
    elif how == "child":
        target = children(open_timeline, event).first
    elif how in MOVES:
        target = _same(open_timeline, event, how)
    else:
        raise BadRequest(f"there is no move {str(how)[:80]!r}", f"moves are {', '.join(MOVES)}")
    return target if target >= 0 else None


def _same(open_timeline: OpenTimeline, event: int, how: EventMove) -> int:
    position = (int(open_timeline.timeline.start_ps[event]), event)
    results = find_same_name(open_timeline, event)
    if how == "previous_same":
        return previous_result(open_timeline.columns, results, position)
    after = None if how == "first_same" else position
    return next(iter(next_results(open_timeline.columns, results, after, 1).tolist()), -1)
