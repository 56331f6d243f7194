"""Captures of real TensorFlow and JAX programs, each through their own profiler servers."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers.patience import PATIENCE_S
from helpers.started.programs import ROOT, started
from recorded.conftest import SCRIPTS
from traces import message_of

import tbprof

SEVERAL_MS = 2000  # of capture_programs.py

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("captured")


@pytest.fixture(scope="module")
def found(record_python: str, logdir: Path) -> dict[str, Any]:
    loopback = [sys.executable, str(ROOT / "scripts" / "loopback.py")]
    script = [sys.executable, str(SCRIPTS / "capture_programs.py"), record_python, str(logdir)]
    with started(*loopback, *script, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            said, errors = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert process.returncode == 0, errors[-3000:]
    answer: dict[str, Any] = json.loads(said.splitlines()[-1])
    return answer


def phases(report: dict[str, Any]) -> list[tuple[str, str]]:
    return [(worker["phase"], worker["reason"]) for worker in report["workers"]]


def test_connections_are_good(found):
    assert list(found["probes"].values()) == [[True] * 4] * 2


@pytest.mark.parametrize("run", ["tensorflow", "jax"])
def test_one_worker(found, logdir, run):
    assert phases(found[run]) == [("written", "")]
    view = tbprof.open_logdir(logdir, cache=False).runs[run]
    overview = view.tool("overview_page")
    steps = overview.tables[1]
    assert len(steps) > 5
    assert "train" in steps.properties["step_marker"]
    if run == "tensorflow":
        assert len(view.tool("framework_op_stats").tables[0]) > 3
        assert len(view.tool("input_pipeline_analyzer").tables[1]) == len(steps)


def test_a_file_holds_what_the_server_sent_to_the_bit(found):
    for relayed in found["relayed"]:
        assert phases(relayed["report"]) == [("written", "")]
        assert relayed["is_same"]
        assert relayed["bytes"] == relayed["report"]["workers"][0]["bytes"] > 10_000


def test_the_python_tracer_records_calls(found, logdir):
    assert phases(found["python"]) == [("written", "")]
    assert "__call__" in calls(logdir, "python")  # of the compiled function
    assert calls(logdir, "tensorflow") == set()


def calls(logdir: Path, run: str) -> set[str]:
    """The functions that have frames in a capture: `$file:line function`."""
    [path] = (logdir / "plugins" / "profile" / run).glob("*.xplane.pb")
    space = message_of(path.read_bytes())
    names = {one.name for plane in space.planes for one in plane.event_metadata.values()}
    return {name.rpartition(" ")[2] for name in names if name.startswith("$")}


def test_several_workers_one_of_them_dead(found, logdir):
    expected = [("written", "")] * 3 + [("failed", "refused")]
    assert phases(found["several"]) == expected
    hosts = tbprof.open_logdir(logdir, cache=False).runs["several"].hosts
    assert sorted(hosts) == ["localhost_21009", "localhost_21010", "localhost_21999"]
    # All of them recorded at once for a while.
    late_s = max(worker["late_s"] for worker in found["several"]["workers"])
    assert late_s < SEVERAL_MS / 1000


def test_an_address_of_ipv6_given_twice_is_one_worker(found, logdir):
    if found["ipv6"] is None:
        pytest.skip("this machine has no IPv6")
    assert phases(found["ipv6"]) == [("written", "")]
    assert list(tbprof.open_logdir(logdir, cache=False).runs["ipv6"].hosts) == ["___1__21009"]


def test_the_command(found, logdir):
    status, said = found["command"]
    assert status == 0, said
    assert "written" in said
    assert str(logdir / "plugins" / "profile" / "shell") in said


def test_the_example_captures_two_workers(found):
    status, said = found["example"]
    assert status == 0, said
    assert said.count("written") == 2
    assert "recorded in" in said


def test_a_program_that_is_being_profiled(found):
    busy = found["busy"]
    assert phases(busy["first"]) == [("written", "")]
    assert phases(busy["refused"]) == [("failed", "busy"), ("written", "")]
    assert phases(busy["retried"]) == [("written", "")]
    assert busy["retried"]["workers"][0]["attempts"] > 1


def test_a_slow_worker_comes_late_and_the_others_do_not_wait(found, logdir):
    slow = found["slow"]
    assert phases(slow["report"]) == [("written", "")] * 3
    first, late, third = slow["ended_s"]
    assert max(first, third) <= slow["went_on_s"] < late
    assert len(tbprof.open_logdir(logdir, cache=False).runs[slow["report"]["run"]].hosts) == 3


def test_a_worker_that_is_too_slow_says_so(found, logdir):
    report = found["too_slow"]["report"]
    assert phases(report) == [("written", ""), ("failed", "deadline"), ("written", "")]
    worker = report["workers"][1]
    assert "did not respond in time" in worker["message"]
    assert "fewer steps" in worker["fix"]
    assert len(list((logdir / "plugins" / "profile" / report["run"]).iterdir())) == 2


def test_a_program_that_hangs_does_not_hold_the_others_up(found):
    assert phases(found["stopped"]) == [("written", ""), ("failed", "silent")]
    assert "stopped or overloaded" in found["stopped"]["workers"][1]["fix"]


def test_cancelling_really_stops_the_server(found):
    assert phases(found["cancelled"]["report"]) == [("cancelled", "cancelled")]
    assert found["cancelled"]["seconds"] < 10  # of 20 that were to be recorded
    assert phases(found["again"]) == [("written", "")]  # at once, and not empty
    assert found["again"]["run"] == "cancelled"


def test_a_program_that_dies(found, logdir):
    assert phases(found["killed"]) == [("failed", "lost")]
    assert not (logdir / "plugins" / "profile" / "killed").exists()
