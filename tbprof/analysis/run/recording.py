"""When a trace was recorded, and what was lost, according to its recorder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tbprof.base import names
from tbprof.base.errors import Notice
from tbprof.base.recorder_errors import error_notices, fix_for

if TYPE_CHECKING:
    from tbprof.events.space import Space, Value

# Source: xplane_schema.h, kTaskEnvPlaneName and the stats that profiler sessions write to it.
_START = "profile_start_time"
_STOP = "profile_stop_time"
_DROPPED = "dropped_traces"


def environment_stats(space: Space) -> dict[str, Value]:
    """The recorder's stats about the recording as a whole, by name."""
    stats: dict[str, Value] = {}
    for plane in space.planes:
        if plane.name.startswith(names.ENVIRONMENT_PLANE):
            stats.update(plane.stats)
    return stats


def stated_window(space: Space) -> tuple[int, int]:
    """(start, stop) of the recording in ns since the epoch, 0 if not recorded."""
    stats = environment_stats(space)
    return _time(stats.get(_START)), _time(stats.get(_STOP))


def dropped_events(space: Space) -> int:
    """The number of events that the recorder reports as dropped, -1 if it reports none."""
    counts = [plane.stats.get(_DROPPED) for plane in space.planes]
    valid = [count for count in counts if isinstance(count, int) and count >= 0]
    return sum(valid) if valid else -1


def recorder_notices(space: Space) -> Iterator[Notice]:
    """Notices of events that the recorder dropped, and of its errors and warnings."""
    dropped = dropped_events(space)
    if dropped > 0:
        text = f"the recorder dropped {dropped:,} event{'s' * (dropped > 1)}"
        yield Notice("dropped_events", text, hint=fix_for("dropped"))
    yield from error_notices(space.errors, space.warnings)


def epoch_of_times(space: Space) -> int:
    """The time of day, in ns since the epoch, that a space's times count from; 0 if unknown.

    Times count from the start of the recording unless they are times of day themselves.
    """
    return space.start_ns or max(stated_window(space)[0], 0)


def _time(value: Value | None) -> int:
    return value if isinstance(value, int) else 0
