"""The overview's key figures, each with how it is computed, or why it is unknown."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.evidence import Evidence
from tbprof.advice.rules.host.findings_host import eager_shares
from tbprof.advice.sentences import milliseconds, owner, percent, size
from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.job.step_means import sample_deviation, sparse_core_means
from tbprof.analysis.vocabulary.input_names import fetches_batch
from tbprof.analysis.vocabulary.op_names import DATASET
from tbprof.analysis.vocabulary.phases import COMPUTE, WORK, Phase
from tbprof.base.records import dataclass
from tbprof.base.values import mean_known, median, sum_of
from tbprof.tools.model.datatable import Table, number, text
from tbprof.tools.overview.overview_ops import duty_cycle_percent
from tbprof.tools.overview.rates import device_rates, sparse_core_rates

_NO_STEPS = "no steps were found in the trace"
_UNRECORDED = "the work of the steps was not recorded"
_EAGER_IN_JAX = "JAX also compiles ops that run one by one, so events do not show which these are"
_PRECISIONS = (
    ("64", "64 bit", Phase.COMPUTE_64),
    ("32", "32 bit", Phase.COMPUTE_32),
    ("tf32", "TF32", Phase.COMPUTE_TF32),
    ("16", "16 bit", Phase.COMPUTE_16),
    ("8", "8 bit", Phase.COMPUTE_8),
    ("unknown", "unknown precision", Phase.COMPUTE_UNKNOWN),
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure; `value` is NaN if unknown, for the `reason`; `note` is a remark on it."""

    id: str
    label: str
    value: float
    unit: str
    explanation: str
    reason: str = ""
    note: str = ""

    @property
    def text(self) -> str:
        """The formatted value, "" if there is none."""
        if not math.isfinite(self.value):
            return ""
        if self.unit == "%":
            return percent(self.value)
        if self.unit == "ms":
            return milliseconds(self.value)
        if self.unit == "bytes":
            return size(self.value)
        if self.unit == "count":
            return f"{self.value:,.0f}"
        return f"{self.value:,.4g} {self.unit}"


def figures_table(evidence: Evidence) -> Table:
    """One row per figure: its value, null with a reason where it was not measured."""
    figures = [
        *_steps(evidence),
        *_device_time(evidence),
        *_host_time(evidence),
        *_memory(evidence),
        *_utilization(evidence),
        *_sparse_cores(evidence),
        *_eager(evidence),
    ]
    return Table(
        (
            text("id", "Id", [figure.id for figure in figures]),
            text("label", "Figure", [figure.label for figure in figures]),
            number("value", "Value", [figure.value for figure in figures]),
            text("unit", "Unit", [figure.unit for figure in figures]),
            text("text", "Text", [figure.text for figure in figures]),
            text(
                "reason",
                "Why not known",
                [
                    "" if math.isfinite(figure.value) else _reason(evidence, figure)
                    for figure in figures
                ],
            ),
            text("explanation", "How it is computed", [figure.explanation for figure in figures]),
            text("note", "Note", [figure.note for figure in figures]),
        )
    )


def _reason(evidence: Evidence, figure: Figure) -> str:
    is_unrecorded = figure.reason == _NO_STEPS and bool(evidence.job.label)
    return _UNRECORDED if is_unrecorded else figure.reason


def _steps(evidence: Evidence) -> Iterator[Figure]:
    means, whole = evidence.means, evidence.means.whole
    step_ms, whole_ms = (steps.duration_ps[steps.is_counted] / 1e9 for steps in (means, whole))
    slow = whole.steps - means.steps
    kind = "typical steps" if slow else "fully recorded steps"
    over = f"over the {kind}; a step is the mean over its workers"
    lasts = "A step lasts from its start to the start of the next one"
    few = _NO_STEPS if not step_ms.size else "a single step has no deviation"
    deviation = sample_deviation(step_ms)
    for name, label, value, how, reason in (
        ("average", "Average step time", _reduced(step_ms, np.mean), "Mean", _NO_STEPS),
        ("median", "Median step time", _reduced(step_ms, median), "Median", _NO_STEPS),
        ("deviation", "Standard deviation", deviation, "Sample standard deviation", few),
        ("minimum", "Shortest step", _reduced(step_ms, np.min), "Least", _NO_STEPS),
        ("maximum", "Longest step", _reduced(step_ms, np.max), "Most", _NO_STEPS),
    ):
        yield Figure(f"step_time_{name}", label, value, "ms", f"{how} {over}. {lasts}.", reason)
    yield Figure(
        "step_time_average_all",
        "Average of all steps",
        _reduced(whole_ms, np.mean),
        "ms",
        f"Mean over all fully recorded steps, including those that take much longer. {lasts}.",
        _NO_STEPS,
    )
    truncated = len(evidence.job.label) - whole.steps
    left_out = f" {truncated} not fully recorded are left out." if truncated else ""
    left_out += f" {slow} that take much longer than the others are left out." if slow else ""
    yield Figure(
        "steps", "Steps", float(means.steps), "count", f"Steps that the averages include.{left_out}"
    )
    yield Figure(
        "slow_steps",
        "Steps that take much longer",
        float(evidence.outliers.step.size) if whole.steps else math.nan,
        "count",
        "Steps more than five median absolute deviations above the median.",
        _NO_STEPS,
    )
    yield Figure(
        "waiting_for_input",
        "Waiting for input",
        evidence.share(Phase.INPUT),
        "%",
        "Time of all counted steps in which a worker waits for input and nothing else runs on it, "
        "divided by the time of all counted steps.",
        _NO_STEPS,
    )


def _reduced(values: NDArray[np.float64], reduce: Callable[[NDArray[np.float64]], Any]) -> float:
    return float(reduce(values)) if values.size else math.nan


def _device_time(evidence: Evidence) -> Iterator[Figure]:
    has_device = evidence.platform != "CPU"
    no_device = "the program ran on the CPU alone"
    busy = evidence.share(*WORK) if has_device else math.nan
    yield Figure(
        "device_busy",
        "Device busy",
        busy,
        "%",
        "Time of all counted steps in which a device computes, communicates or copies on its side, "
        "divided by the time of all counted steps; mean over devices.",
        _NO_STEPS if has_device else no_device,
    )
    compute = evidence.means.mean_ms(*COMPUTE)
    reason = no_device if not has_device else _NO_STEPS
    if has_device and evidence.means.steps:
        reason = "no computation on a device was recorded within a step"
    for name, label, phase in _PRECISIONS:
        part = evidence.means.mean_ms(phase)
        yield Figure(
            f"device_compute_{name}",
            f"Device compute in {label}",
            100 * part / compute if compute > 0 else math.nan,
            "%",
            "Share of the devices' compute time in the counted steps, by the types in the "
            "shapes, names and instructions of kernels and ops.",
            reason,
        )


def _host_time(evidence: Evidence) -> Iterator[Figure]:
    """What the host did, if there is no device; otherwise empty."""
    if evidence.platform != "CPU":
        return
    yield Figure(
        "host_compute",
        "Host compute",
        evidence.share(Phase.HOST_COMPUTE),
        "%",
        "Time of all counted steps in which an op computes on some thread of the host, divided by "
        "the time of all counted steps.",
        _NO_STEPS,
    )
    has_python = any(host.has_python for host in evidence.hosts)
    in_python = sum_of(share.ms for share in evidence.idle if share.kind == Activity.PYTHON)
    yield Figure(
        "python",
        "Python",
        100 * in_python / evidence.step_ms if has_python and evidence.means.steps else math.nan,
        "%",
        "Time of the average step in which no op computes and the thread that drives the program "
        "runs Python functions, divided by the step.",
        _NO_STEPS if has_python else "no Python functions were recorded",
    )
    ops = evidence.ops
    computes = [
        is_host and type_ != DATASET and not fetches_batch(type_)
        for is_host, type_ in zip(ops.is_host.tolist(), ops.type, strict=True)
    ]
    own_ps = float(ops.self_ps[np.array(computes, bool)].sum())
    yield Figure(
        "threads_at_work",
        "Threads at work",
        own_ps / ops.host_window_ps if ops.host_window_ps > 0 else math.nan,
        "",
        "Self time of the ops on all threads of the host, without iterators of tf.data and fetches "
        "of a batch, divided by the time from the first op to the last: the threads that compute "
        "at the same time, on average.",
        "no op ran on the host",
    )


def _memory(evidence: Evidence) -> Iterator[Figure]:
    memory = evidence.memory
    reason = "the trace has no memory events of a device"
    peak = capacity = math.nan
    where = ""
    if memory.is_device.any():
        fullest = int(np.where(memory.is_device, memory.peak_bytes, -1).argmax())
        peak, capacity = float(memory.peak_bytes[fullest]), float(memory.capacity_bytes[fullest])
        where = f" ({owner(memory.name[fullest])})"
    elif (evidence.gpus.memory_bytes > 0).any():
        capacity = float(evidence.gpus.memory_bytes.max())
    if evidence.platform == "CPU":
        reason = "the program ran on the CPU alone"
    yield Figure(
        "peak_memory",
        "Peak device memory",
        peak,
        "bytes",
        f"Most bytes in use at once, reserved stacks included, on the fullest device{where}.",
        reason,
    )
    yield Figure(
        "memory_capacity",
        "Memory capacity",
        capacity if capacity > 0 else math.nan,
        "bytes",
        f"Used and free bytes of that device's allocator{where}; else the device's memory.",
        reason,
    )


def _utilization(evidence: Evidence) -> Iterator[Figure]:
    environments = evidence.environments
    no_counter = "the recorder wrote no such counter"
    not_a_tpu = "known for TPUs only" if evidence.platform != "TPU" else ""
    yield Figure(
        "mxu_utilization",
        "Matrix unit utilization",
        mean_known([environment.mxu_pct for environment in environments]),
        "%",
        "The recorder's counter matrix_unit_utilization_percent; mean over hosts.",
        not_a_tpu or no_counter,
    )
    yield Figure(
        "hbm_utilization",
        "Memory bandwidth counter",
        mean_known([environment.hbm_pct for environment in environments]),
        "%",
        "The recorder's counter hbm_utilization_percent; mean over hosts.",
        not_a_tpu or no_counter,
    )
    rates = device_rates(evidence)
    time = "divided by the devices' time from the first op to the last, idle time included"
    devices = evidence.devices
    peak = f"of the device type, {devices.type}"
    yield Figure(
        "flop_rate",
        "FLOP rate per device",
        rates.gflops,
        "GFLOP/s",
        f"Floating point operations {rates.source}, {time}.",
        rates.flop_reason,
    )
    yield Figure(
        "flop_utilization",
        "FLOP utilization",
        rates.flop_percent,
        "%",
        f"FLOP rate divided by the peak rate {_sourced(peak, devices.flop_source)}.",
        rates.flop_reason,
        rates.flop_note,
    )
    yield Figure(
        "model_flop_utilization",
        "Model FLOPs utilization",
        rates.model_flop_percent,
        "%",
        f"Operations of the model {rates.source}, without those that jax.checkpoint computes "
        f"again, {time}, divided by the same peak rate.",
        rates.flop_reason,
        rates.model_note,
    )
    yield Figure(
        "memory_bandwidth",
        "Memory bandwidth per device",
        rates.gbytes,
        "GB/s",
        f"Bytes of main memory {rates.source}, {time}.",
        rates.bandwidth_reason,
    )
    yield Figure(
        "bandwidth_utilization",
        "Memory bandwidth utilization",
        rates.bandwidth_percent,
        "%",
        f"Memory bandwidth divided by the peak bandwidth {_sourced(peak, devices.hbm_source)}.",
        rates.bandwidth_reason,
        rates.bandwidth_note,
    )
    yield Figure(
        "duty_cycle",
        "Duty cycle",
        duty_cycle_percent(evidence),
        "%",
        "Time in which a chip runs ops other than infeed, outfeed, host transfers and waits for "
        "asynchronous ops, divided by the time from its first op or program to its last; chips "
        "and hosts add up.",
        not_a_tpu or "no op ran on a TPU",
    )


def _sourced(peak: str, source: str) -> str:
    return f"{peak} ({source})" if source else peak


def _sparse_cores(evidence: Evidence) -> Iterator[Figure]:
    """The figures of SparseCores beside TensorCores; empty without these."""
    means = sparse_core_means(evidence.job)
    if means is None and not evidence.ops.is_sparse_core.any():
        return
    rates = sparse_core_rates(evidence)
    time = "divided by the SparseCores' time from the first op to the last, idle time included"
    yield Figure(
        "sc_step_time",
        "SparseCore step time",
        means.mean_ms() if means is not None else math.nan,
        "ms",
        "Mean over the fully recorded steps; a step is the mean over its SparseCores.",
        _NO_STEPS,
    )
    yield Figure(
        "sc_busy",
        "SparseCores busy",
        means.share(*WORK) if means is not None else math.nan,
        "%",
        "Time of these steps in which a SparseCore computes, communicates or copies, divided by "
        "their time; mean over SparseCores.",
        _NO_STEPS,
    )
    yield Figure(
        "sc_flop_rate",
        "FLOP rate per SparseCore",
        rates.gflops,
        "GFLOP/s",
        f"Floating point operations {rates.source}, {time}.",
        rates.flop_reason,
    )
    yield Figure(
        "sc_memory_bandwidth",
        "Memory bandwidth per SparseCore",
        rates.gbytes,
        "GB/s",
        f"Bytes of main memory {rates.source}, {time}.",
        rates.bandwidth_reason,
    )


def _eager(evidence: Evidence) -> Iterator[Figure]:
    is_jax = evidence.is_jax or (evidence.inputs is not None and evidence.inputs.has_jax)
    for name, value in zip(("host", "device"), eager_shares(evidence), strict=True):
        yield Figure(
            f"{name}_op_eager",
            f"Eager ops on the {name}",
            math.nan if is_jax and not value > 0 else value,
            "%",
            f"Self time of ops on the {name} that ran one by one rather than in a function, "
            f"divided by that of all ops on the {name}.",
            _EAGER_IN_JAX if is_jax else f"no op ran on the {name}",
        )
