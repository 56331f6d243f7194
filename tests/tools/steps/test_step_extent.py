"""One meaning of a step's extent: two GPUs that ran the same step 0.65 s apart, on every page."""

from pathlib import Path
from typing import Any

import pytest
from helpers.payloads import document_of

from tbprof.engine.engine import DataRequest, Engine
from tbprof.storage.logdir import Logdir

# The step on each GPU: (start, length) in ms, from the lines `Steps` of the file.
STEPS = {4: (1921.2998, 19.8655), 6: (2568.8556, 21.3104)}


@pytest.fixture(scope="module")
def ask(gpu_trace: Path) -> Any:
    engine = Engine(Logdir(str(gpu_trace)))
    [run] = engine.runs()

    def answer(tool: str, layout: str = "columns", **params: str) -> Any:
        return document_of(engine, run, tool, layout=layout, params=params)

    answer.tables = lambda tool: engine.tables(DataRequest(run, tool))  # type: ignore[attr-defined]
    return answer


def test_the_overview_has_the_mean_and_the_slowest(ask: Any):
    steps = ask.tables("overview_page")[1]
    assert steps.column("stepTimeMs").cells() == [pytest.approx(20.588, abs=1e-3)]
    assert steps.column("startMs").cells() == [pytest.approx(STEPS[4][0], abs=1e-3)]
    assert steps.column("slowestMs").cells() == [pytest.approx(STEPS[6][1], abs=1e-3)]
    assert steps.column("slowestStartMs").cells() == [pytest.approx(STEPS[6][0], abs=1e-3)]


def test_links_open_one_worker(ask: Any):
    findings = ask.tables("overview_page")[7]
    places = [text for text in findings.column("evidence_query").cells() if "from_ms" in text]
    assert places
    for text in places:
        given = dict(pair.split("=") for pair in text.split("&"))
        place = float(given["from_ms"]), float(given["to_ms"]) - float(given["from_ms"])
        assert any(place == pytest.approx(step, abs=1e-3) for step in STEPS.values())


@pytest.mark.parametrize("gpu", [4, 6])
def test_the_memory_of_a_device_has_its_own_steps(ask: Any, gpu: int):
    steps = ask("memory_profile", memory_id=f"GPU_{gpu}_bfc")["steps"]
    start, length = STEPS[gpu]
    assert steps["label"] == ["0"]
    assert [begin_ps / 1e9 for begin_ps in steps["begin_ps"]] == [pytest.approx(start, abs=1e-3)]
    assert (steps["end_ps"][0] - steps["begin_ps"][0]) / 1e9 == pytest.approx(length, abs=1e-3)


def test_the_memory_of_the_host_has_both(ask: Any):
    steps = ask("memory_profile", memory_id="gpu_host_bfc")["steps"]
    assert steps["label"] == ["0 (GPU:4)", "0 (GPU:6)"]
    assert ask("memory_profile", memory_id="GPU_1_bfc")["steps"]["label"] == []


def test_the_pod_viewer_has_each_worker_where_it_ran(ask: Any):
    step = ask("pod_viewer", step="0")
    assert step["start_ms"] == [pytest.approx(start, abs=1e-3) for start, _ in STEPS.values()]
    assert step["total_us"] == [pytest.approx(length * 1e3, abs=1) for _, length in STEPS.values()]


def test_no_one_is_said_to_wait(ask: Any):
    """The GPUs run no collectives: the pages compare them."""
    page = ask("pod_viewer")
    assert (page["stragglers"], page["no_straggler"]) == ([], "uncoupled")
    longer = (STEPS[6][1] - STEPS[4][1]) * 1e3
    assert page["compared"]["late_us"] == pytest.approx(longer, abs=1)
    assert "straggler" not in ask.tables("overview_page")[7].column("id").cells()
