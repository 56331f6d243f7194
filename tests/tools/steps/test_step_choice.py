"""The three pages of steps on one trace with a slow first step: typical steps, and all of them.

One column is 1 µs: a step of 40 µs that compiles, then eleven of 4 µs with a kernel of 2 µs.
"""

from pathlib import Path

import pytest
from helpers.drawn.small_runs import one_run
from helpers.payloads import document_of
from helpers.tables import pairs
from traces import draw

from tbprof.engine.engine import DataRequest, Engine
from tbprof.tools.model.datatable import Table

STEPS = 12
TOOLS = ("overview_page", "input_pipeline_analyzer", "pod_viewer")
LETTERS = "stuvwxyzSTUV"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    steps = "s" * 40 + "".join(letter * 4 for letter in LETTERS[1:])
    work = "." + "C" * 36 + ".k." + ".ii." * (STEPS - 1)
    kernels = "." * 37 + "mm." + "..nn" * (STEPS - 1)
    trace = draw(
        {
            "/host:CPU": f"python |{steps}\n|{work}",
            "/device:GPU:0": f"Stream #1 |{kernels}",
        },
        names=dict.fromkeys(LETTERS, "train")
        | {"C": "XlaCompile", "i": "IteratorGetNext", "m": "gemm", "n": "gemm"},
        stats={letter: {"_r": 1, "step_num": at} for at, letter in enumerate(LETTERS)}
        | {letter: {"kernel_details": "grid:1,1,1 block:1,1,1"} for letter in "mn"},
    )
    return one_run(tmp_path, host0=trace)


def tables(engine: Engine, tool: str, **params: str) -> tuple[Table, ...]:
    return engine.tables(DataRequest("run", tool, params=params))


@pytest.mark.parametrize("tool", TOOLS[:2])
def test_what_scripts_know_is_of_all_steps_and_what_we_say_of_typical_ones(
    engine: Engine, tool: str
):
    typical, whole = (tables(engine, tool, **params)[1] for params in ({}, {"steps": "all"}))
    ours = {"input_conclusion", "input_bottleneck", "waiting_percent", "steps_chosen"}
    ours |= {name for name in typical.properties if name.endswith(("_statement", "_bottleneck"))}
    for name in typical.properties.keys() - ours:
        assert typical.properties[name] == whole.properties[name], name
    assert typical.properties["steptime_ms_average"] == "0.0"
    assert float(typical.properties["waiting_percent"]) > float(whole.properties["waiting_percent"])
    assert typical.properties["steps_typical"] == "11"
    assert typical.properties["steps_averaged"] == "12"
    assert typical.column("isOutlier").cells() == [True] + [False] * 11
    assert "compilation" in str(typical.column("outlierCause").cells()[0])
    assert typical.column("outlierCause").cells() == whole.column("outlierCause").cells()


def test_figures_breakdown_and_findings_are_of_the_steps_that_are_chosen(engine: Engine):
    typical, whole = (
        tables(engine, "overview_page", **params) for params in ({}, {"steps": "all"})
    )
    figures = pairs(typical[8], "id", "value")
    assert figures["step_time_average"] == pytest.approx(0.004)
    assert figures["step_time_median"] == pytest.approx(0.004)
    assert figures["step_time_average_all"] == pytest.approx(0.084 / 12)
    assert (figures["steps"], figures["slow_steps"]) == (11, 1)
    of_all = pairs(whole[8], "id", "value")
    assert of_all["step_time_average"] == pytest.approx(0.084 / 12)
    assert of_all["step_time_median"] == pytest.approx(0.004)
    assert (of_all["steps"], of_all["slow_steps"]) == (12, 1)
    assert pairs(typical[9], "id", "ms")["compilation"] == 0
    assert pairs(whole[9], "id", "ms")["compilation"] == pytest.approx(0.036 / 12)
    assert "slow_steps" in typical[7].column("id").cells()
    messages = typical[6].column("message").cells()
    assert any("1 of 12 complete steps took much longer" in str(text) for text in messages)


def test_pages_agree_on_what_steps_wait_for(engine: Engine):
    for params in ({}, {"steps": "all"}):
        overview = tables(engine, "overview_page", **params)
        pipeline = tables(engine, "input_pipeline_analyzer", **params)
        said = overview[1].properties["input_conclusion"]
        assert said == pipeline[1].properties["input_conclusion"]
        assert said == overview[3].properties["statement"]
        share = pairs(overview[8], "id", "value")["waiting_for_input"]
        assert f"{share:.1f} %" in said
        assert pairs(overview[9], "id", "ms") == pairs(pipeline[7], "id", "ms")


def test_the_pod_marks_them(engine: Engine):
    steps = document_of(engine, "run", "pod_viewer", layout="columns")["steps"]
    assert steps["is_outlier"] == [True] + [False] * 11
    assert steps["outlier_cause"][0].endswith("compilation")
    assert not any(steps["outlier_cause"][1:])


def test_all_pages_name_one_cause_of_slow_steps(tmp_path: Path):
    """Each 5th step saves for 25 of its 30 µs, the 8th compiles for as long."""
    letters = "stuvwxyzSTUVWXYZ"
    slow = {4: "P", 9: "P", 14: "P", 7: "C"}
    steps = "".join(letter * (30 if at in slow else 4) for at, letter in enumerate(letters))
    work = "".join(
        ".ii." + ("." + slow[index] * 25 if index in slow else "") for index in range(16)
    )
    kernels = "".join("..nn" + "." * (26 if index in slow else 0) for index in range(16))
    trace = draw(
        {
            "/host:CPU": f"python |{steps}\n|{work}",
            "/device:GPU:0": f"Stream #1 |{kernels}",
        },
        names=dict.fromkeys(letters, "train")
        | {"C": "XlaCompile", "P": "$train.py:9 save", "i": "IteratorGetNext", "n": "gemm"},
        stats={letter: {"_r": 1, "step_num": at} for at, letter in enumerate(letters)}
        | {"n": {"kernel_details": "grid:1,1,1 block:1,1,1"}},
    )
    engine = one_run(tmp_path, host0=trace)
    overview = tables(engine, "overview_page")
    said = overview[1].column("outlierCause").cells()
    pipeline = tables(engine, "input_pipeline_analyzer")[1].column("outlierCause").cells()
    pod = document_of(engine, "run", "pod_viewer", layout="columns")
    assert said == pipeline == pod["steps"]["outlier_cause"]
    assert [at for at, text in enumerate(said) if text] == sorted(slow)
    saves = "most of it time that no op covers: save (train.py:9); this recurs in every 5th step"
    assert all(str(said[at]).endswith(saves) for at in (4, 9, 14))
    assert str(said[7]).endswith("most of it compilation")
    assert "save (train.py:9)" in pairs(overview[7], "id", "detail")["periodic_steps"]


@pytest.mark.parametrize("value", ["typical", "", "ALL", "1", "<script>"])
def test_other_values_are_the_default(engine: Engine, value: str):
    default = engine.data(DataRequest("run", "overview_page"))
    other = engine.data(DataRequest("run", "overview_page", params={"steps": value}))
    assert default.etag == other.etag
