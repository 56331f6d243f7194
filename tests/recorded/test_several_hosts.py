"""Workers of one job, recorded as several hosts of one run."""

import functools
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers.patience import PATIENCE_S
from helpers.started.programs import ForkServer
from helpers.started.recordings import recorded
from recorded.conftest import SCRIPTS, Shown, sources

pytestmark = pytest.mark.slow

Job = Callable[..., Shown]
NAP_US = 20_000  # SLEEP_S of record_tensorflow.py
# Name and first step: the second begins two steps later, the third when the others are done.
WORKERS = {"even": 20, "slow": 22, "late": 20}


@pytest.fixture(scope="session")
def job(
    record_python: str, tensorflow_programs: ForkServer, tmp_path_factory: pytest.TempPathFactory
) -> Job:
    """What is shown of a run of some of the workers."""
    code = [str(WORKERS), *sources("record_worker.py")]
    folder = recorded(record_python, code, functools.partial(_record, tensorflow_programs))

    def shown(*names: str, **params: str) -> Shown:
        run = tmp_path_factory.mktemp("job") / "plugins" / "profile" / "run"
        run.mkdir(parents=True)
        for name in names:
            [trace] = (folder / name).rglob("*.xplane.pb")
            shutil.copy(trace, run / f"{name}.xplane.pb")
            shutil.copy(folder / f"{name}.json", run.parents[2] / f"{name}.json")
        return Shown(run.parents[2], params)

    return shown


def _record(programs: ForkServer, folder: Path) -> None:
    """Two workers at once, then the third."""
    processes = {}
    for name, first in WORKERS.items():
        start = folder / ("later" if name == "late" else "now")
        script = str(SCRIPTS / "record_worker.py")
        processes[name] = programs.start(script, str(folder), name, str(first), str(start))
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not all((folder / f"{name}.ready").exists() for name in processes):
            assert time.monotonic() < deadline
            assert all(process.poll() is None for process in processes.values())
            time.sleep(0.05)
        for flag, names in (("now", ("even", "slow")), ("later", ("late",))):
            (folder / flag).touch()
            assert [processes[name].wait(PATIENCE_S) for name in names] == [0] * len(names)
    finally:
        for process in processes.values():
            process.kill()
            process.wait()


def measured_us(shown: Shown, name: str) -> dict[int, float]:
    """How long the steps of a worker took by its own clock, by their numbers."""
    truth = json.loads((shown.folder / f"{name}.json").read_text(encoding="utf-8"))
    return {row["number"]: 1e3 * row["whole"] for row in truth["steps"]}


def hosts_by_step(shown: Shown) -> dict[str, tuple[str, ...]]:
    """The hosts that each step of the pod viewer has, by the step's label."""
    steps = shown.document("pod_viewer")["podStatsSequence"]["podStatsMap"]
    return {
        step["stepName"]: tuple(
            sorted(core["hostName"] for core in step["podStatsPerCore"].values())
        )
        for step in steps
    }


def train(first: int, last: int) -> list[str]:
    return [f"train {number}" for number in range(first, last + 1)]


def test_workers_meet_by_the_numbers_of_their_steps(job: Job):
    shown = job("even", "slow")
    assert hosts_by_step(shown) == {
        **dict.fromkeys(train(20, 21), ("even",)),
        **dict.fromkeys(train(22, 29), ("even", "slow")),
        **dict.fromkeys(train(30, 31), ("slow",)),
    }
    assert shown.labels == train(20, 31)
    assert shown.step_column("workers").tolist() == [1] * 2 + [2] * 8 + [1] * 2
    shown.check_sums()
    # A step is the mean over its workers; the slowest is told apart.
    both = slice(2, 10)
    assert np.all(shown.step_column("slowestMs")[both] > shown.step_column("stepTimeMs")[both])
    assert np.all(shown.step_column("slowestMs")[both] >= 80)


def test_programs_that_exchange_nothing_are_compared(job: Job):
    """The slow one takes three naps longer in each step; the other one does not wait for it.

    The machine may hold up either, which their own clocks know.
    """
    shown = job("even", "slow")
    page = shown.document("pod_viewer", "columns")
    assert page["hosts"] == ["even", "slow"]
    assert page["stragglers"] == []
    assert page["no_straggler"] == "uncoupled"
    compared = page["compared"]
    assert page["workers"]["host"][compared["worker"]] == 1
    assert compared["steps"] >= 6
    assert compared["low_us"] <= compared["late_us"] <= compared["high_us"]
    even, slow = (measured_us(shown, name) for name in ("even", "slow"))
    longer = [slow[number] - even[number] for number in even.keys() & slow.keys()]
    assert np.median(longer) > NAP_US
    assert 0.95 * min(longer) <= compared["late_us"] <= 1.05 * max(longer)
    assert "straggler" not in shown.findings


def test_a_late_device_of_a_cpu_is_named(planted_runs: Callable[..., Shown]):
    """A device for whose thread the machine has no processor is late, too."""
    shown = planted_runs("ranks", "late_rank", "planted")
    page = shown.document("pod_viewer", "columns")
    late = max(page["stragglers"], key=lambda straggler: straggler["late_us"])
    assert late["device"] == 2
    planted_ms = shown.measured("planted").mean()
    assert late["late_us"] / 1e3 == pytest.approx(planted_ms, rel=0.15)
    assert shown.findings["straggler"] == "high"
    without = planted_runs("ranks", "late_rank", "without")
    held_up = without.document("pod_viewer", "columns")["stragglers"]
    assert all(straggler["late_us"] / 1e3 <= without.delayed_ms for straggler in held_up)
    assert held_up or "straggler" not in without.findings


def test_a_worker_that_was_recorded_later_meets_by_number_too(job: Job):
    shown = job("even", "late", "slow")
    assert hosts_by_step(shown) == {
        **dict.fromkeys(train(20, 21), ("even", "late")),
        **dict.fromkeys(train(22, 29), ("even", "late", "slow")),
        **dict.fromkeys(train(30, 31), ("slow",)),
    }
    shown.check_sums()


def test_workers_without_numbers_that_share_no_time_are_paired_in_order_with_a_warning(job: Job):
    shown = job("even", "late", marker="FunctionRun")
    assert set(hosts_by_step(shown).values()) == {("even", "late")}
    assert len(shown.labels) == 10
    warnings = shown.document("pod_viewer")["diagnostics"]["warnings"]
    assert len(warnings) == 1
    assert "do not overlap in time" in warnings[0]


def test_workers_without_numbers_meet_in_time(job: Job):
    """Both began together, and do not wait for each other: what is paired may be doubtful."""
    shown = job("even", "slow", marker="FunctionRun")
    assert ("even", "slow") in hosts_by_step(shown).values()
    warnings = shown.document("pod_viewer")["diagnostics"]["warnings"]
    assert all("matched" in text and "do not overlap" not in text for text in warnings)
