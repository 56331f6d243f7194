"""Rates of devices: what they count, and that they say so."""

import math

import numpy as np
import pytest
from builders.evidence import evidence

from tbprof.analysis.devices.devices import Devices
from tbprof.analysis.ops.op_metrics import DEVICE, OpGatherer, OpMetrics
from tbprof.base.records import replace
from tbprof.tools.overview.rates import device_rates

COMPUTED = "that ops state, or that follow from the shapes in their programs"


def worked(*, is_computed: bool, uncosted_ps: int = 0) -> OpMetrics:
    """An op that computes 8,000 operations and moves 4,000 bytes in 4 µs, and 4 µs of idle time."""
    gatherer = OpGatherer(idle_ps={DEVICE: 4_000_000}, uncosted_ps=uncosted_ps)
    sums = {"self_ps": 4_000_000, "flops": 8_000, "hbm_bytes": 4_000}
    columns = {name: np.array([value], np.int64) for name, value in sums.items()}
    gatherer.add(DEVICE, ["a"], [""], columns, {"is_computed": np.array([is_computed])})
    return gatherer.table()


@pytest.mark.parametrize(
    ("uncosted_ps", "is_computed", "says"),
    [
        (0, False, "that ops state"),
        (0, True, COMPUTED),
        (1_000_000, True, f"{COMPUTED} (unknown for 25 % of the ops' time, which counts as none)"),
    ],
)
def test_rates_say_what_they_count(uncosted_ps, is_computed, says):
    given = evidence()
    ops = worked(is_computed=is_computed, uncosted_ps=uncosted_ps)
    rates = device_rates(replace(given, ops=ops, devices=Devices(1, 0, "GPU", 100.0, math.nan)))
    assert (rates.gflops, rates.flop_percent, rates.gbytes) == (1.0, 1.0, 0.5)
    assert math.isnan(rates.bandwidth_percent)
    assert (rates.source, rates.bandwidth_reason) == (says, "the device's peak is not known")


CACHES, PEAK = "caches served some of them", "the peak is implausible"


@pytest.mark.parametrize(("is_computed", "why"), [(True, CACHES), (False, PEAK)])
def test_more_than_a_peak_is_shown_with_the_reason(is_computed, why):
    """Caches serve a part of what shapes say; no recorder counts bytes that the memory has not."""
    ops, devices = worked(is_computed=is_computed), Devices(1, 0, "GPU", 0.8, 0.2)
    found = device_rates(replace(evidence(), ops=ops, devices=devices))
    assert (found.flop_percent, found.bandwidth_percent) == (125.0, 250.0)
    assert (found.flop_reason, found.bandwidth_reason) == ("", "")
    assert (found.flop_note, found.model_note) == (
        f"more operations than the peak allows: {PEAK}",
        "",
    )
    assert found.bandwidth_note == f"more bytes than the memory can move: {why}"
    at_peak = replace(evidence(), ops=ops, devices=Devices(1, 0, "GPU", 1.0, 0.5))
    rates = device_rates(at_peak)
    assert (rates.flop_percent, rates.bandwidth_percent) == (100.0, 100.0)
    assert (rates.flop_note, rates.bandwidth_note) == ("", "")


def test_the_utilization_by_the_model_is_without_what_is_computed_again():
    """8,000 operations in 8 µs, a quarter of them in the backward pass for a second time."""
    gatherer = OpGatherer(idle_ps={DEVICE: 4_000_000})
    names = ["jit(f)/dot_general", "jit(f)/checkpoint/rematted_computation/dot_general"]
    flops = np.array([6_000, 2_000], np.int64)
    own_ps = np.array([3_000_000, 1_000_000], np.int64)
    gatherer.add(
        DEVICE, names, ["", ""], {"self_ps": own_ps, "flops": flops, "model_flops": flops}, {}
    )
    devices = Devices(1, 0, "GPU", 100.0, math.nan)
    rates = device_rates(replace(evidence(), ops=gatherer.table(), devices=devices))
    assert (rates.flop_percent, rates.model_flop_percent) == (1.0, 0.75)
