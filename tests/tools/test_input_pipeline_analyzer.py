"""The input pipeline analyzer: whole tables of drawn traces and of steps made by hand."""

import dataclasses
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from builders.job_steps import job_of
from builders.tf_data_calls import ROOT, Made, Node, made
from helpers.tables import columns
from traces import drawn_space

from tbprof.advice.finding import by_severity
from tbprof.advice.input.input_facts import CATEGORIES, dominant_category
from tbprof.advice.summaries import Summaries
from tbprof.advice.tf_data.tf_data_case import PipelineFacts
from tbprof.advice.tf_data.tf_data_diagnosis import Diagnosis, diagnose_pipelines
from tbprof.advice.tf_data.tf_data_pipelines import find_pipelines
from tbprof.analysis.devices.devices import find_devices
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.single_ops import find_single_ops
from tbprof.analysis.input.input_ops import InputOps, find_input_ops
from tbprof.analysis.job.idle_time import find_idle_time
from tbprof.analysis.steps.step_finding import find_steps
from tbprof.analysis.vocabulary.input_names import InputCategory
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.tools import input_pipeline_analyzer as tool
from tbprof.tools.input.input_advice import input_advice_table
from tbprof.tools.model.datatable import Table

MAP = "Iterator::Root::Prefetch::ParallelMapV2"
NAMES = {
    "g": "IteratorGetNextOp::DoCompute",
    "p": "Iterator::Root::Prefetch",
    "q": "PrefetchProduce",
    "m": MAP,
    "n": "ParallelMapProduce",
    "f": "InstantiatedCapturedFunction::RunAsync",
    "s": f"{MAP}::TFRecord",
    "h": "MemcpyH2D",
    "u": "x/PyFunc:PyFunc",
}
DRAWING = """
    python/1    |gggggggggg....hh
                |.ppppppppp......
    resource/2  |qqqqqqqq........
                |.mmmmmm.........
    resource/3  |nnnnnnnn........
                |.ss.............
                |....ffff........
                |.....uu.........
"""
EMPTY = drawn_space({"/host:CPU": ""})
NOT_IDLE = find_idle_time(EMPTY, Programs(EMPTY), find_single_ops(EMPTY, Programs(EMPTY)))
COMPUTE, INPUT, OTHER = Phase.COMPUTE_16, Phase.INPUT, Phase.OTHER


def input_ops(drawing: str = DRAWING, names=None, device: str = "") -> InputOps:
    planes = {"/host:CPU": drawing, **({device: "s |x"} if device else {})}
    space = drawn_space(planes, names=NAMES if names is None else names)
    return find_input_ops(space, Programs(space))


def one_op(name: str) -> InputOps:
    return input_ops("t |aa", {"a": name})


def test_the_whole_table_of_input_ops():
    table = tool.op_table(input_ops())
    # Self times: Prefetch 9, ParallelMap 6, TFRecord 2, copy 2; 19 in all.
    assert columns(table) == {
        "opName": ["Iterator::Root::Prefetch", MAP, f"{MAP}::TFRecord", "MemcpyH2D"],
        "count": [1, 1, 1, 1],
        "timeInMs": pytest.approx([0.009, 0.006, 0.002, 0.002]),
        "timeInPercent": pytest.approx([9 / 19, 6 / 19, 2 / 19, 2 / 19]),
        "selfTimeInMs": pytest.approx([0.009, 0.006, 0.002, 0.002]),
        "selfTimeInPercent": pytest.approx([9 / 19, 6 / 19, 2 / 19, 2 / 19]),
        "category": [
            "Advanced file read", "Preprocessing", "Advanced file read", "Enqueue",
        ],
        "waitTimeInMs": pytest.approx([0.009, 0.006, 0, 0]),
        "workTimeInMs": pytest.approx([0.002, 0.006, 0.002, 0.002]),
    }  # fmt: skip
    assert table.properties == {
        "enqueue_us": "2.000",
        "demanded_file_read_us": "0.000",
        "advanced_file_read_us": "4.000",
        "preprocessing_us": "6.000",
        "unclassified_nonequeue_us": "0.000",
        "waiting_us": "15.000",
        "program_waiting_us": "10.000",
        "python_us": "2.000",
        "dominant_category": "preprocessing",
        "slowest_op": MAP,
        "slowest_op_us": "6.000",
        "has_tf_data": "true",
    }


def test_who_worked_and_who_waited():
    assert columns(tool.activity_table(input_ops())) == {
        "name": [
            NAMES["f"], f"{MAP}::TFRecord", "MemcpyH2D", "ParallelMapProduce", "PrefetchProduce",
            "Iterator::Root::Prefetch", MAP, NAMES["g"],
        ],
        "role": ["work"] * 5 + ["wait"] * 3,
        "count": [1] * 8,
        "total_ms": pytest.approx([0.004, 0.002, 0.002, 0.008, 0.008, 0.009, 0.006, 0.010]),
        "self_ms": pytest.approx([0.004, 0.002, 0.002, 0.002, 0.002, 0.009, 0.006, 0.001]),
        "category": [
            "Preprocessing", "Advanced file read", "Enqueue", "Preprocessing",
            "Advanced file read", "Advanced file read", "Preprocessing", "",
        ],
        "thread": [
            "resource", "resource", "python", "resource", "resource", "python", "resource",
            "python",
        ],
        "threads": [1] * 8,
        "op": [
            MAP, f"{MAP}::TFRecord", "MemcpyH2D", MAP, "Iterator::Root::Prefetch",
            "Iterator::Root::Prefetch", MAP, "",
        ],
    }  # fmt: skip


def test_ops_of_equal_self_time_are_in_the_order_of_their_names():
    names = {"a": "Iterator::B", "b": "Iterator::A", "c": "Iterator::C"}
    table = tool.op_table(input_ops("t |aa.bb.ccc", names))
    assert table.column("opName").cells() == ["Iterator::C", "Iterator::A", "Iterator::B"]


def test_without_input_ops_every_category_is_zero_and_none_dominates():
    ops = one_op("x:MatMul")
    table = tool.op_table(ops)
    assert len(table) == 0
    assert table.properties["preprocessing_us"] == table.properties["waiting_us"] == "0.000"
    assert table.properties["dominant_category"] == table.properties["slowest_op"] == ""
    assert table.properties["slowest_op_us"] == ""
    assert table.properties["has_tf_data"] == "false"
    assert dominant_category(ops) is None


def advice(ops: InputOps, *calls: Made) -> Table:
    """Advice where calls of a tf.data pipeline were recorded, too."""
    return input_advice_table(ops, diagnoses_of(*calls))


def diagnoses_of(*calls: Made) -> list[Diagnosis]:
    """What is said of a pipeline; nothing without calls."""
    return (
        diagnose_pipelines(find_pipelines(["h0"], [made(*calls)]), {"h0": ALONE}) if calls else []
    )


def titles(ops: InputOps, category: str, *calls: Made) -> list[object]:
    cells = columns(advice(ops, *calls))
    return [
        title for title, of in zip(cells["title"], cells["category"], strict=True) if of == category
    ]


ALONE = PipelineFacts(hosts=1, has_gpu=False, python_ps=0)
READ = f"{MAP}::TFRecord"


def calls_of(*own: tuple[str, int], total: int = 1000) -> Made:
    """A pipeline that is called all the time, whose stages take so many µs of each call."""
    nodes = [Node(name, total - at, spent) for at, (name, spent) in enumerate(own)]
    return Made([(index * total, nodes) for index in range(3)])


def test_advice_begins_with_what_holds_the_program_up():
    """Reading holds the calls up, though most work is preprocessing."""
    slow = calls_of((ROOT, 10), (MAP, 90), (READ, 900))
    table = columns(advice(input_ops(), slow))
    assert list(dict.fromkeys(table["category"])) == [
        "advanced_file_read", "preprocessing", "enqueue",
    ]  # fmt: skip
    assert table["title"][0] == "TFRecord reads one file after another"
    of = zip(table["category"], table["is_dominant"], strict=True)
    assert all(dominant == (category == "advanced_file_read") for category, dominant in of)
    share = dict(zip(table["category"], table["share"], strict=True))
    assert share["enqueue"] == pytest.approx(100 / 6)
    work = dict(zip(table["category"], table["ms"], strict=True))
    assert work["advanced_file_read"] == pytest.approx(0.004)


def test_advice_on_a_pipeline_is_that_of_the_page_of_tf_data():
    slow = calls_of((ROOT, 10), (MAP, 900), (READ, 90))
    [diagnosis] = diagnose_pipelines(find_pipelines(["h0"], [made(slow)]), {"h0": ALONE})
    expected = [one.title for one in by_severity(diagnosis.findings)]
    assert titles(input_ops(), "preprocessing", slow) == expected
    assert expected[0] == "The time is spent in the function of ParallelMap"


def test_a_pipeline_that_is_fast_gets_no_advice_but_that():
    fast = Made([(start, [Node(ROOT, 10, 10)]) for start in range(0, 9000, 1000)])
    table = columns(advice(input_ops(), fast))
    assert [
        title
        for title, of in zip(table["title"], table["category"], strict=True)
        if of not in ("enqueue", "unclassified")
    ] == ["This pipeline does not hold up the program"]


def test_advice_without_work_is_general_and_shares_are_unknown():
    table = columns(advice(one_op("x:MatMul")))
    assert set(table["category"]) == {"unclassified"}
    assert not any(table["is_dominant"])
    assert set(table["share"]) == {None}
    assert "Use tf.data or another instrumented loader" in table["title"]
    assert "Measure the input alone" in table["title"]


def test_where_steps_hardly_wait_only_pipelines_get_advice():
    """Steps of 100: 4 % and 5 % wait for input."""

    def said(waits: int) -> list[object]:
        split = {Phase.INPUT: waits, Phase.COMPUTE_16: 100 - waits}
        tables = built(job_of([{"GPU:0": split}] * 3), one_op("x:MatMul"))
        return list(tables[5].column("title").cells())

    assert said(4) == []
    assert "Use tf.data or another instrumented loader" in said(5)
    slow = calls_of((ROOT, 10), (MAP, 900), (READ, 90))
    table = input_advice_table(input_ops(), diagnoses_of(slow), is_waited_for=False)
    assert set(table.column("category").cells()) == {"preprocessing"}


def test_many_small_transfers_are_counted():
    said = columns(advice(input_ops("t |h.hhh", NAMES)))["advice"][0]
    assert "MemcpyH2D ran 2 times, for 2 µs each" in said
    few = "Make fewer, larger transfers"
    assert few in titles(input_ops("t |" + "h" * 98 + ".h", NAMES), "enqueue")
    assert few not in titles(input_ops("t |" + "h" * 199 + ".h", NAMES), "enqueue")
    assert few not in titles(one_op("MemcpyH2D"), "enqueue")


def test_jax_has_advice_of_its_own():
    ops = input_ops("t |a.bb", {"a": "PjitFunction(f)", "b": "DevicePut"})
    assert "Put the next batch on the device early" in titles(ops, "enqueue")
    assert "Overlap transfers with computation" not in titles(ops, "enqueue")
    assert "Load data in other processes" in titles(ops, "unclassified")


def test_every_piece_of_advice_names_a_guide_by_a_plain_address():
    ops = input_ops("t |b.d.d", {"b": "PjitFunction(f)", "d": "MemcpyH2D"})
    table = columns(advice(ops, calls_of((ROOT, 10), (MAP, 990))))
    assert set(table["category"]) == {"preprocessing", "enqueue", "unclassified"}
    assert all(str(url).startswith("https://") for url in table["guide_url"])
    for name in ("title", "advice", "guide_title"):
        assert all(cell and "<" not in str(cell) for cell in table[name])


def built(job, ops: InputOps, device: str = "/device:GPU:0", *calls: Made) -> list[Table]:
    """The tables of `job` and `ops`, on a host with the plane `device`."""
    space = drawn_space({device: "s |x"})
    devices = find_devices(space, Programs(space))
    tf_data = made(*calls)
    job = dataclasses.replace(job, parts=(find_steps(space, Programs(space)),))
    with patch.object(tool, "merge_steps", lambda _hosts, _parts: job):
        parts: dict[str, list[Any]] = {
            "steps": [],
            "input_ops": [ops],
            "devices": [devices],
            "tf_data": [tf_data],
            "idle_time": [NOT_IDLE],
            "host_callbacks": [],
        }
        return list(tool.build(Summaries(("h0",), parts)))


def test_the_tables_are_in_the_order_of_the_contract():
    job = job_of([{"GPU:0": {COMPUTE: 3000, INPUT: 1000}}])
    tables = built(job, input_ops(), "/device:GPU:0", calls_of((ROOT, 10), (MAP, 990)))
    firsts = [table.columns[0].id if table.columns else "" for table in tables]
    assert firsts == [
        "", "stepnum", "opName", "link", "severity", "category", "name", "id", "name",
    ]  # fmt: skip
    assert tables[1].properties["input_bottleneck"] == "host"
    assert "of which ParallelMap takes 990 µs" in tables[1].properties["summary_nextstep"]
    assert tables[1].properties["input_cause_stage"] == MAP
    assert len(tables[3]) == len(tables[5])
    assert str(tables[3].column("link").cells()[0]).startswith("Preprocessing: ")
    assert columns(tables[7])["ms"][3] == 1  # input


def test_gaps_are_no_input_where_the_pipeline_was_recorded():
    job = job_of([{"GPU:0": {COMPUTE: 90, OTHER: 10}}])
    found = built(job, one_op("Iterator::Root"))[1].properties
    assert found["input_bottleneck"] == "device"
    assert found["all_other_bottleneck"] == "moderate"
    found = built(job, one_op("x:MatMul"))[1].properties
    assert found["input_bottleneck"] == "both"
    assert "potentially" in found["input_conclusion"]
    assert found["all_other_bottleneck"] == "no"


def test_without_steps_input_ops_are_still_shown():
    tables = built(job_of([]), input_ops())
    assert len(tables[1]) == len(tables[7]) == 0
    assert len(tables[2]) == 4
    assert len(tables[4]) > 0
    assert tables[1].properties["hardware_type"] == "GPU"
    assert tables[1].properties["input_bottleneck"] == "unknown"


def test_where_nothing_was_recorded_all_tables_are_empty():
    tables = built(job_of([]), one_op("x:MatMul"))
    assert len(tables) == 9
    assert not any(map(len, tables))


def test_the_core_that_waits_most_is_named_for_each_step():
    steps = [
        {"TPU:0": {INPUT: 2, COMPUTE: 8}, "TPU:1": {INPUT: 3, COMPUTE: 7}},
        {"TPU:0": {INPUT: 2}, "TPU:1": {INPUT: 1}},
        {"TPU:0": {COMPUTE: 1}, "TPU:1": {COMPUTE: 1}},
    ]
    table = tool.core_table(job_of(steps, kinds={"TPU:0": "TPU", "TPU:1": "TPU"}))
    assert columns(table) == {
        "index": ["Step number", "Core name"],
        "0": ["train 0", "h0:TPU:1"],
        "1": ["train 1", "h0:TPU:0"],
        "2": ["train 2", "unknown"],
    }
    assert tool.core_table(job_of(steps)).columns == ()


def test_categories_are_all_there_once():
    assert [category for category, _, _ in CATEGORIES] == list(InputCategory)
    assert np.unique([id_ for _, id_, _ in CATEGORIES]).size == len(InputCategory)
