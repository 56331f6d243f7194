"""Steps, ops, scopes and programs where the file has no lines of them."""

from pathlib import Path

import numpy as np
import pytest
from builders.unlaid_timelines import Shown, category_of, outline, shown, timeline_of_draft, tracks
from traces import COLUMN_PS, ByLetter, drawn_space, space_of
from traces.lost_kernels import lossy

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.steps.step_finding import find_steps
from tbprof.events.space import Space
from tbprof.timeline.build.derived import find_derived, step_names
from tbprof.timeline.build.derived_ops import derive_ops, split_path
from tbprof.timeline.build.tracks import find_tracks
from tbprof.timeline.model.unlaid_tracks import UnlaidTracks
from tbprof.xplane.reader import read_space

GPU = "/device:GPU:0"
MILLISECOND = 1000  # columns


def derived(space: Space, marker: str = "") -> UnlaidTracks:
    programs = Programs(space)
    return find_derived(space, programs, find_steps(space, programs, marker))


def of_ops(drawing: str, ops: dict[str, str], *, host: str = "") -> dict[str, list[Shown]]:
    """The derived tracks of a GPU whose kernels belong to these ops."""
    stats: ByLetter = {letter: {"tf_op": op} for letter, op in ops.items()}
    planes = {GPU: drawing, **({"/host:CPU": host} if host else {})}
    unlaid = derived(drawn_space(planes, stats={**stats, **STEPS}, names=NAMES))
    return {name: events for name, events in tracks(unlaid).items() if name != "Steps"}


# Markers of steps, and what launches kernels in them.
NAMES = {"s": "train", "t": "train"}
STEPS: ByLetter = {"s": {"step_num": 7, "_r": 1}, "t": {"step_num": 8, "_r": 1}}


def test_kernels_of_one_op_that_follow_each_other_are_one_run():
    assert of_ops(
        "Stream #1 |aa.b..ccc.a",
        {"a": "x/MatMul:MatMul", "b": "x/MatMul:MatMul", "c": "x/y/Relu:Relu"},
    ) == {
        "TensorFlow Ops": [Shown("MatMul", 0, 4), Shown("Relu", 6, 3), Shown("MatMul", 10, 1)],
        "Name Scope": [Shown("x", 0, 11), Shown("y", 6, 3)],
    }


def test_kernels_without_an_op_interrupt_none():
    tracks = of_ops("Stream #1 |aauua", {"a": "MatMul:MatMul"})
    assert tracks == {"TensorFlow Ops": [Shown("MatMul", 0, 5)]}


def test_a_stream_that_idles_for_long_ends_a_run():
    gap = "." * (MILLISECOND + 1)
    tracks = of_ops(f"Stream #1 |a{gap}a.a", {"a": "MatMul:MatMul"})
    assert tracks["TensorFlow Ops"] == [Shown("MatMul", 0, 1), Shown("MatMul", 1002, 3)]


def test_streams_have_runs_of_their_own():
    drawing = """
        Stream #1 |aa.aa.aa
        Stream #2 |..bb.b..
    """
    tracks = of_ops(drawing, {"a": "MatMul:MatMul", "b": "Relu:Relu"})
    assert tracks["TensorFlow Ops"] == [Shown("MatMul", 0, 8), Shown("Relu", 2, 4)]


def test_an_op_on_two_streams_at_once_is_one():
    drawing = """
        Stream #1 |aaaa.....a
        Stream #2 |..aaaaa...
    """
    assert of_ops(drawing, {"a": "x/MatMul:MatMul"}) == {
        "TensorFlow Ops": [Shown("MatMul", 0, 10)],
        "Name Scope": [Shown("x", 0, 10)],
    }


def test_steps_part_the_turns_of_an_op_and_of_its_scope():
    tracks = of_ops(
        "Stream #1 |.aaa.aaa",
        {"a": "x/MatMul:MatMul"},
        host="python |sssstttt",
    )
    assert tracks == {
        "TensorFlow Ops": [Shown("MatMul", 1, 3), Shown("MatMul", 5, 3)],
        "Name Scope": [Shown("x", 1, 3), Shown("x", 5, 3)],
    }


def test_in_a_step_no_gap_ends_a_scope():
    gap = "." * (MILLISECOND + 1)
    tracks = of_ops(
        f"Stream #1 |a{gap}b",
        {"a": "x/MatMul:MatMul", "b": "x/Relu:Relu"},
        host=f"python |s{gap.replace('.', 's')}s",
    )
    assert tracks["Name Scope"] == [Shown("x", 0, 1003)]


def test_scopes_enclose_each_other_by_path():
    tracks = of_ops(
        "Stream #1 |abcd",
        {"a": "m/a/X:X", "b": "m/a/b/X:X", "c": "m/X:X", "d": "m/a/X:X"},
    )
    assert tracks["Name Scope"] == [
        Shown("m", 0, 4), Shown("a", 0, 2), Shown("b", 1, 1), Shown("a", 3, 1),
    ]  # fmt: skip


def test_derived_tracks_have_the_categories_of_what_they_show():
    stats: ByLetter = {
        "a": {"tf_op": "x/MatMul:MatMul"},
        "b": {"tf_op": "x/NcclAllReduce:NcclAllReduce"},
    }
    unlaid = derived(drawn_space({GPU: "Stream #1 |ab"}, stats=stats))
    assert category_of(unlaid) == {
        "MatMul": "compute", "NcclAllReduce": "collectives", "x": "scopes",
    }  # fmt: skip
    assert sorted(unlaid.types.full_name) == [
        "x",
        "x/MatMul:MatMul",
        "x/NcclAllReduce:NcclAllReduce",
    ]


def test_programs_of_a_gpu_are_derived_too():
    stats: ByLetter = {
        "a": {"hlo_op": "fusion.1", "hlo_module": "jit_f"},
        "b": {"hlo_op": "while.2::fusion.3", "hlo_module": "jit_f"},
        "c": {"hlo_op": "fusion.1", "hlo_module": "jit_g"},
    }
    found = tracks(derived(drawn_space({GPU: "Stream #1 |abbc"}, stats=stats)))
    assert found["XLA Modules"] == [Shown("jit_f", 0, 3), Shown("jit_g", 3, 1)]
    assert found["XLA Ops"] == [
        Shown("fusion.1", 0, 1), Shown("fusion.3", 1, 2), Shown("fusion.1", 3, 1),
    ]  # fmt: skip


def test_kinds_that_the_file_has_are_not_derived_again():
    drawing = """
        Stream #1             |aa
        TensorFlow Ops        |bb
        TensorFlow Name Scope |cc
    """
    ids = {"TensorFlow Ops": -559038734, "TensorFlow Name Scope": -559038735}
    stats: ByLetter = {"a": {"tf_op": "x/MatMul:MatMul"}}
    unlaid = derived(drawn_space({GPU: drawing}, stats=stats, line_ids=ids))
    assert (unlaid.sections, unlaid.tracks) == ([], [])


def test_ops_of_a_tpu_are_what_ran_innermost():
    drawing = """
        XLA Ops |aaaaaaaa..
                |.bb.cc.d..
    """
    ops: ByLetter = {
        "b": {"tf_op": "jit(f)/jit(main)/while/body/add"},
        "c": {"tf_op": "jit(f)/jit(main)/while/body/add"},
    }
    space = drawn_space({"/device:TPU:0": drawing}, type_stats=ops)
    # Two ops in a row of one framework op are one; `a` and `d` are the compiler's own.
    assert tracks(derived(space)) == {
        "Framework Ops": [Shown("add", 1, 5)],
        "Name Scope": [
            Shown("jit(f)", 1, 5), Shown("jit(main)", 1, 5), Shown("while", 1, 5),
            Shown("body", 1, 5),
        ],
    }  # fmt: skip


def test_steps_are_drawn_for_each_device_up_to_the_next():
    space = drawn_space(
        {
            "/device:GPU:0": "Stream #1 |..kk..kk",
            "/device:GPU:1": "Stream #1 |..kk..kk",
            "/device:GPU:2": "",
            "/host:CPU": "python |sss.ttt.",
        },
        names=NAMES,
        stats=STEPS,
    )
    unlaid = derived(space)
    assert outline(unlaid) == [
        ("/device:GPU:0", [("steps", "Steps")]),
        ("/device:GPU:1", [("steps", "Steps")]),
    ]
    # The last one ends with its own work: no next one bounds it.
    expected = [Shown("train 7", 0, 4), Shown("train 8", 4, 3)]
    assert [shown(unlaid, track) for track in unlaid.tracks] == [expected, expected]
    assert set(category_of(unlaid).values()) == {"steps"}
    assert (unlaid.in_file, unlaid.counted, unlaid.unplaced) == (0, 0, 0)


def test_without_a_device_the_steps_are_those_of_the_host():
    space = drawn_space({"/host:CPU": "python |sss.ttt."}, names=NAMES, stats=STEPS)
    unlaid = derived(space)
    assert outline(unlaid) == [("Host Threads", [("steps", "Steps")])]
    assert unlaid.initial_window == (0, 4 * COLUMN_PS, "train 7")
    (track,) = unlaid.tracks
    assert (track.plane, track.is_derived, track.line_id) == (-1, True, -559038737)
    assert track.columns.source.tolist() == [-1, -1]


def test_the_track_of_inferred_steps_says_so(tpu_trace: Path):
    unlaid = derived(read_space(tpu_trace))
    steps = [track for track in unlaid.tracks if track.kind == "steps"]
    assert [(track.name, track.events) for track in steps] == [("Steps (inferred)", 100)] * 4
    assert shown(unlaid, steps[0])[7].name == "step 7"
    assert unlaid.initial_window is not None
    begin, end, label = unlaid.initial_window
    assert label.startswith("step ")
    assert 780 * 10**9 < end - begin < 790 * 10**9


def test_steps_of_the_devices_own_line_are_not_drawn_twice():
    unlaid = derived(drawn_space({"/device:TPU:0": "Steps |aabb\n XLA Ops |c.c."}))
    assert [track.kind for track in unlaid.tracks if track.kind == "steps"] == []


def test_steps_of_a_marker_stand_beside_the_devices_own():
    space = drawn_space(
        {
            GPU: "Steps |aabb....\n Stream #1 |k...k...",
            "/host:CPU": "python |sss.ttt.",
        },
        names=NAMES,
        stats=STEPS,
    )
    unlaid = derived(space)
    assert [track.name for track in unlaid.tracks] == ["Steps (train)"]


def test_the_sections_are_those_of_the_file(tpu_trace: Path):
    space = read_space(tpu_trace)
    file, added = find_tracks(space), derived(space)
    assert added.sections == file.sections[:4]


def test_the_ops_of_steps_lie_in_them(tpu_trace: Path):
    """The clock of steps, of ops of the file and of derived ops is one."""
    space = read_space(tpu_trace)
    file, added = find_tracks(space), derived(space)
    steps = next(track for track in added.tracks if track.kind == "steps")
    start = steps.columns.start_ps[steps.first : steps.last]
    ops = next(track for track in file.tracks if track.kind == "xla_ops")
    begins = ops.columns.start_ps[ops.first : ops.last]
    programs = next(track for track in file.tracks if track.kind == "modules")
    assert np.isin(start, programs.columns.start_ps[programs.first : programs.last]).all()
    # The same ops in every step; one program begins 19 ns after its first op.
    count = np.diff(np.searchsorted(begins + COLUMN_PS, start))
    assert set(count.tolist()) == {15}


def test_real_ops_are_those_that_the_recorder_derived(gpu_trace: Path):
    """The lines of the file, which cover the compute stream alone, against our own."""
    space = read_space(gpu_trace)
    file = find_tracks(space)
    nothing = np.zeros(0, np.int64)
    for row, plane in enumerate(space.planes):
        for line in (track for track in file.tracks if track.plane == row and track.kind == "ops"):
            (found,) = derive_ops(plane, Programs(space), nothing, ["ops"])
            ours = {
                Shown(found.name[at], start / COLUMN_PS, (end - start) / COLUMN_PS)
                for at, start, end in zip(
                    found.type.tolist(), found.start_ps.tolist(), found.end_ps.tolist(), strict=True
                )
            }
            assert set(shown(file, line)) <= ours


@pytest.mark.parametrize(
    ("name", "segments"),
    [
        ("a/b/MatMul", ["a", "b", "MatMul"]),
        ("MatMul", ["MatMul"]),
        ("jit(f)/pjit[name=a/b jaxpr={x/y}]/add", ["jit(f)", "pjit[name=a/b jaxpr={x/y}]", "add"]),
        ("a/b[c/d", ["a", "b[c/d"]),
        ("a]/b", ["a]", "b"]),
        ("", [""]),
        ("a//b/", ["a", "", "b", ""]),
        ("x[1]//y", ["x[1]", "", "y"]),
    ],
)
def test_paths_are_cut_outside_of_brackets(name: str, segments: list[str]):
    assert split_path(name) == segments


def test_scopes_of_hostile_names_are_cut():
    op = "/".join(f"s{depth}" for depth in range(1000)) + ":Op"
    tracks = of_ops("Stream #1 |a", {"a": op})
    assert len(tracks["Name Scope"]) == 64
    tracks = of_ops("Stream #1 |a", {"a": "[" + "/" * 2**20 + ":Op"})
    assert "Name Scope" not in tracks


def test_derived_timelines_are_laid_out_and_busy(tpu_trace: Path):
    space = read_space(tpu_trace)
    timeline = timeline_of_draft(space, derived(space))
    assert timeline.counters == []
    assert [track.rows for track in timeline.tracks[:3]] == [1, 1, 2]


def test_steps_that_were_not_recorded_say_so():
    space = space_of(lossy({0: range(5)}))
    steps = find_steps(space, Programs(space))
    assert step_names(steps)[4:6] == ["train 4", "train 5 (not recorded)"]
