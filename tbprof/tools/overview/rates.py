"""How much of the devices' compute and memory peaks a program uses."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.evidence import Evidence
from tbprof.analysis.bounds.op_work import above_peaks
from tbprof.analysis.ops.op_metrics import OpMetrics
from tbprof.analysis.vocabulary.op_names import RECOMPUTED
from tbprof.base.records import dataclass

_RECORDED = "that ops state"
_UNKNOWN = math.nan, math.nan, math.nan, math.nan, math.nan


@dataclass(frozen=True, slots=True)
class Rates:
    """Means over the devices' time from the first op to the last, idle time included.

    GFLOP/s and GB/s per device, and percentages of the peaks; NaN if unknown, with a reason.
    `model_flop_percent` excludes what programs compute again. `source` says which operations and
    bytes count: "that ops state". The notes say why a percentage is above 100, "" if it is not.
    """

    gflops: float
    flop_percent: float
    model_flop_percent: float
    gbytes: float
    bandwidth_percent: float
    flop_reason: str
    bandwidth_reason: str
    source: str
    flop_note: str = ""
    model_note: str = ""
    bandwidth_note: str = ""


def device_rates(evidence: Evidence) -> Rates:
    """The rates over all ops of GPUs, or of TensorCores."""
    ops, devices = evidence.ops, evidence.devices
    peaks = devices.peak_gflops, devices.peak_hbm_gbytes
    return _rates(ops, ops.is_device, ops.device_idle_ps, *peaks)


def sparse_core_rates(evidence: Evidence) -> Rates:
    """The rates over the ops of SparseCores beside TensorCores; traces do not state their peaks."""
    ops = evidence.ops
    return _rates(ops, ops.is_sparse_core, ops.sparse_core_idle_ps, math.nan, math.nan)


def _rates(
    ops: OpMetrics, is_here: NDArray[np.bool_], idle_ps: int, peak_gflops: float, peak: float
) -> Rates:
    device_ps = float(ops.self_ps[is_here].sum()) + idle_ps
    flops = float(ops.flops[is_here].sum())
    traffic = float(ops.hbm_bytes[is_here].sum())
    if device_ps <= 0:
        reason = "no op ran on a device"
        return Rates(*_UNKNOWN, reason, reason, _RECORDED)
    # Per picosecond to 10^9 per second.
    gflops = flops / device_ps * 1e3 if flops > 0 else math.nan
    gbytes = traffic / device_ps * 1e3 if traffic > 0 else math.nan
    flop_reason = "" if flops > 0 else "the trace does not state how much its ops compute"
    reason = "" if traffic > 0 else "the trace does not state how much memory its ops access"
    flop_percent = 100 * gflops / peak_gflops if peak_gflops > 0 else math.nan
    once = [row for row in np.flatnonzero(is_here).tolist() if RECOMPUTED not in ops.name[row]]
    model_flops = float(ops.model_flops[once].sum())
    has_model = flops > 0 and peak_gflops > 0
    model_percent = 100e3 * model_flops / device_ps / peak_gflops if has_model else math.nan
    bandwidth_percent = 100 * gbytes / peak if peak > 0 else math.nan
    unknown_peak = "the device's peak is not known"
    flop_note, model_note, bandwidth_note = above_peaks(
        np.array([flop_percent, model_percent, math.nan]) / 100,
        np.array([math.nan, math.nan, bandwidth_percent]) / 100,
        np.full(3, ops.is_computed[is_here].any()),
    )
    return Rates(
        gflops,
        flop_percent,
        model_percent,
        gbytes,
        bandwidth_percent,
        flop_reason or ("" if peak_gflops > 0 else unknown_peak),
        reason or ("" if peak > 0 else unknown_peak),
        _source(ops, is_here),
        flop_note,
        model_note,
        bandwidth_note,
    )


def _source(ops: OpMetrics, is_here: NDArray[np.bool_]) -> str:
    if not ops.is_computed[is_here].any():
        return _RECORDED
    uncosted = ops.uncosted_ps / max(int(ops.self_ps[is_here].sum()), 1)
    known = f"{_RECORDED}, or that follow from the shapes in their programs"
    if not uncosted:
        return known
    return f"{known} (unknown for {100 * uncosted:.2g} % of the ops' time, which counts as none)"
