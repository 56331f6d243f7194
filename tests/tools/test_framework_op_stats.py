"""The op tables: order, shares, rates and Tensor Core use."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from traces import draw, drawn_space, space_of

from tbprof.advice.summaries import Summaries
from tbprof.analysis.devices.devices import Devices, find_devices
from tbprof.analysis.gpu.kernels import Kernels, find_kernels, merge_kernels
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_calls import HostCalls, find_host_calls
from tbprof.analysis.ops.op_metrics import DEVICE, HOST, OpGatherer, OpMetrics
from tbprof.analysis.ops.ops import find_ops
from tbprof.tools.framework_op_stats import build
from tbprof.tools.model.datatable import Table

GPU = "/device:GPU:0"
NO_DEVICES = Devices(0, 0, "CPU", math.nan, math.nan)


def no_calls() -> HostCalls:
    space = drawn_space({"/host:CPU": "t |"})
    return find_host_calls(space, Programs(space))


def no_kernels() -> Kernels:
    space = drawn_space({"/host:CPU": "t |a"})
    return find_kernels(space, Programs(space))


def tables(
    ops: OpMetrics, devices: Devices = NO_DEVICES, kernels: Kernels | None = None
) -> tuple[Table, Table]:
    """(with idle, without)."""
    parts: dict[str, list[Any]] = {
        "ops": [ops],
        "devices": [devices],
        "kernels": [kernels or no_kernels()],
        "host_calls": [no_calls()],
    }
    both = build(Summaries(("h",), parts))
    return both[0], both[1]


def of_trace(*traces: bytes) -> tuple[Table, Table]:
    """(with idle, without)."""
    both = all_of_trace(*traces)
    return both[0], both[1]


def all_of_trace(*traces: bytes) -> Sequence[Table]:
    spaces = [space_of(trace) for trace in traces]
    programs = [Programs(space) for space in spaces]
    parts: dict[str, list[Any]] = {
        "ops": [find_ops(space, each) for space, each in zip(spaces, programs, strict=True)],
        "devices": [
            find_devices(space, each) for space, each in zip(spaces, programs, strict=True)
        ],
        "kernels": [
            find_kernels(space, each) for space, each in zip(spaces, programs, strict=True)
        ],
        "host_calls": [
            find_host_calls(space, each) for space, each in zip(spaces, programs, strict=True)
        ],
    }
    found = build(Summaries(tuple("h" * len(traces)), parts))
    assert isinstance(found, Sequence)
    return found


def column(table: Table, name: str) -> list[object]:
    return table.column(name).cells()


def columns(sums: dict[str, int]) -> dict[str, NDArray[np.int64]]:
    return {name: np.array([value], np.int64) for name, value in sums.items()}


def gathered(*rows: tuple[int, str, int], host_idle: int = 0, device_idle: int = 0) -> OpMetrics:
    """Ops of (side, name, self time in ps)."""
    gatherer = OpGatherer(idle_ps={HOST: host_idle, DEVICE: device_idle})
    for side, name, own in rows:
        sums = {"occurrences": 1, "total_ps": own, "self_ps": own}
        gatherer.add(side, [name], ["T"], columns(sums))
    return gatherer.table()


SIDES = st.sampled_from([HOST, DEVICE])
OPS = st.lists(
    st.tuples(SIDES, st.text("abc", min_size=1, max_size=3), st.integers(0, 50)),
    max_size=12,
    unique_by=lambda row: row[:2],
)


@settings(max_examples=60)
@given(OPS, st.integers(0, 40), st.integers(0, 40))
def test_ranks_orders_and_shares(rows, host_idle, device_idle):
    both = tables(gathered(*rows, host_idle=host_idle, device_idle=device_idle))
    for table, with_idle in zip(both, (True, False), strict=True):
        expected = []
        for side, idle in ((DEVICE, device_idle), (HOST, host_idle)):
            own = [(-length, name) for each, name, length in rows if each == side]
            if with_idle and own:
                own.append((-idle, "IDLE"))
            whole = -sum(length for length, _ in own)
            running = 0.0
            for length, name in sorted(own):
                running -= length
                share = -length / whole if whole else 0.0
                cumulative = running / whole if whole else 0.0
                shares = (share, cumulative)
                expected.append(
                    ("Device" if side == DEVICE else "Host", name, -length / 1e6)
                    + ((*shares, 0.0, 0.0) if side == DEVICE else (0.0, 0.0, *shares))
                )
        found = zip(
            *(
                column(table, name)
                for name in (
                    "host_or_device",
                    "operation",
                    "total_self_time",
                    "device_total_self_time_percent",
                    "device_cumulative_total_self_time_percent",
                    "host_total_self_time_percent",
                    "Host_cumulative_total_self_time_percent",
                )
            ),
            strict=True,
        )
        for row, should in zip(found, expected, strict=True):
            assert row[:3] == should[:3]
            assert row[3:] == pytest.approx(should[3:], abs=1e-12)
        assert column(table, "rank") == list(range(1, len(table) + 1))


def test_cumulative_shares_reach_one_however_many_ops_there_are():
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 10**9, 3000).tolist()
    table = tables(gathered(*((HOST, f"op{i}", length) for i, length in enumerate(lengths))))[1]
    assert len(table) == 3000  # no cap
    assert column(table, "Host_cumulative_total_self_time_percent")[-1] == pytest.approx(
        1, abs=1e-12
    )
    twin = "host_cumulative_total_self_time_percent"
    assert column(table, twin) == column(table, "Host_cumulative_total_self_time_percent")


def test_averages_are_over_executions_and_idle_has_none():
    with_idle, without = of_trace(
        draw({"/host:CPU": "t |aaaa..aa\n  |.b......"}, names={"a": "a:A", "b": "b:B"})
    )
    assert column(without, "operation") == ["a", "b"]
    assert column(without, "occurrences") == [2, 1]
    assert column(without, "total_time") == [6, 1]
    assert column(without, "avg_time") == [3, 1]
    assert column(without, "total_self_time") == [5, 1]
    assert column(without, "avg_self_time") == [2.5, 1]
    assert column(with_idle, "operation") == ["a", "IDLE", "b"]
    assert column(with_idle, "type") == ["A", "IDLE", "B"]
    assert column(with_idle, "occurrences") == [2, 0, 1]
    assert column(with_idle, "total_time") == [6, 2, 1]
    assert column(with_idle, "avg_time") == [3, None, 1]
    assert column(with_idle, "avg_self_time") == [2.5, None, 1]


@pytest.mark.parametrize("rows", [[(HOST, "a", 5)], [(DEVICE, "a", 5)], []])
def test_one_op_or_none_is_a_table_too(rows):
    with_idle, without = tables(gathered(*rows, host_idle=1, device_idle=2))
    assert len(without) == len(rows)
    assert len(with_idle) == 2 * len(rows)  # a side without ops has no idle time


def test_sides_without_ops_have_no_idle_time():
    with_idle, _ = tables(gathered((HOST, "a", 5), host_idle=1, device_idle=7))
    assert column(with_idle, "host_or_device") == ["Host", "Host"]


# Rates and bounds.


def worked(*, is_eager: bool = False, **work: int) -> OpMetrics:
    gatherer = OpGatherer(idle_ps={DEVICE: 10})
    sums = {"occurrences": 2, "total_ps": 4_000_000, "self_ps": 1_000_000}  # 4 µs in all
    gatherer.add(DEVICE, ["a"], [""], columns(sums | work), {"is_eager": np.array([is_eager])})
    return gatherer.table()


RATES = ("measured_flop_rate", "model_flop_rate", "measured_memory_bw", "operational_intensity")


def test_rates_are_of_the_total_time():
    work: dict[str, Any] = {"flops": 8000, "model_flops": 4000, "bytes_accessed": 2**30 // 1000}
    table = tables(worked(**work, hbm_bytes=1))[1]
    flops, model, bandwidth, intensity = (column(table, name)[0] for name in RATES)
    assert (flops, model) == (2.0, 1.0)  # GFLOP/s: 8000 FLOP in 4000 ns
    assert bandwidth == pytest.approx(2**30 // 1000 / 4000 / (2**30 / 1e9))  # GiB/s
    assert intensity == pytest.approx(8000 / (2**30 // 1000))


def test_work_that_was_not_measured_is_null_and_none_is_zero():
    assert [column(tables(worked())[1], name) for name in RATES] == [[None]] * 4
    table = tables(worked(bytes_accessed=100, hbm_bytes=100))[1]
    assert [column(table, name)[0] for name in RATES[:2]] == [0.0, 0.0]
    table = tables(worked(flops=100))[1]
    assert column(table, "operational_intensity") == [None]  # no bytes to divide by


@pytest.mark.parametrize(
    ("flops", "hbm", "peaks", "bound"),
    [
        (4000, 1000, (100.0, 100.0), "Compute"),  # 1 % of compute, 0.25 % of memory
        (1000, 4000, (100.0, 100.0), "HBM"),
        (4000, 4000, (100.0, 100.0), "Compute"),  # as much of both
        (4000, 1000, (100.0, 10.0), "HBM"),  # 2.5 % of memory
        (4000, 1000, (math.nan, 10.0), "HBM"),
        (4000, 1000, (math.nan, math.nan), "Unknown"),
        (0, 0, (100.0, 100.0), "Unknown"),
    ],
)
def test_an_op_is_bound_by_what_it_uses_the_largest_part_of(flops, hbm, peaks, bound):
    devices = Devices(0, 1, "TPU", *peaks)
    # Bytes that stay in the core's own memory do not load the main memory.
    table = tables(worked(flops=flops, hbm_bytes=hbm, bytes_accessed=10**6 + hbm), devices)[1]
    assert column(table, "bound_by") == [bound]


IMPLAUSIBLE = "the peak is implausible"


@pytest.mark.parametrize(
    ("peaks", "note"),
    [
        ((math.nan, 0.01), f"more bytes than the memory can move: {IMPLAUSIBLE}"),
        ((math.nan, 0.999), f"more bytes than the memory can move: {IMPLAUSIBLE}"),
        ((math.nan, 1.0), ""),
        ((math.nan, math.nan), ""),
        ((0.01, 1.0), f"more operations than the peak allows: {IMPLAUSIBLE}"),
    ],
)
def test_more_than_the_peaks_allow_is_shown_with_the_reason(peaks, note):
    # 4000 bytes and 1000 operations in 4000 ns are 1 GB/s and 0.25 GFLOP/s.
    work = worked(flops=1000, hbm_bytes=4000, bytes_accessed=4000)
    table = tables(work, Devices(0, 1, "TPU", *peaks))[1]
    assert column(table, "measured_memory_bw")[0] == pytest.approx(1e9 / 2**30)
    assert column(table, "operational_intensity") == [0.25]
    assert column(table, "roof_note") == [note]


def test_computed_bytes_may_be_served_by_caches():
    gatherer = OpGatherer()
    sums = {"occurrences": 1, "total_ps": 4_000_000, "hbm_bytes": 4000, "bytes_accessed": 4000}
    gatherer.add(DEVICE, ["a"], [""], columns(sums), {"is_computed": np.array([True])})
    table = tables(gatherer.table(), Devices(1, 0, "GPU", math.nan, 0.01))[1]
    assert column(table, "measured_memory_bw")[0] == pytest.approx(1e9 / 2**30)
    assert column(table, "bound_by") == ["HBM"]
    [note] = column(table, "roof_note")
    assert note == "more bytes than the memory can move: caches served some of them"


# GPUs.

DETAILS = {"kernel_details": "grid:1,1,1"}


def test_tensor_core_use_is_the_share_of_an_ops_kernel_time():
    stats = {
        "a": DETAILS | {"tf_op": "m:MatMul"},
        "b": DETAILS | {"tf_op": "m:MatMul"},
        "c": DETAILS | {"tf_op": "r:Relu"},
        "d": {"tf_op": "copy:Copy"},
    }
    trace = draw(
        {GPU: "Stream #1 |aaa.b.cc.d", "/host:CPU": "t |h"},
        names={"a": "volta_h884gemm", "b": "splitKreduce", "c": "relu", "h": "m:MatMul"},
        stats=stats,
    )
    with_idle, without = of_trace(trace)
    use = dict(
        zip(
            zip(column(without, "host_or_device"), column(without, "operation"), strict=True),
            column(without, "gpu_tensorcore_utilization"),
            strict=True,
        )
    )
    assert use == {
        ("Device", "m"): 0.75,
        ("Device", "r"): 0.0,
        ("Device", "copy"): None,  # launched no kernel
        ("Host", "m"): 0.0,
    }
    ids = [one.id for one in with_idle.columns]
    assert ids.index("gpu_tensorcore_utilization") == ids.index("bound_by") - 1


def test_traces_without_gpus_have_no_tensor_core_column():
    table = of_trace(draw({"/host:CPU": "t |a"}, names={"a": "a:A"}))[0]
    assert "gpu_tensorcore_utilization" not in [one.id for one in table.columns]


def test_tensor_core_use_takes_all_kernels_of_all_hosts():
    stats = {"a": DETAILS | {"tf_op": "m:MatMul"}, "b": DETAILS | {"tf_op": "m:MatMul"}}
    names = {"a": "volta_h884gemm", "b": "other"}
    one = draw({GPU: "Stream #1 |aaa"}, names=names, stats=stats)
    two = draw({GPU: "Stream #1 |b"}, names=names, stats=stats)
    assert column(of_trace(one, two)[1], "gpu_tensorcore_utilization") == [0.75]


# Properties.


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("gradient_tape/model/MatMul", "Training"),
        ("gradients/a/b", "Training"),
        ("x/gradients_1/b", "Training"),
        ("jit(f)/transpose(jvp(g))/mul", "Training"),
        ("model/MatMul", "Inference"),
        ("my_gradient_tape/x", "Inference"),
    ],
)
def test_gradients_mean_training(name, task):
    table = tables(gathered((HOST, name, 1)))[0]
    assert table.properties == {
        "task_type": task, "architecture_type": "Unknown", "device_type": "CPU"
    }  # fmt: skip


@pytest.mark.parametrize("eager", [False, True])
def test_the_execution_mode_is_spelled_out(eager):
    assert column(tables(worked(is_eager=eager))[0], "eager") == (
        ["Eager" if eager else "Function", "Function"]
    )


def test_merging_kernels_of_one_host_changes_nothing():
    part = no_kernels()
    assert merge_kernels([part]) is part


# Eager programs, and what programs call.


def test_an_eager_trace_has_a_row_per_op_that_was_called():
    trace = draw(
        {"/host:CPU": "python |" + "E." * 240},
        names={"E": "EagerExecute"},
        stats={"E": {"is_func": 0, "eager_op": "MatMul"}},
    )
    with_idle, without = of_trace(trace)
    assert column(without, "operation") == ["EagerExecute: MatMul"]
    assert column(without, "type") == ["MatMul"]
    assert column(without, "occurrences") == [240]
    assert column(without, "eager") == ["Eager"]
    assert column(with_idle, "total_self_time") == [240, 239]


def test_calls_and_annotations_of_the_program_are_rows_of_their_own():
    """Ops are counted as ever: the first two tables have none of them."""
    trace = draw(
        {"/host:CPU": "python |ssssssssss\n       |.PPPPPP..\n       |..m"},
        names={"s": "forward", "P": "PjitFunction(step)", "m": "x/MatMul:MatMul"},
    )
    for traces, times in ((1, 1), (2, 2)):
        _, without, calls = all_of_trace(*[trace] * traces)
        assert column(without, "operation") == ["x/MatMul"]
        assert column(calls, "operation") == ["PjitFunction(step)", "forward"]
        assert column(calls, "type") == ["Compiled function", "Annotation"]
        assert column(calls, "occurrences") == [times, times]
        assert column(calls, "total_time") == [6 * times, 10 * times]
        assert column(calls, "avg_time") == [6, 10]
        assert column(calls, "total_self_time") == [6 * times, 4 * times]
