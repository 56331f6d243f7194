"""Compiled programs that run behind the code that launches them. One column is 1 µs."""

import dataclasses

import numpy as np
import pytest
from builders.evidence import NO_GPU, evidence
from helpers.drawn.drawn_steps import HOST, steps_of, table, times
from hypothesis import given
from hypothesis import strategies as st
from traces import draw, drawn_space, space_of

from tbprof.advice.rules.findings import find_findings
from tbprof.analysis.grouping.grouping import find_grouping
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.host.single_ops import find_single_ops
from tbprof.analysis.job.idle_time import find_idle_time
from tbprof.analysis.job.job_steps import merge_steps
from tbprof.analysis.job.step_means import step_means
from tbprof.analysis.steps.host_runs import NO_RUNS, find_host_runs, match_launches
from tbprof.analysis.steps.sources.step_sources import StepSource
from tbprof.analysis.steps.step_layers import find_step_windows
from tbprof.analysis.steps.step_windows import GroupSteps
from tbprof.analysis.steps.unrecorded_steps import Unrecorded
from tbprof.base.names import RUNS_PROGRAM

US = 1_000_000
ONE_DEVICE = "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice"
MARKERS = {"s": {"_r": 1, "step_num": 7}, "t": {"_r": 1, "step_num": 8}}
NAMES = {"s": "train", "t": "train", "P": "PjitFunction(<lambda>)", "L": ONE_DEVICE}


def ran(run: int, module: str = "jit__lambda") -> dict[str, object]:
    return {"hlo_op": "dot.1", "hlo_module": module, "program_id": 1, "run_id": run}


# Launches return at once, and the pool runs one program after the other.
BEHIND = draw(
    {HOST: """
        python |ssss.tttt...............
               |.PP...PP.
               |.LL...LL.
        pool   |..aaa.aaaaa.bb..bbb.....
    """},
    names={**NAMES, "a": "dot.1", "b": "dot.1"},
    stats={**MARKERS, "a": ran(-3), "b": ran(-2)},
)  # fmt: skip


def test_steps_begin_with_their_ops_where_programs_run_behind():
    steps = steps_of(BEHIND)
    assert steps.is_behind
    assert steps.note.endswith("a step runs from its first op to the first op of the next.")
    assert times(steps) == [(2, 10, 9), (12, 7, 7)]
    assert table(steps) == [
        ("CPU", "train 7", {"host_compute": 8, "other": 2}),
        ("CPU", "train 8", {"host_compute": 5, "other": 2}),
    ]


def test_the_time_between_the_ops_of_a_run_is_the_runtime_s():
    """Whatever the thread that launched it does meanwhile, or where it waits."""
    space = space_of(BEHIND)
    idle = find_idle_time(space, Programs(space), find_single_ops(space, Programs(space)))
    assert [
        (int(step), idle.kind[activity], idle.part[activity], int(time) // US)
        for step, activity, time in zip(idle.step, idle.activity, idle.time_ps, strict=True)
    ] == [
        (0, Activity.RUNTIME, RUNS_PROGRAM, 2),
        (1, Activity.RUNTIME, RUNS_PROGRAM, 2),
    ]


LAUNCHES = """
    python |ssss.tttt.
           |.PP...PP..
           |.LL...LL..
           |.h....h...
           |..z....z.."""
HOLDS = {
    **NAMES, "h": "Wait for usage holds", "w": "$api.py:9 block_until_ready", "z": "$time sleep",
}  # fmt: skip


def test_a_recording_that_ends_before_the_first_program_has_no_work_of_the_steps():
    steps = steps_of(draw({HOST: LAUNCHES}, names=HOLDS, stats=MARKERS))
    assert steps.is_unrecorded.all()
    [doubt] = steps.doubts
    assert "wait for its results before the recording ends" in doubt
    job = merge_steps(["h"], [steps])
    given = dataclasses.replace(evidence(devices=NO_GPU), job=job, means=step_means(job))
    [finding] = find_findings(given)
    assert finding.id == "steps_not_recorded"
    assert "block_until_ready" in finding.action


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ("           |.....w....", HOLDS["w"]),
        ("    pool   |..w...w...", "ThunkExecutor::Execute (wait for completion)"),
    ],
)
def test_programs_without_ops_may_have_run_where_something_waited_for_them(row: str, name: str):
    """Older versions of JAX record no ops on CPUs."""
    drawn = draw({HOST: f"{LAUNCHES}\n{row}"}, names={**HOLDS, "w": name}, stats=MARKERS)
    steps = steps_of(drawn)
    assert not steps.is_unrecorded.any()
    [doubt] = steps.doubts
    assert "older versions of JAX record none" in doubt


def test_programs_that_keep_up_leave_steps_to_their_markers():
    trace = draw(
        {HOST: """
            python |ssssssssss..tttttttttt
                   |.PP.........PP........
                   |.LL.........LL........
            pool   |...aaa.aa......bb..b..
        """},
        names={**NAMES, "a": "dot.1", "b": "dot.1"},
        stats={**MARKERS, "a": ran(1), "b": ran(2)},
    )  # fmt: skip
    steps = steps_of(trace)
    assert not steps.is_behind
    assert times(steps) == [(0, 12, 10), (12, 10, 10)]
    runs = find_host_runs(find_grouping(space_of(trace)).hosts)
    assert (runs.start_ps // US).tolist() == [3, 15]
    assert (runs.duration_ps // US).tolist() == [6, 5]
    assert (runs.launch_ps // US).tolist() == [1, 12]
    assert [(start // US, end // US) for start, end in zip(*runs.in_progress(), strict=True)] == [
        (1, 9), (12, 20),
    ]  # fmt: skip


def test_programs_of_several_devices_and_of_several_names_are_told_apart():
    """One launch of `g` for two devices, then two of `f`; run numbers are each program's own."""
    trace = draw(
        {HOST: """
            python |ssssssttttt.............
                   |.G...P..P..
                   |.....L..L..
            pool   |..a....bb..ccc
            other  |..aaa
        """},
        names={**NAMES, "P": "PjitFunction(f)", "a": "dot.1", "b": "dot.1", "c": "dot.1",
               "G": "CommonPjRtLoadedExecutable::Execute (jit_g)"},
        stats={**MARKERS, "a": ran(900, "jit_g"), "b": ran(4, "jit_f"), "c": ran(5, "jit_f")},
    )  # fmt: skip
    runs = find_host_runs(find_grouping(space_of(trace)).hosts)
    assert (runs.start_ps // US).tolist() == [2, 7, 11]
    assert (runs.duration_ps // US).tolist() == [3, 2, 3]
    assert (runs.launch_ps // US).tolist() == [1, 5, 8]
    assert runs.group.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("launches", "runs", "expected"),
    [
        ([0, 1, 2], [1, 5, 9], [0, 1, 2]),
        ([5, 6], [1, 3, 6, 8], [-1, -1, 0, 1]),  # two from before the recording
        ([0, 1, 2, 3], [1, 4], [0, 1]),  # the recording ended before the last two ran
        ([0, 4, 8], [1, 5, 9], [0, 1, 2]),
        ([], [1], [-1]),
        ([1], [], []),
    ],
)
def test_launches_are_matched_in_order(launches: list[int], runs: list[int], expected: list[int]):
    found = match_launches(np.array(launches, np.int64), np.array(runs, np.int64))
    assert found.tolist() == expected


@given(st.data())
def test_as_few_runs_as_possible_are_from_before_the_recording(data: st.DataObject):
    ascending = st.lists(st.integers(0, 30), min_size=1, max_size=9).map(sorted)
    launches, runs = data.draw(ascending), data.draw(ascending)

    def is_possible(shift: int) -> bool:
        own = [(at + shift, time) for at, time in enumerate(runs) if at + shift >= 0]
        return all(at < len(launches) and launches[at] <= time for at, time in own)

    shift = max(filter(is_possible, range(-len(runs), 1)))
    expected = [max(index + shift, -1) for index in range(len(runs))]
    found = match_launches(np.array(launches, np.int64), np.array(runs, np.int64))
    assert found.tolist() == expected


def test_steps_whose_programs_did_not_run_yet_are_not_recorded():
    """The recording ended before: `u` ran in part, `v` not at all."""
    trace = draw(
        {HOST: """
            python |ssssttttuuuuvvvv........
                   |.PP..PP..PPP.PP
                   |.LL..LL..LLL.LL
            pool   |.aa.aa.aaabbb.bbcccddd..
        """},
        names={**NAMES, "u": "train", "v": "train", "a": "dot.1", "b": "dot.1", "c": "dot.1",
               "d": "dot.1"},
        stats={**MARKERS, "u": {"_r": 1, "step_num": 9}, "v": {"_r": 1, "step_num": 10},
               "a": ran(1), "b": ran(2), "c": ran(3)},
    )  # fmt: skip
    steps = steps_of(trace)
    assert steps.label == ["train 7", "train 8", "train 9", "train 10"]
    assert times(steps)[:2] == [(1, 9, 9), (10, 6, 6)]
    assert steps.is_unrecorded.tolist() == [False, False, False, True]


def test_steps_of_unknown_start_are_those_of_threads_where_no_run_was_recorded():
    """Nothing runs behind then, though the host does not say when its steps began."""
    missing = Unrecorded(np.zeros((1, 2), bool), np.zeros((1, 2), bool), 0)
    grouping = find_grouping(drawn_space({HOST: "python |ssss"}, names={"s": "train"}))
    times_ps = np.array([-1, 5], np.int64), np.array([3, 9], np.int64)
    steps = GroupSteps(np.array([0, 1]), np.array([0, 1]), ["0", "1"], *times_ps)
    source = StepSource("markers", "train", "", grouping, steps)
    windows, _, is_behind = find_step_windows(source, [], missing, None, NO_RUNS)
    assert not is_behind
    assert windows[0].label == ["0", "1"]


@pytest.mark.parametrize("runs", [(1, 1), (-3, -2)], ids=["in step", "behind"])
def test_computation_by_any_thread_hides_the_collectives_of_virtual_devices(runs: tuple[int, int]):
    """Two devices on one processor: one waits in the all-reduce while the other computes."""
    trace = draw(
        {HOST: """
            python |ssssssssssss
                   |.PP.........
                   |.LL.........
            one    |...aarrrr...
            two    |...a..aarr..
        """},
        names={**NAMES, "a": "dot.1", "r": "all-reduce.1"},
        stats={**MARKERS, "a": ran(runs[0]), "r": ran(runs[1])},
    )  # fmt: skip
    [(_, _, phases)] = table(steps_of(trace))
    # 3 and 4 one computes, 6 and 7 two; 5 and 8 both wait, 9 one does.
    assert (phases["host_compute"], phases["collectives"]) == (4, 3)


RUN_OF_OLD = "ThunkExecutor::Execute (wait for completion)"


def test_where_no_ops_are_recorded_waiting_for_a_program_is_its_run():
    """With ops, it is no work: they say when the program ran."""
    drawing = {HOST: """
        python |ssssssssssssss
               |.PP...........
               |.LL...........
        client |...wwwwwwwww..
        pool   |....aaa.......
    """}  # fmt: skip
    names = {**NAMES, "L": "PjRtCpuExecutable::ExecuteHelper", "w": RUN_OF_OLD, "a": "dot.1"}
    blind = draw(drawing, names={**names, "a": "end: dot"}, stats=MARKERS)
    [(_, _, phases)] = table(steps_of(blind))
    assert phases["host_compute"] == 9
    [doubt] = steps_of(blind).doubts
    assert "no ops of the compiled programs" in doubt
    seeing = steps_of(draw(drawing, names=names, stats={**MARKERS, "a": ran(1)}))
    [(_, _, phases)] = table(seeing)
    assert phases["host_compute"] == 3
    assert seeing.doubts == []
