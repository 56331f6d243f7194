"""Findings on GPUs, just below, at and above their thresholds."""

import dataclasses

import pytest
from builders.evidence import (
    GPU,
    LADDER,
    NO_ENVIRONMENT,
    US,
    cause_of,
    claim,
    evidence,
    finding_of,
    gpus,
    host,
    kernels,
    severities,
)

from tbprof.advice.evidence import Evidence
from tbprof.advice.rules.findings import find_findings
from tbprof.analysis.devices.tensor_cores import CoreUse
from tbprof.analysis.vocabulary.phases import Phase


def test_small_kernels():
    def of(share: int) -> Evidence:
        return evidence({Phase.OTHER: 40}, gpus=gpus(
            window_ps=[500 * US, 500 * US], kernels=[40, 60], small_kernels=[10, 20],
            small_ps=[share * US, 0], small_gap_ps=[0, 40 * US], median_ps=[1 * US, 4 * US],
        ))  # fmt: skip

    assert severities("small_kernels", *map(of, (59, 60, 259, 260, 900))) == LADDER
    finding = claim(of(260), "small_kernels")
    assert finding.value == pytest.approx(30.0)
    assert finding.gain_ms == pytest.approx(0.04)
    assert "30 of 100 kernels" in finding.detail
    assert "the overall median is 4 µs" in finding.detail
    assert "Fuse small kernels" in finding.action
    compiled = dataclasses.replace(of(260), hosts=[host(is_xla=True)])
    assert "already compiles" in claim(compiled, "small_kernels").action
    assert finding.evidence.query == "f.avg_duration_us=%3C5"


def test_small_kernels_without_pauses_are_no_loss():
    busy = gpus(
        window_ps=[1000 * US], kernels=[100], small_kernels=[100], small_ps=[900 * US],
        small_gap_ps=[29 * US], median_ps=[1 * US],
    )  # fmt: skip
    assert severities("small_kernels", evidence(gpus=busy)) == ["low"]


def test_copies_to_devices_gain_what_steps_wait_for_at_most():
    def of(time: int, waiting: int = 0) -> Evidence:
        return evidence({Phase.INPUT: waiting}, gpus=gpus(
            window_ps=[1000 * US], kernels=[0], copies=[10, 1], copy_ps=[time * US, 10 * US],
            copy_bytes=[20_480, 7], pageable=[3, 0], copy_kind=["MemcpyHToD", "MemcpyDToH"],
        ))  # fmt: skip

    assert severities("copies_to_device", of(49), of(50), of(300)) == [None, "low", "low"]
    waited = claim(of(60, 40), "copies_to_device")
    assert (waited.severity, waited.gain_ms) == ("moderate", pytest.approx(0.04))
    assert waited.action.startswith("Copy ahead of the step")
    finding = claim(of(200, 30), "copies_to_device")
    assert (finding.severity, finding.gain_ms) == ("low", pytest.approx(0.03))
    assert "already overlaps" in finding.action
    assert finding.detail.startswith(
        "10 copies of 2 KiB on average, 0.102 GB/s, 200 µs in total. 3 of them"
    )
    assert finding.detail.endswith("Steps wait only briefly for that.")
    assert finding.action.endswith("many small ones. Copy from pinned memory.")
    assert claim(of(50), "copies_to_device").gain_ms == 0.0


@pytest.mark.parametrize(("copying_us", "is_reading"), [(999, True), (1000, False)])
def test_results_are_read_where_copies_take_little_of_the_time(copying_us: int, is_reading: bool):
    """Ten steps of 1 ms, of which 200 µs are output."""
    copies = gpus(
        window_ps=[10_000 * US], kernels=[0], copies=[20], copy_ps=[copying_us * US],
        copy_bytes=[80], pageable=[0], copy_kind=["MemcpyDToH"],
    )  # fmt: skip
    finding = claim(evidence({Phase.OUTPUT: 200}, gpus=copies, devices=GPU), "output_bound")
    assert finding.gain_ms == pytest.approx(0.2)
    assert ("reading results of devices" in finding.title) == is_reading
    assert ("20 copies of 4 bytes on average, 999 µs in total" in finding.detail) == is_reading
    assert ("MemcpyDToH" in finding.evidence.query) != is_reading
    assert ("category%3Aoutput" in finding.evidence.query) == is_reading


@pytest.mark.parametrize(("copy_bytes", "are_metrics"), [(2**20 - 1, True), (2**20, False)])
def test_large_results_are_no_losses(copy_bytes: int, are_metrics: bool):
    copies = gpus(
        window_ps=[10_000 * US], kernels=[0], copies=[10], copy_ps=[2000 * US],
        copy_bytes=[10 * copy_bytes], pageable=[0], copy_kind=["MemcpyDToH"],
    )  # fmt: skip
    action = claim(evidence({Phase.OUTPUT: 200}, gpus=copies, devices=GPU), "output_bound").action
    assert action.startswith("Fetch losses") == are_metrics
    assert action.startswith("Send less") != are_metrics


def test_copies_that_are_the_input_are_said_once():
    """Steps of 1 ms in which a GPU waits 300 µs for copies, and nothing else sends data."""
    copies = gpus(window_ps=[1000 * US], kernels=[0], copies=[10], copy_ps=[300 * US],
                  copy_bytes=[20_480], pageable=[0])  # fmt: skip
    given = evidence({Phase.INPUT: 300}, gpus=copies)
    sent = dataclasses.replace(given, input_cause=cause_of("transfer", ""))
    assert [finding.id for finding in find_findings(sent)] == ["input_bound"]
    assert "10 copies of 2 KiB on average" in claim(sent, "input_bound").detail
    # Where a loader is slow copies are a part of what steps wait for.
    other = claim(dataclasses.replace(given, input_cause=cause_of()), "copies_to_device")
    assert (other.severity, other.gain_ms) == ("low", 0.0)
    assert other.detail.endswith("Other findings cover 300 µs of that.")


def test_large_copies_from_pinned_memory_are_not_to_become_so():
    facts = gpus(window_ps=[100], kernels=[0], copies=[2], copy_ps=[50], copy_bytes=[2 * 2**18])
    action = claim(evidence(gpus=facts), "copies_to_device").action
    assert action.endswith("only what changes between steps.")


def test_copies_of_unknown_size():
    facts = gpus(window_ps=[100], kernels=[0], copies=[2], copy_ps=[50], copy_bytes=[-1])
    assert claim(evidence(gpus=facts), "copies_to_device").detail.startswith("2 copies, ")


def in_32_bit(share: int, low: int = 0) -> Evidence:
    """`share` permille of kernel time could use Tensor Cores; `low` permille is in 16 bit."""
    split = {Phase.COMPUTE_16: low, Phase.COMPUTE_32: 1000 - low}
    rows = kernels((True, False, share), (True, True, 0), (False, False, 1000 - share))
    return evidence(split, kernels=rows)


def test_ops_that_could_use_tensor_cores():
    ladder = map(in_32_bit, (99, 100, 399, 400, 900))
    assert severities("no_mixed_precision", *ladder) == LADDER
    finding = claim(in_32_bit(400), "no_mixed_precision")
    assert finding.gain_ms == pytest.approx(0.2)  # half of 40 % of 1 ms
    assert "0.0 % of device compute uses 16-bit or narrower types" in finding.detail


def test_programs_that_compute_in_16_bit_need_no_word_about_precision():
    assert finding_of(in_32_bit(400, low=99), "no_mixed_precision") is not None
    assert finding_of(in_32_bit(400, low=100), "no_mixed_precision") is None


def test_products_of_which_nothing_is_known_are_not_said_to_do_without_tensor_cores():
    unknown = kernels((True, CoreUse.UNKNOWN, 900), (False, CoreUse.NO, 100))
    given = evidence({Phase.COMPUTE_32: 1000}, kernels=unknown)
    assert finding_of(given, "no_mixed_precision") is None
    some = kernels((True, CoreUse.NO, 400), (True, CoreUse.UNKNOWN, 600))
    finding = claim(evidence({Phase.COMPUTE_32: 1000}, kernels=some), "no_mixed_precision")
    assert finding.value == pytest.approx(40)
    assert "For 60.0 % of kernel time, this is unknown." in finding.detail
    assert finding.evidence.query == "f.is_op_tensor_core_eligible=yes&f.tensor_core_use=%3Dno"


def test_the_cores_have_the_name_that_their_vendor_gives_them():
    for of_amd, name, other in (
        (True, "Matrix Cores", "Tensor Cores"), (False, "Tensor Cores", "Matrix Cores"),
    ):  # fmt: skip
        given = evidence(
            {Phase.COMPUTE_32: 1000}, kernels=kernels((True, CoreUse.NO, 9), of_amd=of_amd)
        )
        finding = claim(given, "no_mixed_precision")
        text = f"{finding.title} {finding.detail} {finding.action}"
        assert name in text
        assert other not in text


def convolutions(into: int, out: int, *, op: str = "model/conv", name: str = "conv") -> Evidence:
    """Kernels of 1,000 µs: `into` and `out` of them turn arrays, in as many launches."""
    rows = kernels((False, 0, into), (False, 0, out), (True, 1, 1000 - into - out))
    rows.name[:] = ["void cudnn::ops::nchwToNhwcKernel<float>", "nhwcToNchwKernel<float>", name]
    rows.op[:] = [op] * 3
    rows.occurrences[:2] = (into, out)
    return evidence(kernels=rows)


def test_convolutions_that_turn_their_images():
    ladder = [convolutions(*pair) for pair in ((19, 10), (20, 10), (99, 50), (100, 50), (300, 9))]
    assert severities("channels_last", *ladder) == LADDER
    finding = claim(ladder[3], "channels_last")
    assert finding.gain_ms == pytest.approx(0.15)
    assert "100 arrays to channels last" in finding.detail
    assert finding.evidence.tool == "kernel_stats"


def test_biases_before_batch_normalization():
    def of(bias: int) -> Evidence:
        facts = gpus(window_ps=[10**9], kernels=[9], kernel_ps=[1000 * US], median_ps=[1],
                     bias_ps=[bias * US])  # fmt: skip
        return evidence(gpus=facts)

    assert severities("bias_before_batch_norm", *map(of, (29, 30, 149, 150, 500))) == LADDER
    finding = claim(of(150), "bias_before_batch_norm")
    assert finding.gain_ms == pytest.approx(0.15)
    assert "use_bias=False" in finding.action


def test_programs_that_are_channels_last_are_not_told_to_be():
    assert finding_of(convolutions(50, 100), "channels_last") is None
    turned = "model/conv-0-TransposeNHWCToNCHW-LayoutOptimizer"
    assert finding_of(convolutions(100, 50, op=turned), "channels_last") is None
    assert finding_of(convolutions(100, 50, name="gemm"), "channels_last") is None  # no convolution


@pytest.mark.parametrize(
    ("capability", "told"),
    [("6.1 (Pascal)", False), ("7.0 (Volta)", True), ("9.4", True), ("", True)],
)
def test_gpus_without_tensor_cores_are_let_off(capability, told):
    environment = dataclasses.replace(
        NO_ENVIRONMENT, detail_name=["Compute capability"], detail_value=[capability]
    )
    given = dataclasses.replace(in_32_bit(400), environments=[environment])
    assert (finding_of(given, "no_mixed_precision") is not None) == told
