"""Trace viewer: every event of a trace, or of a part of its time."""

import math

from tbprof.advice.summaries import Summaries
from tbprof.base.errors import BadRequest
from tbprof.tools.tool import EventStream

PARTS = ()

_START = "start_time_ms"
_END = "end_time_ms"
_DERIVED = "derived"


def build(summaries: Summaries) -> EventStream:
    """The range that the request states, in ms of the trace; all of it by default.

    An end of 0 is the end of the trace, as old clients write it. `derived=0` leaves steps, ops and
    scopes out that the trace itself does not hold.
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
    return EventStream(start_ms, end_ms, derived == "1")


def _time(summaries: Summaries, name: str) -> float | None:
    text = summaries.params.get(name, "")
    if not text:
        return None
    try:
        time_ms = float(text)
    except ValueError:
        time_ms = math.nan
    if not math.isfinite(time_ms):
        raise BadRequest(f"{name}={text[:80]!r} is not a time", "give times in milliseconds")
    return time_ms
