"""What the menu offers is what the pages can show; a file that was cut off is said to be."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.commands import run
from helpers.drawn.small_runs import one_run
from traces import draw
from traces.every_trace import TRACES, every_trace, opened, opened_anew
from traces.runs import HOST, RUNS, gpu_steps

from tbprof.analysis.run.outline import Outline
from tbprof.base.errors import NoData, TbprofError
from tbprof.engine.doctor import examine_run
from tbprof.engine.engine import DataRequest, Engine
from tbprof.engine.requests import Body
from tbprof.storage.logdir import Logdir
from tbprof.tools import TOOLS

OP = draw({HOST: "main |xx.xx"}, names={"x": "dense/MatMul:MatMul"})
CUTS = (100, 100_000, 0.6, 0.95)


def tools_of(engine: Engine, run: str) -> dict[str, Any]:
    return {tool["name"]: tool for tool in engine.session(run)["tools"]}


def ask(engine: Engine, run: str, tool: str) -> TbprofError | None:
    """The error that a page gets, None where it is answered."""
    try:
        answer = engine.data(DataRequest(run, tool))
        if not isinstance(answer, Body):
            list(answer.chunks(is_strict=False))
    except TbprofError as error:
        return error
    return None


def check_menu(engine: Engine, run: str, *, is_known: bool) -> None:
    """Offered is what is answered: where `is_known` before anything was asked, else afterwards."""
    before = tools_of(engine, run)
    errors = {tool.name: ask(engine, run, tool.name) for tool in TOOLS}
    after = tools_of(engine, run)
    for name, error in errors.items():
        assert before[name]["available"] or error is not None, name
        assert before[name]["available"] == (error is None) or not is_known, (name, error)
        assert after[name]["available"] == (error is None), (name, error)
    told = {one.about: one for one in examine_run(engine, run)}
    outlines = engine.outlines(engine.run(run)).values()
    has_events = any(
        isinstance(outline, Outline) and outline.event_bytes.any() for outline in outlines
    )
    for tool in TOOLS:
        error, entry = errors[tool.name], after[tool.name]
        assert (tool.name in engine.run_tools(run)) == (error is None)
        if error is None:
            assert (entry["reason"], entry["hint"]) == (None, None)
            continue
        assert isinstance(error, NoData)
        assert error.message == f"{tool.label} has nothing to show: {entry['reason']}"
        assert error.hint == entry["hint"] != ""
        if not has_events:
            continue  # said once, of the host
        diagnosis = told[f"{run}: {tool.label}"]
        assert (diagnosis.text, diagnosis.fix) == (entry["reason"], entry["hint"])


@every_trace
def test_what_is_offered_is_answered(trace: str, request: pytest.FixtureRequest):
    engine, run = opened_anew(trace, request)
    check_menu(engine, run, is_known=True)


@pytest.mark.parametrize("run", RUNS)
def test_what_is_offered_of_drawn_runs_is_answered(run: str, tmp_path: Path):
    check_menu(one_run(tmp_path, **RUNS[run]()), "run", is_known=False)


def test_without_steps_the_first_page_says_what_rests_on_them(tmp_path: Path):
    """Nothing marks steps, nothing repeats; the overview finds that, and so does the doctor."""
    content = draw({HOST: "python |aaa..bbb"}, names={"a": "x:MatMul", "b": "y:Relu"})
    engine = one_run(tmp_path, h0=content)
    assert tools_of(engine, "run")["pod_viewer"]["available"]  # the index does not tell
    assert ask(engine, "run", "overview_page") is None
    entry = tools_of(engine, "run")["pod_viewer"]
    assert (entry["available"], "where steps begin" in entry["reason"]) == (False, True)
    error = ask(engine, "run", "pod_viewer")
    assert isinstance(error, NoData)
    assert error.hint == entry["hint"]
    again = Engine(Logdir(str(tmp_path)))
    assert "run: Pod viewer" in {one.about for one in examine_run(again, "run")}


NOTHING = {
    "no events": {HOST: "main |"},
    "one event": {HOST: "main |x"},
    "only Python": {HOST: "python |pppp.pppp"},
    "no kernels": {"/device:GPU:0": "Stream #1 |aaa"},
    "no planes but one": {"Task Environment": "x |"},
}


@pytest.mark.parametrize("planes", NOTHING.values(), ids=NOTHING)
def test_a_page_that_had_nothing_is_offered_no_more(planes: dict[str, str], tmp_path: Path):
    content = draw(planes, names={"p": "$train.py:1 main"})
    check_menu(one_run(tmp_path, h0=content), "run", is_known=False)


def test_a_choice_without_data_says_nothing_of_the_others(tmp_path: Path):
    engine = one_run(tmp_path, h0=draw({HOST: "main |"}), h1=OP)
    with pytest.raises(NoData):
        engine.data(DataRequest("run", "framework_op_stats", ("h0",)))
    assert tools_of(engine, "run")["framework_op_stats"]["available"]
    assert ask(engine, "run", "framework_op_stats") is None


def test_names_that_no_event_has_are_found_out(tmp_path: Path):
    """The recorder knew allocations, and recorded none."""
    content = draw({HOST: "main |x"}, type_stats={"m": {}}, names={"m": "MemoryAllocation"})
    engine = one_run(tmp_path, h0=content)
    assert tools_of(engine, "run")["memory_profile"]["available"]
    assert ask(engine, "run", "memory_profile") is not None
    assert not tools_of(engine, "run")["memory_profile"]["available"]


def test_what_a_trace_of_a_cpu_lacks(sample_logdir: Path):
    """tf.data and memory were offered of JAX on a CPU."""
    tools = tools_of(Engine(Logdir(str(sample_logdir))), "jax_cpu_training")
    lacks = {name: tool for name, tool in tools.items() if not tool["available"]}
    assert set(lacks) == {"tf_data_bottleneck_analysis", "kernel_stats", "memory_profile"}
    assert "tf.data" in lacks["tf_data_bottleneck_analysis"]["reason"]
    assert "jax.profiler" in lacks["memory_profile"]["hint"]
    listed = run("tools", sample_logdir).stdout
    assert f"{lacks['memory_profile']['reason']}; {lacks['memory_profile']['hint']}" in listed


def _cut(content: bytes, at: float) -> bytes:
    return content[: int(at * len(content)) if at < 1 else int(at)]


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("trace", TRACES)
def test_every_page_says_where_a_file_ends_early(
    trace: str, cut: float, request: pytest.FixtureRequest, tmp_path: Path
):
    whole, run = opened(trace, request)
    content = Path(whole.run(run).files[0].url.removeprefix("file://")).read_bytes()
    part = _cut(content, cut)
    if len(part) == len(content):
        return
    engine = one_run(tmp_path, h0=part)
    check_cut(engine, len(part), lambda tool: ask(engine, "run", tool))
    check_menu(engine, "run", is_known=False)


def check_cut(engine: Engine, size: int, ask_for: Callable[[str], TbprofError | None]) -> None:
    says = f"the file ends early, at byte {size:,} of at least "
    for tool in TOOLS:
        error = ask_for(tool.name)
        if error is not None:
            assert says in error.message, error.message
            assert "copy the file again" in error.hint
        elif not tool.is_streamed:
            first = engine.tables(DataRequest("run", tool.name))[0]
            assert [warning.hint for warning in first.warnings if says in warning.message]
        else:
            [timeline] = {
                engine.timeline("run", file, "events") for file in engine.run("run").files
            }
            notices = timeline.open_timeline.timeline.notices
            assert [notice.hint for notice in notices if says in notice.message]
    told = examine_run(engine, "run")
    assert [one for one in told if one.kind == "bad" and says in one.text and "copy" in one.fix]
    for one in told:
        assert "set to leave" not in one.text + one.fix
        assert "mark them" not in one.fix or "steps" not in one.about


def test_steps_that_a_cut_took_away_need_no_marks(tmp_path: Path):
    """The plane of the GPU is whole, that of the host with the markers is not."""
    content = gpu_steps("k" * 30)
    engine = one_run(tmp_path, h0=content[:-40])
    tables = engine.tables(DataRequest("run", "overview_page"))
    if "no_steps" in tables[7].column("id").cells():
        at = tables[7].column("id").cells().index("no_steps")
        assert "ends early" in str(tables[7].column("detail").cells()[at])
        assert str(tables[7].column("action").cells()[at]).startswith("Copy the file again")


def test_of_several_hosts_the_one_that_was_cut_is_named(tmp_path: Path):
    engine = one_run(tmp_path, h0=OP, h1=OP[:-8])
    reason = tools_of(engine, "run")["memory_profile"]["reason"]
    assert reason.startswith(f"the file ends early, at byte {len(OP) - 8:,} of at least")
    assert "(h1)" in reason
