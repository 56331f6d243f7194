"""What xprof shows of drawn programs whose steps it gets wrong; one column is 1 µs.

Ours is in tests/analysis/steps/test_step_promises.py; more are in test_step_defects.py.
"""

import pytest
from helpers.payloads import Row, rows
from parity.oracle import Compare
from traces.misread_runs import host_copies, looping

pytestmark = [pytest.mark.parity, pytest.mark.slow]

OVERVIEW = "overview_page"
PARTS = ("deviceCompute", "deviceToDevice", "deviceCollectives", "hostCompute", "kernelLaunch",
         "infeed", "outfeed", "compile", "other")  # fmt: skip


def theirs(compare: Compare, trace: bytes) -> list[Row]:
    """The rows of xprof's table of steps."""
    return rows(compare(trace, tools=(OVERVIEW,)).theirs[OVERVIEW][1])


def us(row: Row) -> dict[str, int]:
    """The µs of the step and of its parts, those that are not 0."""
    parts = {name: round(row[f"{name}TimeMs"] * 1000) for name in PARTS}
    return {"step": round(row["stepTimeMs"] * 1000), **{k: v for k, v in parts.items() if v}}


def test_copies_within_the_host_are_nowhere(compare: Compare) -> None:
    [row] = theirs(compare, host_copies())
    assert us(row) == {"step": 10, "hostCompute": 2, "other": 5}


def test_a_loop_takes_all_steps_away(compare: Compare) -> None:
    assert theirs(compare, looping()) == []
