"""What threads did in step time that nothing covers: each instant once, and all of it."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import Ref, drawn_space

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.host.single_ops import find_single_ops
from tbprof.analysis.job.idle_time import IdleTime, find_idle_time
from tbprof.analysis.steps.step_finding import find_steps
from tbprof.analysis.steps.steps import Steps
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.events.space import Space

US = 1_000_000
A = Activity
NAMES = {
    "t": "train", "u": "train ", "m": "a/MatMul:MatMul", "b": "$train.py:14 batch",
    "B": "$train.py:30 log", "s": "$time sleep", "n": "$numeric.py:170 ones",
    "q": "$queue.py:154 get",
    "a": "$<unknown> acquire", "L": "load_batch", "I": "Iterator::Root::Map",
    "P": "Iterator::Root::Prefetch", "R": "InstantiatedCapturedFunction::Run",
    "x": "ExecutorState::Process", "E": "EagerExecute", "g": "$gc collect", "j": "PjitFunction(f)",
    "z": "Build buffer allocations", "k": "backend_compile", "c": "decode:DecodeJpeg",
    "y": "$script_ops.py:9 __call__", "G": "PythonRefManager::CollectGarbage",
    "o": "EagerExecute",
}  # fmt: skip
STATS = {
    "t": {"step_num": 1, "_r": 1}, "R": {"id": 7}, "x": {"id": 7},
    "o": {"is_func": 0, "eager_op": Ref("Mul")},
}  # fmt: skip


def parts(drawing: str, **more: object) -> tuple[IdleTime, Steps]:
    space = drawn_space({"/host:CPU": drawing}, names=NAMES, stats=STATS, **more)
    return found_in(space)


def found_in(space: Space) -> tuple[IdleTime, Steps]:
    programs = Programs(space)
    idle_time = find_idle_time(space, programs, find_single_ops(space, programs))
    return idle_time, find_steps(space, programs)


def idle(drawing: str) -> dict[tuple[Activity, str, str], int]:
    """µs by (kind, name, part) of a drawing of one step, which has to add up."""
    found, steps = parts(drawing)
    sums = np.bincount(found.step, found.time_ps, steps.start_ps.size)
    assert sums.tolist() == steps.phase_ps[:, Phase.OTHER].tolist()
    out: dict[tuple[Activity, str, str], int] = defaultdict(int)
    for row, time in zip(found.activity.tolist(), found.time_ps.tolist(), strict=True):
        key = Activity(found.kind[row]), found.name[row], found.part[row]
        out[key] += time // US
    return dict(out)


BATCH, LOG = NAMES["b"], NAMES["B"]


@pytest.mark.parametrize(
    ("drawing", "expected"),
    [
        pytest.param(
            "main|tttttttttt\n    |.bbbbbb.mm\n    |..ssss....",
            {(A.PYTHON, BATCH, "$time sleep"): 4, (A.PYTHON, BATCH, ""): 2,
             (A.UNCOVERED, "", ""): 2},
            id="a function that sleeps",
        ),
        pytest.param(
            "main|tttttttttt\n    |.bbbbbb.mm\n    |..BBBB....\n    |..nnn.....",
            {(A.PYTHON, BATCH, ""): 2, (A.PYTHON, LOG, NAMES["n"]): 3, (A.PYTHON, LOG, ""): 1,
             (A.UNCOVERED, "", ""): 2},
            id="the innermost function of the program, and what it calls",
        ),
        pytest.param(
            "main|tttttttttt\n    |.bbbbbb.mm\n    |..qqqq....\n    |...aa.....",
            {(A.WAIT, BATCH, NAMES["q"]): 4, (A.PYTHON, BATCH, ""): 2, (A.UNCOVERED, "", ""): 2},
            id="a wait is named by its outermost frame",
        ),
        pytest.param(
            "main|tttttttttt\n    |.nnnnn..mm\n    |..ss......",
            {(A.PYTHON, NAMES["n"], ""): 3, (A.PYTHON, NAMES["n"], "$time sleep"): 2,
             (A.UNCOVERED, "", ""): 3},
            id="the outermost frame where none is the program's",
        ),
        pytest.param(
            "main|tttttttttt\n    |.LLLLLL.mm\n    |..ssss....",
            {(A.ANNOTATION, "load_batch", "$time sleep"): 4, (A.ANNOTATION, "load_batch", ""): 2,
             (A.UNCOVERED, "", ""): 2},
            id="an annotation that sleeps, and does what is not known",
        ),
        pytest.param(
            "main|tttttttttt\n    |EEzz.gg.mm",
            {(A.EAGER, "", "EagerExecute"): 2, (A.MEMORY, "", NAMES["z"]): 2,
             (A.GARBAGE, "", ""): 2, (A.UNCOVERED, "", ""): 2},
            id="what is known by name",
        ),
        pytest.param(
            "main|tttttttttt\n    |jjjjjj..mm\n    |.nnn......\n    |....bb....",
            {(A.RUNTIME, "", NAMES["j"]): 4, (A.PYTHON, BATCH, ""): 2, (A.UNCOVERED, "", ""): 2},
            id="the runtime's own Python is the runtime, a callback is not",
        ),
        pytest.param(
            "main|tttttttttt\n    |.bbb....mm\ntf_data_x|IIIIIIII",
            {(A.PYTHON, BATCH, ""): 3, (A.TF_DATA, "", NAMES["I"]): 5},
            id="the driving thread first, then others",
        ),
        pytest.param(
            "main|tttttttttt\n    |qqqqqqqqmm\ntf_data_x|..PPPP\n |..II",
            {(A.WAIT, NAMES["q"], ""): 6, (A.TF_DATA, "", NAMES["I"]): 2},
            id="others at work before waiting; a prefetch waits",
        ),
        pytest.param(
            "main|tttttttttt\n    |........mm\n"
            "tf_data_x|IIIIII\n |.RRRR\npool|..xxx\n |...b\n |...s",
            {(A.TF_DATA_FUNCTION, "", BATCH): 1, (A.TF_DATA_FUNCTION, "", ""): 2,
             (A.TF_DATA, "", NAMES["I"]): 2, (A.UNCOVERED, "", ""): 3},
            id="a function of the pipeline at work, and the program's own in it",
        ),
        pytest.param(
            "main|tttttttttt\n    |........mm\nother|.bbbb\n |..ss",
            {(A.PYTHON, BATCH, ""): 2, (A.UNCOVERED, "", ""): 6},
            id="another thread that sleeps explains nothing",
        ),
        pytest.param(
            "main|tttttttttt\n    |........mm",
            {(A.UNCOVERED, "", ""): 8},
            id="a marker is nothing",
        ),
    ],
)  # fmt: skip
def test_what_threads_did(drawing, expected):
    assert idle(drawing) == expected


def test_python_between_ops_that_run_one_by_one_is_their_dispatch():
    """16 calls in a run: the microsecond between two of them is eager dispatch, the rest is not."""
    assert idle(f"main|{'t' * 40}\n    |..{'o.' * 16}......")[A.EAGER, "", ""] == 15
    assert (A.EAGER, "", "") not in idle(f"main|{'t' * 40}\n    |..{'o.' * 8}......")


def test_only_the_driving_thread_is_called_so():
    found, _ = parts("main|tttttttttt\n    |.bb.....mm\nother|....BB")
    names = dict(zip(found.name, found.is_driver.tolist(), strict=True))
    assert (names[BATCH], names[LOG]) == (True, False)


def test_a_device_at_work_leaves_nothing_to_explain():
    space = drawn_space(
        {"/host:CPU": "main|tttttttt\n |bbbbbbbb", "/device:GPU:0": "Stream #1 |..kkkk"},
        names={**NAMES, "k": "gemm"},
        stats={**STATS, "k": {"kernel_details": "regs:8"}},
    )
    found, steps = found_in(space)
    assert found.time_ps.sum() == steps.phase_ps[:, Phase.OTHER].sum()
    assert set(found.kind[found.activity].tolist()) == {int(A.PYTHON)}


def test_without_steps_or_hosts_there_is_nothing():
    found, steps = parts("")
    assert found.time_ps.size == steps.start_ps.size == 0
    space = drawn_space({"/device:GPU:0": "Stream #1 |kk"})
    assert found_in(space)[0].time_ps.size == 0


def test_many_functions_are_told_apart_only_as_far_as_they_matter():
    letters = [chr(code) for code in range(0x4E00, 0x4E00 + 100)]
    drawing = "main|" + "t" * 400 + "\n |" + "".join(letter + "." for letter in letters)
    drawing += "\n |" + "." * 398 + "mm"
    space = drawn_space(
        {"/host:CPU": drawing},
        names={**NAMES, **{letter: f"$a.py:{at} f" for at, letter in enumerate(letters)}},
        stats=STATS,
    )
    found, steps = found_in(space)
    assert len(found.name) == 54  # 48, the rest of Python, and five without events
    assert found.time_ps.sum() == steps.phase_ps[:, Phase.OTHER].sum()


def test_how_long_a_function_is_open_with_all_that_goes_on_in_it():
    """`batch` sleeps for 2 of the 7 µs that it is open; an op in it is not idle time."""
    found, _ = parts("main|tttttttttt\n    |.bbbbbbb..\n    |..ss.mm...")
    rows = [found.name[index] == BATCH for index in found.activity.tolist()]
    assert found.open_ps[rows].tolist() == [7 * US] * 2
    assert found.open_ps[~np.array(rows)].tolist() == [0] * (len(rows) - 2)


LINE = st.lists(st.sampled_from([*"bBsnqaLIPREgjzk", "."]), min_size=12, max_size=12).map("".join)


@settings(max_examples=60, deadline=None)  # the first example compiles
@given(LINE, LINE, LINE, LINE)
def test_all_idle_time_is_shared_out_once(one, below, two, under):
    idle(f"main|tttttttttttt\n |..........mm\n |{one}\n |{below}\nother|{two}\n |{under}")


def test_a_table_of_states_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    drawing = "main|tttttttttttt\n    |.bbbbbb.LLmm\n    |..nnn..j...."
    expected = idle(drawing)
    monkeypatch.setattr("tbprof.analysis.host.host_activity._FEW_SLOTS", 2)
    assert idle(drawing) == expected
    assert len(expected) > 3
