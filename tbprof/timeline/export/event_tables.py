"""Repeated parts of a plane's events as JSON, made once: names, stats of types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import orjson
from numpy.typing import NDArray

from tbprof.base import names
from tbprof.events.space import Plane
from tbprof.events.stats import DOUBLE, StatRows
from tbprof.events.strings import Strings
from tbprof.kernels.codes import (
    CONSUMER,
    CONSUMER_TYPE,
    FLOW,
    HIDDEN,
    IS_ASYNC,
    NAMES_EVENT,
    PRODUCER,
    PRODUCER_TYPE,
    SHOWN,
)
from tbprof.kernels.export.event_json import TypeTexts
from tbprof.kernels.export.json_bytes import Texts
from tbprof.kernels.export.stat_json import StatColumns, StatNames, write_stats
from tbprof.kernels.xplane.passes import Writing
from tbprof.timeline.export.event_text import INFINITE, NAN, NEGATIVE_INFINITE, WORDS
from tbprof.timeline.export.json_text import joined, json_string
from tbprof.timeline.model.store import TypeTable

# Purposes of stats besides being arguments; hidden ones are numbers that recorders use internally.
# Source: xplane_schema.cc, IsInternalStat, as far as that applies.
_PURPOSE = {
    "flow": FLOW,
    names.CONSUMER_TYPE: CONSUMER_TYPE,
    names.CONSUMER_ID: CONSUMER,
    names.PRODUCER_TYPE: PRODUCER_TYPE,
    names.PRODUCER_ID: PRODUCER,
    names.ASYNC: IS_ASYNC,
    names.STEP_NAME: NAMES_EVENT,
    names.ROOT: HIDDEN,
    names.PROGRAM_ID: HIDDEN,
    names.SYMBOL_ID: HIDDEN,
}
_FULL_NAME = "long_name"
# Programs have instructions of megabytes, and the argument is repeated for each of their events.
_LONGEST = 10_000
_CUT = "...<truncated>"

_ROOM = 1 << 16
_COMMA = ord(",")


def stat_names(strings: Strings, names_: NDArray[np.int32], more: Mapping[str, int]) -> StatNames:
    """The names in `StatRows.names`; `more` are additional purposes of names."""
    purpose = {**_PURPOSE, **more}
    # The argument that we add, and the name of a stat without one.
    added = strings.intern([_FULL_NAME, ""])
    name_ids, place = np.unique(np.concatenate((names_, added)), return_inverse=True)
    texts = strings.take(name_ids.tolist())
    of_name = np.array([purpose.get(text, SHOWN) for text in texts], np.uint8)
    return StatNames(
        joined(json_string(text) + b":" for text in texts),
        np.delete(place, names_.size).astype(np.int64),
        of_name,
        int(place[names_.size]),
        bool((of_name < NAMES_EVENT).any()),
    )


def stat_columns(rows: StatRows) -> StatColumns:
    """The stats for the writers: doubles as the shortest texts that read the same."""
    bits = rows.bits
    is_double = rows.kind == DOUBLE
    number = Texts(np.zeros(0, np.uint8), np.zeros(1, np.int64))
    if is_double.any():
        value = bits[is_double].view(np.float64)
        bits = bits.copy()
        bits[is_double] = np.select(
            [np.isnan(value), value == np.inf, value == -np.inf],
            [NAN, INFINITE, NEGATIVE_INFINITE],
            np.arange(value.size),
        )
        number = _numbers(np.where(np.isfinite(value), value, 0.0))
    return StatColumns(
        rows.begin, rows.end, rows.name, rows.kind, bits, rows.size, rows.content, number
    )


def _numbers(values: NDArray[np.float64]) -> Texts:
    listed = orjson.dumps(values, option=orjson.OPT_SERIALIZE_NUMPY)[1:-1]
    text = np.frombuffer(listed, np.uint8)
    is_comma = text == _COMMA
    ends = np.append(np.flatnonzero(is_comma), text.size) - np.arange(values.size)
    return Texts(text[~is_comma], np.concatenate(([0], ends)).astype(np.int64))


def type_texts(plane: Plane, rows: StatRows, stats: StatNames) -> TypeTexts:
    """The names and stats of a plane's types; `rows` are their stats, `stats` all names."""
    arg = _written(stat_columns(rows), stats)
    strings = plane.strings
    display_names, full = plane.types.display_name, plane.types.name
    has_both = (display_names >= 0) & (display_names != full)
    return _texts(
        strings.take(np.where(display_names >= 0, display_names, full).tolist()),
        strings.take(np.where(has_both, full, np.int32(-1)).tolist()),
        rows,
        arg,
        np.asarray(stats.distinct)[rows.name],
    )


def named_texts(types: TypeTable) -> TypeTexts:
    """The names of types that have no stats."""
    full = [
        full_name if full_name != name else ""
        for name, full_name in zip(types.name, types.full_name, strict=True)
    ]
    rows = no_stats(len(full))
    return _texts(types.name, full, rows, joined([]), rows.name.astype(np.int64))


def no_stats(events: int) -> StatRows:
    """The stats of events that have none."""
    none = np.zeros(0, np.int64)
    zeros = np.zeros(events, np.int64)
    name, kind = np.zeros(0, np.int32), np.zeros(0, np.uint8)
    return StatRows(name, zeros, zeros, name, kind, none, none, kind)


def _texts(
    name: Sequence[str],
    full_name: Sequence[str],
    rows: StatRows,
    arg: Texts,
    key: NDArray[np.int64],
) -> TypeTexts:
    """The texts of types [t]; a type without `full_name` only has a name."""
    names_ = joined(map(json_string, (*name, "")))
    full = joined(map(_full_name, (*full_name, "")))
    begin, end = np.append(rows.begin, 0), np.append(rows.end, 0)
    first = np.asarray(arg.first)
    room = 2 * np.diff(names_.first) + np.diff(full.first) + first[end] - first[begin]
    return TypeTexts(names_, full, begin, end, arg, key, room)


def _full_name(text: str) -> bytes:
    if not text:
        return b""
    cut = text if len(text) <= _LONGEST else text[:_LONGEST] + _CUT
    return json_string(_FULL_NAME) + b":" + json_string(cut) + b","


def _written(columns: StatColumns, stats: StatNames) -> Texts:
    """Each stat as `"key":value,`."""
    first = np.zeros(columns.kind.size + 1, np.int64)
    progress = Writing()
    parts: list[NDArray[np.uint8]] = []
    while True:
        out = np.empty(max(_ROOM, progress.needed), np.uint8)
        write_stats(progress, out, columns, stats, WORDS, first)
        parts.append(out[: progress.written].copy())
        if progress.at == columns.kind.size:
            return Texts(np.concatenate(parts), first)
