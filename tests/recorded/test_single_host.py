"""Recorded programs of known behaviour: what a user sees agrees with the programs' own clocks.

The machine may be busy: nothing is compared with how long something ought to take, only with how
long the program saw it take.
"""

from collections.abc import Callable

import numpy as np
import pytest
from helpers.tables import pairs
from numpy.typing import NDArray
from recorded.causes import typical_steps
from recorded.conftest import Shown

pytestmark = pytest.mark.slow

Runs = Callable[..., Shown]
STEPS = 10
TRAIN = [f"train {number}" for number in range(20, 20 + STEPS)]


def agree(ours: NDArray[np.float64], measured: NDArray[np.float64]) -> bool:
    """Whether times in ms agree in sum, and most of them one by one.

    Between the clocks of the two lies what Python does there, and whoever else gets the processor.
    """
    near = np.abs(ours - measured) <= 0.3 * measured + 0.5
    return bool(
        near.mean() >= 0.7
        and abs(ours.sum() - measured.sum()) <= 0.3 * measured.sum() + 0.5 * ours.size
    )


def check_marked(shown: Shown) -> None:
    """All steps that were marked are there, first and last too, as long as they took."""
    assert shown.labels == TRAIN
    assert shown.properties["step_source"] == "markers"
    assert shown.properties["step_marker"] == "train"
    assert shown.properties["is_inferred"] == "false"
    assert shown.properties["steps_total"] == str(STEPS)
    shown.check_sums()
    own = shown.step_column("stepTimeMs")[:-1]  # the last one is not followed by a gap
    assert agree(own, shown.measured("whole")[:-1])


def test_a_well_fed_program_waits_as_little_as_it_says(tensorflow_runs: Runs):
    shown = tensorflow_runs("well_fed")
    check_marked(shown)
    # On a busy machine the last step may lack the gap that follows the others.
    assert int(shown.properties["steps_averaged"]) in (STEPS - 1, STEPS)
    waiting = shown.measured("waiting").sum() / shown.measured("whole").sum()
    found = shown.figure("waiting_for_input")
    assert found is not None
    assert found <= 100 * waiting + 6
    if waiting < 0.15:  # unless the machine was so busy that it did wait, for a processor too
        assert found == pytest.approx(100 * waiting, abs=6)
        assert shown.properties["input_bottleneck"] != "host"
        assert "input_bound" not in shown.findings or shown.findings["input_bound"] != "high"


@pytest.mark.parametrize("case", ["slow_inside", "busy_input"])
def test_a_program_that_waits_for_a_slow_map_is_input_bound(tensorflow_runs: Runs, case: str):
    shown = tensorflow_runs(case)
    check_marked(shown)
    assert agree(shown.step_column("infeedTimeMs"), shown.measured("waiting"))
    waiting = shown.figure("waiting_for_input")
    assert waiting is not None
    assert waiting > 20
    assert shown.properties["input_bottleneck"] == "host"
    assert shown.findings["input_bound"] == "high"


def test_input_that_is_fetched_before_the_marker_counts(tensorflow_runs: Runs):
    """The next step's input is waited for in the gap, and belongs to the step before it."""
    shown = tensorflow_runs("slow_outside")
    check_marked(shown)
    found = shown.step_column("infeedTimeMs")[:-1]
    assert agree(found, shown.measured("waiting")[1:])
    # Threads of a step that wait for a processor may hold its own end up.
    assert (shown.step_column("gapMs")[:-1] >= 0.99 * found).mean() >= 0.7
    waiting = shown.figure("waiting_for_input")
    assert waiting is not None
    assert waiting > 20
    assert shown.properties["input_bottleneck"] == "host"
    assert shown.findings["input_bound"] == "high"
    # The last step is shown, but its gap was not recorded: it would look fast.
    assert shown.steps.column("isTruncated").cells() == [False] * (STEPS - 1) + [True]
    assert shown.properties["steps_averaged"] == str(STEPS - 1)


@pytest.mark.parametrize("case", ["slow_inside", "slow_outside", "busy_input"])
def test_the_slow_stage_is_named_and_worked_as_long_as_it_took(tensorflow_runs: Runs, case: str):
    shown = tensorflow_runs(case)
    ops = shown.tables("input_pipeline_analyzer")[2]
    assert "ParallelMap" in ops.properties["slowest_op"]
    assert ops.properties["dominant_category"] == "preprocessing"
    if case != "busy_input":  # each of the ten or more images that were made took 100 ms
        assert float(ops.properties["slowest_op_us"]) >= 9 * 100e3


@pytest.mark.parametrize("framework", ["tensorflow", "jax"])
def test_sleeping_is_nobodys_work(framework: str, request: pytest.FixtureRequest):
    shown = request.getfixturevalue(f"{framework}_runs")("sleeping")
    check_marked(shown)
    check_sleeping(shown)


def check_sleeping(shown: Shown) -> None:
    slept, whole = shown.measured("sleeping").sum(), shown.measured("whole").sum()
    other = shown.step_column("otherTimeMs").sum()
    assert 0.95 * slept <= other <= whole
    work = shown.step_column("hostComputeTimeMs").sum()
    assert work <= whole - 0.95 * slept + 1
    assert {"all_others", "python_overhead"} & set(shown.findings)


def test_sleeping_is_nobodys_work_where_python_frames_cover_it(jax_runs: Runs):
    shown = jax_runs("sleeping_python")
    check_marked(shown)
    check_sleeping(shown)


@pytest.mark.parametrize(("how", "call"), [("sleeps", "time.sleep"), ("computes", "sort")])
def test_the_function_that_makes_batches_is_named_with_its_time(
    jax_runs: Runs, how: str, call: str
):
    """Whether it waits or works, and whatever it calls to do so."""
    shown = jax_runs(f"batch_{how}")
    table = shown.overview[7]
    titles, gains = pairs(table, "id", "title"), pairs(table, "id", "gain_ms")
    assert next(iter(titles)) == "python_overhead"
    title = titles["python_overhead"]
    assert "make_batch (record_jax.py:" in title
    assert call in title
    planted = float(shown.measured("sleeping")[typical_steps(shown)].mean())
    gain = gains["python_overhead"]
    # Work on a busy machine varies, and threads of the step before may still be at it.
    assert (0.85 if how == "sleeps" else 0.5) * planted <= gain <= 1.15 * planted
    assert "gap_between_steps" not in titles
    idle = shown.overview[12]
    is_whole = [parent == "" for parent in idle.column("parent").cells()]
    whole = sum(np.array(idle.column("ms").cells(), np.float64)[is_whole])
    assert whole == pytest.approx(shown.overview[9].column("ms").cells()[0])


def test_batches_that_keras_marks_are_steps(tensorflow_runs: Runs):
    shown = tensorflow_runs("keras")
    assert [str(label).rpartition(" ")[0] for label in shown.labels] == ["Profiled batch"] * 5
    numbers = [int(str(label).rpartition(" ")[2]) for label in shown.labels]
    assert numbers == list(range(numbers[0], numbers[0] + 5))
    assert shown.properties["step_source"] == "markers"
    assert shown.properties["step_marker"] == "Profiled batch"
    shown.check_sums()
    waiting = shown.figure("waiting_for_input")
    assert waiting is not None  # its iterator's events are known
    assert 0 < waiting < 50


def test_jax_steps_by_annotation(jax_runs: Runs):
    shown = jax_runs("marked")
    check_marked(shown)
    assert shown.properties["steps_averaged"] == str(STEPS)
    assert shown.step_column("hostComputeTimeMs").sum() > 0.2 * shown.measured("whole").sum()


@pytest.mark.parametrize("case", ["unmarked", "unmarked_python"])
def test_jax_steps_without_annotations_are_executions_of_the_program(jax_runs: Runs, case: str):
    """From one call to the next: what follows the last call may belong to it or not."""
    shown = jax_runs(case)
    assert len(shown.labels) == STEPS
    assert shown.properties["step_source"] == "executions"
    assert "train_step" in shown.properties["step_marker"]
    assert shown.properties["is_inferred"] == "true"
    assert "train_step" in shown.properties["step_note"]
    shown.check_sums()
    assert agree(shown.step_column("stepTimeMs")[:-1], shown.measured("whole")[:-1])
    assert not any(shown.steps.column("isTruncated").cells()[:-1])


def test_the_user_can_choose_what_marks_steps(tensorflow_runs: Runs):
    shown = tensorflow_runs("slow_inside", marker="FunctionRun")
    assert shown.properties["step_source"] == "chosen"
    # On a busy machine the call before the recording may end within it.
    assert len(shown.labels) in (STEPS, STEPS + 1)
    shown.check_sums()
    # From one call of the function to the next there is one wait for input.
    waiting = shown.step_column("infeedTimeMs")[-STEPS:-1]
    assert agree(waiting, shown.measured("waiting")[1:])
    names = shown.overview[11].column("name").cells()
    assert "train" in names
