"""The overview's tables of hosts with GPUs, computed by hand."""

import dataclasses

import numpy as np
import pytest
from helpers.overview_tables import (
    GPU,
    GPU_STEPS,
    GPU_TRACE,
    HOST,
    KERNEL,
    US,
    build,
    figures,
    steps_of,
)
from helpers.tables import ids, records, rows
from tools.test_overview_of_tpus_and_cpus import TPU_STEPS, TPU_TRACE
from traces import draw

from tbprof.analysis.steps.steps import Steps
from tbprof.analysis.vocabulary.phases import Phase


def test_the_tables_in_the_order_of_the_contract():
    tables = build((GPU_TRACE, GPU_STEPS))
    sizes = [len(table) for table in tables]
    assert sizes == [4, 3, 1, 8, 0, 0, 1, len(tables[7]), 28, 16, 12, 2, 0, 0]
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


def test_ops_of_replicas_and_layers_are_one_family():
    letters = "abcdefgh"
    trace = draw(
        {GPU: "s |aabbccddeeffgghi"},
        names=dict.fromkeys(letters + "i", "kernel"),
        stats={
            **{
                letter: {
                    "kernel_details": KERNEL,
                    "tf_op": f"replica_{at % 2}/bert_1/layer_{at // 2}/mul:Mul",
                }
                for at, letter in enumerate(letters)
            },
            "i": {"kernel_details": KERNEL, "tf_op": "pooler/MatMul_1:MatMul"},
        },
    )
    families = build((trace, GPU_STEPS))[13]
    assert ids(families) == ["selfTimePercent", "cumulativeTimePercent", "category", "operation",
                             "ops"]  # fmt: skip
    assert rows(families) == [
        (15 / 16, 15 / 16, "Mul", "replica_*/bert_1/layer_*/mul", 8.0),
        (1 / 16, 1.0, "MatMul", "pooler/MatMul_1", 1.0),
    ]
    # Each op alone is 1 / 8 of the time: enough to be shown by itself.
    assert families.properties == {"usual": "no"}


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
        ("gpus", "GPUs", "2", "events recorded for 1", ""),
        (
            "peak_flops",
            "Peak compute per device",
            "125.3 TFLOP/s",
            (
                "16 bit, dense; 80 multiprocessors × 1.53 GHz × 1,024 operations per cycle "
                "(NVIDIA's white paper)"
            ),
            "",
        ),
        (
            "peak_bandwidth",
            "Peak memory bandwidth per device",
            "898 GB/s",
            "recorded by the device",
            "",
        ),
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


def test_what_many_hosts_differ_in_is_a_row_for_each_of_the_most_common_values():
    def host(version: int) -> tuple[bytes, Steps]:
        stats = {"/host:metadata": {"jax_version": str(version)}}
        return draw({"/host:metadata": "", GPU: "s |k"}, plane_stats=stats), GPU_STEPS

    def shown(*versions: int) -> list[tuple[object, object]]:
        found = rows(build(*map(host, versions))[10])
        return [(row[2], row[4]) for row in found if row[0] == "version_jax"]

    assert shown(*range(8)) == [(str(number), f"h{number}") for number in range(8)]
    twice = shown(*range(8), 0)
    assert twice[0] == ("0", "h0 and 1 more")
    assert twice[1:] == [(str(number), f"h{number}") for number in range(1, 8)]
    ones = shown(*range(10))
    assert ones[:7] == [(str(number), f"h{number}") for number in range(7)]
    assert ones[7:] == [("3 other values", "h7 and 2 more")]


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
        name: (row[0], *(round(float(value), 6) for value in row[1:4]), row[4])
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
    assert sum(row[4] for row in top) == pytest.approx(100)
    assert sum(row[2] for row in top) == pytest.approx(0.12)


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


def test_the_figures_of_a_gpu_host():
    readings = figures((GPU_TRACE, GPU_STEPS))
    told = {name: row[:3] for name, row in readings.items() if row[0] is not None}
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
        "model_flop_utilization": (0.638276, "%", "0.6 %"),
        "host_op_eager": (0.0, "%", "0.0 %"),
        "device_op_eager": (25.0, "%", "25.0 %"),
    }
    assert {name: row[3] for name, row in readings.items() if row[0] is None} == {
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
        for _, label, value, _, text, reason, how, note in rows(build((trace, steps))[8]):
            assert label
            assert how
            assert (value is None) == bool(reason), label
            assert (value is None) == (text == "")
            assert note == ""  # none is above 100 %


def test_statements_and_tips_of_a_gpu_host():
    table = build((GPU_TRACE, GPU_STEPS))[3]
    properties = table.properties
    assert [row[0] for row in rows(table)] == ["faq", "host", "host", "device", "device", "doc",
                                               "doc", "doc"]  # fmt: skip
    assert properties["bottleneck"] == "host"
    assert "20.8 %" in properties["statement"]
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
    by_id = {row["id"]: row for row in records(table)}
    assert next(iter(by_id)) == "input_bound"
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
        ("INFO", "One step per train."),
        ("INFO", f"1 of 3 steps was not fully recorded, {until}; it is shown, but {left_out}."),
    ]
    cut = steps_of("GPU", {Phase.OTHER: 1}, truncated=[0])
    assert rows(build((recorder, cut))[6]) == [
        ("INFO", "No step was recorded completely; the averages cover the recorded parts.")
    ]


def test_a_trace_without_steps_warns_and_knows_the_rest():
    tables = build((GPU_TRACE, steps_of("GPU")))
    ((severity, message),) = rows(tables[6])
    assert severity == "WARNING"
    assert "step time is unknown" in str(message)
    assert tables[3].properties["bottleneck"] == "unknown"
    assert [row[0] for row in rows(tables[7])][-1] == "no_steps"
    assert tables[1].properties["hardware_type"] == "GPU"
    readings = figures((GPU_TRACE, steps_of("GPU")))
    assert readings["step_time_average"] == (None, "ms", "", "no steps were found in the trace")
    assert readings["flop_rate"][0] == pytest.approx(800)


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


def test_a_trace_of_nothing_gives_empty_tables():
    tables = build((draw({HOST: "t |"}), dataclasses.replace(
        steps_of("CPU"), candidate_name=[], candidate_line=[],
        candidate_count=np.zeros(0, np.int64), candidate_median_ps=np.zeros(0, np.int64),
    )))  # fmt: skip
    assert [len(table) for table in tables] == [0] * 14
