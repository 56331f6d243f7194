"""Launches on lines of their own: the thread that made them, and the steps that they belong to."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from helpers.drawn.drawn_steps import steps_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from traces import draw, listed, space_of

from tbprof._pb import message
from tbprof.analysis.grouping.grouping import find_grouping
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.steps.step_finding import find_steps
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.xplane.reader import read_space

HOST, GPU = "/host:CPU", "/device:GPU:0"
API = "Host Threads/7"
NAMES = {
    "s": "train", "t": "train", "u": "train", "e": "Executable::Execute", "w": "wait",
    "l": "hipLaunchKernel", "m": "hipLaunchKernel", "n": "hipLaunchKernel",
    "y": "hipStreamSynchronize", "k": "sgemm_f32", "o": "sgemm_f32", "p": "sgemm_f32",
}  # fmt: skip
STATS: dict[str, dict[str, int | str]] = {
    **{letter: {"_r": 1, "step_num": at} for at, letter in enumerate("stu")},
    **{letter: {"correlation_id": at} for at, letter in enumerate("lmn", 1)},
    **{
        letter: {"correlation_id": at, "kernel_details": "regs:1"}
        for at, letter in enumerate("kop", 1)
    },
}


def drawn(host: str, gpu: str, ids: Mapping[str, int] | None = None) -> bytes:
    return draw({HOST: host, GPU: gpu}, names=NAMES, stats=STATS, line_ids=ids)


def callers(trace: bytes) -> dict[str, str]:
    """The line that made the calls of each line where it is another one."""
    [host] = find_grouping(space_of(trace)).hosts
    texts = host.plane.strings.take(host.events.lines.name.tolist())
    return {
        texts[line]: texts[thread]
        for line, thread in enumerate(host.apart.thread.tolist())
        if thread != line
    }


def test_a_launch_on_a_line_of_its_own_belongs_to_the_step_that_made_it():
    """The marker ends at 6, the work that it launched at 14: there is no gap before 16."""
    steps = steps_of(
        drawn(
            f"""
            python |ssssss..........tttttt
                   |.ee..............ee...
            {API}  |.l...............m....
            """,
            "Stream #1 |..kkkkkkkkkkkk....oooooooooooo",
        )
    )
    assert (steps.duration_ps // 10**6).tolist() == [16, 14]
    assert (steps.own_ps // 10**6).tolist() == [14, 14]
    assert not steps.is_truncated[0]


def test_launches_that_run_behind_are_followed_to_the_devices_steps():
    steps = steps_of(
        drawn(
            f"""
            python |ssttuu....
                   |.e.e.e
            {API}  |.l.m.n
            """,
            "Stream #1 |..kkkkkk..oooooo..pppppp",
        )
    )
    assert (steps.start_ps // 10**6).tolist() == [2, 10, 18]
    assert "behind the host" in steps.note


def test_the_thread_that_holds_calls_most_closely_made_them():
    host = f"""
        python |ssssssssss
               |wwwwwwwwww
        worker |.eee.eee..
        {API}  |.l...m....
    """
    # Only events in a group say anything of steps: the worker's have none.
    assert callers(drawn(host, "Stream #1 |...kk..oo")) == {API: "python"}
    links = {"w": {"_pt": 2, "_p": 5}, "e": {"_ct": 2, "_c": 5}}
    linked = draw({HOST: host}, names=NAMES, stats={**STATS, **links})
    assert callers(linked) == {API: "worker"}


def test_the_thread_with_the_lines_id_made_its_calls():
    host = f"""
        python |ssssssssss
               |.eee.eee..
        other  |.tttttttt.
        {API}  |.l...m....
    """
    assert callers(drawn(host, "Stream #1 |...kk", {"other": 7, API: 7})) == {API: "other"}
    assert callers(drawn(host, "Stream #1 |...kk")) == {API: "python"}


@pytest.mark.parametrize(
    "line",
    ["|.l.e....", "|.wwww...", "|.y......"],  # other events, no call, no correlation id
)
def test_other_lines_are_threads(line: str):
    trace = drawn(f"python |ssssssssss\n{API} {line}", "Stream #1 |...kk")
    assert callers(trace) == {}


def test_a_call_between_the_events_of_its_thread_has_no_step():
    trace = drawn(
        f"""
        python |ssss....tttt
               |.ee......ee.
        {API}  |.l...y...m..
        """,
        "Stream #1 |..k.......o",
    )
    [host] = find_grouping(space_of(trace)).hosts
    assert host.group[-3:].tolist() == [0, -1, 1]


SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9)), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SPANS, SPANS)
def test_steps_are_the_same_wherever_the_launches_lie(
    steps: list[tuple[int, int]], launches: list[tuple[int, int]]
):
    """On the thread that makes them, as CUPTI writes them, or on a line of their own."""
    marks = sorted(dict(steps).items())
    starts = [start for start, _ in marks] + [10**6]
    spans = [(at, min(length, starts[row + 1] - at)) for row, (at, length) in enumerate(marks)]
    inside = [
        (start, 1)
        for start in sorted({start for start, _ in launches})
        if any(at <= start < at + length for at, length in spans)
    ]

    def trace(*, apart: bool) -> bytes:
        ns = 1000
        python: list[tuple[Any, ...]] = [
            ("train", start * ns, length * ns, {"_r": 1}) for start, length in spans
        ]
        calls = [
            ("cuLaunchKernel", start * ns, length * ns, {"correlation_id": number})
            for number, (start, length) in enumerate(inside, 1)
        ]
        stream = [
            ("sgemm_f32", (start * 2 + 3) * ns, 1500,
             {"correlation_id": number, "kernel_details": "regs:1"})
            for number, (start, _) in enumerate(inside, 1)
        ]  # fmt: skip
        host = {"python": python, API: calls} if apart else {"python": python + calls}
        return listed({HOST: host, GPU: {"Stream #1": stream}})

    together, apart = steps_of(trace(apart=False)), steps_of(trace(apart=True))
    for column in ("worker", "number", "start_ps", "duration_ps", "own_ps", "phase_ps"):
        assert np.array_equal(getattr(together, column), getattr(apart, column)), column


def test_the_v100_trace_with_its_launches_on_lines_of_their_own(gpu_trace):
    """Regrouped from what the recorder wrote, as today's files bring no groups."""
    space = message("tensorflow.profiler.XSpace")()
    space.ParseFromString(gpu_trace.read_bytes())
    strip_groups(space)
    together = steps_of(space.SerializeToString(), "FunctionRun")
    move_launches(space)
    apart = steps_of(space.SerializeToString(), "FunctionRun")
    assert together.worker_name == apart.worker_name == ["GPU:4", "GPU:6"]
    assert together.label == apart.label == ["FunctionRun 0"] * 2
    for column in ("worker", "number", "start_ps", "duration_ps", "own_ps"):
        assert np.array_equal(getattr(together, column), getattr(apart, column)), column
    # A call that outlasts the event around it is cut where the thread's next event begins, but not
    # on a line of its own: so 45 µs of copies to the host are no longer hidden by launches.
    calls = [Phase.OUTPUT, Phase.KERNEL_LAUNCH]
    for steps in (together, apart):
        steps.phase_ps[:, calls[0]] += steps.phase_ps[:, calls[1]]
        steps.phase_ps[:, calls[1]] = 0
    assert np.array_equal(together.phase_ps, apart.phase_ps)


def strip_groups(space) -> None:
    """Takes out what was added to the file after it was recorded."""
    for plane in space.planes:
        for meta in plane.stat_metadata.values():
            if meta.name in ("group_id", "step_name"):
                meta.name = f"was {meta.name}"
        for line in list(plane.lines):
            if line.name in ("Steps", "TensorFlow Ops", "TensorFlow Name Scope"):
                plane.lines.remove(line)


def move_launches(space) -> None:
    """Moves the events with a correlation id of each host thread to a line of its own."""
    [host] = [plane for plane in space.planes if plane.name == HOST]
    [id_] = [n for n, meta in host.stat_metadata.items() if meta.name == "correlation_id"]
    for line in list(host.lines):
        is_launch = [any(stat.metadata_id == id_ for stat in event.stats) for event in line.events]
        if not any(is_launch):
            continue
        events = list(line.events)
        del line.events[:]
        calls = host.lines.add(
            id=line.id ^ (1 << 40), name=f"Host Threads/{line.id}", timestamp_ns=line.timestamp_ns
        )
        for event, moves in zip(events, is_launch, strict=True):
            (calls if moves else line).events.add().CopyFrom(event)


def test_the_mi350_trace_has_no_gap_and_a_whole_last_step(amd_trace):
    space = read_space(amd_trace)
    steps = find_steps(space, Programs(space))
    assert len(steps.label) == 5
    assert not steps.is_truncated.any()
    gap = (steps.duration_ps - steps.own_ps).sum() / steps.duration_ps.sum()
    assert gap < 0.03
    idle = steps.phase_ps[:, Phase.INPUT :].sum() / steps.duration_ps.sum()
    assert 0.05 < idle < 0.12
