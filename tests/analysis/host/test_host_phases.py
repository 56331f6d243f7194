"""What threads did when, from drawn traces, and against a slow definition."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from builders.event_columns import event_columns
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import draw, listed, space_of

from tbprof.analysis.host.host_events import CallsApart, HostThreads, host_threads
from tbprof.analysis.host.host_phases import driving_rows, host_intervals
from tbprof.analysis.host.host_roles import HostTypes, Role, host_types
from tbprof.analysis.spans.nesting import nest
from tbprof.analysis.vocabulary.lines import host_planes
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.events.space import Events

US = 1_000_000
SIGNS = {
    Phase.INPUT: "I", Phase.OUTPUT: "O", Phase.COMPILATION: "X", Phase.KERNEL_LAUNCH: "L",
    Phase.HOST_COMPUTE: "C", Phase.COLLECTIVES: "A",
}  # fmt: skip
NAMES = {
    "t": "train", "$": "$train.py:1 step", "s": "$time sleep", "i": "IteratorGetNextOp::DoCompute",
    "I": "Iterator::Root", "d": "DevicePut", "D": "np.asarray(jax.Array)", "j": "PjitFunction(f)",
    "e": "ExecutorState::Process", "c": "cuLaunchKernel", "w": "cuStreamSynchronize",
    "b": "BlockHostUntilDone", "x": "PjRtCpuClient::Compile", "p": "CsePass", "u": "forward",
    "v": "loss", "m": "a/MatMul:MatMul", "n": "a/Add:AddV2", "E": "EagerExecute",
    "k": "EagerKernelExecute", "F": "FunctionRun", "P": "PrefetchProduce", "h": "dot.1",
    "a": "Build buffer allocations", "z": "SlinkyThreadPool::Await", "q": "end: dot.1",
    "g": "jit_f:XLA GPU module", "o": "MemcpyD2H", "y": "io_callback.1",
}  # fmt: skip
STATS = {"h": {"hlo_op": "dot.1"}, "c": {"correlation_id": 1}}


def threads_of(content: bytes, group=None) -> HostThreads:
    plane = host_planes(space_of(content))[0]
    events, parent = host_threads(plane)
    groups = np.full(len(events), -1, np.int32) if group is None else np.array(group, np.int32)
    return HostThreads(plane, events, parent, groups, CallsApart.none(events))


def intervals(
    threads: HostThreads, counts: np.ndarray, *, has_device: bool = False, **more
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(start_ps, end_ps, phase) of all lines."""
    types = host_types(threads.events, has_device=has_device, **more)
    return host_intervals(threads, counts, types)[:3]


def painted(drawing: str, *, has_device: bool = False, **more) -> str:
    """The phases of a thread's time, one sign per µs."""
    threads = threads_of(draw({"/host:CPU": drawing}, names=NAMES, stats=STATS))
    counts = np.ones(len(threads.events), np.bool_)
    start, end, phase = intervals(threads, counts, has_device=has_device, **more)
    assert (start[1:] >= end[:-1]).all()
    assert (end > start).all()
    cells = ["."] * int(max(threads.events.start_ps + threads.events.duration_ps) // US)
    for row in range(start.size):
        for index in range(int(start[row]) // US, int(end[row]) // US):
            cells[index] = SIGNS[Phase(int(phase[row]))]
    return "".join(cells)


@pytest.mark.parametrize(
    ("drawing", "alone"),
    [
        pytest.param("t|tttttttttt\n |.iii.mmmmm", ".III.CCCCC", id="ops and input in a marker"),
        pytest.param("t|$$$$$$$$\n |.ssssss.", "........", id="a Python sleep is nothing"),
        pytest.param("t|$$$$$$$$\n |.mmm....", ".CCC....", id="a Python frame is nothing"),
        pytest.param("t|iiiiiiii\n |..bbb...", "IIIIIIII", id="waiting inside input is input"),
        pytest.param("t|mmmmmmmm\n |..bbb...", "CC...CCC", id="waiting inside an op is nothing"),
        pytest.param("t|hhhhhhhh\n |..zzz...", "CCCCCCCC", id="an op's own workers are the op"),
        pytest.param("t|uuuuuuuu", "........", id="an annotation may be anything"),
        pytest.param("t|uuuuuuuu\n |.$$$$$$.\n |..sss...", "........", id="a sleep, say"),
        pytest.param("t|uuuuuuuu\n |.vvvvvv.", "........", id="so may annotations in it"),
        pytest.param(
            "t|uuuuuuuu\n |.vvvvvv.\n |..mm....", "..CC....", id="but what is known in it"
        ),
        pytest.param("t|uuuuuuuu\n |.EEEE...", "........", id="a dispatch, say"),
        pytest.param("t|xxxxxxxx\n |.ppp.mm.", "XXXXXXXX", id="what compilation calls"),
        pytest.param("t|iiiiiiii\n |.mm.sss.", "IIIIIIII", id="what input calls"),
        pytest.param("t|dddddddd\n |..xxxx..\n |...mm...", "IIXXXXII", id="a copy that compiles"),
        pytest.param("t|uuuuuuuu\n |..aaaa..", "........", id="allocation is not an op"),
        pytest.param("t|EEEEEEEE\n |.kkkkkk.", ".CCCCCC.", id="an eager kernel"),
        pytest.param("t|kkkkkkkk\n |.FFFFFF.", "........", id="an eager call of a function"),
        pytest.param("t|kkkkkkkk\n |.FFFFFF.\n |..eeee..\n |...m....", "..CCCC..", id="run here"),
        pytest.param("t|jjjjjjjj\n |.d....m.", ".I....C.", id="a dispatch without a device"),
        pytest.param("t|DDDDDDDD\n |..bbbb..", "........", id="reading waits without a device"),
        pytest.param("t|PPPPPPPP\n |.IIIImm.", "........", id="work ahead"),
        pytest.param("t|hhhq.mmm", "CCC..CCC", id="partners of thunks"),
        pytest.param("t|mmmm\n |..nnnnnn", "CCCCCCCC", id="partly overlapping ops"),
        pytest.param("t|iiiiii..\n |...mmmmm", "IIICCCCC", id="the later one where two overlap"),
    ],
)
def test_without_a_device(drawing, alone):
    assert painted(drawing) == alone


@pytest.mark.parametrize(
    ("drawing", "with_device"),
    [
        pytest.param("t|mmmmmmmm\n |..cc....", "LLLLLLLL", id="an op that launches"),
        pytest.param("t|mmmmmm.nn\n |..cc.....", "LLLLLL.CC", id="an op that does not"),
        pytest.param("t|eeeeeeee\n |.mmm.nn.\n |..c.....", "LLLLLLLL", id="an executor's run"),
        pytest.param("t|eeeeeeee\n |.mmm.nn.", ".CCC.CC.", id="one that launches nothing"),
        pytest.param("t|eeeeeeee\n |.c..iii.", "LLLLIIIL", id="with input in it"),
        pytest.param("t|jjjjjjjj\n |.dd.uuu.", "LIILLLLL", id="dispatching a program"),
        pytest.param("t|jjjjjjjj\n |....wwww", "LLLL....", id="waiting for the device"),
        pytest.param("t|jjjjjjjj\n |.xxxx...", "LXXXXLLL", id="compiling it first"),
        pytest.param("t|uuuuuuuu\n |.jjj....", ".LLL....", id="what is around a launch is not"),
        pytest.param("t|DDDDDDDD\n |.wwww...", "OOOOOOOO", id="reading an array"),
        pytest.param("t|kkkkkkkk\n |...c....", "LLLLLLLL", id="an eager kernel"),
        pytest.param("t|gggg.ooo\n |.oo.....", ".LL..OOO", id="a copy of a program's loop"),
        pytest.param("t|jjjjjjjj\n |.yyyy...\n |..d.o...", "L....LLL", id="a callback"),
    ],
)
def test_with_a_device(drawing, with_device):
    assert painted(drawing, has_device=True) == with_device


def test_a_chosen_marker_is_nothing_itself():
    assert painted("t|iiuuuu.uu") == "II......."
    assert painted("t|uuuuuu.uu", wrappers=["forward"]) == "........."


def test_instants_paint_nothing():
    """10 ms step, 1 ms events at 1 and 7, an instant at 3: 2 ms of work."""
    events = [
        ("train", 0, 10 * US), ("a/Add:AddV2", US, US), ("a/Mul:Mul", 3 * US, 0),
        ("a/Add:AddV2", 7 * US, US),
    ]  # fmt: skip
    threads = threads_of(listed({"/host:CPU": {"t": events}}))
    start, end, phase = intervals(threads, np.ones(4, np.bool_))
    assert (start // US).tolist() == [1, 7]
    assert (end // US).tolist() == [2, 8]
    assert phase.tolist() == [Phase.HOST_COMPUTE] * 2


def test_only_rows_that_count_take_part():
    threads = threads_of(draw({"/host:CPU": "a|mmmm.nn\nb|.mmm..."}, names=NAMES))
    counts = np.array([False, True, True])
    start, end, _ = intervals(threads, counts)
    assert [(a // US, b // US) for a, b in zip(start.tolist(), end.tolist(), strict=True)] == [
        (5, 7), (1, 4),
    ]  # fmt: skip


def test_no_events_no_intervals():
    threads = threads_of(draw({"/host:CPU": "a|."}))
    start, end, phase = intervals(threads, np.zeros(0, np.bool_), has_device=True)
    assert (start.size, end.size, phase.size) == (0, 0, 0)


def test_driving_rows_are_groups_the_markers_thread_and_programs_on_any():
    drawing = """
        python |ttt.mm
        tf_Compute/1 |mmm.nn
        tf_XLAEigen/2 |hh.mm
        tf_data_private_threadpool/3 |mmmmmm
        tf_data_iterator_get_next/4 |iii.mm
    """
    content = draw({"/host:CPU": drawing}, names=NAMES, stats=STATS)
    threads = threads_of(content, group=[0, -1, 0, -1, -1, -1, 0, 0, -1])
    types = host_types(threads.events, has_device=False)
    counts = driving_rows(threads, types, driving_line=0)
    assert counts.tolist() == [True, True, True, False, True, False, False, True, False]
    none = driving_rows(threads, types, driving_line=-1)
    assert none.tolist() == [True, False, True, False, True, False, False, True, False]
    anyones = driving_rows(threads, types, driving_line=-1, has_groups=False)
    assert anyones.tolist() == [True, True, True, True, True, True, False, True, True]
    late = driving_rows(threads, types, driving_line=0, window_ps=(3 * US, 9 * US))
    assert late.tolist() == [False, True, False, False, False, False, False, False, False]


# Neither plane nor lines, groups nor counts are looked at.
NOTHING: Any = None
ROLES = [*(int(role) for role in Role), *SIGNS]
EVENTS = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 9), st.integers(0, len(ROLES) - 1), st.booleans()),
    max_size=9,
)


def slow_phase(row: int, parent, duration, role, counts) -> Any:
    """The phase of one event by the rules, from the outside in."""
    above = slow_phase(parent[row], parent, duration, role, counts) if parent[row] >= 0 else None
    compiles = role[row] == Phase.COMPILATION and above != "ahead"
    if above in (Phase.INPUT, Phase.OUTPUT, Phase.COMPILATION, "ahead") and not compiles:
        return above
    if duration[row] == 0 or not counts[row]:
        return above
    own = role[row]
    inner = [other for other in range(len(parent)) if duration[other] > 0]
    inner = [role[other] for other in inner if row in ancestors(other, parent, duration)]
    launches = Phase.KERNEL_LAUNCH in inner
    is_known = any(other >= 0 or other in (Role.WRAPPER, Role.BACKGROUND) for other in inner)
    if own in (Role.FRAME, Role.WRAPPER, Role.ACTIVITY):
        return above
    if own in (Role.WAIT, Role.UPKEEP):
        return None
    if own == Role.BACKGROUND:
        return "ahead"
    if own == Role.LAUNCHER and launches:
        return Phase.KERNEL_LAUNCH
    if own == Role.LAUNCHER:
        return above if above is not None or is_known else Phase.HOST_COMPUTE
    if own == Phase.HOST_COMPUTE and (launches or above == Phase.KERNEL_LAUNCH):
        return Phase.KERNEL_LAUNCH
    return own


def ancestors(row: int, parent, duration) -> list[int]:
    """The events around one, as far as those between them last."""
    found = []
    while duration[row] > 0 and parent[row] >= 0:
        row = parent[row]
        found.append(row)
    return found


@settings(max_examples=300, deadline=None)  # the first example compiles
@given(st.lists(EVENTS, min_size=1, max_size=2))
def test_every_moment_has_the_phase_of_the_latest_event_that_goes_on(lines):
    first, start, duration, kinds, counted = event_columns(lines, 4)
    counts, type_ = counted.astype(np.bool_), kinds.astype(np.int32)
    parent = nest(first, start, duration)
    events = Events(NOTHING, NOTHING, first, type_, start, duration, start, NOTHING)
    none = np.zeros(len(ROLES), np.bool_)
    types = HostTypes(np.array(ROLES, np.int8), *[none] * 7)
    threads = HostThreads(NOTHING, events, parent, NOTHING, CallsApart.none(events))
    starts, ends, phases, cuts = host_intervals(threads, counts, types)
    assert cuts.size == first.size
    assert (cuts[0], cuts[-1]) == (0, starts.size)
    role = [ROLES[kind] for kind in type_.tolist()]
    expected = []
    for begin, end in pairwise(first.tolist()):
        cells = []
        for at in range(22):
            active = [
                r
                for r in range(begin, end)
                if counts[r] and start[r] <= at < start[r] + duration[r]
            ]
            state = slow_phase(max(active), parent, duration, role, counts) if active else None
            cells.append(None if state == "ahead" else state)
        expected.append(cells)
    got = [[None] * 22 for _ in lines]
    line = 0
    previous = -1
    for begin, end, phase in zip(starts.tolist(), ends.tolist(), phases.tolist(), strict=True):
        if begin < previous:
            line += 1
        previous = end
        # a line without intervals is skipped
        while expected[line][begin] != phase and line + 1 < len(lines):
            line += 1
        for at in range(begin, end):
            assert got[line][at] is None
            got[line][at] = phase
    assert got == expected
