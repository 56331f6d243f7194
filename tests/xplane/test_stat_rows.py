"""All stats of events as rows are the details of each event, one by one."""

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from traces import drawn_space, space_of
from xplane import generate

from tbprof.base.errors import BadTrace
from tbprof.events.space import Plane, Space
from tbprof.events.stats import BYTES, DOUBLE, INT64, REFERENCE, TEXT, UINT64, StatRows
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.reader import read_space, space_in


def listed(plane: Plane, rows: StatRows) -> list[list[tuple[str, Any]]]:
    """(name, value) of the stats of each message; bytes by their length."""
    texts = plane.strings.take(rows.names.tolist())
    none = plane.strings[-1]
    columns = (rows.name.tolist(), rows.kind.tolist(), rows.bits.tolist(), rows.size.tolist())
    found = []
    for row, (name, kind, bits, size) in enumerate(zip(*columns, strict=True)):
        assert kind in (DOUBLE, UINT64, INT64, TEXT, BYTES, REFERENCE)
        value: Any = bits
        if kind == DOUBLE:
            value = repr(float(np.int64(bits).view(np.float64)))
        elif kind == UINT64:
            value = bits & (2**64 - 1)
        elif kind == TEXT:
            value = rows.text(row)
        elif kind == BYTES:
            value = size
        elif kind == REFERENCE:
            value = texts[bits] if bits >= 0 else none
        found.append((texts[name] if name >= 0 else none, value))
    messages = zip(rows.begin.tolist(), rows.end.tolist(), strict=True)
    return [found[begin:end] for begin, end in messages]


def detailed(plane: Plane, source: int) -> list[tuple[str, Any]]:
    """What `listed` gives, of the event's details."""
    return [(name, _plain(value)) for name, value in plane.details(source)]


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return len(value)
    return repr(value) if isinstance(value, float) else value


def check(space: Space) -> int:
    stats = 0
    for plane in space.planes:
        source = plane.events().source
        details = [detailed(plane, index) for index in source.tolist()]
        backwards = source[::-1].copy()
        for asked, expected in ((source, details), (backwards, details[::-1])):
            rows = plane.stat_rows(asked)
            assert listed(plane, rows) == expected
            stats += len(rows)
    return stats


def test_rows_of_generated_spaces_are_their_details() -> None:
    """Whatever part of a file is read at once."""
    stats = 0
    for seed in range(300):
        content = generate.space(Random(seed))
        try:
            stats += check(space_in(Buffer(content, "generated", (24, 100, 4096)[seed % 3])))
        except BadTrace:
            continue
    assert stats > 1000


def test_rows_of_recorded_traces_are_their_details(sample_logdir: Path) -> None:
    for path in sorted(sample_logdir.rglob("*.xplane.pb")):
        assert check(read_space(path)) > 1000


@pytest.mark.slow
def test_rows_of_accelerator_traces_are_their_details(accelerator_trace: Path) -> None:
    assert check(read_space(accelerator_trace)) > 10_000


def test_types_have_rows_too() -> None:
    plane = drawn_space(
        {"/device:TPU:0": "XLA Ops |aa.bb"},
        stats={"a": {"x": 7}},
        type_stats={"a": {"flops": 3, "raw": b"\0\1"}, "b": {"source": "a.py:1"}},
    ).planes[0]
    names = plane.strings.take(plane.types.name.tolist())
    by_name = dict(zip(names, listed(plane, plane.types.stat_rows()), strict=True))
    assert by_name == {"a": [("flops", 3), ("raw", 2)], "b": [("source", "a.py:1")]}


def test_a_source_of_none_has_no_rows() -> None:
    plane = drawn_space({"p": "t |a"}, stats={"a": {"x": 1}}).planes[0]
    source = plane.events().source
    rows = plane.stat_rows(np.array([-1, source[0], -1], np.int64))
    assert (rows.end - rows.begin).tolist() == [0, 1, 0]
    assert len(plane.stat_rows(np.empty(0, np.int64))) == 0


def test_damaged_stats_are_left_out_and_told() -> None:
    broken = generate.body(4, generate.scalar(1, 1) + b"\x18")  # a value without its bytes
    good = generate.body(4, generate.scalar(1, 1) + generate.scalar(3, 5))
    event = generate.body(4, generate.scalar(1, 1) + broken + good)
    name = generate.body(5, generate.scalar(1, 1) + generate.body(2, generate.body(2, "n")))
    plane = generate.body(1, generate.body(2, "p") + generate.body(3, event) + name)
    read = space_of(plane).planes[0]
    rows = read.stat_rows(read.events().source)
    assert listed(read, rows) == [[("n", 5)]]
    assert [notice.code for notice in read.notices if notice.code == "stats_damaged"]
