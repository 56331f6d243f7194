"""What devices can compute by precision, and move by memory."""

import math

import pytest
from traces import drawn_space

from tbprof.analysis.devices.peaks import Peaks, find_peaks, merge_peaks
from tbprof.analysis.hlo.hlo import Programs

GPU, TPU = "/device:GPU:0", "/device:TPU:0"
A100 = {
    "compute_cap_major": 8, "compute_cap_minor": 0, "core_count": 108, "clock_rate": 1_410_000,
    "memory_bandwidth": 1_555_000_000_000,
}  # fmt: skip
V6E = {
    "device_type_string": "TPU v6 Lite",
    "peak_teraflops_per_second": 918.0,
    "peak_hbm_bw_gigabytes_per_second": 1638.0,
    "peak_cmem_rd_bw_gigabytes_per_second": 0.0,
    "peak_vmem_rd_bw_gigabytes_per_second": 23296.0,
    "peak_vmem_wr_bw_gigabytes_per_second": 16128.0,
    "has_merged_vmem": 1,
}


def peaks(*planes: str, **plane_stats) -> Peaks:
    drawn = dict.fromkeys(planes, "line |a")
    space = drawn_space(drawn, plane_stats={planes[-1]: plane_stats})
    return find_peaks(space, Programs(space))


def gpu(major: int, minor: int, cores: int, clock_khz: int, vendor: str = "Nvidia") -> Peaks:
    return peaks(
        GPU,
        compute_cap_major=major,
        compute_cap_minor=minor,
        core_count=cores,
        clock_rate=clock_khz,
        device_vendor=vendor,
    )


@pytest.mark.parametrize(
    ("device", "teraflops"),
    [
        # V100 SXM2
        (gpu(7, 0, 80, 1_530_000), {"f64": 7.8, "f32": 15.7, "f16": 125}),
        # A100
        (gpu(8, 0, 108, 1_410_000), {"f64": 19.5, "f32": 19.5, "tf32": 156, "f16": 312, "s8": 624}),
        # H100 SXM, at the clock at which its matrix units are stated
        (gpu(9, 0, 132, 1_830_000), {"tf32": 494.7, "f16": 989.4, "f8": 1978.9, "s8": 1978.9}),
        # RTX PRO 6000 (Blackwell)
        (gpu(12, 0, 188, 2_617_000), {"f32": 126, "f16": 503.8, "f4": 2015}),
        # MI300X
        (
            gpu(9, 4, 304, 2_100_000, "AMD"),
            {"f64": 163.4, "f32": 163.4, "tf32": 653.7, "f16": 1307.4, "f8": 2614.9},
        ),
        # MI355X
        (
            gpu(9, 5, 256, 2_400_000, "AMD"),
            {"f64": 78.6, "f32": 157.3, "f16": 2516.6, "f8": 5033.2, "f4": 10066.3},
        ),
    ],
)
def test_peaks_by_precision_are_those_of_the_data_sheets(
    device: Peaks, teraflops: dict[str, float]
) -> None:
    for dtype, peak in teraflops.items():
        assert device.flop_peak(dtype) / 1e3 == pytest.approx(peak, rel=5e-3), dtype


def test_what_a_device_recorded_and_what_follows_from_tables_is_told_apart():
    tpu = peaks(TPU, **V6E)
    assert dict(zip(tpu.dtype, tpu.gflops.tolist(), strict=True)) == {"f16": 918e3, "s8": 1836e3}
    assert tpu.flop_source == [
        "recorded by the device",
        "2 × the peak that the device recorded (Cloud TPU documentation)",
    ]
    assert dict(zip(tpu.memory, tpu.gbytes.tolist(), strict=True)) == {
        "HBM": 1638, "VMEM read": 23296, "VMEM write": 16128,
    }  # fmt: skip
    assert tpu.has_merged_vmem
    assert not tpu.has_megacore
    a100 = peaks(GPU, **A100)
    assert a100.memory == ["HBM", "Shared memory"]
    assert a100.gbytes.tolist() == pytest.approx([1555, 108 * 1.41 * 128])
    assert a100.memory_source == [
        "recorded by the device",
        "108 multiprocessors × 1.41 GHz × 128 bytes per cycle",
    ]
    assert a100.flop_source[a100.dtype.index("f16")] == (
        "108 multiprocessors × 1.41 GHz × 2,048 operations per cycle (NVIDIA's white paper)"
    )


def test_a_row_is_held_against_the_peak_of_its_own_type():
    a100, h100, tpu = peaks(GPU, **A100), gpu(9, 0, 132, 1_830_000), peaks(TPU, **V6E)

    def roofs(device: Peaks, *, is_product: bool) -> list[str]:
        types = ("f64", "f32", "bf16", "f8e4m3fn", "s8", "f4e2m1fn", "s32", "")
        return [device.roof_of(dtype, is_product=is_product) for dtype in types]

    assert roofs(a100, is_product=True) == [
        "f64", "tf32", "f16", "f16", "s8", "f16", "f32", "f16",
    ]  # fmt: skip
    assert roofs(a100, is_product=False) == [
        "f64", "f32", "f16", "f32", "f32", "f32", "f32", "f16",
    ]  # fmt: skip
    assert roofs(h100, is_product=True)[3:6] == ["f8", "s8", "f8"]
    assert roofs(tpu, is_product=True) == ["f16"] * 4 + ["s8"] + ["f16"] * 3
    nothing = peaks("/host:CPU")
    assert set(roofs(nothing, is_product=True)) == {""}


def test_a_device_that_was_not_used_may_state_nothing():
    found = peaks("/device:GPU:0", "/device:GPU:1", **A100)
    assert found.flop_peak("f16") == pytest.approx(108 * 1.41 * 2048)


@pytest.mark.parametrize(
    "stats",
    [
        {"device_vendor": "AMD", "compute_cap_major": 9, "compute_cap_minor": 0, "core_count": 304,
         "clock_rate": 2_100_000},
        {**A100, "core_count": 0, "memory_bandwidth": 0},
        {**A100, "compute_cap_major": 99, "memory_bandwidth": 0},
        {"peak_teraflops_per_second": -1.0},
    ],
)  # fmt: skip
def test_peaks_that_nothing_tells_are_missing(stats: dict[str, object]):
    found = peaks(GPU, **stats)
    assert (found.dtype, found.memory) == ([], [])
    assert math.isnan(found.flop_peak("f16"))
    assert math.isnan(found.memory_peak("HBM"))
    assert math.isnan(found.most_gflops)


@pytest.mark.parametrize("odd", [math.inf, -math.inf, math.nan, 1e308, 5e-324])
def test_numbers_that_no_device_has_are_no_peaks(odd: float):
    """Where a peak is infinite, so is its share: no page could show either."""
    stated = peaks(TPU, **{**V6E, "peak_teraflops_per_second": odd, "memory_bandwidth": odd})
    assert (stated.dtype, stated.memory) == ([], ["HBM", "VMEM read", "VMEM write"])
    assert not peaks(TPU, memory_bandwidth=odd).memory
    assert not peaks(GPU, **{**A100, "clock_rate": odd}).dtype


def test_the_first_host_with_an_accelerator_is_typical():
    a100 = peaks(GPU, **A100)
    assert merge_peaks([peaks("/host:CPU"), a100, peaks(TPU, **V6E)]) is a100
    assert merge_peaks([peaks("/host:CPU")]).dtype == []
