"""Rates of instructions against peaks, counted by hand."""

import numpy as np
import pytest
from builders.program_ops import peaks, program_ops

from tbprof.analysis.bounds.op_work import above_roof, rates_of, sum_work, work_of
from tbprof.analysis.bounds.wasted_time import wasted_ps

# 100 GFLOP/s of 16 bit, 10 of 32 bit, 50 GB/s: 1 µs is 100,000 and 10,000 operations, 50,000 bytes.
PEAKS = peaks({"f16": 100, "f32": 10}, {"HBM": 50})


def test_a_row_is_held_against_the_peak_of_its_type_and_bound_by_the_larger_share():
    ops = program_ops(
        {"name": "a", "us": 2, "flops": 100_000, "bytes_accessed": 20_000, "dtype": "bf16"},
        {"name": "b", "us": 2, "flops": 10_000, "bytes_accessed": 20_000, "dtype": "f32"},
        {"name": "c", "us": 2, "flops": 10_000, "bytes_accessed": 80_000, "dtype": "f32"},
        {"name": "d", "us": 2, "flops": 0, "bytes_accessed": 0},
        {"name": "e", "us": 2, "flops": -1, "bytes_accessed": -1},
        {"name": "f", "us": 2, "flops": 10_000, "bytes_accessed": 50_000},  # equal shares
    )
    work = work_of(ops, PEAKS)
    rates = rates_of(work, PEAKS)
    assert work.roof == ["f16", "f32", "f32", "f32", "f32", "f32"]
    assert rates.gflops.tolist() == pytest.approx([50, 5, 5, 0, np.nan, 5], nan_ok=True)
    assert rates.gbytes.tolist() == pytest.approx([10, 10, 40, 0, np.nan, 25], nan_ok=True)
    assert rates.flop_share.tolist() == pytest.approx([0.5, 0.5, 0.5, 0, np.nan, 0.5], nan_ok=True)
    assert rates.memory_share["HBM"].tolist() == pytest.approx(
        [0.2, 0.2, 0.8, 0, np.nan, 0.5], nan_ok=True
    )
    assert rates.bound_by == ["Compute", "Compute", "HBM", "Unknown", "Unknown", "Compute"]
    assert rates.efficiency.tolist() == pytest.approx([0.5, 0.5, 0.8, 0, np.nan, 0.5], nan_ok=True)
    assert rates.intensity.tolist() == pytest.approx(
        [5, 0.5, 0.125, np.nan, np.nan, 0.2], nan_ok=True
    )
    # The roof at an intensity: the peak, or the bandwidth times the intensity.
    assert rates.roof_gflops.tolist() == pytest.approx(
        [100, 10, 6.25, np.nan, np.nan, 10], nan_ok=True
    )


def test_what_is_above_the_roof_has_a_reason_and_no_roof():
    ops = program_ops(
        {"name": "cached", "us": 1, "flops": 1_000, "bytes_accessed": 75_000},
        {"name": "recorded", "us": 1, "flops": 1_000, "bytes_accessed": 75_000,
         "is_computed": False},
        {"name": "fast", "us": 1, "flops": 20_000, "bytes_accessed": 1_000},
        {"name": "usual", "us": 1, "flops": 5_000, "bytes_accessed": 1_000},
    )  # fmt: skip
    rates = rates_of(work_of(ops, PEAKS), PEAKS)
    assert rates.efficiency.tolist() == pytest.approx([1.5, 1.5, 2, 0.5])
    assert np.isnan(rates.roof_gflops[:3]).all()
    assert above_roof(rates, ops.is_computed) == [
        "more bytes than the memory can move: caches served some of them",
        "more bytes than the memory can move: the peak is implausible",
        "more operations than the peak allows: the peak is implausible",
        "",
    ]


def test_tpus_record_operations_as_if_all_types_had_the_rate_of_16_bits():
    rows = [
        {"name": "recorded", "us": 1, "flops": 50_000, "dtype": "s8", "is_computed": False},
        {"name": "computed", "us": 1, "flops": 50_000, "dtype": "s8", "is_product": True},
    ]
    device = peaks({"f16": 100, "s8": 200})
    work = work_of(program_ops(*rows, device_type="TPU"), device)
    assert work.roof == ["f16", "s8"]
    assert rates_of(work, device).flop_share.tolist() == pytest.approx([0.5, 0.25])


def test_memories_on_the_chip_bound_what_uses_them_most():
    device = peaks({"f16": 100}, {"HBM": 50, "VMEM read": 100, "VMEM write": 100})
    row = {
        "name": "a", "us": 1, "flops": 10_000, "bytes_accessed": 90_000, "hbm_bytes": 5_000,
        "vmem_read_bytes": 80_000, "vmem_written_bytes": 5_000, "dtype": "bf16",
    }  # fmt: skip
    rates = rates_of(work_of(program_ops(row), device), device)
    assert rates.bound_by == ["VMEM Read"]
    assert rates.efficiency.tolist() == pytest.approx([0.8])
    assert rates.bounding_intensity.tolist() == pytest.approx([0.125])
    assert rates.roof_gflops.tolist() == pytest.approx([12.5])


def test_sums_leave_out_loops_and_what_is_not_known():
    ops = program_ops(
        {"name": "while", "us": 9, "flops": 1_000, "bytes_accessed": 1_000, "has_inner": True},
        {"name": "body", "us": 4, "flops": 1_000, "bytes_accessed": 500},
        {"name": "call", "us": 5, "flops": -1, "bytes_accessed": 250, "hbm_bytes": -1},
        {"name": "other", "us": 5, "flops": -1, "bytes_accessed": -1},
    )
    work = work_of(ops, PEAKS)
    groups = np.array([0, 0, 0, 1])
    total = sum_work(work, groups, np.array([20e6, 5e6]), ~ops.has_inner, ops.self_ps)
    assert total.flops.tolist() == pytest.approx([1_000, np.nan], nan_ok=True)
    assert total.bytes.tolist() == pytest.approx([750, np.nan], nan_ok=True)
    assert total.by_memory["HBM"].tolist() == pytest.approx([500, np.nan], nan_ok=True)
    # 1,000 operations of 32 bit take 0.1 µs at the peak.
    assert rates_of(total, PEAKS).flop_share.tolist() == pytest.approx([0.005, np.nan], nan_ok=True)


def test_without_peaks_nothing_is_bound():
    ops = program_ops({"name": "a", "us": 1, "flops": 1_000, "bytes_accessed": 10})
    rates = rates_of(work_of(ops, peaks()), peaks())
    assert rates.bound_by == ["Unknown"]
    assert np.isnan(rates.efficiency).all()
    assert rates.gflops.tolist() == [1]


@pytest.mark.parametrize(
    ("result", "operands", "opcode", "bound"),
    [
        ("f32[8]{0}", "f32[8]{0:S(5)}", "copy-done", "Host link"),
        ("f32[8]{0:S(5)}", "f32[8]{0}", "copy-start", "Host link"),
        ("f32[8]{0:S(1)}", "f32[8]{0}", "copy-done", "HBM"),
        ("f32[8]{0}", "f32[8]{0:S(5)}", "fusion", "HBM"),
        ("f32[8]{0}", "f32[8]{0}", "all-reduce", "Interconnect"),
        ("f32[8]{0}", "f32[8]{0}", "all-gather-done", "Interconnect"),
        ("f32[8]{0}", "f32[8]{0}", "reduce", "HBM"),
    ],
)
def test_copies_and_exchanges_are_bound_by_what_connects_devices(result, operands, opcode, bound):
    row = {
        "name": "a", "us": 2, "flops": 0, "bytes_accessed": 20_000, "opcode": opcode,
        "result": result, "operands": operands,
    }  # fmt: skip
    ops = program_ops(row)
    rates = rates_of(work_of(ops, PEAKS), PEAKS)
    is_linked = bound != "HBM"
    assert rates.bound_by == [bound]
    assert rates.memory_share["HBM"].tolist() == pytest.approx([0.2])
    assert rates.efficiency.tolist() == pytest.approx([np.nan if is_linked else 0.2], nan_ok=True)
    wasted = wasted_ps(ops, rates).tolist()
    assert wasted == [-1 if is_linked else pytest.approx(1_600_000)]


@pytest.mark.parametrize(
    ("copied", "exchanged", "bound"),
    [
        (5, 0, "HBM"),
        (6, 0, "Host link"),
        (2, 3, "HBM"),
        (2, 4, "Interconnect"),
        (4, 3, "Host link"),
    ],
)
def test_what_mostly_copies_or_exchanges_is_bound_by_the_link_that_takes_most(
    copied: int, exchanged: int, bound: str
):
    ops = program_ops(
        {"name": "copy-done", "us": copied, "opcode": "copy-done", "operands": "f32[8]{0:S(5)}"},
        {"name": "all-reduce", "us": exchanged, "opcode": "all-reduce"},
        {"name": "add", "us": 4, "bytes_accessed": 90_000},
    )
    groups = np.array([0, 0, 0])
    total = sum_work(work_of(ops, PEAKS), groups, np.array([10e6]), ~ops.has_inner, ops.self_ps)
    assert rates_of(total, PEAKS).bound_by == [bound]
