"""What devices can do at most."""

import math

import pytest
from traces import drawn_space

from tbprof.analysis.devices.devices import Devices, find_devices, merge_devices
from tbprof.analysis.hlo.hlo import Programs

GPU, TPU = "/device:GPU:0", "/device:TPU:0"


def devices(*planes: str, **plane_stats) -> Devices:
    drawn = dict.fromkeys(planes, "line |a")
    space = drawn_space(drawn, plane_stats={planes[0]: plane_stats})
    return find_devices(space, Programs(space))


@pytest.mark.parametrize(
    ("major", "minor", "cores", "clock_khz", "teraflops"),
    [
        (7, 0, 80, 1_530_000, 125.3),  # V100 SXM2: 125 TFLOPS of 16 bit on Tensor Cores
        (7, 5, 40, 1_590_000, 65.1),  # T4: 65
        (8, 0, 108, 1_410_000, 311.9),  # A100: 312
        (8, 9, 128, 2_520_000, 330.3),  # RTX 4090: 330
        (9, 0, 132, 1_830_000, 989.4),  # H100 SXM: 989
        (10, 0, 148, 1_850_000, 2243.0),  # B200: 2250
        (10, 3, 148, 1_850_000, 2243.0),  # of the same generation
        (6, 0, 56, 1_480_000, 21.2),  # P100: 21.2 of 16 bit
    ],
)
def test_gpu_peaks_are_those_of_the_data_sheets(major, minor, cores, clock_khz, teraflops):
    found = devices(
        GPU,
        compute_cap_major=major,
        compute_cap_minor=minor,
        core_count=cores,
        clock_rate=clock_khz,
        memory_bandwidth=898_048_000_000,
    )
    assert found.peak_gflops / 1e3 == pytest.approx(teraflops, rel=1e-3)
    assert found.peak_hbm_gbytes == pytest.approx(898.048)
    assert (found.gpus, found.tpus, found.type) == (1, 0, "GPU")


@pytest.mark.parametrize(
    ("minor", "cores", "clock_khz", "teraflops"),
    [(4, 304, 2_100_000, 1307.4), (5, 256, 2_400_000, 2516.6)],
)
def test_instincts_whose_generation_is_known_have_peaks(minor, cores, clock_khz, teraflops):
    found = devices(
        GPU, device_vendor="AMD", compute_cap_major=9, compute_cap_minor=minor, core_count=cores,
        clock_rate=clock_khz,
    )  # fmt: skip
    assert found.peak_gflops / 1e3 == pytest.approx(teraflops, rel=1e-4)


@pytest.mark.parametrize(
    "stats",
    [
        {"device_vendor": "AMD", "compute_cap_major": 9, "compute_cap_minor": 0, "core_count": 304,
         "clock_rate": 2_100_000},
        {"compute_cap_major": 99, "compute_cap_minor": 0, "core_count": 1, "clock_rate": 1},
        {"compute_cap_major": 7, "compute_cap_minor": 0},
        {"device_vendor": "Nvidia"},
    ],
)  # fmt: skip
def test_peaks_that_nothing_tells_are_unknown(stats):
    assert math.isnan(devices(GPU, **stats).peak_gflops)


def test_tpus_state_their_peaks():
    found = devices(
        TPU,
        "/device:TPU:0 SparseCore 0",
        device_type_string="TPU v6 Lite",
        peak_teraflops_per_second=918.0,
        peak_hbm_bw_gigabytes_per_second=1638.0,
    )
    assert found == Devices(0, 1, "TPU v6 Lite", 918_000.0, 1638.0, *["recorded by the device"] * 2)


@pytest.mark.parametrize(
    ("plane", "stats", "name"),
    [
        (GPU, {"gpu_device_name": "Tesla V100", "device_vendor": "Nvidia"}, "Tesla V100"),
        (GPU, {"device_vendor": "Nvidia"}, "Nvidia GPU"),
        (GPU, {}, "GPU"),
        (TPU, {}, "TPU"),
        ("/host:CPU", {}, "CPU"),
    ],
)
def test_the_type_is_the_best_name_there_is(plane, stats, name):
    assert devices(plane, **stats).type == name


def test_hosts_add_up_and_the_first_with_devices_is_typical():
    cpu = Devices(0, 0, "CPU", math.nan, math.nan)
    one, two = Devices(2, 0, "A", 1.0, 2.0, "a", "b"), Devices(1, 0, "B", 3.0, 4.0, "c", "d")
    assert merge_devices([cpu, one, two]) == Devices(3, 0, "A", 1.0, 2.0, "a", "b")
    assert merge_devices([cpu]).type == "CPU"
