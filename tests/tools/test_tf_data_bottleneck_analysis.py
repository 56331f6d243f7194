"""The tf.data page: whole tables of pipelines made by hand, and of drawn traces."""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from builders.tf_data_calls import ROOT, Made, Node, chain, made
from helpers.commands import run
from traces import Unsigned, draw, write

from tbprof.advice.summaries import Summaries
from tbprof.analysis.devices.devices import Devices
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.input.input_ops import InputOps, find_input_ops
from tbprof.analysis.input.tf_data import TfData
from tbprof.api import open_logdir
from tbprof.base.errors import NoData
from tbprof.engine.engine import DataRequest, Engine
from tbprof.storage.logdir import Logdir
from tbprof.tools import tf_data_bottleneck_analysis as tool
from tbprof.tools.datatable import Table
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.reader import space_in

NAME = "tf_data_bottleneck_analysis"
GRAPH, SUMMARY, BOTTLENECKS, ADVICE, EXECUTIONS = range(5)
BATCHED = chain("BatchV2", "Shuffle", "Range")


def inputs() -> InputOps:
    space = space_in(Buffer(draw({"/host:CPU": "t |a"}), "drawn"))
    return find_input_ops(space, Programs(space))


def shown(
    *hosts: TfData, params: Mapping[str, str] | None = None, gpus: int = 0
) -> tuple[Table, ...]:
    names = tuple(f"h{number}" for number in range(len(hosts)))
    parts = {
        "tf_data": list(hosts),
        "input_ops": [inputs() for _ in hosts],
        "devices": [Devices(gpus, 0, "GPU" if gpus else "CPU", np.nan, np.nan) for _ in hosts],
    }
    return tuple(tool.build(Summaries(names, parts, params or {})))


def columns(table: Table, *names: str) -> dict[str, list[object]]:
    return {
        column.id: column.cells() for column in table.columns if not names or column.id in names
    }


def call(total: int, own: int, shuffled: int, calls: int = 2) -> list[Node]:
    """A call of Root <- BatchV2 <- Shuffle <- Range."""
    root, batch, shuffle, source = BATCHED
    return [
        Node(root, total, 10),
        Node(batch, total - 10, own),
        Node(shuffle, total - 10 - own, shuffled, calls),
        Node(source, total - 10 - own - shuffled, total - 10 - own - shuffled, 9),
    ]


PIPELINE = Made(
    [(0, call(1000, 100, 700)), (2000, call(400, 300, 50)), (5000, call(40, 5, 5))],
    parameters={BATCHED[2]: {"buffer_size": 100}},
)


def test_the_whole_graph_of_the_slowest_execution():
    graph = shown(made(PIPELINE), params={"rank": "0"})[GRAPH]
    ids = [str(2**63 + number) for number in range(4)]
    assert columns(graph) == {
        "host": ["h0"] * 4,
        "input_pipeline": ["Host:0"] * 4,
        "rank": [0] * 4,
        "name": ids,
        "parent": ["", *ids[:3]],
        "type": [1, 1, 2, 1],
        "iterator": ["Root", "BatchV2", "Shuffle", "Range"],
        "long_name": BATCHED,
        "start_us": [0, 1, 2, 3],
        "total_us": [1000, 990, 890, 190],
        "self_us": [10, 100, 700, 190],
        "calls": [1, 1, 2, 9],
        "wait_us": [0] * 4,
        "worker_us": [None] * 4,
        "iterators": [1] * 4,
        "parameters": ["{}", "{}", '{"buffer_size": 100}', "{}"],
        "queue_us": [0] * 4,
        "held_us": [10, 100, 700, 190],
    }
    assert graph.properties == {
        "host": "h0",
        "input_pipeline": "Host:0",
        "rank": "0",
        "executions": "3",
        "executions_shown": "1",
    }


def test_the_whole_summary():
    summary = shown(made(PIPELINE))[SUMMARY]
    assert columns(summary) == {
        "host": ["h0"],
        "input_pipeline": ["Host:0"],
        "min": [40],
        "mean": [480],
        "max": [1000],
        "num_calls": [3],
        "num_slow_calls": [2],
        "is_device": [False],
        "is_partial": [False],
        "p50": [400],
        "p95": [940],
        "total_us": [1440],
        "draws_from": [""],
        "histogram": [json.dumps([0, 0, 0, 1, 0, 0, 0, 0, 1, 1])],
    }
    edges = json.loads(summary.properties["histogram_edges_us"])
    assert len(edges) == 11
    assert edges[::5] == pytest.approx([10, 100, 1000])
    assert summary.properties["slow_us"] == "50"


def test_the_whole_table_of_bottlenecks():
    table = shown(made(PIPELINE))[BOTTLENECKS]
    found = columns(table)
    assert str(found.pop("suggestion")[0]).startswith("End the pipeline with a prefetch")
    assert found == {
        "host": ["h0"],
        "input_pipeline": ["Host:0"],
        "max_latency": [1000],
        "bottleneck": ["Shuffle"],
        "long_name": [BATCHED[2]],
        "self_us": [700],
        "latency_us": [890],
        "iterator_id": [str(2**63 + 2)],
        "rank": [0],
        "class": ["shuffle"],
        "severity": ["high"],
        # 1000 + 400 + 40 of the 5040 from the first start to the last end.
        "share": [pytest.approx(1440 / 5040)],
        "is_device": [False],
        "usual_bottleneck": ["Shuffle"],
        "usual_long_name": [BATCHED[2]],
        "usual_self_us": [755],
        "usual_held_us": [pytest.approx(755 / 3)],
        "mean_latency": [480],
    }
    said = (
        "Calls of pipeline Host:0 last 480 µs on average (3 calls), and Shuffle takes 252 µs of "
        "that."
    )
    assert table.properties == {
        "is_input_bound": "true",
        "severity": "high",
        "summary_message": "The program waits for tf.data: calls of Host:0 of host h0 take 28.6 % "
        f"of the time; 2 of its 3 calls are slower than 50 µs, the slowest took 1 ms. {said}",
        "most_input_bound_host": "h0",
        "has_slow_calls": "true",
        "is_device_only": "false",
        "input_cause": "stage",
        "input_cause_host": "h0",
        "input_cause_pipeline": "Host:0",
        "input_cause_stage": BATCHED[2],
        "input_cause_type": "Shuffle",
        "input_cause_ms": "0.251667",
        "input_cause_call_ms": "0.480000",
        "input_cause_sentence": said,
    }


def test_the_executions_of_the_chosen_pipeline():
    assert columns(shown(made(PIPELINE))[EXECUTIONS]) == {
        "rank": [0, 1, 2],
        "start_us": [0, 2000, 5000],
        "duration_us": [1000, 400, 40],
        "bottleneck": ["Shuffle", "BatchV2", "Range"],
        "long_name": [BATCHED[2], BATCHED[1], BATCHED[3]],
        "thread": ["python"] * 3,
        "is_cut": [False] * 3,
    }


def test_without_a_rank_every_execution_is_there():
    graph = shown(made(PIPELINE))[GRAPH]
    assert graph.column("rank").cells() == [0] * 4 + [1] * 4 + [2] * 4
    assert graph.properties["executions_shown"] == "3"


def test_what_slow_is_over_all_calls_may_be_another_stage():
    made_ = made(Made([(0, call(1000, 100, 700)), *(
        (at, call(900, 800, 50)) for at in range(2000, 9000, 1000)
    )]))  # fmt: skip
    found = columns(shown(made_)[BOTTLENECKS], "bottleneck", "usual_bottleneck", "usual_self_us")
    assert found == {
        "bottleneck": ["Shuffle"],
        "usual_bottleneck": ["BatchV2"],
        "usual_self_us": [100 + 7 * 800],
    }
    advice = shown(made_)[ADVICE]
    assert {"shuffle_fill", "batch_sequential"} <= set(advice.column("id").cells())


def fast(start: int = 0) -> Made:
    return Made([(start + at, [Node(ROOT, 20, 5), Node(f"{ROOT}::Prefetch", 15, 15)])
                 for at in range(0, 10_000, 1000)])  # fmt: skip


def test_a_pipeline_without_slow_calls_is_fine():
    table = shown(made(fast()))
    assert columns(table[BOTTLENECKS], "severity", "share") == {
        "severity": ["good"],
        "share": [pytest.approx(200 / 9020)],
    }
    verdict = table[BOTTLENECKS].properties
    assert verdict["is_input_bound"] == verdict["has_slow_calls"] == "false"
    assert "No tf.data input pipeline is slow" in verdict["summary_message"]
    assert table[ADVICE].column("id").cells() == ["fine"]


@pytest.mark.parametrize(
    ("longest", "severity", "is_bound"),
    [(40, "good", "false"), (60, "good", "false"), (100, "moderate", "true"),
     (500, "high", "true")],
)  # fmt: skip
def test_slow_calls_hold_a_program_up_by_their_share_of_the_time(
    longest: int, severity: str, is_bound: str
):
    """Calls every 2 ms: 60 µs of that are 3 %, 100 µs 5 %, 500 µs 25 %."""
    calls = [(at * 2000, [Node(ROOT, longest, longest)]) for at in range(10)]
    table = shown(made(Made(calls)))[BOTTLENECKS]
    assert table.column("severity").cells() == [severity]
    assert table.properties["is_input_bound"] == is_bound
    if longest == 60:
        assert "does not hold the program up" in table.properties["summary_message"]
        assert table.properties["has_slow_calls"] == "true"


def test_a_rare_stall_is_said():
    calls = [(at * 100_000, [Node(ROOT, 40, 40)]) for at in range(100)]
    calls[50] = (calls[50][0], [Node(ROOT, 20_000, 20_000)])
    table = shown(made(Made(calls)))
    assert table[BOTTLENECKS].column("severity").cells() == ["low"]
    assert table[BOTTLENECKS].properties["is_input_bound"] == "false"
    assert "rare_stall" in table[ADVICE].column("id").cells()


def test_a_single_call_fills_its_own_time():
    table = shown(made(Made([(0, [Node(ROOT, 60, 60)])])))[BOTTLENECKS]
    assert columns(table, "severity", "share") == {"severity": ["moderate"], "share": [None]}
    said = table.properties["summary_message"]
    assert "Host:0 of host h0 is slow; its only call took 60 µs." in said


def test_what_holds_the_program_up_comes_first_and_then_the_slowest_call():
    rare = [(at * 100_000, [Node(ROOT, 2_000 if at == 5 else 40, 40)]) for at in range(10)]
    table = shown(made(fast(), Made(rare)), made(PIPELINE))[BOTTLENECKS]
    assert columns(table, "host", "input_pipeline", "max_latency") == {
        "host": ["h1", "h0", "h0"],
        "input_pipeline": ["Host:0", "Host:1", "Host:0"],
        "max_latency": [1000, 2000, 20],
    }
    assert table.properties["most_input_bound_host"] == "h1"


def test_pipelines_hosts_and_ranks_are_chosen():
    hosts = made(fast(), PIPELINE), made(fast())

    def chosen(**params: str) -> tuple[object, ...]:
        tables = shown(*hosts, params=params)
        found = tables[GRAPH].properties
        assert tables[GRAPH].column("rank").cells()[0] == int(found["rank"])
        assert found["host"] == tables[EXECUTIONS].properties["host"]
        return found["host"], found["input_pipeline"], found["rank"]

    assert chosen(rank="0") == chosen(rank="worst") == ("h0", "Host:1", "0")
    assert chosen(rank="2") == ("h0", "Host:1", "2")
    assert chosen(graph_host="h1", rank="7") == ("h1", "Host:0", "7")
    assert chosen(graph_host="h0", input_pipeline="Host:0", rank="1") == ("h0", "Host:0", "1")
    # What is not there gives the worst.
    assert chosen(rank="3") == chosen(rank="-1") == chosen(rank="9" * 400) == chosen(rank="0")
    assert chosen(graph_host="h7", rank="0") == ("h0", "Host:1", "0")
    assert chosen(graph_host="h1", input_pipeline="Host:1", rank="0") == ("h1", "Host:0", "0")


DEVICE = Made(
    [(0, [Node("Iterator::Prefetch", 7000, 300),
          Node("Iterator::Prefetch::Generator", 6700, 6700)])],
    is_device=True,
    source=0,
)  # fmt: skip


def test_device_pipelines_wait_for_the_hosts_and_are_not_judged_beside_it():
    tables = shown(made(PIPELINE, DEVICE))
    assert columns(tables[SUMMARY], "input_pipeline", "is_device", "draws_from") == {
        "input_pipeline": ["Host:0", "Device:0"],
        "is_device": [False, True],
        "draws_from": ["", "Host:0"],
    }
    assert tables[BOTTLENECKS].column("input_pipeline").cells() == ["Host:0"]


def test_a_host_with_device_pipelines_alone_is_judged_by_them():
    tables = shown(made(Made(DEVICE.calls, is_device=True)))
    table = tables[BOTTLENECKS]
    assert columns(table, "input_pipeline", "bottleneck", "class", "is_device") == {
        "input_pipeline": ["Device:0"],
        "bottleneck": ["Generator"],
        "class": ["device"],
        "is_device": [True],
    }
    assert table.properties["is_input_bound"] == table.properties["is_device_only"] == "true"
    said = table.properties["summary_message"]
    assert "It fetches what the host's pipeline makes, which was not recorded." in said
    assert tables[ADVICE].column("id").cells() == ["device_waits"]


def test_a_call_that_does_not_tell_leaves_the_bottleneck_to_the_next():
    calls = [(0, call(1000, 100, 700)), (2000, call(400, 300, 50))]
    tables = shown(made(Made(calls, cut=[0])), params={"rank": "worst"})
    wanted = ("bottleneck", "rank", "max_latency", "self_us", "usual_bottleneck", "usual_self_us")
    assert columns(tables[BOTTLENECKS], *wanted) == {
        "bottleneck": ["BatchV2"],
        "rank": [1],
        "max_latency": [1000],
        "self_us": [300],
        "usual_bottleneck": ["BatchV2"],
        "usual_self_us": [300],
    }
    assert tables[GRAPH].properties["rank"] == "1"
    assert tables[EXECUTIONS].column("is_cut").cells() == [True, False]
    tables = shown(made(Made(calls, cut=[0, 2000])))
    assert "cut_off" in tables[ADVICE].column("id").cells()


def test_copies_of_a_stage_are_one_node():
    root, repeat = ROOT, f"{ROOT}::FiniteRepeat"
    copies = [Node(f"{repeat}[{number}]::FromTensor", 2, 2, 2) for number in range(1000)]
    nodes = [Node(root, 5000, 100), Node(repeat, 4900, 2900, 1000), *copies]
    graph = shown(made(Made([(0, nodes)])), params={"rank": "0"})[GRAPH]
    assert columns(graph, "iterator", "type", "start_us", "self_us", "calls", "iterators") == {
        "iterator": ["Root", "FiniteRepeat", "FromTensor"],
        "type": [1, 2, 1],
        "start_us": [0, 1, 2],
        "self_us": [100, 2900, 2000],
        "calls": [1, 1000, 2000],
        "iterators": [1, 1, 1000],
    }
    assert graph.column("parent").cells()[2] == graph.column("name").cells()[1]
    assert graph.column("long_name").cells()[2] == f"{repeat}::FromTensor"


def test_the_time_of_copies_adds_up_to_the_bottleneck():
    """No copy takes as long as the interleave itself; all of them take longer."""
    interleave = f"{ROOT}::Interleave"
    copies = [Node(f"{interleave}[{number}]::TFRecord", 300, 300) for number in range(3)]
    nodes = [Node(ROOT, 1500, 100), Node(interleave, 1400, 500), *copies]
    tables = shown(made(Made([(0, nodes)])), params={"rank": "worst"})
    assert columns(tables[GRAPH], "iterator", "type", "self_us", "iterators") == {
        "iterator": ["Root", "Interleave", "TFRecord"],
        "type": [1, 1, 2],
        "self_us": [100, 500, 900],
        "iterators": [1, 1, 3],
    }
    worst = columns(tables[BOTTLENECKS], "bottleneck", "long_name", "self_us", "iterator_id")
    assert worst == {
        "bottleneck": ["TFRecord"],
        "long_name": [f"{interleave}::TFRecord"],
        "self_us": [900],
        "iterator_id": [tables[GRAPH].column("name").cells()[2]],
    }
    assert tables[EXECUTIONS].column("long_name").cells() == [f"{interleave}::TFRecord"]


def test_inputs_that_are_joined_are_stages_of_their_own():
    both = f"{ROOT}::Zip"
    nodes = [Node(ROOT, 100, 5), Node(both, 95, 5), Node(f"{both}[0]::Map", 20, 20),
             Node(f"{both}[1]::Map", 70, 70)]  # fmt: skip
    tables = shown(made(Made([(0, nodes)])), params={"rank": "0"})
    assert tables[GRAPH].column("self_us").cells() == [5, 5, 20, 70]
    assert tables[BOTTLENECKS].column("long_name").cells() == [f"{both}[1]::Map"]


def test_many_executions_are_few_rows():
    rows = 4
    one = made(PIPELINE)
    times = 100_000
    many = repeated(one, times)
    first = shown(many, params={"rank": "0"})
    assert len(first[GRAPH]) == rows
    assert len(first[EXECUTIONS]) == 1000
    assert first[EXECUTIONS].properties["executions"] == str(times)
    whole = shown(many)[GRAPH]
    assert len(whole) == 1000 * rows
    assert whole.properties["executions"] == str(times)
    assert whole.properties["executions_shown"] == "1000"


def repeated(part: TfData, times: int) -> TfData:
    """The slowest call of the only pipeline, `times` over."""
    nodes = int(part.first_node[1])
    parent = np.tile(part.parent[:nodes], times)
    shift = np.repeat(np.arange(times) * nodes, nodes)
    return dataclasses.replace(
        part,
        first_call=np.array([0, times]),
        call_start_ps=np.arange(times) * 2_000_000_000,
        call_duration_ps=np.full(times, part.call_duration_ps[0]),
        call_thread=np.zeros(times, np.int32),
        bottleneck=np.arange(times) * nodes + part.bottleneck[0],
        is_cut=np.zeros(times, np.bool_),
        first_node=np.arange(times + 1) * nodes,
        parent=np.where(parent >= 0, parent + shift, -1),
        **{
            name: np.tile(getattr(part, name)[:nodes], times)
            for name in ("iterator", "start_ps", "total_ps", "self_ps", "worker_ps", "wait_ps",
                         "calls", "is_critical")
        },
    )  # fmt: skip


def test_what_could_not_be_made_sense_of_is_said():
    warnings = shown(made(PIPELINE), made(PIPELINE, loops=2, orphans=1))[GRAPH].warnings
    assert [(one.code, one.host) for one in warnings] == [
        ("iterator_loops", "h1"), ("iterator_orphans", "h1"),
    ]  # fmt: skip


def test_names_that_are_their_own_parents_are_survived():
    odd = Made([(0, [Node(ROOT, 100, 0), Node(f"{ROOT}::Map[0]", 90, 0),
                     Node(f"{ROOT}::Map[1]", 80, 80)])])  # fmt: skip
    part = made(odd)
    part.parent[2] = 1  # a copy that feeds a copy
    tables = shown(part)
    assert tables[BOTTLENECKS].column("bottleneck").cells() == ["Map"]
    assert "map_sequential" in tables[ADVICE].column("id").cells()


# What a user sees of a trace.

NAMES = {
    "r": "Iterator::Root",
    "b": "Iterator::Root::BatchV2",
    "s": "Iterator::Root::BatchV2::Shuffle",
}
STATS = {
    "r": {"id": Unsigned(2**64 - 1)},
    "b": {"id": 2, "parent_id": Unsigned(2**64 - 1), "batch_size": 8},
    "s": {"id": 3, "parent_id": 2, "buffer_size": 10},
}
DRAWN = draw(
    {
        "/host:CPU": "python |rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr\n"
        "       |.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n"
        "       |...sssssssssssssssssssssssssssssssssssssssssssssssssss"
    },
    names=NAMES,
    stats=STATS,
)


def test_a_drawn_trace_from_the_file_to_the_page(tmp_path: Path):
    write(tmp_path, DRAWN)
    engine = Engine(Logdir(str(tmp_path)))
    [run] = engine.runs()
    assert NAME in engine.run_tools(run)
    body = engine.data(DataRequest(run, f"{NAME}^", params={"rank": "0"}))
    graph, _, bottlenecks, *_ = json.loads(body.content)  # type: ignore[union-attr]
    rows = [[cell["v"] for cell in row["c"]] for row in graph["rows"]]
    assert [row[3:6] for row in rows] == [
        [str(2**64 - 1), "", 1], ["2", str(2**64 - 1), 1], ["3", "2", 2],
    ]  # fmt: skip
    assert [row[9:11] for row in rows] == [[60, 3], [57, 6], [51, 51]]
    assert bottlenecks["rows"][0]["c"][3]["v"] == "Shuffle"
    assert bottlenecks["p"]["is_input_bound"] == "true"


def test_from_python_and_as_csv(tmp_path: Path):
    path = write(tmp_path, DRAWN)
    [view] = open_logdir(path, cache=False).runs.values()
    shown_ = view.tool(NAME, params={"rank": "0"})
    assert shown_.tables[BOTTLENECKS].column("bottleneck").cells() == ["Shuffle"]
    out = tmp_path / "graph.csv"
    result = run("export", path, "--tool", NAME, "--format", "csv", "-o", out)
    assert result.exit_code == 0, result.stderr
    lines = out.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("Host,Input Pipeline,Rank,Name,Parent,Type,Iterator,Long Name")
    assert len(lines) == 4


@pytest.mark.parametrize("trace", ["t |aa..bb", "t |."])
def test_a_trace_without_tf_data_says_so_plainly(tmp_path: Path, trace: str):
    write(tmp_path, draw({"/host:CPU": trace}))
    engine = Engine(Logdir(str(tmp_path)))
    [run] = engine.runs()
    with pytest.raises(NoData, match=r"no tf\.data events") as error:
        engine.data(DataRequest(run, NAME))
    assert "jax.profiler does not see" in error.value.hint


def test_a_trace_without_a_host_says_so(tmp_path: Path):
    write(tmp_path, draw({"/device:GPU:0": "Stream #1 |aa"}))
    engine = Engine(Logdir(str(tmp_path)))
    [run] = engine.runs()
    with pytest.raises(NoData, match="no host threads"):
        engine.data(DataRequest(run, NAME))
