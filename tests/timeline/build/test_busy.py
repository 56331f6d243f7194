"""When sections were busy, against counting instant by instant."""

import dataclasses
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from builders.unlaid_timelines import timeline_of
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import COLUMN_PS, drawn_space

from tbprof.timeline.build.busy import busy_shares, find_busy
from tbprof.timeline.build.tracks import find_tracks
from tbprof.timeline.model.store import Timeline
from tbprof.timeline.model.unlaid_tracks import UnlaidTracks
from tbprof.xplane.reader import read_space


def spans(unlaid: UnlaidTracks) -> dict[str, list[tuple[int, int]]]:
    """(start, end) in µs of when each section was busy."""
    busy = find_busy(unlaid)
    pairs = list(zip(busy.start_ps.tolist(), busy.end_ps.tolist(), strict=True))
    return {
        section.label: [
            (start // COLUMN_PS, end // COLUMN_PS)
            for start, end in pairs[busy.first[row] : busy.first[row + 1]]
        ]
        for row, section in enumerate(unlaid.sections)
    }


def drawn(planes: dict[str, str], **more: object) -> UnlaidTracks:
    return find_tracks(drawn_space(planes, **more))


def test_a_host_is_busy_while_any_thread_has_an_event():
    unlaid = drawn(
        {
            "/host:CPU": """
                main   |aaaa....bb....
                       |.cc...........
                worker |..ddd.....ee..
            """
        }
    )
    assert spans(unlaid) == {"Host Threads": [(0, 5), (8, 12)]}


def test_a_gpu_is_busy_with_its_streams_alone():
    unlaid = drawn(
        {
            "/device:GPU:0": """
                Steps          |ssssssssssss
                TensorFlow Ops |aaaaaaaa....
                Stream #1      |kk..kk......
                Stream #2      |.mm......m..
            """
        },
        line_ids={"Steps": -559038737, "TensorFlow Ops": -559038734},
    )
    assert spans(unlaid) == {"/device:GPU:0": [(0, 3), (4, 6), (9, 10)]}


def test_a_tpu_is_busy_with_ops_and_not_with_programs_or_copies_beside_them():
    unlaid = drawn(
        {
            "/device:TPU:0": """
                XLA Modules   |mmmmmmmm
                XLA Ops       |aa..bb..
                Async XLA Ops |cccccccc
            """
        }
    )
    assert spans(unlaid) == {"/device:TPU:0": [(0, 2), (4, 6)]}


@pytest.mark.parametrize(
    ("drawing", "expected"),
    [
        ("XLA Modules |mm..mm", [(0, 2), (4, 6)]),
        ("Steps |ss..ss", [(0, 2), (4, 6)]),
        ("Steps |ssss\n Async XLA Ops |.cc", [(1, 3)]),
    ],
)
def test_a_device_without_ops_is_busy_with_what_there_is(
    drawing: str, expected: list[tuple[int, int]]
):
    assert spans(drawn({"/device:TPU:0": drawing})) == {"/device:TPU:0": expected}


def test_a_section_of_counters_is_never_busy():
    assert spans(drawn({"/device:GPU:0": "_counters_ |c"})) == {"/device:GPU:0": []}


def test_sums_go_on_from_section_to_section():
    unlaid = drawn({"/device:GPU:0": "Stream #1 |aa.bbb", "/device:GPU:1": "Stream #1 |.c.d"})
    busy = find_busy(unlaid)
    assert (busy.before_ps // COLUMN_PS).tolist() == [0, 2, 5, 6]


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    planes = {"/device:GPU:0": "Stream #1 |aa.bbb..", "/device:GPU:1": "Stream #1 |.c.d..ee"}
    return timeline_of(drawn_space(planes))


def test_the_share_of_each_bucket_is_exact(timeline: Timeline):
    window = 0, 8 * COLUMN_PS
    assert busy_shares(timeline, 0, *window, 1).tolist() == [5 / 8]
    assert busy_shares(timeline, 0, *window, 4).tolist() == [1, 0.5, 1, 0]
    assert busy_shares(timeline, 1, *window, 4).tolist() == [0.5, 0.5, 0, 1]
    # Outside of the trace nothing is busy.
    assert busy_shares(timeline, 1, -8 * COLUMN_PS, 16 * COLUMN_PS, 3).tolist() == [0, 0.5, 0]


def test_buckets_shorter_than_a_picosecond_are_busy_or_not(timeline: Timeline):
    end = 2 * COLUMN_PS
    assert busy_shares(timeline, 0, end - 1, end + 1, 4).tolist() == [1, 1, 0, 0]


def test_a_section_without_spans_has_shares_of_zero():
    timeline = timeline_of(drawn_space({"/device:GPU:0": "_counters_ |c"}))
    assert busy_shares(timeline, 0, 0, 10, 3).tolist() == [0, 0, 0]


SPANS = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), max_size=12)


@settings(deadline=None)
@given(SPANS, SPANS, st.integers(-20, 400), st.integers(1, 500), st.integers(1, 60))
def test_shares_agree_with_counting_picoseconds(
    first: list[tuple[int, int]],
    second: list[tuple[int, int]],
    from_ps: int,
    length: int,
    buckets: int,
):
    starts, ends, cuts = [], [], [0]
    for drawing in (first, second):
        at = 0
        for gap, duration in drawing:
            starts.append(at + gap)
            at += gap + duration
            ends.append(at)
        cuts.append(len(starts))
    start, end = np.array(starts, np.int64), np.array(ends, np.int64)
    timeline = dataclasses.replace(
        timeline_of(drawn_space({"/host:CPU": "main |a"})),
        busy_first=np.array(cuts, np.int64),
        busy_start_ps=start,
        busy_end_ps=end,
        busy_before_ps=np.cumsum(end - start) - (end - start),
    )
    for section in (0, 1):
        mine = range(cuts[section], cuts[section + 1])
        is_busy = {ps for row in mine for ps in range(starts[row], ends[row])}
        edges = [from_ps + length * index // buckets for index in range(buckets + 1)]
        expected = [
            sum(ps in is_busy for ps in range(begin, until)) / (until - begin)
            if until > begin
            else float(begin in is_busy)
            for begin, until in pairwise(edges)
        ]
        shares = busy_shares(timeline, section, from_ps, from_ps + length, buckets)
        assert shares.tolist() == expected


def test_windows_of_years_do_not_overflow(timeline: Timeline):
    shares = busy_shares(timeline, 0, -(2**58), 2**58, 4096)
    assert shares.sum() * 2**59 / 4096 == pytest.approx(5 * COLUMN_PS)


def test_busy_time_of_a_real_gpu_is_that_of_its_kernels_and_copies(gpu_trace: Path):
    space = read_space(gpu_trace)
    unlaid = find_tracks(space)
    busy = find_busy(unlaid)
    for row, section in enumerate(unlaid.sections):
        mine = [
            track
            for track in unlaid.tracks
            if track.section == row and track.kind in ("stream", "thread")
        ]
        intervals = sorted(
            (start, start + duration)
            for track in mine
            for start, duration in zip(
                track.columns.start_ps[track.first : track.last].tolist(),
                track.columns.duration_ps[track.first : track.last].tolist(),
                strict=True,
            )
        )
        total = covered = 0
        for start, end in intervals:
            total += max(end - max(start, covered), 0)
            covered = max(covered, end)
        rows = slice(busy.first[row], busy.first[row + 1])
        assert int((busy.end_ps[rows] - busy.start_ps[rows]).sum()) == total, section.name
