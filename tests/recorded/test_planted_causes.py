"""Programs with one planted cause each, and without it: what the pages say of them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from recorded.conftest import Shown

pytestmark = pytest.mark.slow

Runs = Callable[..., Shown]
STEPS = 12


@dataclass(frozen=True)
class Cause:
    """What a case of `record_planted_<framework>.py` plants: in each `period`-th step, 0 once."""

    framework: str
    case: str
    period: int = 1


CAUSES = (
    Cause("tensorflow", "slow_map"),
    Cause("tensorflow", "slow_generator"),
    Cause("tensorflow", "filled_pool"),
    Cause("tensorflow", "no_prefetch"),
    Cause("tensorflow", "uncached_reading"),
    Cause("tensorflow", "eager_ops"),
    Cause("tensorflow", "retracing"),
    Cause("tensorflow", "first_step", period=0),
    Cause("tensorflow", "checkpoint", period=4),
    Cause("tensorflow", "numpy_metrics"),
    Cause("tensorflow", "keras_callback"),
    Cause("jax", "slow_batches"),
    Cause("jax", "slow_batches_unrecorded"),
    Cause("jax", "numpy_between_steps"),
    Cause("jax", "blocking_read"),
    Cause("jax", "changing_shapes", period=4),
    Cause("jax", "first_step", period=0),
    Cause("jax", "garbage", period=4),
    Cause("jax", "checkpoint", period=4),
    Cause("jax", "evaluation", period=4),
    Cause("jax", "host_callback"),
    Cause("jax", "annotated_wait"),
    Cause("jax", "slow_loader"),
    Cause("jax", "host_copies"),
    Cause("jax", "eager_ops"),
    Cause("jax", "allocation_churn"),
    Cause("ranks", "late_rank"),
)
each_cause = pytest.mark.parametrize(
    "cause", [pytest.param(cause, id=f"{cause.framework}-{cause.case}") for cause in CAUSES]
)


@each_cause
@pytest.mark.parametrize("kind", ["planted", "without"])
def test_steps_are_as_long_as_the_program_saw_them(planted_runs: Runs, cause: Cause, kind: str):
    shown = planted_runs(cause.framework, cause.case, kind)
    assert len(shown.labels) == STEPS
    shown.check_sums()
    found, whole = shown.step_column("stepTimeMs")[:-1], shown.measured("whole")[:-1]
    assert found.sum() == pytest.approx(whole.sum(), rel=0.1, abs=10)


@each_cause
def test_what_is_planted_is_large(planted_runs: Runs, cause: Cause):
    planted = planted_runs(cause.framework, cause.case, "planted").measured("planted")
    has_cause = planted > 0
    if cause.period:
        assert has_cause.sum() >= STEPS // cause.period - 1
    else:
        assert np.flatnonzero(has_cause).tolist() == [0]
    assert np.median(planted[has_cause]) > 10
