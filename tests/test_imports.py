"""What a process imports: its own tool, and what that stands on."""

import json
import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from helpers.commands import python_prints
from traces import draw, write
from traces.programs import Program

from tbprof.base.lazy import Later, compile_patterns, load, regex
from tbprof.base.process import user_dirs
from tbprof.engine.engine import Engine
from tbprof.engine.hosts.space_pool import read_space
from tbprof.engine.parts import PARTS
from tbprof.engine.timelines.timeline_cache import BUILDERS
from tbprof.engine.timelines.timeline_requests import QUESTIONS
from tbprof.storage.logdir import Logdir
from tbprof.tools import TOOLS

ROOT = Path(__file__).resolve().parents[1]
EXPORT = """
import json, os, sys
from tbprof.cli import main
main(["export", sys.argv[1], "--tool", sys.argv[2], "--output", os.devnull])
print(json.dumps(sorted(sys.modules)))
"""

EVENTS = ("timeline.*", "engine.streams", "engine.timelines")
STEPS = (
    "analysis.steps.step*",
    "analysis.job.job_steps",
    "analysis.grouping.grouping",
    "analysis.host.host_phases",
)
RULES = ("advice.rules.findings*", "tools.*_advice", "advice.*_rules")
PIPELINES = (
    "*.tf_data*",
    "analysis.input.iterator_*",
    "analysis.input.pool_waits",
    "advice.input.*",
    "tools.input*",
)
EVIDENCE = ("advice.evidence", "advice.rules.findings*", "analysis.job.idle_time")
IDLE = ("advice.idle_claims", "tools.overview.idle_table")
MEMORY = (
    "analysis.memory.memory",
    "analysis.memory.memory_breakdown",
    "advice.memory.*",
    "tools.memory*",
)
OPS = (
    "analysis.ops.ops",
    "analysis.ops.host_ops",
    "analysis.ops.device_ops",
    "analysis.ops.op_metrics",
    "tools.framework_op_stats",
)
PODS = ("analysis.tpu.exchanges", "tools.pod_*", "tools.pods.*")
# By tool, what an export does not import. Below all of them, what none does.
NOT_IMPORTED = {
    "overview_page": (*EVENTS, *MEMORY, *PODS, "tools.framework_op_stats", "tools.kernel_stats"),
    "input_pipeline_analyzer": (
        *EVENTS,
        *MEMORY,
        *PODS,
        *IDLE,
        *OPS,
        "advice.evidence",
        "advice.rules.*",
        "analysis.gpu.*",
    ),
    "tf_data_bottleneck_analysis": (
        *EVENTS,
        *MEMORY,
        *PODS,
        *IDLE,
        *OPS,
        *EVIDENCE,
        "analysis.steps.step_finding",
    ),
    "framework_op_stats": (*EVENTS, *STEPS, *RULES, *PIPELINES, *MEMORY, *PODS, *IDLE),
    "op_profile": (*EVENTS, *STEPS, *RULES, *PIPELINES, *MEMORY, *PODS, *IDLE, *OPS),
    "hlo_stats": (*EVENTS, *STEPS, *RULES, *PIPELINES, *MEMORY, *PODS, *IDLE, *OPS),
    "roofline_model": (*EVENTS, *RULES, *PIPELINES, *MEMORY, *PODS, *IDLE, *OPS),
    "kernel_stats": (*EVENTS, *STEPS, *RULES, *PIPELINES, *MEMORY, *PODS, *IDLE, *OPS),
    "memory_profile": (
        *EVENTS,
        *EVIDENCE,
        *PIPELINES,
        *PODS,
        *IDLE,
        *OPS,
        "advice.memory.*",
        "advice.guides",
        "analysis.memory.memory_growth",
        "tools.memory.memory_payload",
    ),
    "memory_viewer": (
        *EVENTS,
        *EVIDENCE,
        *PIPELINES,
        "analysis.memory.*",
        "tools.memory_profile",
        "tools.memory.*",
        *PODS,
        *IDLE,
        *OPS,
        "advice.memory.*",
        "tools.program_memory.heap_payload",
    ),
    "graph_viewer": (*EVENTS, *RULES, *PIPELINES, *MEMORY, *PODS, *IDLE, *OPS),
    "trace_viewer": (*RULES, *PIPELINES, *MEMORY, *PODS, *IDLE, *OPS),
    "pod_viewer": (
        *EVENTS,
        *RULES,
        *PIPELINES,
        *MEMORY,
        *IDLE,
        *OPS,
        "advice.outlier_causes",
        "analysis.job.stragglers",
    ),
}
NEVER = {
    "concurrent.futures", "csv", "decimal", "fsspec", "google.protobuf",
    "google.protobuf.descriptor_pb2", "grpc", "gzip", "hashlib", "logging", "lzma", "numpy.ma",
    "tqdm", "tempfile", "tensorboard", "werkzeug",
}  # fmt: skip
# They have nothing to show without programs that XLA compiled.
OF_PROGRAMS = ("op_profile", "hlo_stats", "roofline_model", "memory_viewer", "graph_viewer")
# What the traces of the others have no use for: one is of a CPU, one of a GPU without programs.
NOT_THERE = (
    "analysis.costs.program_costs",
    "analysis.hlo.module",
    "analysis.hlo.program_*",
    "analysis.hlo_messages.program_index",
    "analysis.ops.[gt]pu_intervals",
    "analysis.ops.core_ops",
    "analysis.ops.gpu_ops",
    "analysis.steps.recorded_steps",
)
OURS = ("api", "capturing*", "serving*", "engine.doctor", "storage.new_run")


def exported(trace: Path, tool: str, tmp_path: Path) -> list[str]:
    """The modules that an export imports."""
    cache = str(tmp_path / "cache")
    said = python_prints("-c", EXPORT, trace, tool, TBPROF_CACHE_DIR=cache)
    modules: list[str] = json.loads(said)
    return modules


@pytest.mark.parametrize("tool", [tool.name for tool in TOOLS])
def test_an_export_imports_what_its_tool_needs(
    tool: str, sample_logdir: Path, tmp_path: Path
) -> None:
    run = "jax_cpu_training" if tool in OF_PROGRAMS else "tensorflow_input_bound"
    trace = next(sample_logdir.rglob(f"{run}/*.xplane.pb"))
    if tool == "kernel_stats":
        drawn = {"/device:GPU:0": "Stream #1 |k"}
        trace = write(tmp_path, draw(drawn, stats={"k": {"kernel_details": "regs:8"}}))
    modules = exported(trace, tool, tmp_path)
    assert f"tbprof.tools.{tool}" in modules
    needs = {
        # Details of products, the text of a program.
        **{name: {"google.protobuf"} for name in OF_PROGRAMS},
        "tf_data_bottleneck_analysis": {"numpy.ma"},  # for percentiles
        "trace_viewer": {"concurrent.futures", "logging"},
    }
    assert not NEVER.intersection(modules) - needs.get(tool, set())
    ours = [name.removeprefix("tbprof.") for name in modules if name.startswith("tbprof.")]
    absent = () if tool in OF_PROGRAMS else NOT_THERE
    for pattern in (*OURS, *absent, *NOT_IMPORTED.get(tool, ())):
        assert not [name for name in ours if fnmatchcase(name, pattern)], pattern


@pytest.mark.parametrize(
    "tool",
    ["overview_page", "framework_op_stats", "op_profile", "hlo_stats", "roofline_model"],
)
def test_the_programs_of_a_tpu_are_read_without_protobuf(tool: str, tmp_path: Path) -> None:
    program = Program()
    program.add("x", "parameter", "f32[8,128]{1,0:T(8,128)}")
    program.add("copy-start", "copy-start", "(f32[8,128]{1,0}, f32[8,128]{1,0})", "x")
    program.add("copy-done", "copy-done", "f32[8,128]{1,0}", "copy-start")
    program.add("all-reduce", "all-reduce", "f32[8,128]{1,0}", "x")
    text = "%all-reduce = f32[8,128]{1,0} all-reduce(f32[8,128]{1,0} %x)"
    drawn = {
        "/host:CPU": "python |tt",
        "/device:TPU:0": "Steps |11\nXLA Ops |sda",
    }
    names = {"s": "copy-start", "d": "copy-done", "a": text, "t": "train"}
    stats, programs = {one: {"program_id": 7} for one in "sda"}, {"jit_f(7)": program.bytes()}
    trace = write(tmp_path, draw(drawn, names=names, type_stats=stats, programs=programs))
    modules = exported(trace, tool, tmp_path)
    assert "tbprof.analysis.hlo_messages.program_index" in modules
    absent = {
        "google.protobuf",
        "tbprof.analysis.gpu.gpu_events",
        "tbprof.advice.tf_data.tf_data_case",
    }
    assert not absent.intersection(modules)


def test_a_kept_timeline_is_opened_without_what_builds_it_and_answers_questions(
    sample_logdir: Path, tmp_path: Path
) -> None:
    opened = """
import json, sys
from tbprof.engine.engine import Engine
from tbprof.engine.timelines.timeline_requests import TileFilter, TileSpan, open_timeline
from tbprof.storage.logdir import Logdir
from tbprof.storage.results import ResultStore
engine = Engine(Logdir(sys.argv[1]), ResultStore())
timeline = open_timeline(engine, engine.runs()[0], "", "events", None)
timeline.index()
timeline.tiles(TileSpan(30, 0, 1), [], TileFilter())
engine.timelines.settle()
print(json.dumps(sorted(sys.modules)))
"""
    trace = next(sample_logdir.rglob("tensorflow_input_bound/*.xplane.pb"))
    modules: list[str] = []
    for _ in range(2):
        modules = json.loads(python_prints("-c", opened, trace, TBPROF_CACHE_DIR=str(tmp_path)))
    for name in (
        "timeline.build.build",
        "timeline.search.search",
        "timeline.questions.details",
        "analysis.host.host_roles",
        "analysis.hlo.hlo",
        "events.space",
        "xplane.reader",
    ):
        assert f"tbprof.{name}" not in modules


def test_a_server_imports_everything_before_someone_waits_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded: list[object] = []
    monkeypatch.setattr("tbprof.engine.engine.load", loaded.append)
    compiled: list[object] = []
    monkeypatch.setattr("tbprof.engine.engine.compile_patterns", compiled.append)
    Engine(Logdir([])).load_tools()
    assert len(compiled) == 1
    built = [one.name for one in loaded[: len(TOOLS)] if isinstance(one, Later)]
    assert built == [f"tbprof.tools.{tool.name}.build" for tool in TOOLS]
    assert loaded[len(TOOLS) :] == [
        *(kind.compute for kind in PARTS.values()), *BUILDERS.values(), *QUESTIONS, read_space,
    ]  # fmt: skip


def test_a_page_of_a_server_imports_nothing(sample_logdir: Path, tmp_path: Path) -> None:
    asked = """
import json, sys
from tbprof.base.errors import NoData
from tbprof.engine.engine import DataRequest, Engine
from tbprof.storage.logdir import Logdir
from tbprof.tools import TOOLS
engine = Engine(Logdir([sys.argv[1]], wait_s=60))
engine.load_tools()
before = set(sys.modules)
for run in engine.runs():
    for tool in TOOLS:
        if not tool.is_streamed:
            try:
                engine.data(DataRequest(run, tool.name))
            except NoData:
                pass
print(json.dumps([name for name in sys.modules if name not in before]))
"""
    loaded = json.loads(python_prints("-c", asked, sample_logdir, TBPROF_CACHE_DIR=str(tmp_path)))
    assert not [name for name in loaded if name.startswith("tbprof.")]


def test_a_function_is_imported_when_it_is_called_or_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cache_directory = Later("tbprof.base.process.user_dirs.cache_directory")
    assert cache_directory() == user_dirs.cache_directory()
    load(cache_directory)
    load(len)
    monkeypatch.delitem(sys.modules, "tbprof.tools.memory.memory_payload", raising=False)
    load(Later("tbprof.tools.memory_profile.build"))
    assert "tbprof.tools.memory.memory_payload" in sys.modules
    with pytest.raises(ModuleNotFoundError):
        load(Later("tbprof.no_module.no_function"))
    with pytest.raises(AttributeError, match="no_function"):
        load(Later("tbprof.base.process.user_dirs.no_function"))


def test_a_regular_expression_is_compiled_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_ = Mock(wraps=re.compile)
    monkeypatch.setattr("tbprof.base.lazy.re.compile", compile_)
    word = regex("(?P<first>[a-z])[a-z]*", re.IGNORECASE)
    compile_.assert_not_called()
    found = word.match("Word 1")
    assert found is not None
    assert found["first"] == "W"
    assert word.fullmatch("Word 1") is None
    assert word.match("1") is None
    compile_.assert_called_once_with(word.pattern, re.IGNORECASE)


def test_a_server_compiles_regular_expressions_ahead_of_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tbprof.base.lazy.LazyPattern.known", [])
    compiled: list[str] = []
    words = [regex("a+"), regex("b+")]

    def compile_(pattern: str, _flags: int) -> SimpleNamespace:
        compiled.append(pattern)
        return SimpleNamespace(pattern=pattern)

    monkeypatch.setattr("tbprof.base.lazy.re.compile", compile_)
    waited: list[int] = []
    compile_patterns(lambda: waited.append(len(compiled)))
    assert waited == [0, 1]
    assert sorted(compiled) == ["a+", "b+"]
    assert [word.pattern for word in words] == ["a+", "b+"]
    compile_patterns(lambda: waited.append(2))
    assert waited == [0, 1]


def test_modules_compile_no_regular_expressions_when_they_are_imported() -> None:
    for room in ("analysis", "tools", "storage"):
        for path in (ROOT / "tbprof" / room).rglob("*.py"):
            assert "re.compile(" not in path.read_text("utf-8"), path.name


@pytest.mark.parametrize("name", PARTS)
def test_every_part_names_a_function_and_its_type(name: str) -> None:
    assert isinstance(PARTS[name].compute, Later)
    load(PARTS[name].compute)
    assert PARTS[name].type.__name__ == PARTS[name].type_name.rpartition(".")[2]
