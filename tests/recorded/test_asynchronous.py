"""A loop that launches its programs ahead and reads the loss now and then, as most loops of JAX."""

from collections.abc import Callable

import numpy as np
import pytest
from recorded.causes import STEPS, claims_of
from recorded.conftest import Shown

pytestmark = pytest.mark.slow


Runs = Callable[..., Shown]


@pytest.fixture
def shown(planted_runs: Runs) -> Shown:
    return planted_runs("jax", "asynchronous", "without")


def test_steps_take_as_long_as_their_programs_run(shown: Shown):
    """Launching takes microseconds; every step computes the same."""
    assert len(shown.labels) == STEPS
    shown.check_sums()
    found, whole = shown.step_column("stepTimeMs"), shown.measured("whole")
    assert whole.min() < 0.1 * found.min()
    assert found.sum() == pytest.approx(whole.sum(), rel=0.1, abs=10)
    assert np.median(found) == pytest.approx(whole.mean(), rel=0.3, abs=shown.delayed_ms)


def test_nothing_is_found_but_what_the_machine_took(shown: Shown):
    assert "lag behind the code that launches them" in shown.properties["step_note"]
    high = [one for one in claims_of(shown) if one["severity"] == "high"]
    assert all((one["gain_ms"] or 0) <= shown.delayed_ms for one in high), high
