"""Values over time: which there are, and what is shown of them at any resolution."""

import dataclasses
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
from builders.unlaid_timelines import timeline_of
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import COLUMN_PS, Ref, Stats, Unsigned, drawn_space

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.memory.memory import find_memory
from tbprof.analysis.memory.memory_peaks import find_memory_peaks
from tbprof.analysis.memory.memory_usage import summarize
from tbprof.events.space import Space
from tbprof.timeline.build.counters import plan_counters
from tbprof.timeline.build.tracks import find_tracks
from tbprof.timeline.model.counter_points import make_pyramid, query_counter
from tbprof.timeline.model.store import Counter, Timeline, freeze
from tbprof.xplane.reader import read_space

Points = list[tuple[float, float]]  # time in µs, value


def counters(space: Space) -> dict[tuple[str, str, str], Points]:
    """The points of each counter by section, name and unit."""
    unlaid = find_tracks(space)
    counters = plan_counters(space, unlaid)()
    time = (counters.time_ps / COLUMN_PS).tolist()
    points = list(zip(time, counters.value.tolist(), strict=True))
    return {
        (unlaid.sections[counter.section].name, counter.name, counter.unit): points[
            counter.first : counter.last
        ]
        for counter in counters.counters
    }


def test_each_name_on_a_line_of_counters_is_a_counter():
    space = drawn_space(
        {
            "/device:GPU:0": """
                _counters_ |a.b.c.d
                Stream #1  |kk
            """
        },
        names={"a": "power", "b": "power ", "c": "used bytes", "d": "load (%)"},
        stats={
            "a": {"watts": 30},
            "b": {"watts": 2.5},
            "c": {"value": Unsigned(2**63)},
            "d": {"why": "text", "value": -1},
        },
    )
    assert counters(space) == {
        ("/device:GPU:0", "load (%)", "%"): [(6, -1)],
        ("/device:GPU:0", "power", ""): [(0, 30)],
        ("/device:GPU:0", "power ", ""): [(2, 2.5)],
        ("/device:GPU:0", "used bytes", "bytes"): [(4, 2.0**63)],
    }


def test_points_of_a_counter_are_by_time_over_all_its_lines():
    # Two planes of one name would be two sections; two lines of one plane are one counter.
    space = drawn_space(
        {
            "/host:CPU": """
                _counters_ |a..b
                main       |m
                _counters_ |.c
            """
        },
        names=dict.fromkeys("abc", "load"),
        stats={"a": {"v": 1}, "b": {"v": 2}, "c": {"v": 3}},
    )
    assert counters(space) == {("/host:CPU", "load", ""): [(0, 1), (1, 3), (3, 2)]}


def test_what_is_no_finite_number_is_no_point():
    space = drawn_space(
        {"/host:CPU": "_counters_ |a.b.c.d.e"},
        names={**dict.fromkeys("abcd", "load"), "e": "text only"},
        stats={
            "a": {"v": 1.0},
            "b": {"v": float("nan")},
            "c": {"v": float("inf")},
            "e": {"v": "text"},
        },
    )
    assert counters(space) == {("/host:CPU", "load", ""): [(0, 1)]}


def memory(allocator: str | int, heap: int | None, stack: int = 0) -> Stats:
    owner: Stats = (
        {"allocator_name": Ref(allocator)}
        if isinstance(allocator, str)
        else {"device_ordinal": allocator}
    )
    sizes: Mapping[str, int] = {} if heap is None else {"bytes_allocated": heap}
    return {**owner, **sizes, **({"bytes_reserved": stack} if stack else {})}


def test_memory_in_use_is_that_of_each_allocator_where_its_device_is():
    space = drawn_space(
        {
            "/device:GPU:4": "Stream #1 |k",
            "/host:CPU": """
                main   |a.b.c..
                worker |.d.e.f.g
            """,
        },
        names=dict.fromkeys("abcd", "MemoryAllocation")
        | dict.fromkeys("efg", "MemoryDeallocation"),
        stats={
            "a": memory("GPU_4_bfc", 100),
            "b": memory("cpu", 7),
            "c": memory("GPU_5_bfc", 1),
            "d": memory("GPU_4_bfc", 150, stack=20),
            "e": memory("GPU_4_bfc", 60),
            "f": memory("gpu_host_bfc", 9),
            "g": memory("GPU_4_bfc", None),
        },
    )
    assert counters(space) == {
        ("/device:GPU:4", "GPU_4_bfc: memory in use", "bytes"): [(0, 100), (1, 170), (3, 60)],
        ("/host:CPU", "cpu: memory in use", "bytes"): [(2, 7)],
        ("/host:CPU", "GPU_5_bfc: memory in use", "bytes"): [(4, 1)],
        ("/host:CPU", "gpu_host_bfc: memory in use", "bytes"): [(5, 9)],
    }


def test_memory_of_tpus_goes_by_their_number():
    space = drawn_space(
        {"/device:TPU:1": "XLA Ops |k", "/host:CPU": "main |a.b.c"},
        names=dict.fromkeys("abc", "MemoryAllocation"),
        stats={"a": memory(1, 5), "b": memory(2, 6), "c": {"bytes_allocated": 3}},
    )
    # The last tells of nobody's memory.
    assert counters(space) == {
        ("/device:TPU:1", "memory in use", "bytes"): [(0, 5)],
        ("/host:CPU", "2: memory in use", "bytes"): [(2, 6)],
    }


def test_a_trace_without_counters_has_none():
    assert counters(drawn_space({"/host:CPU": "main |a"})) == {}


def test_the_peaks_of_real_traces_are_those_of_the_overview(accelerator_trace: Path):
    space = read_space(accelerator_trace)
    programs = Programs(space)
    peaks, summary = find_memory_peaks(space, programs), summarize(find_memory(space, programs))
    assert sorted(peaks.peak_bytes) == sorted(summary.peak_bytes)
    found = counters(space)
    events = [
        (int(bytes_), int(one + other))
        for bytes_, one, other in zip(
            summary.peak_bytes, summary.allocations, summary.deallocations, strict=True
        )
    ]
    highest = [(int(max(value for _, value in points)), len(points)) for points in found.values()]
    assert sorted(highest) == sorted(events)
    assert {unit for _, _, unit in found} == {"bytes"}


def test_the_allocators_of_the_real_gpu_trace_are_with_their_devices(gpu_trace: Path):
    # The reference tells 969 events of GPU 6, and its peak.
    found = counters(read_space(gpu_trace))
    assert [(section, name, len(points)) for (section, name, _), points in found.items()] == [
        ("/device:GPU:1", "GPU_1_bfc: memory in use", 19),
        ("/device:GPU:4", "GPU_4_bfc: memory in use", 969),
        ("/device:GPU:6", "GPU_6_bfc: memory in use", 969),
        ("/host:CPU", "gpu_host_bfc: memory in use", 536),
    ]
    points = found["/device:GPU:6", "GPU_6_bfc: memory in use", "bytes"]
    assert max(value for _, value in points) == 6_210_111_488


# Buckets of a counter, against all of its points.

ORIGINS = st.integers(-(2**57), 2**57)
GAPS = st.one_of(st.integers(0, 3), st.integers(0, 50).map(lambda bits: (1 << bits) >> 3))
SERIES = st.lists(st.tuples(GAPS, st.integers(-100, 100)), min_size=1, max_size=80)


def slow(
    points: list[tuple[int, int]], begin: int, level: int, first: int, last: int
) -> list[tuple[int, float, float, float]]:
    """(time, low, high, last) of each bucket that holds points, after the last one before."""
    before = [point for point in points if point[0] < begin + first * 2**level]
    found: list[tuple[int, float, float, float]] = [
        (time, value, value, value) for time, value in before[-1:]
    ]
    for bucket in sorted({(time - begin) // 2**level for time, _ in points}):
        if first <= bucket < last:
            mine = [point for point in points if (point[0] - begin) // 2**level == bucket]
            values = [value for _, value in mine]
            found.append((mine[0][0], min(values), max(values), values[-1]))
    return found


def with_counters(series: list[list[tuple[int, int]]], begin_ps: int) -> Timeline:
    times = [time for points in series for time, _ in points]
    value = np.array([value for points in series for _, value in points], np.float64)
    cuts = np.cumsum([0, *map(len, series)]).tolist()
    low, high = make_pyramid(value)
    return freeze(
        dataclasses.replace(
            _EMPTY,
            begin_ps=begin_ps,
            counters=[Counter(0, "", "", first, last) for first, last in pairwise(cuts)],
            counter_time_ps=np.array(times, np.int64),
            counter_value=value,
            counter_low=low,
            counter_high=high,
        )
    )


_EMPTY = timeline_of(drawn_space({"/host:CPU": "main |a"}))


def asked(timeline: Timeline, counter: int, level: int, first: int, last: int) -> list[object]:
    points = query_counter(timeline, counter, level, first, last)
    columns = (points.time_ps, points.low, points.high, points.last)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@settings(deadline=None)  # the first call compiles
@given(
    st.lists(SERIES, min_size=1, max_size=3),
    ORIGINS,
    st.integers(-5, 5),
    st.integers(0, 58),
    st.integers(-3, 40),
    st.integers(0, 60),
)
def test_buckets_agree_with_looking_at_every_point(
    drawn: list[list[tuple[int, int]]],
    origin: int,
    ahead: int,
    level: int,
    first: int,
    buckets: int,
):
    series = []
    for gaps in drawn:
        times = origin + np.cumsum([gap for gap, _ in gaps])
        series.append(list(zip(times.tolist(), [value for _, value in gaps], strict=True)))
    timeline = with_counters(series, origin + ahead)
    for counter, points in enumerate(series):
        found = asked(timeline, counter, level, first, first + buckets)
        assert found == slow(points, origin + ahead, level, first, first + buckets)


def test_extremes_hold_over_all_levels_of_the_pyramid():
    generator = np.random.default_rng(7)
    values = generator.integers(-1000, 1000, 5000).tolist()
    points = list(zip(range(0, 15_000, 3), values, strict=True))
    timeline = with_counters([points[:700], points[700:]], 0)
    for level in range(15):
        for counter, mine in enumerate((points[:700], points[700:])):
            found = asked(timeline, counter, level, 0, 1 + (15_000 >> level))
            assert found == slow(mine, 0, level, 0, 1 + (15_000 >> level))


def test_the_pyramid_of_nothing_is_empty():
    low, high = make_pyramid(np.zeros(0))
    assert low.size == high.size == 0
    low, high = make_pyramid(np.array([4.0]))
    assert low.size == high.size == 0


def test_the_last_value_before_a_window_holds_on_into_it():
    timeline = with_counters([[(5, 1), (9, 2), (100, 3)]], 0)
    assert asked(timeline, 0, 0, 50, 60) == [(9, 2, 2, 2)]
    assert asked(timeline, 0, 0, 0, 5) == []
    assert asked(timeline, 0, 3, 0, 2**55) == [(5, 1, 1, 1), (9, 2, 2, 2), (100, 3, 3, 3)]
    assert asked(timeline, 0, 58, -(2**60), 2**60) == [(5, 1, 3, 3)]
