"""What clients get: runs, hosts, tools, payloads, and why there are none."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from helpers.drawn.small_runs import (
    ANYWHERE,
    CPU_TRACE,
    GPU,
    HOST,
    KERNELS,
    ON_GPUS,
    OPS,
    cells,
    one_run,
)
from helpers.payloads import body_of, document_of
from traces import draw, message_of, write_run

from tbprof.base.errors import (
    BadRequest,
    BadTrace,
    HostNotFound,
    NoData,
    RunNotFound,
    ToolNotFound,
)
from tbprof.engine.engine import ALL_HOSTS, DataRequest, Engine
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.storage.logdir import Logdir
from tbprof.tools import TOOLS

# What there is.


def test_runs_are_those_of_the_logdir(engine: Engine):
    assert engine.runs() == ["mixed", "gpu", "cpu", "broken"]


def test_a_run_has_the_tools_that_its_planes_allow(engine: Engine):
    assert engine.run_tools("cpu") == ANYWHERE
    assert engine.run_tools("gpu") == ON_GPUS
    assert engine.run_tools("mixed") == ON_GPUS
    assert engine.run_tools("broken") == []


def test_all_hosts_come_first_where_there_are_several(engine: Engine):
    assert engine.hosts("cpu", OPS) == ["h0"]
    assert engine.hosts("gpu", "kernel_stats^") == [ALL_HOSTS, "h0", "h1"]


def test_a_session_says_why_tools_and_hosts_are_missing(engine: Engine):
    session = engine.session("mixed")
    assert session["run"] == "mixed"
    hosts = {host["hostname"]: host for host in session["hosts"]}
    assert [host["error"] is None for host in hosts.values()] == [True, True, False]
    assert hosts["h2"]["error"]["code"] == "bad_trace"
    assert hosts["h0"]["bytes"] == len(CPU_TRACE)
    tools = {tool["name"]: tool for tool in engine.session("cpu")["tools"]}
    assert list(tools) == [tool.name for tool in TOOLS]
    assert tools[OPS] == {
        "name": OPS, "label": "Op stats", "short": "Op stats",
        "also": ["TensorFlow stats"], "hosts": "any", "detail": False, "available": True,
        "reason": None, "hint": None,
    }  # fmt: skip
    assert tools[KERNELS] == {
        "name": KERNELS, "label": "GPU kernel stats", "short": "Kernels", "also": [],
        "hosts": "any", "detail": False, "available": False,
        "reason": "the trace has no GPU; kernels are recorded only on NVIDIA and AMD GPUs",
        "hint": "for TPUs and CPUs, see the op stats",
    }  # fmt: skip
    listed = engine.session()
    assert (listed["run"], listed["hosts"]) == ("", [])
    for one in listed["tools"]:
        none = {"available": False, "reason": "There is no run yet.", "hint": ""}
        assert one == {**tools[one["name"]], **none}
    for tool in engine.session("broken")["tools"]:
        assert tool["reason"].startswith("no trace of this run can be read: ")


def test_gpus_without_lines_have_no_kernels_to_show(tmp_path: Path):
    engine = one_run(tmp_path, h0=draw({HOST: "t |aa", GPU: ""}, names={"a": "a:A"}))
    assert engine.run_tools("run") == ANYWHERE
    tools = engine.session("run")["tools"]
    (kernels,) = (tool for tool in tools if tool["name"] == KERNELS)
    assert kernels["reason"] == "the trace has GPUs, but no kernels that ran on them"


# Payloads.


def test_a_payload_is_the_table_of_all_hosts(engine: Engine):
    (table,) = [document_of(engine, "gpu", KERNELS)]
    assert cells(table, "occurrences") == [2]
    assert cells(table, "total_duration_us") == [4.0]
    assert "warnings" not in table


@pytest.mark.parametrize(
    ("hosts", "count"),
    [((), 2), (("ALL_HOSTS",), 2), (("h1", "h0"), 2), (("h1",), 1), (("h0", "ALL_HOSTS"), 2)],
)
def test_hosts_are_chosen_by_name(engine: Engine, hosts: tuple[str, ...], count: int):
    assert cells(document_of(engine, "gpu", KERNELS, hosts=hosts), "occurrences") == [count]


@pytest.mark.parametrize("tag", ["framework_op_stats", "tensorflow_stats", "framework_op_stats^"])
def test_tools_go_by_name_alias_and_old_spelling(engine: Engine, tag: str):
    with_idle, without, _calls = document_of(engine, "cpu", tag)
    assert cells(without, "operation") == ["a", "b"]
    assert cells(with_idle, "operation") == ["a", "b", "IDLE"]


def test_the_order_of_hosts_in_a_request_does_not_matter(engine: Engine):
    one = engine.data(DataRequest("gpu", OPS, ("h0", "h1")))
    assert engine.data(DataRequest("gpu", OPS, ("h1", "h0"))) is one
    assert engine.data(DataRequest("gpu", OPS)) is one


def test_parameters_that_a_tool_does_not_know_change_nothing(engine: Engine):
    one = engine.data(DataRequest("gpu", OPS))
    assert engine.data(DataRequest("gpu", OPS, params={"use_saved_result": "false"})) is one


def test_equal_content_has_an_equal_etag_in_every_process(engine: Engine, logdir: Path):
    body = body_of(engine, DataRequest("gpu", OPS))
    again = body_of(Engine(Logdir(str(logdir))), DataRequest("gpu", OPS))
    assert (again.etag, again.content) == (body.etag, body.content)
    others = [DataRequest("gpu", OPS, layout="columns"), DataRequest("gpu", OPS, ("h0",)),
              DataRequest("gpu", OPS, format="csv"), DataRequest("cpu", OPS)]  # fmt: skip
    assert len({body.etag, *(engine.data(other).etag for other in others)}) == 5


def test_bodies_compress_to_what_they_are(engine: Engine):
    body = body_of(engine, DataRequest("gpu", OPS))
    assert gzip.decompress(body.gzipped) == body.content
    assert body.gzipped is body.gzipped
    assert body.content_type == "application/json; charset=utf-8"
    assert body.filename is None


@pytest.mark.parametrize(
    ("request_", "name", "first"),
    [
        (DataRequest("gpu", KERNELS, format="csv"), "kernel_stats_gpu_ALL_HOSTS.csv", "Rank,"),
        (DataRequest("gpu", OPS, ("h1",), format="csv", table=1), "framework_op_stats_gpu_h1.csv",
         "Rank,Host/device"),
    ],
)  # fmt: skip
def test_csv_is_a_file_of_one_table(engine: Engine, request_: DataRequest, name: str, first: str):
    body = body_of(engine, request_)
    assert (body.filename, body.content_type) == (name, "text/csv; charset=utf-8")
    assert body.content.decode().startswith(first)
    labels = body.content.decode().splitlines()[0].split(",")
    assert len(set(labels)) == len(labels)


def test_names_of_runs_are_made_safe_for_file_names(tmp_path: Path):
    write_run(tmp_path, {"host0": CPU_TRACE}, 'a "b"; ü')
    engine = Engine(Logdir(str(tmp_path)))
    body = engine.data(DataRequest('a "b"; ü', OPS, format="csv"))
    assert body.filename == "framework_op_stats_a_b__ALL_HOSTS.csv"


@pytest.mark.parametrize("table", [-1, 1, 2])
def test_a_table_that_is_not_there_is_a_bad_request(engine: Engine, table: int):
    with pytest.raises(BadRequest, match="has no table"):
        engine.data(DataRequest("gpu", KERNELS, format="csv", table=table))


def test_tables_are_there_before_they_are_encoded(engine: Engine):
    (table,) = engine.tables(DataRequest("gpu", KERNELS, ("h0",)))
    assert table.column("occurrences").cells() == [1]


def test_names_that_do_not_exist_are_told_with_those_that_do(engine: Engine):
    with pytest.raises(RunNotFound):
        engine.data(DataRequest("other", OPS))
    with pytest.raises(HostNotFound, match="'h7'") as host:
        engine.data(DataRequest("gpu", OPS, ("h0", "h7")))
    assert host.value.hint == "its hosts are h0, h1"
    with pytest.raises(ToolNotFound, match="'input_stats'") as tool:
        engine.data(DataRequest("gpu", "input_stats"))
    assert OPS in tool.value.hint
    with pytest.raises(ToolNotFound):
        engine.hosts("gpu", "input_stats")


# Losses.


def test_an_unreadable_host_is_left_out_with_a_warning(engine: Engine):
    table = document_of(engine, "mixed", OPS)[1]
    assert sorted(set(cells(table, "operation"))) == ["a", "b", "x/MatMul"]
    (warning,) = document_of(engine, "mixed", OPS)[0]["warnings"]
    assert (warning["code"], warning["host"]) == ("bad_trace", "h2")
    assert warning["message"].startswith("left out: ")


def test_where_no_host_is_readable_the_reason_is_the_answer(engine: Engine):
    for request in (DataRequest("broken", OPS), DataRequest("mixed", OPS, ("h2",))):
        with pytest.raises(BadTrace, match=r"\.xplane\.pb"):
            engine.data(request)


def test_damage_and_the_recorders_errors_are_warnings(tmp_path: Path):
    space = message_of(CPU_TRACE)
    space.errors.append("lost some")
    space.warnings.append("clock went back")
    whole = space.SerializeToString()
    engine = one_run(tmp_path, h0=whole, h1=CPU_TRACE[:-3])
    warnings = document_of(engine, "run", OPS)[0]["warnings"]
    assert [(warning["code"], warning["message"], warning["host"]) for warning in warnings[:2]] == [
        ("recorder_error", "lost some", "h0"),
        ("recorder_warning", "clock went back", "h0"),
    ]
    assert {warning["host"] for warning in warnings[2:]} == {"h1"}
    assert len(warnings) > 2


def test_no_gpu_is_no_data_for_kernels(engine: Engine):
    with pytest.raises(NoData, match="no GPU; ") as error:
        engine.data(DataRequest("cpu", KERNELS))
    assert "op stats" in error.value.hint
    with pytest.raises(NoData, match="no GPU; ") as error:
        engine.data(DataRequest("mixed", KERNELS, ("h0", "h2")))
    assert "1 of the hosts could not be read" in error.value.hint


def test_that_there_is_no_data_is_known_without_another_look_at_the_hosts(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
):
    def ask(run: str, hosts: tuple[str, ...]) -> NoData:
        with pytest.raises(NoData) as error:
            engine.data(DataRequest(run, KERNELS, hosts))
        return error.value

    first, with_failure = ask("cpu", ()), ask("mixed", ("h0", "h2"))
    looks: list[str] = []
    parts = SummaryCache.parts_of_hosts

    def counted(cache: SummaryCache, files: Any, *arguments: Any) -> Any:
        looks.extend(file.host for file in files)
        return parts(cache, files, *arguments)

    monkeypatch.setattr(SummaryCache, "parts_of_hosts", counted)
    again = ask("cpu", ())
    assert (again.message, again.hint, looks) == (first.message, first.hint, [])
    # A host that could not be read may be readable now.
    assert ask("mixed", ("h0", "h2")).hint == with_failure.hint
    assert looks == ["h0", "h2"]


def test_gpus_that_ran_nothing_are_no_data_with_the_likely_cause(tmp_path: Path):
    engine = one_run(tmp_path, h0=draw({GPU: "Stream #1 |m"}, names={"m": "MemcpyH2D"}))
    assert engine.run_tools("run") == ANYWHERE
    with pytest.raises(NoData, match="no kernels that ran") as error:
        engine.data(DataRequest("run", KERNELS))
    assert "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" in error.value.hint
    assert cells(document_of(engine, "run", OPS)[1], "operation") == ["MemcpyH2D"]


def test_a_trace_without_ops_is_no_data(tmp_path: Path):
    engine = one_run(tmp_path, h0=draw({HOST: "t |a"}, names={"a": "$train.py:1 main"}))
    with pytest.raises(NoData, match="no ops, no calls") as error:
        engine.data(DataRequest("run", OPS))
    assert error.value.hint
