"""What xprof shows of drawn programs whose steps it gets wrong; one column is 1 µs.

Ours is in tests/analysis/steps/test_step_promises.py; more are in test_step_defects.py.
"""

from pathlib import Path

import pytest
from helpers.payloads import rows
from parity.oracle import Row, ask_xprof
from traces.misread_runs import host_copies, looping

pytestmark = [pytest.mark.parity, pytest.mark.slow]

OVERVIEW = "overview_page"
PARTS = ("deviceCompute", "deviceToDevice", "deviceCollectives", "hostCompute", "kernelLaunch",
         "infeed", "outfeed", "compile", "other")  # fmt: skip


def theirs(python: str, folder: Path, trace: bytes) -> list[Row]:
    """The rows of xprof's table of steps."""
    return rows(ask_xprof(python, folder, {"h0": trace}, [OVERVIEW])[OVERVIEW][1])


def us(row: Row) -> dict[str, int]:
    """The µs of the step and of its parts, those that are not 0."""
    parts = {name: round(row[f"{name}TimeMs"] * 1000) for name in PARTS}
    return {"step": round(row["stepTimeMs"] * 1000), **{k: v for k, v in parts.items() if v}}


def test_copies_within_the_host_are_nowhere(xprof_python: str, tmp_path: Path) -> None:
    [row] = theirs(xprof_python, tmp_path, host_copies())
    assert us(row) == {"step": 10, "hostCompute": 2, "other": 5}


def test_a_loop_takes_all_steps_away(xprof_python: str, tmp_path: Path) -> None:
    assert theirs(xprof_python, tmp_path, looping()) == []
