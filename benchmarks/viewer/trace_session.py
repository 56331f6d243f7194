"""What the trace viewer's page asks of its server while somebody works in it, as URLs.

A window of 1600 by 1000 pixels: 1340 pixels of time, 52 rows. The session zooms in from the whole
trace to 20 µs of a step, pans, scrolls and zooms out again. Views are as wide on every trace, so
that larger traces mean more zooming in, and nothing else.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

WIDTH = 1340
ROWS = 52
TILE_BUCKETS = 512
NARROWEST_PS = 20_000_000
ZOOM = 1.6


@dataclass(frozen=True, slots=True)
class View:
    """A span of time, and the first of the rows that are on the screen."""

    from_ps: float
    to_ps: float
    top: int = 0


def views(index: dict[str, Any]) -> Iterator[View]:
    """The session; the first view is the whole trace. It goes on around the step of `home`."""
    begin, end = float(index["begin_ps"]), float(index["end_ps"])
    rows = row_count(index)
    span = max(end - begin, 1.0)
    home = index["home"]
    center = (home["from_ps"] + home["to_ps"]) / 2 if home else begin + span / 3
    width = span
    widths = []
    while width > NARROWEST_PS:
        widths.append(width)
        yield _around(center, width, begin, end)
        width /= ZOOM
    for width in (1e12, 1e10, 1e9, 1e8):
        if width >= span:
            continue
        for step in range(8):  # half a screen to the right each time
            yield _around(center + step * width / 2, width, begin, end)
        for page in range(1, min(4, math.ceil(rows / ROWS))):
            yield View(*_span(center, width, begin, end), page * ROWS)
    for width in reversed(widths[::2]):
        yield _around(center, width, begin, end)


def tiles_query(index: dict[str, Any], view: View) -> dict[str, object]:
    """The parameters of `timeline_tiles` for all tiles of a view: buckets of a pixel at most."""
    begin = index["begin_ps"]
    per_pixel = (view.to_ps - view.from_ps) / WIDTH
    level = min(max(0, math.floor(math.log2(max(per_pixel * 1.4, 1)))), index["max_level"])
    tile = TILE_BUCKETS << level
    last_row = min(view.top + ROWS, row_count(index)) - 1
    return {
        "level": level,
        "from": int((view.from_ps - begin) // tile),
        "to": int((view.to_ps - begin - 1) // tile) + 1,
        "rows": f"{min(view.top, last_row)}-{last_row}",
    }


def row_count(index: dict[str, Any]) -> int:
    """The rows of all tracks."""
    return sum(index["tracks"]["rows"])


def url(route: str, index: dict[str, Any], **parameters: object) -> str:
    """A route for the timeline that `index` describes."""
    which = {key: index[key] for key in ("host", "part", "version")}
    return f"{route}?{urlencode({'run': 'bench', **which, **parameters})}"


def first_view(answer: bytes) -> tuple[dict[str, Any], str]:
    """(index, URL of its first tiles) for the answer of `timeline`."""
    index = json.loads(answer)
    view = next(views(index))
    return index, url("timeline_tiles", index, **tiles_query(index, view))


def _around(center: float, width: float, begin: float, end: float) -> View:
    return View(*_span(center, width, begin, end))


def _span(center: float, width: float, begin: float, end: float) -> tuple[float, float]:
    start = min(max(center - width / 2, begin), max(end - width, begin))
    return start, min(start + width, end)
