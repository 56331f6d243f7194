"""The tf.data page: whole tables of pipelines made by hand, and of drawn traces."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.tf_data_calls import ROOT, Made, Node, made
from helpers.commands import run
from helpers.drawn.small_runs import one_run
from helpers.payloads import document_of
from helpers.tables import columns
from helpers.tf_data_page import (
    ADVICE,
    BATCHED,
    BOTTLENECKS,
    EXECUTIONS,
    GRAPH,
    PIPELINE,
    SUMMARY,
    call,
    fast,
    shown,
)
from traces import Unsigned, draw, write

from tbprof.analysis.input.tf_data import TfData
from tbprof.api import open_logdir
from tbprof.base.errors import NoData
from tbprof.engine.engine import DataRequest

NAME = "tf_data_bottleneck_analysis"


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
    cells = columns(table)
    assert str(cells.pop("suggestion")[0]).startswith("End the pipeline with a prefetch")
    assert cells == {
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
        "Calls to pipeline Host:0 take 480 µs on average (3 calls), of which Shuffle takes 252 µs."
    )
    assert table.properties == {
        "is_input_bound": "true",
        "severity": "high",
        "summary_message": "The program waits for tf.data: calls to pipeline Host:0 on h0 take "
        "28.6 % of the time; 2 of its 3 calls are slower than 50 µs, and the slowest took 1 ms. "
        f"{said}",
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
        (start, call(900, 800, 50)) for start in range(2000, 9000, 1000)
    )]))  # fmt: skip
    cells = columns(shown(made_)[BOTTLENECKS], "bottleneck", "usual_bottleneck", "usual_self_us")
    assert cells == {
        "bottleneck": ["Shuffle"],
        "usual_bottleneck": ["BatchV2"],
        "usual_self_us": [100 + 7 * 800],
    }
    advice = shown(made_)[ADVICE]
    assert {"shuffle_fill", "batch_sequential"} <= set(advice.column("id").cells())


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
    tiled: dict[str, Any] = {
        name: np.tile(getattr(part, name)[:nodes], times)
        for name in ("iterator", "start_ps", "total_ps", "self_ps", "worker_ps", "wait_ps",
                     "queue_ps", "held_ps", "calls", "is_critical")
    }  # fmt: skip
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
        **tiled,
    )


def test_what_could_not_be_made_sense_of_is_said():
    warnings = shown(made(PIPELINE), made(PIPELINE, loops=2, orphans=1))[GRAPH].warnings
    assert [(warning.code, warning.host) for warning in warnings] == [
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
    engine = one_run(tmp_path, h0=DRAWN)
    assert NAME in engine.run_tools("run")
    graph, _, bottlenecks, *_ = document_of(engine, "run", f"{NAME}^", params={"rank": "0"})
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
    engine = one_run(tmp_path, h0=draw({"/host:CPU": trace}))
    with pytest.raises(NoData, match=r"no tf\.data events") as error:
        engine.data(DataRequest("run", NAME))
    assert "jax.profiler does not record" in error.value.hint


def test_a_trace_without_a_host_says_so(tmp_path: Path):
    engine = one_run(tmp_path, h0=draw({"/device:GPU:0": "Stream #1 |aa"}))
    with pytest.raises(NoData, match="no host threads"):
        engine.data(DataRequest("run", NAME))
