"""The overview's tables, computed by hand."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from helpers.computed_parts import compute_parts
from traces import draw, space_of, write

from tbprof.advice.summaries import Summaries
from tbprof.analysis.steps.steps import Steps
from tbprof.analysis.vocabulary.phases import PHASES, Phase
from tbprof.engine.engine import DataRequest, Engine
from tbprof.engine.requests import find_tool
from tbprof.storage.logdir import Logdir
from tbprof.tools.datatable import Table

HOST, GPU, TPU = "/host:CPU", "/device:GPU:0", "/device:TPU:0"
US = 10**6
Split = Mapping[Phase, int]


def steps_of(
    kind: str, *splits: Split, truncated: Sequence[int] = (), source: str = "markers"
) -> Steps:
    """Steps of one worker, one behind the other, split as given in µs."""
    count = len(splits)
    phases = np.zeros((count, PHASES), np.int64)
    for row, split in enumerate(splits):
        for phase, length in split.items():
            phases[row, phase] = length * US
    duration = phases.sum(axis=1)
    start = np.cumsum(np.append(0, duration))[:-1]
    return Steps(
        source=source if count else "none",
        marker="train" if count else "",
        note="One step per train.",
        epoch_ns=0,
        worker_name=[f"{kind}:0"],
        worker_kind=[kind],
        worker_id=np.zeros(1, np.int64),
        worker=np.zeros(count, np.int64),
        number=np.arange(count, dtype=np.int64),
        label=[f"train {row}" for row in range(count)],
        start_ps=start,
        duration_ps=duration,
        own_ps=duration,
        is_truncated=np.isin(np.arange(count), truncated),
        is_unrecorded=np.zeros(len(duration), bool),
        silent_device=[],
        lost_devices=0,
        phase_ps=phases,
        has_explicit_numbers=True,
        candidate_name=["train", "fit"],
        candidate_line=["main", "pool"],
        candidate_count=np.array([count, 3]),
        candidate_median_ps=np.array([5 * US, 7 * US]),
    )


def build(*hosts: tuple[bytes, Steps]) -> list[Table]:
    """The tables of hosts, each given by its trace and its steps."""
    overview = find_tool("overview_page")
    parts: dict[str, list[object]] = {name: [] for name in overview.parts}
    for trace, steps in hosts:
        space = space_of(trace)
        computed = {**compute_parts(space, *parts), "steps": steps}
        for name, found in parts.items():
            found.append(computed[name])
    names = tuple(f"h{at}" for at in range(len(hosts)))
    tables = overview.build(Summaries(names, parts))
    assert isinstance(tables, list)
    return tables


def rows(table: Table) -> list[tuple[object, ...]]:
    return list(zip(*(column.cells() for column in table.columns), strict=True))


def ids(table: Table) -> list[str]:
    return [column.id for column in table.columns]


KERNEL = "grid:1,1,1 block:1,1,1"
GPU_TRACE = draw(
    {
        HOST: """
            main |aaaa......
                 |.bb
        """,
        GPU: "Stream #1 |mmmmrr..cn",
        "/device:GPU:1": "",
        "Task Environment": "",
    },
    names={"a": "model/MatMul:MatMul", "b": "Iterator::Root", "m": "volta_h884gemm", "r": "relu",
           "c": "MemcpyH2D", "n": "unnamed"},
    stats={
        "m": {"kernel_details": KERNEL, "tf_op": "gradient_tape/model/MatMul:MatMul",
              "flops": 8_000_000},
        "r": {"kernel_details": KERNEL, "tf_op": "model/Relu:Relu", "is_eager": 1},
        "n": {"kernel_details": KERNEL},
    },
    plane_stats={
        GPU: {"device_vendor": "Nvidia", "gpu_device_name": "Tesla V100",
              "compute_cap_major": 7, "compute_cap_minor": 0, "core_count": 80,
              "clock_rate": 1_530_000, "memory_bandwidth": 898_048_000_000,
              "memory_size": 16 * 2**30},
        "Task Environment": {"profile_start_time": 1_700_000_000 * 10**9,
                             "profile_stop_time": 1_700_000_000 * 10**9 + 12_000},
    },
    hostnames=["worker-7"],
)  # fmt: skip
GPU_STEPS = steps_of(
    "GPU",
    {Phase.COMPUTE_16: 40, Phase.COMPUTE_32: 20, Phase.INPUT: 30, Phase.OTHER: 10},
    {Phase.COMPUTE_16: 60, Phase.COMPUTE_32: 60, Phase.INPUT: 20},
    {Phase.OTHER: 1},
    truncated=[2],
)


def test_the_tables_in_the_order_of_the_contract():
    tables = build((GPU_TRACE, GPU_STEPS))
    sizes = [len(table) for table in tables]
    assert sizes == [4, 3, 1, 8, 0, 0, 1, len(tables[7]), 27, 16, 12, 2, 0]
    assert ids(tables[0])[:2] == ["selfTimePercent", "cumulativeTimePercent"]
    assert ids(tables[1])[0] == "stepnum"
    assert ids(tables[4]) == ["percentile", "hostTimeMs", "deviceTimeMs", "communicationTimeMs",
                              "totalTimeMs"]  # fmt: skip
    assert tables[5].columns == ()


def test_the_top_ops_of_a_gpu():
    top = build((GPU_TRACE, GPU_STEPS))[0]
    assert ids(top) == ["selfTimePercent", "cumulativeTimePercent", "category", "operation",
                        "flopRate", "tcEligibility", "tcUtilization"]  # fmt: skip
    assert rows(top) == [
        (4 / 8, 4 / 8, "MatMul", "gradient_tape/model/MatMul", 2000.0, True, True),
        (2 / 8, 6 / 8, "Relu", "model/Relu", None, False, False),
        (1 / 8, 7 / 8, "MemcpyHToD", "MemcpyH2D", None, False, False),
        (1 / 8, 8 / 8, "Unknown", "unnamed", None, False, False),
    ]
    assert top.properties == {
        "top_ops_side": "device",
        "host_trace_level": "",
        "host_tf_op_percent": "33.3%",  # 2 of 6 executions
        "device_tf_op_percent": "66.7%",
        "host_op_time_eager_percent": "0.0%",
        "device_op_time_eager_percent": "25.0%",
        "remark_text": "",
        "remark_color": "",
        "mxu_utilization_percent": "unknown",
        "hbm_utilization_percent": "unknown",
        "device_compute_16bit_percent": "55.6%",  # 100 of 180 µs
        "device_compute_32bit_percent": "44.4%",
    }


def test_ten_ops_at_most_and_equals_by_name():
    letters = "ponmlkjihgfedcba"
    trace = draw(
        {GPU: f"s |{''.join(f'{letter}.' for letter in letters)}"},
        names=dict.fromkeys(letters, "kernel"),
        stats={letter: {"kernel_details": KERNEL, "tf_op": f"{letter}:Add"} for letter in letters},
    )
    top = rows(build((trace, GPU_STEPS))[0])
    assert [row[3] for row in top] == list("abcdefghij")
    assert top[-1][1] == 10 / 16  # of all ops, not of those shown


def test_run_environment_as_scripts_know_it():
    table = build((GPU_TRACE, GPU_STEPS))[2]
    assert rows(table) == [("worker-7", "", "2023-11-14 22:13:20", "")]
    assert table.properties == {
        "host_count": "1",
        "task_count": "1 (num tasks per host = 1)",
        "device_type": "Tesla V100",
        "device_core_count": "2",
        "is_training": "true",
    }


def test_two_tasks_on_one_host():
    properties = build((GPU_TRACE, GPU_STEPS), (GPU_TRACE, GPU_STEPS))[2].properties
    assert properties["host_count"] == "1"
    assert properties["task_count"] == "2 (num tasks per host = 2)"
    assert properties["device_core_count"] == "4"


def test_the_environment_of_a_gpu_host():
    assert rows(build((GPU_TRACE, GPU_STEPS))[10]) == [
        ("hosts", "Hosts", "1", "h0", ""),
        ("task", "Kind of run", "Training", "an op computes a gradient", ""),
        ("device_type", "Device type", "Tesla V100", "", ""),
        ("gpus", "GPUs", "2", "events of 1 recorded", ""),
        ("peak_flops", "Peak compute per device", "125.3 TFLOP/s", "16 bit, dense", ""),
        ("peak_bandwidth", "Peak memory bandwidth per device", "898 GB/s", "", ""),
        ("compute_capability", "Compute capability", "7.0 (Volta)", "", ""),
        ("multiprocessors_per_device", "Multiprocessors per device", "80", "", ""),
        ("memory_per_device", "Memory per device", "16.0 GiB", "", ""),
        ("window", "Recorded", "12 µs", "", ""),
        ("started", "Recording started", "2023-11-14 22:13:20", "UTC", ""),
        ("dropped", "Dropped events", "none reported", "", ""),
    ]


def test_what_hosts_agree_on_is_told_once():
    def host(version: str) -> bytes:
        return draw(
            {"/host:metadata": "", GPU: "s |k"},
            plane_stats={"/host:metadata": {"jax_version": version, "libtpu_version": "3"},
                         GPU: {"dropped_traces": 2}},
        )  # fmt: skip

    found = rows(build((host("1"), GPU_STEPS), (host("2"), GPU_STEPS))[10])
    assert found[0] == ("hosts", "Hosts", "2", "h0, h1", "")
    assert [row for row in found if str(row[0]).startswith(("version", "dropped"))] == [
        ("version_jax", "JAX version", "1", "", "h0"),
        ("version_jax", "JAX version", "2", "", "h1"),
        ("version_libtpu", "libtpu version", "3", "", ""),
        ("dropped", "Dropped events", "2", "", ""),
    ]


def test_the_breakdown_of_the_average_step():
    """Two counted steps of 100 and 140 µs; the third is truncated."""
    table = build((GPU_TRACE, GPU_STEPS))[9]
    assert ids(table) == ["id", "label", "ms", "deviation", "share", "parent"]
    found = {row[0]: row[1:] for row in rows(table)}
    assert list(found) == [
        "other", "compilation", "output", "input", "kernel_launch", "host_compute", "collectives",
        "device_to_device", "host_transfer",
        "device_compute", "compute_64", "compute_32", "compute_tf32",
        "compute_16", "compute_8", "compute_unknown",
    ]  # fmt: skip
    shown = {
        name: (row[0], *(round(float(value), 6) for value in row[1:4]), row[4])  # type: ignore[arg-type]
        for name, row in found.items()
    }
    half = round(0.5**0.5, 9)
    assert shown["other"] == ("All others", 0.005, round(0.01 * half, 6), 4.166667, "")
    assert shown["input"] == ("Input", 0.025, round(0.01 * half, 6), 20.833333, "")
    assert shown["device_compute"] == ("Device compute", 0.09, round(0.06 * half, 6), 75.0, "")
    assert shown["compute_32"] == (
        "32 bit",
        0.04,
        round(0.04 * half, 6),
        33.333333,
        "device_compute",
    )
    assert shown["compute_8"] == ("8 bit", 0.0, 0.0, 0.0, "device_compute")
    top = [row for row in rows(table) if not row[5]]
    assert sum(float(row[4]) for row in top) == pytest.approx(100)  # type: ignore[arg-type]
    assert sum(float(row[2]) for row in top) == pytest.approx(0.12)  # type: ignore[arg-type]


def test_a_program_on_the_cpu_has_no_rows_of_devices():
    trace = draw({"/host:CPU": "python |a"}, names={"a": "x:MatMul"})
    split = {Phase.INPUT: 1, Phase.HOST_COMPUTE: 2, Phase.OTHER: 1}
    found = rows(build((trace, steps_of("CPU", split)))[9])
    assert [(row[0], row[4]) for row in found] == [
        ("other", 25), ("compilation", 0), ("output", 0), ("input", 25), ("host_compute", 50),
    ]  # fmt: skip
    exchanging = steps_of("CPU", {Phase.COLLECTIVES: 3, Phase.OTHER: 1})
    assert rows(build((trace, exchanging))[9])[-1][0] == "collectives"


def test_one_step_has_no_deviation_and_none_no_breakdown():
    one = build((GPU_TRACE, steps_of("GPU", {Phase.INPUT: 3})))[9]
    assert {row[3] for row in rows(one)} == {None}
    assert rows(build((GPU_TRACE, steps_of("GPU")))[9]) == []


def figures(*hosts: tuple[bytes, Steps]) -> dict[object, tuple[object, ...]]:
    """(value, unit, text, reason) by id."""
    return {row[0]: row[2:6] for row in rows(build(*hosts)[8])}


def test_the_figures_of_a_gpu_host():
    found = figures((GPU_TRACE, GPU_STEPS))
    told = {name: row[:3] for name, row in found.items() if row[0] is not None}
    rounded = {name: (round(float(row[0]), 6), *row[1:]) for name, row in told.items()}  # type: ignore[arg-type]
    assert rounded == {
        "step_time_average": (0.12, "ms", "120 µs"),
        "step_time_median": (0.12, "ms", "120 µs"),
        "step_time_average_all": (0.12, "ms", "120 µs"),
        "slow_steps": (0.0, "count", "0"),
        "step_time_deviation": (0.028284, "ms", "28.3 µs"),
        "step_time_minimum": (0.1, "ms", "100 µs"),
        "step_time_maximum": (0.14, "ms", "140 µs"),
        "steps": (2.0, "count", "2"),
        "waiting_for_input": (20.833333, "%", "20.8 %"),  # 50 of 240 µs
        "device_busy": (75.0, "%", "75.0 %"),
        "device_compute_64": (0.0, "%", "0.0 %"),
        "device_compute_32": (44.444444, "%", "44.4 %"),
        "device_compute_tf32": (0.0, "%", "0.0 %"),
        "device_compute_16": (55.555556, "%", "55.6 %"),
        "device_compute_8": (0.0, "%", "0.0 %"),
        "device_compute_unknown": (0.0, "%", "0.0 %"),
        "memory_capacity": (16 * 2**30, "bytes", "16 GiB"),
        "flop_rate": (800.0, "GFLOP/s", "800 GFLOP/s"),  # 8e6 in 10 µs, 2 of them idle
        "flop_utilization": (0.638276, "%", "0.6 %"),  # of 125.3 TFLOP/s
        "host_op_eager": (0.0, "%", "0.0 %"),
        "device_op_eager": (25.0, "%", "25.0 %"),
    }
    assert {name: row[3] for name, row in found.items() if row[0] is None} == {
        "peak_memory": "the trace has no memory events of a device",
        "mxu_utilization": "known for TPUs only",
        "hbm_utilization": "known for TPUs only",
        "memory_bandwidth": "the trace does not state how much memory its ops access",
        "bandwidth_utilization": "the trace does not state how much memory its ops access",
        "duty_cycle": "known for TPUs only",
    }


def test_every_unknown_figure_says_why_and_every_known_one_how():
    empty = draw({HOST: "t |a"}, names={"a": "x:Add"})
    for trace, steps in ((GPU_TRACE, GPU_STEPS), (empty, steps_of("CPU")), (TPU_TRACE, TPU_STEPS)):
        for _, label, value, _, text, reason, how in rows(build((trace, steps))[8]):
            assert label
            assert how
            assert (value is None) == bool(reason), label
            assert (value is None) == (text == "")


def test_statements_and_tips_of_a_gpu_host():
    table = build((GPU_TRACE, GPU_STEPS))[3]
    properties = table.properties
    assert [row[0] for row in rows(table)] == ["faq", "host", "host", "device", "device", "doc",
                                               "doc", "doc"]  # fmt: skip
    assert properties["bottleneck"] == "host"
    assert "20.8%" in properties["statement"]
    assert properties["non_bottleneck_tip_types"] == "device"
    assert properties["all_other_bottleneck"] == "moderate"
    assert properties["kernel_launch_bottleneck"] == "no"
    assert properties["device_collectives_bottleneck"] == "no"
    assert properties["output_bottleneck"] == "no"
    assert properties["precision_statement"] == ""


def test_findings_as_a_table():
    table = build((GPU_TRACE, GPU_STEPS))[7]
    assert ids(table) == [
        "id", "severity", "title", "detail", "value", "unit", "threshold", "gain_ms", "gain_ratio",
        "action", "tool", "tool_label", "tool_query", "evidence_tool", "evidence_query",
        "guide_title", "guide_url",
    ]  # fmt: skip
    by_id = {row[0]: dict(zip(ids(table), row, strict=True)) for row in rows(table)}
    first = rows(table)[0]
    assert first[0] == "input_bound"
    assert by_id["input_bound"]["severity"] == "high"
    assert by_id["input_bound"]["value"] == pytest.approx(50 / 2.4)
    assert by_id["input_bound"]["gain_ms"] == pytest.approx(0.025)
    assert by_id["eager_ops"]["gain_ms"] is None


def test_diagnostics_tell_what_to_know_first():
    recorder = draw({GPU: "s |k"})
    steps = dataclasses.replace(GPU_STEPS, source="pattern")
    tables = build((recorder, steps))
    until, left_out = "up to the start of the next one", "left out of averages"
    assert rows(tables[6]) == [
        ("INFO", "Steps are inferred. One step per train."),
        ("INFO", f"1 of 3 steps was not recorded whole, {until}: it is shown, and {left_out}."),
    ]
    cut = steps_of("GPU", {Phase.OTHER: 1}, truncated=[0])
    assert rows(build((recorder, cut))[6]) == [
        ("INFO", "No step was recorded whole; averages are of what was recorded of them.")
    ]


def test_a_trace_without_steps_warns_and_knows_the_rest():
    tables = build((GPU_TRACE, steps_of("GPU")))
    ((severity, message),) = rows(tables[6])
    assert severity == "WARNING"
    assert "step time is unknown" in str(message)
    assert tables[3].properties["bottleneck"] == "unknown"
    assert [row[0] for row in rows(tables[7])][-1] == "no_steps"
    assert tables[1].properties["hardware_type"] == "GPU"
    found = figures((GPU_TRACE, steps_of("GPU")))
    assert found["step_time_average"] == (None, "ms", "", "no steps were found in the trace")
    assert found["flop_rate"][0] == pytest.approx(800)


def test_recorders_complain_and_a_device_without_a_trace_is_an_error():
    silent = draw({GPU: "", HOST: "t |a"}, names={"a": "x:Add"},
                  plane_stats={GPU: {"device_vendor": "Nvidia"}})  # fmt: skip
    messages = rows(build((silent, steps_of("GPU")))[6])
    assert messages[-1][0] == "ERROR"
    assert "No device trace was collected" in str(messages[-1][1])


def test_markers_add_up_over_hosts():
    more = dataclasses.replace(
        GPU_STEPS, candidate_name=["fit"], candidate_line=["other"],
        candidate_count=np.array([9]), candidate_median_ps=np.array([8 * US]),
    )  # fmt: skip
    assert rows(build((GPU_TRACE, GPU_STEPS), (GPU_TRACE, more))[11]) == [
        ("train", 3, 0.005, "main", True),
        ("fit", 12, 0.008, "other", False),
    ]


# TPU

TPU_TRACE = draw(
    {
        TPU: """
            XLA Ops     |ddddccff.i
            XLA Modules |mmmmmmmmmm
        """,
        HOST: "t |",
    },
    names={"d": "%dot.1 = f32[] dot()", "c": "%copy-done.2 = f32[] copy-done()",
           "f": "%fusion = f32[] fusion()", "i": "%infeed = f32[] infeed()", "m": "jit_f(1)"},
    display_names={"d": "dot.1", "c": "copy-done.2", "f": "fusion", "i": "infeed"},
    type_stats={
        "d": {"hlo_category": "convolution", "tf_op": "jit(f)/dot_general:", "flops": 4_000_000,
              "bytes_accessed": 800, "symbol_id": 1, "program_id": 1},
        "c": {"hlo_category": "copy-done", "symbol_id": 2, "program_id": 1},
        "f": {"hlo_category": "loop fusion", "symbol_id": 3, "program_id": 1},
        "i": {"hlo_category": "infeed", "symbol_id": 4, "program_id": 1},
    },
    plane_stats={
        TPU: {"device_type_string": "TPU v9", "peak_teraflops_per_second": 100.0,
              "peak_hbm_bw_gigabytes_per_second": 10.0},
        HOST: {"matrix_unit_utilization_percent": 12.5},
    },
)  # fmt: skip
TPU_STEPS = steps_of("TPU", *[{Phase.COMPUTE_32: 70, Phase.COLLECTIVES: 10, Phase.OTHER: 20}] * 3)


def test_the_top_ops_of_a_tpu_have_categories_without_an_op_of_the_framework():
    top = build((TPU_TRACE, TPU_STEPS))[0]
    assert ids(top)[-1] == "flopRate"
    assert top.column("flopRate").label == "Bf16 Normalized Flop Rate(GFLOPs/Sec)"
    assert rows(top) == [
        (4 / 9, 4 / 9, "dot_general", "jit(f)/dot_general", 1000.0),
        (2 / 9, 6 / 9, "copy-done", "copy-done.2", None),
        (2 / 9, 8 / 9, "loop fusion", "fusion", None),
        (1 / 9, 9 / 9, "infeed", "infeed", None),
    ]


def test_the_figures_of_a_tpu():
    properties = build((TPU_TRACE, TPU_STEPS))[0].properties
    assert properties["mxu_utilization_percent"] == "12.5%"
    assert properties["hbm_utilization_percent"] == "unknown"
    assert properties["device_duty_cycle_percent"] == "80.0%"  # 8 of 10 µs, infeed is off duty
    assert properties["device_duty_cycle_high_confidence_percent"] == "80.0%"
    assert properties["device_idle_time_percent"] == "10.0%"
    assert properties["host_idle_time_percent"] == "unknown"
    assert properties["flop_rate_utilization_relative_to_roofline"] == "0.4%"  # 400 GFLOP/s
    assert properties["memory_bw_utilization_relative_to_hw_limit"] == "0.8%"  # 0.08 GB/s
    assert properties["tc_active_ms_average"] == "0.08"  # with collectives
    found = figures((TPU_TRACE, TPU_STEPS))
    assert found["duty_cycle"][0] == pytest.approx(80)
    assert found["flop_rate"][0] == pytest.approx(400)
    assert found["bandwidth_utilization"][0] == pytest.approx(0.8)
    assert found["mxu_utilization"][:3] == (12.5, "%", "12.5 %")
    assert found["hbm_utilization"][3] == "the recorder wrote no such counter"


def test_a_tpu_has_recommendations():
    tables = build((TPU_TRACE, TPU_STEPS))
    properties = tables[3].properties
    assert properties["bottleneck"] == "both"
    assert "20.0%" in properties["statement"]
    assert properties["device_collectives_bottleneck"] == "moderate"
    assert [row[0] for row in rows(tables[7])] == ["all_others", "collectives"]
    assert "TPU core" in str(rows(tables[3])[3][1])


# CPU


def test_a_program_on_the_cpu_is_told_of_its_cpu():
    trace = draw(
        {HOST: """
            main |aaaa
                 |.bb
        """},
        names={"a": "x/MatMul:MatMul", "b": "y/Add:Add"},
    )  # fmt: skip
    steps = steps_of("CPU", *[{Phase.HOST_COMPUTE: 90, Phase.INPUT: 10}] * 2)
    tables = build((trace, steps))
    assert rows(tables[0]) == [
        (0.5, 0.5, "MatMul", "x/MatMul", None),
        (0.5, 1.0, "Add", "y/Add", None),
    ]
    assert tables[0].properties["top_ops_side"] == "host"
    assert "device_duty_cycle_percent" not in tables[0].properties
    told = " ".join(str(cell) for row in rows(tables[3]) for cell in row)
    assert "CPU" in told
    assert "GPU" not in told
    assert "CPU_ONLY" not in told
    found = figures((trace, steps))
    assert found["device_busy"][3] == "the program ran on the CPU alone"
    assert found["flop_rate"][3] == "no op ran on a device"
    assert found["host_op_eager"][0] == 0.0
    assert [row[:3] for row in rows(tables[10])][:3] == [
        ("hosts", "Hosts", "1"),
        ("task", "Kind of run", "Inference"),
        ("device_type", "Device type", "CPU"),
    ]


def test_what_threads_did_in_idle_time_adds_up_to_it(tmp_path: Path):
    """Steps of 10 µs of the CPU: 6 in a function, 4 of which asleep, 2 of an op, 2 of nothing."""
    content = draw(
        {HOST: """
            main |tttttttttttttttttttt
                 |ffffff..mmffffff..mm
                 |..ssss....ssss
        """.replace("tttttttttttttttttttt", "ttttttttttuuuuuuuuuu")},
        names={"t": "train", "u": "train", "f": "$train.py:14 batch", "s": "$time sleep",
               "m": "a/MatMul:MatMul"},
        stats={"t": {"step_num": 1, "_r": 1}, "u": {"step_num": 2, "_r": 1}},
    )  # fmt: skip
    write(tmp_path, content)
    engine = Engine(Logdir(str(tmp_path)))
    [run] = engine.runs()
    tables = engine.tables(DataRequest(run, "overview_page"))
    found = [row[:1] + row[2:] for row in rows(tables[12])]
    assert found == [
        ("python", "", pytest.approx(0.006), pytest.approx(60), ""),
        ("python.0", "$train.py:14 batch", pytest.approx(0.004), pytest.approx(40), "python"),
        ("python.1", "$train.py:14 batch", pytest.approx(0.002), pytest.approx(20), "python"),
        ("uncovered", "", pytest.approx(0.002), pytest.approx(20), ""),
    ]
    assert rows(tables[12])[1][1] == "batch (train.py:14): time.sleep"
    assert rows(tables[9])[0][0] == "other"
    assert rows(tables[9])[0][2] == pytest.approx(0.008)
    first = rows(tables[7])[0]
    assert first[:3] == (
        "python_overhead", "high",
        "batch (train.py:14) takes 6 µs of each step, 4 µs of them in time.sleep",
    )  # fmt: skip


def test_a_trace_of_nothing_gives_empty_tables():
    tables = build((draw({HOST: "t |"}), dataclasses.replace(
        steps_of("CPU"), candidate_name=[], candidate_line=[],
        candidate_count=np.zeros(0, np.int64), candidate_median_ps=np.zeros(0, np.int64),
    )))  # fmt: skip
    assert [len(table) for table in tables] == [0] * 13
