"""The columns of any valid space are what protobuf reads in it."""

import struct
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from traces import message_of, space_of
from xplane import generate

from tbprof._pb import message
from tbprof.base.errors import BadTrace
from tbprof.events.space import Events, Plane, Space
from tbprof.events.stats import BYTES, DOUBLE, REFERENCE, TEXT, UINT64, StatColumn
from tbprof.kernels.xplane.stat_decoding import decode_stats
from tbprof.xplane import stat_reading
from tbprof.xplane.reader import read_space

LIMIT_PS = 2**57
EPOCH_NS = 10**17
KINDS = {
    "double_value": 2,
    "uint64_value": 3,
    "int64_value": 4,
    "str_value": 5,
    "bytes_value": 6,
    "ref_value": 7,
}


def test_columns_of_generated_spaces_are_what_protobuf_reads() -> None:
    for seed in range(800):
        content = generate.space(Random(seed))
        expected = message_of(content)
        planes = [plane for plane in expected.planes if plane.name or plane.lines]
        if planes:
            _check(space_of(content), expected, planes)
            continue
        with pytest.raises(BadTrace, match="no planes"):
            space_of(content)


def test_columns_of_recorded_traces_are_what_protobuf_reads(sample_logdir: Path) -> None:
    for path in sorted(sample_logdir.rglob("*.xplane.pb")):
        _check_file(path)


@pytest.mark.slow
def test_columns_of_accelerator_traces_are_what_protobuf_reads(accelerator_trace: Path) -> None:
    _check_file(accelerator_trace)


def _check_file(path: Path) -> None:
    expected = message_of(path.read_bytes())
    _check(read_space(path), expected, list(expected.planes))


def _check(space: Space, expected: Any, planes: list[Any]) -> None:
    assert space.notices == ()
    assert space.hostnames == tuple(expected.hostnames)
    assert space.errors == tuple(expected.errors)
    assert space.warnings == tuple(expected.warnings)
    assert [plane.name for plane in space.planes] == [plane.name for plane in planes]
    for plane, wanted in zip(space.planes, planes, strict=True):
        assert plane.id == wanted.id
        assert {name: _same(value) for name, value in plane.stats.items()} == {
            name: _same(value) for name, value in reversed(_stats(_names(wanted), wanted.stats))
        }
        assert plane.stat_names == {entry.name for entry in wanted.stat_metadata.values()}
        _check_types(plane, wanted)
        _check_events(space, plane, wanted)


def _check_types(plane: Plane, wanted: Any) -> None:
    types = plane.types
    texts = plane.strings.take
    names = zip(texts(types.name.tolist()), texts(types.display_name.tolist()), strict=True)
    assert dict(zip(types.id.tolist(), names, strict=True)) == {
        key: (entry.name, entry.display_name) for key, entry in wanted.event_metadata.items()
    }
    columns = types.stats(generate.NAMES)
    stat_names = _names(wanted)
    expected = [
        _first_of_each(stat_names, wanted.event_metadata[key].stats) for key in types.id.tolist()
    ]
    for name in generate.NAMES:
        assert _values(plane, columns[name]) == [first.get(name) for first in expected]


def _check_events(space: Space, plane: Plane, wanted: Any) -> None:
    rows, merged = [], []
    for number, line in enumerate(wanted.lines):
        origin = line.timestamp_ns
        if origin > EPOCH_NS:
            origin -= space.start_ns
        origin = _clamp(origin * 1000)
        of_line = []
        for event in line.events:
            duration = min(max(event.duration_ps, 0), LIMIT_PS)
            if event.WhichOneof("data") == "num_occurrences":
                merged.append((number, event, max(event.num_occurrences, 0), duration))
            else:
                of_line.append((number, event, origin + _clamp(event.offset_ps), duration))
        rows += sorted(of_line, key=lambda row: (row[2], -row[3]))
    events = plane.events()
    assert _keys(plane, events.type) == [_key(wanted, row[1]) for row in rows]
    assert events.line.tolist() == [row[0] for row in rows]
    assert events.start_ps.tolist() == [row[2] for row in rows]
    assert events.duration_ps.tolist() == [row[3] for row in rows]
    together = events.aggregated
    assert together.line.tolist() == [row[0] for row in merged]
    assert _keys(plane, together.type) == [_key(wanted, row[1]) for row in merged]
    assert together.occurrences.tolist() == [row[2] for row in merged]
    assert together.duration_ps.tolist() == [row[3] for row in merged]
    _check_lines(plane, events, wanted)
    _check_stats(plane, events, wanted, [row[1] for row in rows])
    stat_names = _names(wanted)
    for source, row in zip(together.source.tolist(), merged, strict=True):
        assert _details(plane, source) == _wanted_details(stat_names, row[1])


def _check_lines(plane: Plane, events: Events, wanted: Any) -> None:
    lines = events.lines
    texts = plane.strings.take
    assert lines.id.tolist() == [line.id for line in wanted.lines]
    assert texts(lines.name.tolist()) == [line.name for line in wanted.lines]
    assert lines.display_id.tolist() == [line.display_id or line.id for line in wanted.lines]
    assert texts(lines.display_name.tolist()) == [
        line.display_name or line.name for line in wanted.lines
    ]


def _check_stats(plane: Plane, events: Events, wanted: Any, rows: list[Any]) -> None:
    columns = events.stats(generate.NAMES)
    stat_names = _names(wanted)
    of_type = {
        key: _first_of_each(stat_names, entry.stats) for key, entry in wanted.event_metadata.items()
    }
    expected = [
        of_type.get(event.metadata_id, {}) | _first_of_each(stat_names, event.stats)
        for event in rows
    ]
    for name in generate.NAMES:
        assert _values(plane, columns[name]) == [first.get(name) for first in expected]
    for source, event in zip(events.source.tolist(), rows, strict=True):
        assert _details(plane, source) == _wanted_details(stat_names, event)
    some = np.arange(0, len(events), 2)
    together = events.stats(generate.NAMES, texts=generate.NAMES[::2])
    for name in generate.NAMES:
        assert np.array_equal(together[name].texts(), columns[name].texts())
    part = events.stats(["flops", "flops", "no such stat"], some)
    assert np.array_equal(part["flops"].kind, columns["flops"].kind[some])
    assert np.array_equal(part["flops"].bits, columns["flops"].bits[some])
    assert not part["no such stat"].is_present.any()


def _clamp(time: int) -> int:
    return max(-LIMIT_PS, min(LIMIT_PS, time))


def _keys(plane: Plane, types: Any) -> list[tuple[int] | None]:
    return [(int(plane.types.id[row]),) if row >= 0 else None for row in types.tolist()]


def _key(wanted: Any, event: Any) -> tuple[int] | None:
    return (event.metadata_id,) if event.metadata_id in wanted.event_metadata else None


def _names(wanted: Any) -> dict[int, str]:
    """The names of stats by id: to ask protobuf for each takes several times as long."""
    return {key: entry.name for key, entry in wanted.stat_metadata.items()}


def _stats(names: dict[int, str], stats: Any) -> list[tuple[str, Any]]:
    found = []
    for stat in stats:
        member = stat.WhichOneof("value")
        if member is not None:
            value = getattr(stat, member)
            if member == "ref_value":
                value = names.get(value - 2**64 if value >= 2**63 else value, "")
            found.append((names.get(stat.metadata_id, ""), value))
    return found


def _first_of_each(names: dict[int, str], stats: Any) -> dict[str, tuple[int, Any]]:
    """(kind, value) of the first stat of each name; the value of a reference to nothing is None."""
    found: dict[str, tuple[int, Any]] = {}
    for stat in stats:
        member = stat.WhichOneof("value")
        name = names.get(stat.metadata_id)
        if member is None or name is None:
            continue
        value = getattr(stat, member)
        if member == "ref_value":
            value = names.get(value - 2**64 if value >= 2**63 else value)
        found.setdefault(name, (KINDS[member], _same(value)))
    return found


def _values(plane: Plane, column: StatColumn) -> list[tuple[int, Any] | None]:
    """The same of each row, None where it has no value."""
    rows = zip(
        column.kind.tolist(),
        column.texts().tolist(),
        column.integers().tolist(),
        column.numbers().tolist(),
        strict=True,
    )
    found: list[tuple[int, Any] | None] = []
    for row, (kind, text, integer, number) in enumerate(rows):
        value: Any = integer % 2**64 if kind == UINT64 else integer
        if kind in (TEXT, REFERENCE):
            value = plane.strings[text] if text >= 0 else None
        elif kind == BYTES:
            value = column.blob(row)
        elif kind == DOUBLE:
            value = _same(number)
        found.append((kind, value) if kind else None)
    return found


def _details(plane: Plane, source: int) -> list[tuple[str, Any]]:
    return [(name, _same(value)) for name, value in plane.details(source)]


def _wanted_details(names: dict[int, str], event: Any) -> list[tuple[str, Any]]:
    return [(name, _same(value)) for name, value in _stats(names, event.stats)]


def _same(value: Any) -> Any:
    """A value that equals itself: doubles by their bytes."""
    return struct.pack("<d", value) if isinstance(value, float) else value


def test_types_are_looked_through_for_the_stats_that_they_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    space = message("tensorflow.profiler.XSpace")()
    plane = space.planes.add(name="/host:CPU")
    for key, name in enumerate(("flops", "group_id"), 1):
        plane.stat_metadata[key].name = name
    plane.event_metadata[1].stats.add(metadata_id=1, int64_value=8)
    plane.lines.add().events.add(metadata_id=1).stats.add(metadata_id=2, int64_value=3)
    [read] = space_of(space.SerializeToString()).planes
    decode = Mock(wraps=decode_stats)
    monkeypatch.setattr(stat_reading, "decode_stats", decode)
    assert not read.types.stats(["group_id"])["group_id"].is_present.any()
    decode.assert_not_called()
    assert read.types.stats(["flops"])["flops"].integers().tolist() == [8]
    decode.assert_called_once()
