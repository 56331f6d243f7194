"""The overview's table of the ops that take longest, with shares over all ops."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.evidence import Evidence
from tbprof.advice.rules.devices.findings_gpu import low_precision_share
from tbprof.advice.rules.host.findings_host import eager_shares
from tbprof.analysis.devices.tensor_cores import core_name
from tbprof.analysis.gpu.kernels import Kernels
from tbprof.analysis.ops.op_metrics import OpMetrics
from tbprof.analysis.vocabulary.op_families import family_name, stems
from tbprof.analysis.vocabulary.phases import COMPUTE, Phase
from tbprof.base.values import mean_known, ratio
from tbprof.tools.model.datatable import PERCENT, Column, Table, boolean, number, text
from tbprof.tools.overview.rates import device_rates

_TOP = 10
# An op below this share of its side's self time says little by itself; ops are shown in families by
# default if this much of the time is in such ops.
_SMALL = 0.01
_MOST_SMALL = 0.25
UNKNOWN = "unknown"


def top_ops_table(evidence: Evidence) -> Table:
    """The ten ops with the most self time on devices, or on the host if there is no device.

    Shares are of all ops of that side, without idle time; ties are in the order of names.
    """
    ops = evidence.ops
    has_device, of_side = _shown_side(ops)
    least_ps = np.sort(ops.self_ps[of_side])[-_TOP:][:1]
    may = of_side[ops.self_ps[of_side] >= least_ps].tolist()
    ranked = sorted(may, key=lambda row: (-int(ops.self_ps[row]), ops.name[row]))
    rows = np.array(ranked[:_TOP], np.int64)
    own = ops.self_ps[rows].astype(np.float64)
    whole = float(ops.self_ps[of_side].sum())
    flops = ops.flops[rows].astype(np.float64)
    rate = np.where(flops > 0, ratio(flops, ops.total_ps[rows] / 1e3), np.nan)
    label = "GFLOPs/Sec"
    if evidence.platform == "TPU":
        label = "Bf16 Normalized Flop Rate(GFLOPs/Sec)"
    columns: list[Column] = [
        number("selfTimePercent", "Time (%)", ratio(own, whole), PERCENT),
        number(
            "cumulativeTimePercent", "Cumulative time (%)", ratio(np.cumsum(own), whole), PERCENT
        ),
        text("category", "Category", [ops.type[row] or "Unknown" for row in rows]),
        text("operation", "Operation", [ops.name[row] for row in rows]),
        number("flopRate", label, rate),
    ]
    if evidence.platform == "GPU":
        could, uses = _tensor_cores(evidence.kernels, [ops.name[row] for row in rows])
        unit = core_name(is_amd=bool(evidence.kernels.is_amd.any())).replace(" Cores", "Core")
        columns.append(boolean("tcEligibility", f"{unit} eligibility", could))
        columns.append(boolean("tcUtilization", f"Op is using {unit}", uses))
    properties = {
        "top_ops_side": "device" if has_device else "host",
        **_common(evidence),
        **_of_platform(evidence),
    }
    return Table(tuple(columns), properties)


def _shown_side(ops: OpMetrics) -> tuple[bool, NDArray[np.intp]]:
    """(whether it is the devices', rows of ops) of the side that is ranked."""
    has_device = bool(ops.is_device.any())
    return has_device, np.flatnonzero(ops.is_device if has_device else ops.is_host)


def top_families_table(evidence: Evidence) -> Table:
    """The ten families of these ops with the most self time; empty if no family has two ops.

    Ops of a family only differ in numbers, such as those of replicas and layers. `usual` says
    whether families are shown by default.
    """
    ops = evidence.ops
    _, of_side = _shown_side(ops)
    keys = stems([ops.name[row] for row in of_side])
    index_of = {key: index for index, key in enumerate(dict.fromkeys(keys))}
    family = np.array([index_of[key] for key in keys], np.int64)
    own = ops.self_ps[of_side].astype(np.float64)
    whole = float(own.sum())
    if len(index_of) == of_side.size or whole <= 0:
        return Table(())
    time = np.bincount(family, own)
    top = np.argsort(-time, kind="stable")[:_TOP]
    members = [of_side[family == index] for index in top]
    # The type of a family is that of its longest op.
    longest = [rows[ops.self_ps[rows].argmax()] for rows in members]
    is_small = own < _SMALL * whole
    return Table(
        (
            number("selfTimePercent", "Time (%)", time[top] / whole, PERCENT),
            number(
                "cumulativeTimePercent",
                "Cumulative time (%)",
                np.cumsum(time[top]) / whole,
                PERCENT,
            ),
            text("category", "Category", [ops.type[row] or "Unknown" for row in longest]),
            text(
                "operation",
                "Operations",
                [family_name([ops.name[row] for row in rows]) for rows in members],
            ),
            number("ops", "Ops", [float(rows.size) for rows in members]),
        ),
        {"usual": "yes" if own[is_small].sum() > _MOST_SMALL * whole else "no"},
    )


def _tensor_cores(
    kernels: Kernels, names: list[str]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(could use, uses) [n] Tensor Cores, of ops by name: if any of their kernels could or does."""
    could = {op for op, is_eligible in zip(kernels.op, kernels.is_eligible, strict=True)
             if is_eligible}  # fmt: skip
    uses = {op for op, used in zip(kernels.op, kernels.uses_tensor_cores, strict=True) if used}
    return (
        np.array([name in could for name in names], bool),
        np.array([name in uses for name in names], bool),
    )


def percent_text(value: float) -> str:
    """A percentage for properties; "unknown" if it is not known."""
    return f"{value:.1f}%" if math.isfinite(value) and value >= 0 else UNKNOWN


def _common(evidence: Evidence) -> dict[str, str]:
    ops = evidence.ops
    executions = float(ops.occurrences[ops.is_device | ops.is_host].sum())
    on_device = float(ops.occurrences[ops.is_device].sum())
    share = 100 * on_device / executions if executions > 0 else math.nan
    host_eager, device_eager = eager_shares(evidence)
    levels = [
        value
        for environment in evidence.environments
        for name, value in zip(environment.option_name, environment.option_value, strict=True)
        if name == "Host tracer level"
    ]
    return {
        "host_trace_level": max(levels, default=""),
        "host_tf_op_percent": percent_text(100 - share),
        "device_tf_op_percent": percent_text(share),
        "host_op_time_eager_percent": percent_text(host_eager),
        "device_op_time_eager_percent": percent_text(device_eager),
        "remark_text": "",
        "remark_color": "",
        "mxu_utilization_percent": percent_text(mean_known(
            [environment.mxu_pct for environment in evidence.environments])),
        "hbm_utilization_percent": percent_text(mean_known(
            [environment.hbm_pct for environment in evidence.environments])),
    }  # fmt: skip


def _of_platform(evidence: Evidence) -> dict[str, str]:
    if evidence.platform == "GPU":
        low, high = precision_shares(evidence)
        return {
            "device_compute_16bit_percent": percent_text(low),
            "device_compute_32bit_percent": percent_text(high),
        }
    if evidence.platform == "CPU":
        return {}
    rates = device_rates(evidence)
    duty = percent_text(duty_cycle_percent(evidence))
    properties = {
        "device_duty_cycle_percent": duty,
        "device_duty_cycle_high_confidence_percent": duty,
        "device_idle_time_percent": percent_text(_device_idle(evidence.ops)),
        "host_idle_time_percent": UNKNOWN,
        "flop_rate_utilization_relative_to_roofline": percent_text(rates.flop_percent),
        "memory_bw_utilization_relative_to_hw_limit": percent_text(rates.bandwidth_percent),
    }
    return properties | _active(evidence)


def _active(evidence: Evidence) -> dict[str, str]:
    if not evidence.means.steps:
        return {}
    active = f"{evidence.means.whole.mean_ms(*COMPUTE, Phase.COLLECTIVES):.2f}"
    return {"tc_active_ms_average": active, "active_steptime_ms_average": active}


def precision_shares(evidence: Evidence) -> tuple[float, float]:
    """(16 bit or less, 32 bit or more) percentages of compute of known precision; NaN if none.

    Over all complete steps, as in the profile plugin.
    """
    low = low_precision_share(evidence.means.whole)
    return low, 100 - low


def duty_cycle_percent(evidence: Evidence) -> float:
    """The percentage of the chips' time in which they worked; NaN without TPUs."""
    busy = sum(environment.busy_ps for environment in evidence.environments)
    idle = sum(environment.idle_ps for environment in evidence.environments)
    return 100 * busy / (busy + idle) if busy + idle > 0 else math.nan


def _device_idle(ops: OpMetrics) -> float:
    own = float(ops.self_ps[ops.is_device].sum())
    whole = own + ops.device_idle_ps
    return 100 * ops.device_idle_ps / whole if whole > 0 else math.nan
