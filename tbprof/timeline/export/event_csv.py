"""Every event of some hosts as CSV: its place, name, start and duration."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.base import names
from tbprof.events.space import Events, Plane
from tbprof.kernels.codes import NUMBER_BYTES
from tbprof.kernels.export.json_bytes import Texts, write_rows
from tbprof.timeline.export.chrome import Host
from tbprof.timeline.export.chrome_process import TimeRange, batches, event_pieces
from tbprof.timeline.export.chrome_tracks import line_labels
from tbprof.timeline.export.json_text import joined
from tbprof.timeline.export.size_limit import Limited
from tbprof.timeline.model.sections import section_order

_HEAD = b"host,process,thread,name,start_us,duration_us\r\n"
_ROOM = 1 << 22
# A spreadsheet runs cells that begin with these as formulas.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def event_csv(
    hosts: Sequence[Host], span: TimeRange | None = None, limited: Limited = iter
) -> Generator[bytes, None, None]:
    """The table in pieces that end with a row.

    Raises our error if a host cannot be read, or if the table is not `limited`.

    Texts that a spreadsheet would run as formulas get a leading apostrophe, and U+FFFD stands for
    NUL, which most readers of CSV refuse. Times are µs, shifted by the hosts' offsets.
    """
    yield _HEAD
    for host in hosts:
        with host.space() as space:
            for row in section_order(space):
                for _, events in batches(space.planes[row]):
                    yield from limited(_rows(host, events, span))


def cell(text: str) -> bytes:
    """A text as a cell. Source: RFC 4180."""
    text = text.replace("\0", "\ufffd")
    if text.startswith(_FORMULA):
        text = f"'{text}"
    if any(mark in text for mark in ',"\r\n'):
        text = '"' + text.replace('"', '""') + '"'
    return text.encode("utf-8", "replace")


def _rows(host: Host, events: Events, span: TimeRange | None) -> Iterator[bytes]:
    plane = events.plane
    where = cell(host.name) + b"," + cell(plane.name) + b","
    threads = joined(where + cell(label) + b"," for label in line_labels(plane, events.lines))
    cells: dict[int, bytes] = {}
    for rows in event_pieces(events, span, host.offset_ps):
        name, texts = _names(plane, events, rows, cells)
        thread = np.searchsorted(events.first_event, rows, side="right") - 1
        start_ps = events.start_ps[rows] + host.offset_ps
        duration_ps = events.duration_ps[rows]
        room = np.diff(threads.first)[thread] + np.diff(texts.first)[name] + 2 * NUMBER_BYTES
        for part, size in _parts(room):
            out = np.empty(size, np.uint8)
            columns = (thread[part], name[part], start_ps[part], duration_ps[part])
            yield out[: int(write_rows(out, *columns, threads, texts))].tobytes()


def _parts(room: NDArray[np.int64]) -> Iterator[tuple[slice, int]]:
    """(rows, their size) for as many rows as fit into a buffer: names may be megabytes."""
    upto = np.cumsum(room)
    begin = 0
    while begin < room.size:
        before = int(upto[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(upto, before + _ROOM, side="right")))
        yield slice(begin, end), int(upto[end - 1]) - before
        begin = end


def _names(
    plane: Plane, events: Events, rows: NDArray[np.int64], cells: dict[int, bytes]
) -> tuple[NDArray[np.int64], Texts]:
    """(the name of each event as a row of the texts, the texts); `cells` caches them by id."""
    types = plane.types
    type_names = np.where(types.display_name >= 0, types.display_name, types.name)
    ids = np.append(type_names, np.int32(-1))[events.type[rows]]
    if names.STEP_NAME in plane.stat_names:
        step_names = plane.event_stats(events.source[rows], [names.STEP_NAME])[
            names.STEP_NAME
        ].texts()
        ids = np.where(step_names >= 0, step_names, ids)
    used, name = np.unique(ids, return_inverse=True)
    for row in used.tolist():
        if row not in cells:
            cells[row] = cell(plane.strings[row]) + b","
    return name.astype(np.int64), joined(cells[row] for row in used.tolist())
