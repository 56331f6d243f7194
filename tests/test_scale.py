"""The benchmarks' big traces: every copy is the original, shifted and with ids of its own."""

from pathlib import Path
from typing import Any

from benchmarks.traces import scale
from tbprof._pb import message

XSpace = message("tensorflow.profiler.XSpace")


def small_space() -> Any:
    """Line "Steps" |0--.| with step 7, line "ops" |m.n.| with a group, a correlation, a context."""
    space = XSpace(hostnames=["h"])
    plane = space.planes.add(id=1, name="/device:GPU:0")
    for key, name in enumerate(["group_id", "correlation_id", "_c", "bytes"], start=1):
        plane.stat_metadata[key].id = key
        plane.stat_metadata[key].name = name
    for key, name in enumerate(["7", "m", "n"], start=1):
        plane.event_metadata[key].id = key
        plane.event_metadata[key].name = name
    steps = plane.lines.add(id=1, name="Steps", timestamp_ns=1)
    steps.events.add(metadata_id=1, offset_ps=0, duration_ps=3_000_000)
    ops = plane.lines.add(id=2, name="ops", timestamp_ns=1, display_name="shown")
    first = ops.events.add(metadata_id=2, offset_ps=0, duration_ps=1_000_000)
    first.stats.add(metadata_id=1, int64_value=7)
    first.stats.add(metadata_id=4, int64_value=64)
    second = ops.events.add(metadata_id=3, offset_ps=2_000_000, duration_ps=1_000_000)
    second.stats.add(metadata_id=2, uint64_value=5)
    second.stats.add(metadata_id=3, uint64_value=2**64 - 1)
    return space


def test_copies_are_shifted_and_numbered_anew(tmp_path: Path) -> None:
    source, target = tmp_path / "a.xplane.pb", tmp_path / "b.xplane.pb"
    source.write_bytes(small_space().SerializeToString())
    scale.scale(source, target, 3)
    [plane] = XSpace.FromString(target.read_bytes()).planes
    steps, ops = plane.lines
    names = {key: entry.name for key, entry in plane.event_metadata.items()}
    period = 4_000_000  # 3 µs and one more

    assert [names[event.metadata_id] for event in steps.events] == ["7", "15", "23"]
    assert [event.offset_ps for event in steps.events] == [0, period, 2 * period]
    assert (ops.id, ops.name, ops.timestamp_ns, ops.display_name) == (2, "ops", 1, "shown")
    assert [names[event.metadata_id] for event in ops.events] == ["m", "n"] * 3
    assert [event.offset_ps for event in ops.events[::2]] == [0, period, 2 * period]
    assert [event.stats[0].int64_value for event in ops.events[::2]] == [7, 15, 23]
    assert [event.stats[1].int64_value for event in ops.events[::2]] == [64, 64, 64]
    assert [event.stats[0].uint64_value for event in ops.events[1::2]] == [5, 11, 17]
    step = 0x9E3779B97F4A7C15
    contexts = [event.stats[1].uint64_value for event in ops.events[1::2]]
    assert contexts == [(2**64 - 1 + copy * step) % 2**64 for copy in range(3)]


def test_one_copy_is_the_original(tmp_path: Path) -> None:
    source, target = tmp_path / "a.xplane.pb", tmp_path / "b.xplane.pb"
    source.write_bytes(small_space().SerializeToString())
    scale.scale(source, target, 1)
    assert XSpace.FromString(target.read_bytes()) == small_space()
