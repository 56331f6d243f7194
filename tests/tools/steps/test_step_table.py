"""The step table of jobs made by hand: whole tables, and properties."""

import dataclasses
from urllib.parse import parse_qs

import pytest
from builders.job_steps import job_of
from helpers.tables import columns
from hypothesis import given
from hypothesis import strategies as st
from traces import drawn_space

from tbprof.advice.guides import DATA_GUIDE
from tbprof.advice.input.input_cause import InputCause
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.input.input_ops import InputOps, find_input_ops
from tbprof.analysis.vocabulary.phases import PHASES, Phase
from tbprof.tools.model.datatable import Table
from tbprof.tools.steps.step_table import PARTS, step_table

MS = 1000
COMPUTE, INPUT, OTHER = Phase.COMPUTE_32, Phase.INPUT, Phase.OTHER


def pipeline(*events: str) -> InputOps:
    letters = "abcdef"
    drawing = "t |" + ".".join(
        letter * (at + 2) for at, letter in enumerate(letters[: len(events)])
    )
    space = drawn_space({"/host:CPU": drawing}, names=dict(zip(letters, events, strict=False)))
    return find_input_ops(space, Programs(space))


def two_gpus() -> Table:
    return step_table(
        job_of(
            [
                {
                    "GPU:0": {COMPUTE: 6 * MS, Phase.COMPUTE_16: 2 * MS, INPUT: 2 * MS},
                    "GPU:1": {COMPUTE: 4 * MS, OTHER: 8 * MS},
                },
                {
                    "GPU:0": {INPUT: 5 * MS, Phase.COLLECTIVES: 5 * MS},
                    "GPU:1": {INPUT: 1 * MS, Phase.COLLECTIVES: 9 * MS},
                },
                {"GPU:1": {OTHER: 3 * MS, Phase.HOST_COMPUTE: 3 * MS}},
            ],
            gaps={(0, "GPU:1"): 4 * MS},
            truncated=[2],
        )
    )


def test_the_whole_table_of_two_gpus():
    cells = columns(two_gpus())
    tooltip = cells.pop("tooltip")
    assert cells == {
        "stepnum": ["train 0", "train 1", "train 2"],
        "deviceComputeTimeMs": [6, 0, 0],
        "deviceToDeviceTimeMs": [0, 0, 0],
        "deviceCollectivesTimeMs": [0, 7, 0],
        "hostComputeTimeMs": [0, 0, 3],
        "kernelLaunchTimeMs": [0, 0, 0],
        "infeedTimeMs": [1, 3, 0],
        "outfeedTimeMs": [0, 0, 0],
        "compileTimeMs": [0, 0, 0],
        "otherTimeMs": [4, 0, 3],
        "stepTimeMs": [11, 10, 6],
        "deviceCompute64Ms": [0, 0, 0],
        "deviceCompute32Ms": [5, 0, 0],
        "deviceComputeTf32Ms": [0, 0, 0],
        "deviceCompute16Ms": [1, 0, 0],
        "deviceCompute8Ms": [0, 0, 0],
        "deviceComputeUnknownMs": [0, 0, 0],
        "startMs": [0, 1, 2],
        "slowestMs": [12, 10, 6],
        "slowestStartMs": [0, 1, 2],
        "slowestHost": ["h0", "h0", "h0"],
        "waitingPercentAverage": [10, 30, 0],
        "waitingPercentMin": [0, 10, 0],
        "waitingPercentMax": [20, 50, 0],
        "workers": [2, 2, 1],
        "gapMs": [2, 0, 0],
        "isTruncated": [False, False, True],
        "isUnrecorded": [False, False, False],
        "bottleneck": ["Device compute", "Device collective communication", "Host compute"],
        "hostTransferTimeMs": [0, 0, 0],
        "hostCallbackTimeMs": [0, 0, 0],
        "isOutlier": [False, False, False],
        "outlierCause": ["", "", ""],
    }
    assert tooltip[0] == (
        "Step train 0, duration: 11.00 ms\n-All others: 4.00 ms\n-Compilation: 0.00 ms\n"
        "-Output: 0.00 ms\n-Input: 1.00 ms\n-Kernel launch: 0.00 ms\n-Host compute: 0.00 ms\n"
        "-Device collectives: 0.00 ms\n-Device to device: 0.00 ms\n-Device compute: 6.00 ms"
    )


def test_the_properties_of_two_gpus():
    found = dict(two_gpus().properties)
    statements = {
        name: found.pop(name)
        for name in list(found)
        if name.endswith(("_conclusion", "_statement", "_nextstep"))
    }
    wait = parse_qs(found.pop("longest_wait"))
    assert (wait["step"], wait["q"]) == (["train 1"], ["category:^(input|copies)$"])
    # Over steps 0 and 1, as the last one is cut: 10.5 ms, of which 2 are input.
    assert found == {
        "hardware_type": "GPU",
        "steptime_ms_average": "10.5",
        "steptime_ms_standard_deviation": "0.7",
        "steptime_ms_minimum": "10.0",
        "steptime_ms_maximum": "11.0",
        "device_compute_time_ms_avg": "3.0",
        "device_compute_time_ms_sdv": "4.2",
        "device_to_device_time_ms_avg": "0.0",
        "device_to_device_time_ms_sdv": "0.0",
        "device_collectives_time_ms_avg": "3.5",
        "device_collectives_time_ms_sdv": "4.9",
        "infeed_time_ms_avg": "2.0",
        "infeed_time_ms_sdv": "1.4",
        "outfeed_time_ms_avg": "0.0",
        "outfeed_time_ms_sdv": "0.0",
        "host_compute_time_ms_avg": "0.0",
        "host_compute_time_ms_sdv": "0.0",
        "kernel_launch_time_ms_avg": "0.0",
        "kernel_launch_time_ms_sdv": "0.0",
        "compile_time_ms_avg": "0.0",
        "compile_time_ms_sdv": "0.0",
        "other_time_ms_avg": "2.0",
        "other_time_ms_sdv": "2.8",
        "infeed_percent_average": "20.0",
        "infeed_percent_standard_deviation": "14.1",
        "infeed_percent_minimum": "0.0",
        "infeed_percent_maximum": "50.0",
        "waiting_percent": "19.0",
        "step_time_graph_column_ids": "stepnum,deviceComputeTimeMs,deviceToDeviceTimeMs,"
        "deviceCollectivesTimeMs,hostComputeTimeMs,kernelLaunchTimeMs,infeedTimeMs,"
        "outfeedTimeMs,compileTimeMs,otherTimeMs,tooltip",
        "input_bottleneck": "both",
        "input_is_guess": "false",
        "output_bottleneck": "no",
        "device_collectives_bottleneck": "high",
        "kernel_launch_bottleneck": "no",
        "all_other_bottleneck": "high",
        "step_source": "markers",
        "step_marker": "train",
        "step_note": "",
        "is_inferred": "false",
        "worker_count": "2",
        "steps_total": "3",
        "steps_averaged": "2",
        "steps_typical": "2",
        "steps_chosen": "typical",
        "steptime_ms_median": "10.5",
        "typical_steptime_ms_average": "10.5",
        "typical_steptime_ms_median": "10.5",
        "typical_steptime_ms_standard_deviation": "0.7",
        "typical_steptime_ms_minimum": "10.0",
        "typical_steptime_ms_maximum": "11.0",
    }
    assert "moderately input-bound: 19.0 %" in statements.pop("input_conclusion")
    assert "33.3 %" in statements.pop("device_collectives_statement")
    assert "19.0 %" in statements.pop("all_other_statement")
    assert statements.pop("summary_nextstep") == ""
    assert "16.7%" not in statements["precision_statement"]
    assert set(statements.values()) == {""}


def test_one_step_has_no_deviation_and_a_figure_that_is_zero_is_zero():
    found = step_table(job_of([{"CPU": {Phase.HOST_COMPUTE: MS}}], kinds={"CPU": "CPU"})).properties
    assert found["steptime_ms_average"] == "1.0"
    assert found["steptime_ms_standard_deviation"] == ""
    assert found["infeed_time_ms_avg"] == "0.0"
    assert found["infeed_time_ms_sdv"] == ""
    assert found["infeed_percent_maximum"] == "0.0"
    assert found["hardware_type"] == "CPU_ONLY"


def test_a_wait_that_is_not_zero_does_not_read_zero():
    few = {Phase.INPUT: MS, Phase.HOST_COMPUTE: 4999 * MS}
    found = step_table(job_of([{"CPU": few}], kinds={"CPU": "CPU"})).properties
    assert found["waiting_percent"] == "0.02"


def test_without_steps_nothing_is_measured_and_the_next_step_is_to_mark_them():
    table = step_table(job_of([]))
    assert len(table) == 0
    found = table.properties
    assert found["steptime_ms_average"] == found["steptime_ms_maximum"] == ""
    assert found["waiting_percent"] == ""
    assert found["input_bottleneck"] == "unknown"
    assert "Mark the steps" in found["summary_nextstep"]
    assert found["hardware_type"] == "UNKNOWN_HARDWARE"
    assert step_table(job_of([]), hardware="GPU").properties["hardware_type"] == "GPU"
    assert found["steps_total"] == "0"
    assert not any("nan" in value for value in found.values())


def tpu_steps() -> Table:
    return step_table(
        job_of(
            [
                {
                    "TPU:0": {
                        COMPUTE: 2 * MS, Phase.HOST_TRANSFER: 2 * MS, Phase.COLLECTIVES: MS,
                        INPUT: 2 * MS, OTHER: 3 * MS,
                    },
                    "TPU:1": {
                        COMPUTE: 5 * MS, INPUT: 3 * MS, Phase.OUTPUT: MS, Phase.HOST_COMPUTE: MS,
                    },
                },
            ],
            kinds={"TPU:0": "TPU", "TPU:1": "TPU"},
        )
    )  # fmt: skip


def test_tensor_cores_have_their_columns_first_and_these_add_up_to_the_step():
    table = tpu_steps()
    cells = columns(table)
    first = [
        "stepnum", "tcComputeTimeMs", "scv0ComputeTimeMs", "scv0InfeedTimeMs", "tcInfeedTimeMs",
        "tcOutfeedTimeMs", "tcIdleTimeMs", "hostTransferTimeMs", "hostCallbackTimeMs",
        "tcCopyTimeMs", "tooltip",
        "infeedPercentAverage", "infeedPercentMin", "infeedPercentMax", "deviceComputeTimeMs",
    ]  # fmt: skip
    assert list(cells)[: len(first)] == first
    assert [cells[name] for name in first[1:10]] == [
        [4], [None], [None], [2.5], [0.5], [2], [1], [0], [0],
    ]  # fmt: skip
    assert [cells[name] for name in first[11:14]] == [[25], [20], [30]]
    assert cells["stepTimeMs"] == [10]
    properties = table.properties
    assert properties["steptime_ms_average"] == "10.00"
    assert properties["tc_compute_ms_average"] == properties["tc_active_ms_average"] == "4.00"
    assert properties["active_steptime_ms_average"] == "4.00"
    assert properties["tc_infeed_ms_average"] == "2.50"
    assert properties["tc_idle_ms_average"] == "2.00"
    assert properties["host_transfer_ms_average"] == "1.00"
    assert properties["scv0_compute_ms_average"] == ""
    assert "-Host transfer: 1.00 ms\n-Device to device" in cells["tooltip"][0]
    assert properties["infeed_percent_average"] == "25.0"
    assert properties["infeed_percent_minimum"] == "20.0"
    assert properties["infeed_percent_maximum"] == "30.0"
    assert properties["hardware_type"] == "TPU"
    assert properties["input_bottleneck"] == "host"
    assert properties["output_bottleneck"] == "moderate"
    assert properties["output_conclusion"]
    ids = properties["step_time_graph_column_ids"].split(",")
    assert ids == first[:11]


def test_copies_are_no_activity_of_a_tensor_core():
    steps = [{"TPU:0": {COMPUTE: 2 * MS, Phase.DEVICE_TO_DEVICE: 6 * MS}}]
    found = step_table(job_of(steps, kinds={"TPU:0": "TPU"})).properties
    assert found["tc_compute_ms_average"] == found["tc_active_ms_average"] == "2.00"
    assert found["tc_copy_ms_average"] == "6.00"


def test_charts_are_told_which_columns_are_tooltips_and_intervals():
    roles = {column.id: column.role for column in tpu_steps().columns if column.role}
    assert roles == {
        "tooltip": "tooltip",
        "infeedPercentMin": "interval",
        "infeedPercentMax": "interval",
    }


def test_sparse_cores_are_left_out_beside_tensor_cores():
    kinds = {"TPU:0": "TPU", "SC:0": "SparseCore"}
    steps = [{"TPU:0": {COMPUTE: 2 * MS}, "SC:0": {INPUT: 8 * MS}}]
    table = step_table(job_of(steps, kinds=kinds))
    cells = columns(table)
    assert cells["stepTimeMs"] == [2]
    assert cells["waitingPercentMax"] == [0]
    assert "scv0ComputeTimeMs" not in cells
    assert table.properties["worker_count"] == "1"


def test_a_step_of_no_length_waits_for_nothing_known():
    table = step_table(job_of([{"GPU:0": {}}, {"GPU:0": {COMPUTE: MS}}]))
    assert columns(table)["waitingPercentAverage"] == [None, 0]
    assert table.properties["infeed_percent_average"] == "0.0"


CAUSE = InputCause(
    "stage", "h0", "Host:0", "Iterator::Root::Map", "Map", 1.5, 2.0, "Map takes it.", "Do this.",
    DATA_GUIDE,
)  # fmt: skip


def test_the_next_step_is_what_all_pages_say_of_the_input():
    waits = job_of([{"w": {Phase.INPUT: 5, COMPUTE: 5}}])
    found = step_table(waits, cause=CAUSE).properties
    assert found["summary_nextstep"] == "Map takes it. Do this."
    assert found["input_cause"] == "stage"
    assert found["input_cause_stage"] == "Iterator::Root::Map"
    assert (found["input_cause_ms"], found["input_cause_call_ms"]) == ("1.500000", "2.000000")
    computes = job_of([{"w": {COMPUTE: 5}}])
    found = step_table(computes, pipeline("Iterator::Root"), cause=CAUSE).properties
    assert found["summary_nextstep"] == ""
    gaps = job_of([{"w": {Phase.OTHER: 5, COMPUTE: 5}}])
    found = step_table(gaps, cause=CAUSE).properties
    assert found["summary_nextstep"].startswith("To find out whether input is the bottleneck")


step_splits = st.lists(
    st.dictionaries(
        st.sampled_from(["GPU:0", "GPU:1"]),
        st.dictionaries(st.sampled_from(list(Phase)), st.integers(0, 50), max_size=PHASES),
        min_size=1,
    ),
    max_size=4,
)


@given(step_splits)
def test_the_parts_of_a_step_add_up_to_it(steps):
    cells = columns(step_table(job_of(steps)))
    for row, step_ms in enumerate(cells["stepTimeMs"]):
        parts = sum(cells[name][row] for name, _, _, _ in PARTS)
        assert parts == pytest.approx(step_ms)
        precisions = [name for name in cells if name.startswith("deviceCompute")
                      and not name.endswith("TimeMs")]  # fmt: skip
        compute = sum(cells[name][row] for name in precisions)
        assert compute == pytest.approx(cells["deviceComputeTimeMs"][row])
        low, mean, high = (
            cells[f"waitingPercent{which}"][row] for which in ("Min", "Average", "Max")
        )
        assert mean is None or -1e-9 <= low - 1e-9 <= mean <= high + 1e-9 <= 100 + 1e-6


def test_names_of_steps_are_shown_as_they_are():
    job = job_of([{"GPU:0": {COMPUTE: 1}}])
    hostile = dataclasses.replace(job, label=["<script>\u202e"])
    assert columns(step_table(hostile))["stepnum"] == ["<script>\u202e"]


def test_a_step_that_was_not_recorded_has_no_times():
    """GPU:1 was lost in the second step, both were in the third: no zeros for either."""
    steps = [{"GPU:0": {COMPUTE: 4 * MS}, "GPU:1": {COMPUTE: 2 * MS}}] * 3
    lost = [(1, "GPU:1"), (2, "GPU:0"), (2, "GPU:1")]
    table = step_table(job_of(steps, unrecorded=lost))
    cells = columns(table)
    assert cells["stepTimeMs"] == [3, 4, None]
    assert cells["deviceComputeTimeMs"] == [3, 4, None]
    assert cells["slowestMs"] == [4, 4, None]
    assert cells["workers"] == [2, 1, 0]
    assert cells["isUnrecorded"] == [False, False, True]
    assert cells["bottleneck"] == ["Device compute", "Device compute", ""]
    assert cells["tooltip"][2] == "Step train 2: not recorded"
    assert table.properties["steps_averaged"] == "2"
    assert table.properties["steptime_ms_average"] == "3.5"
