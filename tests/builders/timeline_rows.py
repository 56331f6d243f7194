"""Timelines of rows that a test writes down, without a trace."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from builders.small_timeline import make_timeline
from tbprof.timeline.model.levels import FEWEST, find_levels
from tbprof.timeline.model.store import Section, Timeline, Track, TypeTable


def rows_after_gaps(drawn: Sequence[Sequence[tuple[int, ...]]], begin: int) -> list[list[Any]]:
    """Rows of events (start, duration, ...), from (gap before, duration, ...) and `begin` on."""
    rows = []
    for steps in drawn:
        at, row = begin, []
        for gap, duration, *more in steps:
            row.append((at + gap, duration, *more))
            at += gap + duration
        rows.append(row)
    return rows


def timeline_of_rows(
    rows: Sequence[Sequence[tuple[int, int, int]]],
    *,
    types: int = 5,
    names: Sequence[str] | None = None,
    fewest: int = FEWEST,
) -> Timeline:
    """A timeline whose rows hold events (start, duration, type), each row a track of its own.

    Rows with fewer entries than `fewest` are not made coarser. The category of type i is i % 7.
    """
    flat = [event for row in rows for event in row]
    row_first = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    start_ps, duration_ps, type_ = (
        np.array([event[column] for event in flat], np.int64) for column in range(3)
    )
    begin_ps = int(start_ps.min(initial=2**62)) if flat else 0
    kinds = type_.astype(np.int32)
    texts = [f"op {number}" for number in range(types)] if names is None else list(names)
    return dataclasses.replace(
        make_timeline(),
        sections=[Section("/host:CPU", "Host Threads", "host")],
        tracks=[
            Track(0, f"line {at}", "thread", 0, at, at, 1, len(row), is_derived=False, busy_ps=0)
            for at, row in enumerate(rows)
        ],
        types=TypeTable(texts, texts, (np.arange(len(texts)) % 7).astype(np.uint8)),
        row_first=row_first,
        start_ps=start_ps,
        duration_ps=duration_ps,
        type=kinds,
        source=np.arange(len(flat)),
        levels=find_levels(row_first, begin_ps, start_ps, duration_ps, kinds, fewest=fewest),
        begin_ps=begin_ps,
        end_ps=int((start_ps + duration_ps).max(initial=-(2**62))) if flat else 0,
        in_file=len(flat),
        counted=0,
    )
