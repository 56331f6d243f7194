"""Trace viewer: every event of a trace, or of a part of its time."""

from __future__ import annotations

import math

from tbprof.advice.summaries import Summaries
from tbprof.base.errors import BadRequest
from tbprof.tools.model.tool import EventStream

PARTS = ()

_START = "start_time_ms"
_END = "end_time_ms"
_DERIVED = "derived"
_MAX_GB = "max_gb"
_MOST_GB = 1_000_000


def build(summaries: Summaries) -> EventStream:
    """The requested range, in ms of the trace; by default all of it.

    An end of 0 is the end of the trace, as old clients write it. `derived=0` leaves out steps, ops
    and scopes that are not in the trace itself. `max_gb` allows a larger payload.
    """
    start_ms = _time(summaries, _START)
    end_ms = _time(summaries, _END) or None
    if start_ms is not None and end_ms is not None and start_ms > end_ms:
        raise BadRequest(
            f"{_START}={start_ms:g} is after {_END}={end_ms:g}",
            "the range goes from the first to the second, in milliseconds",
        )
    derived = summaries.params.get(_DERIVED, "") or "1"
    if derived not in ("0", "1"):
        raise BadRequest(f"{_DERIVED}={derived[:80]!r} is unknown", "use derived=1 or derived=0")
    return EventStream(start_ms, end_ms, derived == "1", _gigabytes(summaries))


def _time(summaries: Summaries, name: str) -> float | None:
    text = summaries.params.get(name, "")
    time_ms = _number(text)
    if time_ms is not None and not math.isfinite(time_ms):
        raise BadRequest(f"{name}={text[:80]!r} is not a time", "give times in milliseconds")
    return time_ms


def _gigabytes(summaries: Summaries) -> float | None:
    text = summaries.params.get(_MAX_GB, "")
    size = _number(text)
    if size is not None and not 0 < size <= _MOST_GB:
        raise BadRequest(
            f"{_MAX_GB}={text[:80]!r} is not a size", f"it is in GB, more than 0, up to {_MOST_GB}"
        )
    return size


def _number(text: str) -> float | None:
    """NaN for a text that is not a number, None for an empty one."""
    try:
        return float(text) if text else None
    except ValueError:
        return math.nan
