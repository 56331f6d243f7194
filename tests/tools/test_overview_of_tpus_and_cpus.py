"""The overview's tables of hosts with TPUs, and of programs on the CPU, computed by hand."""

from pathlib import Path

import pytest
from helpers.drawn.small_runs import one_run
from helpers.overview_tables import HOST, TPU, build, figures, steps_of
from helpers.tables import ids, rows
from traces import draw

from tbprof.analysis.vocabulary.phases import Phase
from tbprof.engine.engine import DataRequest

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
    readings = figures((TPU_TRACE, TPU_STEPS))
    assert readings["duty_cycle"][0] == pytest.approx(80)
    assert readings["flop_rate"][0] == pytest.approx(400)
    assert readings["bandwidth_utilization"][0] == pytest.approx(0.8)
    assert readings["mxu_utilization"][:3] == (12.5, "%", "12.5 %")
    assert readings["hbm_utilization"][3] == "the recorder wrote no such counter"


def test_a_tpu_has_recommendations():
    tables = build((TPU_TRACE, TPU_STEPS))
    properties = tables[3].properties
    assert properties["bottleneck"] == "both"
    assert "20.0 %" in properties["statement"]
    assert properties["device_collectives_bottleneck"] == "moderate"
    assert [row[0] for row in rows(tables[7])] == ["all_others", "collectives"]
    assert "TPU core" in str(rows(tables[3])[3][1])


# CPU


def test_a_program_on_the_cpu_shows_its_cpu():
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
    readings = figures((trace, steps))
    assert readings["device_busy"][3] == "the program ran on the CPU alone"
    assert readings["flop_rate"][3] == "no op ran on a device"
    assert readings["host_op_eager"][0] == 0.0
    assert readings["host_compute"][0] == pytest.approx(90)
    assert readings["python"][3] == "no Python functions were recorded"
    assert readings["threads_at_work"][0] == 1.0  # 2 µs of each op in 4 µs
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
    tables = one_run(tmp_path, h0=content).tables(DataRequest("run", "overview_page"))
    found = [row[:1] + row[2:] for row in rows(tables[12])]
    assert found == [
        ("python", "", pytest.approx(0.006), pytest.approx(60), ""),
        ("python.0", "$train.py:14 batch", pytest.approx(0.004), pytest.approx(40), "python"),
        ("python.1", "$train.py:14 batch", pytest.approx(0.002), pytest.approx(20), "python"),
        ("uncovered", "", pytest.approx(0.002), pytest.approx(20), ""),
    ]
    values = {row[0]: row[2] for row in rows(tables[8])}
    assert values["host_compute"] == pytest.approx(20)
    assert values["python"] == pytest.approx(60)
    assert values["threads_at_work"] == pytest.approx(4 / 12)  # of the 12 µs from op to op
    assert rows(tables[12])[1][1] == "batch (train.py:14): time.sleep"
    assert rows(tables[9])[0][0] == "other"
    assert rows(tables[9])[0][2] == pytest.approx(0.008)
    first = rows(tables[7])[0]
    assert first[:2] == ("python_overhead", "high")
    gain_ms = tables[7].column("gain_ms").cells()[0]
    assert gain_ms == pytest.approx(0.006)
