"""What is written of a plane's events again and again, as JSON made once: names, stats of types."""

from collections.abc import Iterable, Mapping

import numpy as np
import orjson
from numpy.typing import NDArray

from tbprof.base import names
from tbprof.events.space import Plane
from tbprof.events.stats import DOUBLE, StatRows
from tbprof.timeline.event_text import (
    AT,
    CONSUMER,
    CONSUMER_TYPE,
    FLOW,
    HIDDEN,
    INFINITE,
    IS_ASYNC,
    NAMES_EVENT,
    NAN,
    NEEDED,
    NEGATIVE_INFINITE,
    PRODUCER,
    PRODUCER_TYPE,
    SHOWN,
    STATE_SIZE,
    WORDS,
    WRITTEN,
    StatColumns,
    StatNames,
    TypeTexts,
    write_stats,
)
from tbprof.timeline.json_text import Texts, joined, quoted

# What stats say of their event besides being arguments; the hidden ones are numbers by which
# recorders find things again. Source: xplane_schema.cc, IsInternalStat, as far as that holds.
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


def stat_names(plane: Plane, names_: NDArray[np.int32], more: Mapping[str, int]) -> StatNames:
    """The names in `StatRows.names`; `more` are purposes of names besides the usual ones."""
    purpose = {**_PURPOSE, **more}
    # The argument that we add, and what a stat without a name is called.
    added = plane.strings.intern([_FULL_NAME, ""])
    found, place = np.unique(np.concatenate((names_, added)), return_inverse=True)
    texts = plane.strings.take(found.tolist())
    of_name = np.array([purpose.get(text, SHOWN) for text in texts], np.uint8)
    return StatNames(
        joined(quoted(text) + b":" for text in texts),
        np.delete(place, names_.size).astype(np.int64),
        of_name,
        int(place[names_.size]),
        bool((of_name < NAMES_EVENT).any()),
    )


def stat_columns(rows: StatRows) -> StatColumns:
    """The stats as the writers take them: doubles as texts, the shortest that read the same."""
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
    columns = stat_columns(rows)
    arg = _written(columns, stats)
    strings = plane.strings
    shown, full = plane.types.display_name.tolist(), plane.types.name.tolist()
    name = joined(map(quoted, strings.take([*_own(shown, full), -1])))
    longer = [
        strings[whole] if short >= 0 and short != whole else ""
        for short, whole in zip(shown, full, strict=True)
    ]
    full_name = joined([*map(_full_name, longer), b""])
    begin, end = np.append(rows.begin, 0), np.append(rows.end, 0)
    return TypeTexts(
        name,
        full_name,
        begin,
        end,
        arg,
        stats.distinct[rows.name],
        2 * np.diff(name.first) + np.diff(full_name.first) + (arg.first[end] - arg.first[begin]),
    )


def _own(shown: Iterable[int], full: Iterable[int]) -> list[int]:
    return [short if short >= 0 else whole for short, whole in zip(shown, full, strict=True)]


def _full_name(text: str) -> bytes:
    if not text:
        return b""
    cut = text if len(text) <= _LONGEST else text[:_LONGEST] + _CUT
    return quoted(_FULL_NAME) + b":" + quoted(cut) + b","


def _written(columns: StatColumns, stats: StatNames) -> Texts:
    """Each stat as `"key":value,`."""
    first = np.zeros(columns.kind.size + 1, np.int64)
    state = np.zeros(STATE_SIZE, np.int64)
    parts: list[NDArray[np.uint8]] = []
    while True:
        out = np.empty(max(_ROOM, int(state[NEEDED])), np.uint8)
        write_stats(state, out, columns, stats, WORDS, first)
        parts.append(out[: int(state[WRITTEN])].copy())
        if state[AT] == columns.kind.size:
            return Texts(np.concatenate(parts), first)
