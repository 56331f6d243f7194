"""Which lines become tracks, in which order, and what their events are called."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.unlaid_timelines import Shown, outline, shown, tracks
from traces import COLUMN_PS, Stats, drawn_space, listed, space_of

from tbprof._pb import message
from tbprof.base import names
from tbprof.events.space import Space
from tbprof.timeline.build.tracks import find_tracks
from tbprof.timeline.model.unlaid_tracks import UnlaidTracks
from tbprof.xplane.reader import read_space

DERIVED = names.DERIVED_FIRST - 2**32  # as files spell it


def core(**fields: int | bool) -> Stats:
    details = message("tensorflow.profiler.CoreDetails")(**fields)
    return {"core_details": details.SerializeToString()}


def test_devices_come_first_then_host_threads_then_other_planes():
    line = "|a"
    planes = [
        ("Task Environment", ""),
        ("/host:metadata", ""),
        ("#Chip power#", f"Power {line}"),
        ("/host:CPU", f"main/1 {line}"),
        ("/host:CPU [17]", f"worker/2 {line}"),
        ("/device:GPU:10", f"Stream #1 {line}"),
        ("/device:CUSTOM:net", f"Packets {line}"),
        ("/device:GPU:2", f"Stream #1 {line}"),
        ("/device:GPU:3", ""),
    ]
    assert outline(find_tracks(drawn_space(planes))) == [
        ("/device:GPU:2", [("stream", "Stream #1")]),
        ("/device:GPU:10", [("stream", "Stream #1")]),
        ("Host Threads", [("thread", "main/1")]),
        ("Host Threads [17]", [("thread", "worker/2")]),
        ("#Chip power#", [("other", "Power")]),
        ("/device:CUSTOM:net", [("other", "Packets")]),
    ]


def test_cores_of_tpus_are_labelled_with_chip_and_core():
    planes = {
        "/device:TPU:0": "XLA Ops |a",
        "/device:TPU:1": "XLA Ops |a",
        "/device:TPU:2": "XLA Ops |a",
        "/device:TPU:0 SparseCore 1": "Sparse Core Ops |a",
    }
    stats = {
        "/device:TPU:0": core(local_chip_id=0, core_num=0),
        "/device:TPU:1": core(local_chip_id=3, core_num=1, global_chip_id=9),
        "/device:TPU:2": {"core_details": b"\xff"},
    }
    unlaid = find_tracks(drawn_space(planes, plane_stats=stats))
    assert [section.label for section in unlaid.sections] == [
        "/device:TPU:0 (chip 0, core 0)",
        "/device:TPU:0 SparseCore 1",
        "/device:TPU:1 (chip 3, core 1)",
        "/device:TPU:2",
    ]
    assert {section.kind for section in unlaid.sections} == {"device"}


def test_tracks_of_a_gpu_begin_with_what_was_derived():
    drawing = """
        Stream #10(Compute)   |a
        Stream #9(MemcpyH2D)  |a
        Launch Stats          |a
        Source code           |a
        TensorFlow Name Scope |a
        TensorFlow Ops        |a
        XLA Ops               |a
        XLA Modules           |a
        Steps                 |a
    """
    known = ["Steps", "Launch Stats", "TensorFlow Name Scope", "TensorFlow Ops"]
    ids = {name: DERIVED + at for at, name in enumerate(known)}
    ids |= {"XLA Modules": DERIVED + 4, "XLA Ops": DERIVED + 5, "Source code": DERIVED + 7}
    unlaid = find_tracks(drawn_space({"/device:GPU:0": drawing}, line_ids=ids))
    assert outline(unlaid)[0][1] == [
        ("steps", "Steps"),
        ("modules", "XLA Modules"),
        ("ops", "TensorFlow Ops"),
        ("xla_ops", "XLA Ops"),
        ("scopes", "TensorFlow Name Scope"),
        ("source", "Source code"),
        ("other", "Launch Stats"),
        ("stream", "Stream #9(MemcpyH2D)"),
        ("stream", "Stream #10(Compute)"),
    ]
    assert [track.is_derived for track in unlaid.tracks] == [True] * 7 + [False] * 2
    assert unlaid.tracks[0].line_id == DERIVED


def test_tracks_of_a_tpu_keep_asynchronous_ops_apart():
    drawing = """
        XLA TraceMe   |a
        Async XLA Ops |a
        XLA Ops       |a
        XLA Modules   |a
        Steps         |a
    """
    unlaid = find_tracks(drawn_space({"/device:TPU:0": drawing}))
    assert outline(unlaid)[0][1] == [
        ("steps", "Steps"),
        ("modules", "XLA Modules"),
        ("xla_ops", "XLA Ops"),
        ("async", "Async XLA Ops"),
        ("other", "XLA TraceMe"),
    ]


def test_threads_that_drive_the_program_come_first_then_natural_order():
    drawing = """
        tf_Compute/10 |a
        tf_Compute/9  |a
        loader/7      |s
        helper/3      |f
        python3/5     |a
    """
    by_letter = {"s": {"step_num": 1}}
    space = drawn_space({"/host:CPU": drawing}, names={"f": "$train.py:3 fit"}, stats=by_letter)
    assert [track.name for track in find_tracks(space).tracks] == [
        "helper/3",
        "loader/7",
        "python3/5",
        "tf_Compute/9",
        "tf_Compute/10",
    ]


def test_events_are_on_their_lines_by_start_the_longest_first():
    drawing = """
        main |..aaaa.bb
             |..c.d
    """
    unlaid = find_tracks(drawn_space({"/host:CPU": drawing}))
    assert tracks(unlaid) == {
        "main": [Shown("a", 2, 4), Shown("c", 2, 1), Shown("d", 4, 1), Shown("b", 7, 2)]
    }
    assert (unlaid.in_file, unlaid.counted, unlaid.unplaced) == (4, 0, 0)
    (track,) = unlaid.tracks
    assert (track.plane, track.events) == (0, 4)


def test_events_are_called_by_their_display_names():
    space = drawn_space(
        {"/device:TPU:0": "XLA Ops |abc"},
        names={"a": "%fusion.1 = f32[8] fusion(f32[8] %x)", "b": "%copy.2", "c": ""},
        display_names={"a": "fusion.1"},
    )
    unlaid = find_tracks(space)
    assert [event.name for event in shown(unlaid, unlaid.tracks[0])] == [
        "fusion.1", "%copy.2", "(unnamed)",
    ]  # fmt: skip
    assert dict(zip(unlaid.types.name, unlaid.types.full_name, strict=True)) == {
        "fusion.1": "%fusion.1 = f32[8] fusion(f32[8] %x)",
        "%copy.2": "%copy.2",
        "(unnamed)": "(unnamed)",
    }


def test_kinds_of_one_name_on_several_planes_are_one():
    planes = {"/device:GPU:0": "Stream #1 |ab", "/device:GPU:1": "Stream #1 |ba"}
    unlaid = find_tracks(drawn_space(planes, names={"a": "gemm", "b": "conv"}))
    assert sorted(unlaid.types.name) == ["conv", "gemm"]
    assert [shown(unlaid, track)[0].name for track in unlaid.tracks] == ["gemm", "conv"]


def test_steps_are_called_by_their_step_name():
    space = drawn_space(
        {"/device:GPU:0": "Steps |aabbcc", "/host:CPU": "main |a"},
        names={"a": "0", "b": "1", "c": "2"},
        stats={"a": {"step_name": "train 7"}, "b": {"step_name": "train 8"}},
    )
    unlaid = find_tracks(space)
    assert tracks(unlaid) == {
        "Steps": [Shown("train 7", 0, 2), Shown("train 8", 2, 2), Shown("2", 4, 2)],
        # On no other line: an op in a step keeps its name.
        "main": [Shown("0", 0, 1)],
    }


def test_the_home_is_the_median_step_of_the_file():
    drawing = "Steps |aabbbbbcccddddeeeeeeeee"
    numbers = {"a": "5", "b": "6", "c": "7", "d": "8", "e": "9"}
    space = drawn_space({"/device:TPU:0": drawing}, names=numbers)
    # The first and the last may be cut; of 3, 4 and 5 the median is 4.
    assert find_tracks(space).initial_window == (10 * COLUMN_PS, 14 * COLUMN_PS, "step 8")


def test_a_file_without_steps_has_no_home():
    assert find_tracks(drawn_space({"/host:CPU": "main |aa"})).initial_window is None


def test_lines_of_counters_are_no_tracks_and_their_events_are_counted():
    drawing = """
        _counters_ |a.a.a
        main       |bb
    """
    unlaid = find_tracks(drawn_space({"/host:CPU": drawing}))
    assert outline(unlaid) == [("Host Threads", [("thread", "main")])]
    assert (unlaid.in_file, unlaid.counted) == (4, 3)
    assert [(line.section, line.plane, line.last - line.first) for line in unlaid.counters] == [
        (0, 0, 3)
    ]


def test_a_plane_of_counters_alone_is_a_section():
    unlaid = find_tracks(drawn_space({"/device:GPU:0": "_counters_ |a"}))
    assert outline(unlaid) == [("/device:GPU:0", [])]


def test_bookkeeping_of_the_recorder_is_on_its_thread():
    drawing = "main |aabb"
    space = drawn_space(
        {"/host:CPU": drawing},
        names={"a": names.MEMORY_ALLOCATION, "b": "ThreadpoolListener::Record"},
    )
    unlaid = find_tracks(space)
    assert [event.name for event in tracks(unlaid)["main"]] == [
        "MemoryAllocation", "ThreadpoolListener::Record",
    ]  # fmt: skip


def test_events_that_stand_for_several_are_counted_as_unplaced():
    space = message("tensorflow.profiler.XSpace")()
    plane = space.planes.add(name="/host:CPU")
    line = plane.lines.add(id=1, name="main")
    line.events.add(metadata_id=1, num_occurrences=5, duration_ps=7)
    line.events.add(metadata_id=1, offset_ps=3, duration_ps=7)
    unlaid = find_tracks(space_of(bytes(space.SerializeToString())))
    assert (unlaid.in_file, unlaid.unplaced) == (1, 1)


def test_an_empty_trace_has_nothing():
    unlaid = find_tracks(drawn_space({"/host:CPU": "", "/device:GPU:0": ""}))
    assert (unlaid.sections, unlaid.tracks, unlaid.types.name, unlaid.initial_window) == (
        [],
        [],
        [],
        None,
    )


def test_lines_without_a_name_are_called_by_their_number():
    space = message("tensorflow.profiler.XSpace")()
    plane = space.planes.add(name="/host:CPU")
    for number in (-7, 3):
        plane.lines.add(id=number).events.add(duration_ps=1)
    plane.lines.add(id=4, name="named", display_name="shown").events.add(duration_ps=1)
    unlaid = find_tracks(space_of(bytes(space.SerializeToString())))
    assert [(track.name, track.line_id) for track in unlaid.tracks] == [
        ("Line 3", 3), ("Line -7", -7), ("shown", 4),
    ]  # fmt: skip


def test_lines_of_one_name_stay_apart():
    space = message("tensorflow.profiler.XSpace")()
    plane = space.planes.add(name="/host:CPU")
    for number in (2, 1):
        plane.lines.add(id=number, name="worker").events.add(offset_ps=number, duration_ps=1)
    unlaid = find_tracks(space_of(bytes(space.SerializeToString())))
    assert [track.line_id for track in unlaid.tracks] == [2, 1]


def test_names_of_a_megabyte_and_strange_digits_are_shown():
    long = "x" * 2**20
    digits = "٣" * 20 + "9" * 5000
    lines = {name: [(long, 0, 1)] for name in (long, digits)}
    unlaid = find_tracks(space_of(listed({"/host:CPU": lines})))
    assert sorted(track.name for track in unlaid.tracks) == sorted([long, digits])
    assert unlaid.types.name == [long]


def test_a_hundred_thousand_lines_are_tracks_in_their_order():
    space = message("tensorflow.profiler.XSpace")()
    plane = space.planes.add(name="/host:CPU")
    lines = 100_000
    for number in range(lines):
        line = plane.lines.add(id=number, name=f"worker/{lines - number}")
        line.events.add(offset_ps=number, duration_ps=1)
    unlaid = find_tracks(space_of(bytes(space.SerializeToString())))
    assert [track.line_id for track in unlaid.tracks] == list(range(lines))[::-1]


def test_events_of_tpus_go_by_the_clock_of_the_core():
    # The host's times stretch the second op, and the program around it: `b` took 2 µs.
    drawing = """
        XLA Modules |mmmm....nnnnnnnn
        XLA Ops     |aaaa....bbbbbbbb
    """
    ticks = {
        "a": {"device_offset_ps": 0, "device_duration_ps": 4_000_000},
        "b": {"device_offset_ps": 8_000_000, "device_duration_ps": 2_000_000},
    }
    unlaid = find_tracks(drawn_space({"/device:TPU:0": drawing}, stats=ticks))
    assert tracks(unlaid) == {
        "XLA Modules": [Shown("m", 0, 4), Shown("n", 8, 2)],
        "XLA Ops": [Shown("a", 0, 4), Shown("b", 8, 2)],
    }


def sources(space: Space, unlaid: UnlaidTracks) -> list[tuple[int, int]]:
    """(plane, source) of every event on a track or of a counter."""
    found: list[tuple[int, int]] = []
    parts: list[Any] = [*unlaid.tracks, *unlaid.counters]
    for part in parts:
        column = part.columns.source[part.first : part.last]
        found += [(part.plane, one) for one in column.tolist()]
    assert max(plane for plane, _ in found) < len(space.planes)
    return found


@pytest.mark.parametrize(
    "run", ["tensorflow_cpu_training", "jax_cpu_training", "tensorflow_input_bound"]
)
def test_every_event_of_a_sample_is_on_one_track(run: str, sample_logdir: Path):
    check_completeness(sample_logdir / "plugins" / "profile" / run / "host0.xplane.pb")


def test_every_event_of_a_real_trace_is_on_one_track(accelerator_trace: Path):
    check_completeness(accelerator_trace)


def check_completeness(path: Path) -> None:
    space = read_space(path)
    unlaid = find_tracks(space)
    found = sources(space, unlaid)
    expected = [
        (row, source)
        for row, plane in enumerate(space.planes)
        for source in plane.events().source.tolist()
    ]
    assert sorted(found) == sorted(expected)
    assert unlaid.in_file == len(expected)
    for track in unlaid.tracks:
        rows = slice(track.first, track.last)
        start, duration = track.columns.start_ps[rows], track.columns.duration_ps[rows]
        assert track.events > 0
        order = np.lexsort((-duration, start))
        assert np.array_equal(start[order], start)
        assert np.array_equal(duration[order], duration)
        assert int(track.type_of[track.columns.type[rows]].min()) >= 0


def test_the_real_gpu_trace_has_the_tracks_of_the_guide(gpu_trace: Path):
    sections = dict(outline(find_tracks(read_space(gpu_trace))))
    # Five of its eight GPUs recorded nothing.
    assert list(sections) == ["/device:GPU:1", "/device:GPU:4", "/device:GPU:6", "Host Threads"]
    assert sections["/device:GPU:4"] == [
        ("steps", "Steps"),
        ("ops", "TensorFlow Ops"),
        ("scopes", "TensorFlow Name Scope"),
        ("stream", "Stream #63(MemcpyH2D)"),
        ("stream", "Stream #134(Compute)"),
        ("stream", "Stream #135(MemcpyH2D)"),
        ("stream", "Stream #136(MemcpyD2H)"),
    ]
    assert sections["Host Threads"][0] == ("thread", "python3")


def test_the_real_tpu_trace_has_a_section_per_core(tpu_trace: Path):
    unlaid = find_tracks(read_space(tpu_trace))
    labels = [f"/device:TPU:{core} (chip {core}, core 0)" for core in range(4)]
    assert [section.label for section in unlaid.sections] == [*labels, "Host Threads"]
    assert unlaid.initial_window is None
