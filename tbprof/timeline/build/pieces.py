"""Planes decoded piece by piece: some lines each, with columns that are freed one after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.host.host_roles import lasting_rows
from tbprof.base import names
from tbprof.base.natural_order import natural_order
from tbprof.base.process.parallel import in_parallel
from tbprof.base.records import dataclass
from tbprof.events.space import Aggregated, Events, Lines, Plane
from tbprof.timeline.build.device_times import on_device_clock
from tbprof.timeline.model.sections import section_of

# Lines are decoded together up to this many bytes: 28 bytes of columns for about 80 of these.
PIECE_BYTES = 1 << 24


@dataclass(frozen=True, slots=True)
class Piece:
    """The events of some lines of a plane; `rows` [lines] are their rows in `Plane.lines`.

    `lasting` [n] are rows of `events`, ascending: of each type the first and last with a duration.
    """

    rows: list[int]
    events: Events
    lasting: NDArray[np.int64]


def read_pieces(planes: Sequence[Plane], most_bytes: int) -> list[list[Piece]]:
    """The events of all lines of each of some planes, decoded in parallel.

    A piece consists of lines of `most_bytes` together, or of a longer one. The lines of a plane
    with several pieces are in the natural order of their names, else in file order. TPU cores are
    read completely: their clock depends on all of their lines.
    """
    chosen = [
        (size, index, rows)
        for index, plane in enumerate(planes)
        for size, rows in _split(plane, most_bytes)
    ]
    in_parallel(
        lambda plane_row: planes[plane_row].types.name, range(len(planes))
    )  # once per plane
    order = sorted(range(len(chosen)), key=lambda piece: -chosen[piece][0])

    def read(number: int) -> Piece:
        _, plane_row, rows = chosen[order[number]]
        plane = planes[plane_row]
        is_whole = len(rows) == plane.lines.id.size
        events = on_device_clock(plane.events(None if is_whole else rows))
        is_host = section_of(plane).kind == "host"
        return Piece(rows, events, lasting_rows(events) if is_host else np.empty(0, np.int64))

    read_ = dict(zip(order, in_parallel(read, range(len(order))), strict=True))
    pieces: list[list[Piece]] = [[] for _ in planes]
    for number, (_, plane_row, _) in enumerate(chosen):
        pieces[plane_row].append(read_[number])
    return pieces


def _split(plane: Plane, most_bytes: int) -> list[tuple[int, list[int]]]:
    """(bytes, rows in `Plane.lines`) of each piece of a plane."""
    sizes = plane.line_bytes.tolist()
    rows = list(range(len(sizes)))
    if sum(sizes) <= most_bytes or plane.name.startswith(names.TPU_PREFIX):
        return [(sum(sizes), rows)] if rows else []
    texts = plane.strings.take(plane.lines.name.tolist())
    rows.sort(key=lambda row: natural_order(texts[row].lower()))
    groups: list[tuple[int, list[int]]] = []
    for row in rows:
        if not groups or groups[-1][0] + sizes[row] > most_bytes:
            groups.append((0, []))
        size, others = groups[-1]
        others.append(row)
        groups[-1] = size + sizes[row], others
    return groups


def sampled(pieces: Sequence[Piece]) -> Events:
    """The first and last event with a duration of each type of a host plane, as on one line.

    Only these determine the kind of a type (`host_types`), in file order of lines.
    """
    line = [
        np.array(piece.rows)[np.searchsorted(piece.events.first_event, piece.lasting, "right") - 1]
        for piece in pieces
    ]
    order = np.argsort(np.concatenate(line), kind="stable")

    def column(name: str) -> NDArray[Any]:
        parts = [getattr(piece.events, name)[piece.lasting] for piece in pieces]
        return np.concatenate(parts)[order]

    number, name = np.zeros(1, np.int64), np.full(1, -1, np.int32)
    nothing, none = np.empty(0, np.int64), np.empty(0, np.int32)
    return Events(
        pieces[0].events.plane,
        Lines(number, name, number, number, name),
        np.array([0, order.size], np.int64),
        column("type"), column("start_ps"), column("duration_ps"), column("source"),
        Aggregated(none, none, nothing, nothing, nothing),
    )  # fmt: skip
