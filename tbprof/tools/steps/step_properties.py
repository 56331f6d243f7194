"""The properties of the step table: statistics over steps, and sentences about bottlenecks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.bottlenecks import (
    BOTH,
    DEVICE,
    HOST,
    MODERATELY_INPUT_BOUND,
    Bottleneck,
    Bottlenecks,
    find_bottlenecks,
)
from tbprof.advice.input.input_cause import TRY_APART, InputCause
from tbprof.advice.input.input_waits import waits_in_trace
from tbprof.analysis.input.input_ops import InputOps
from tbprof.analysis.job.idle_shares import IdleShare
from tbprof.analysis.job.job_steps import JobSteps
from tbprof.analysis.job.step_choice import ALL_STEPS
from tbprof.analysis.job.step_means import (
    StepMeans,
    sample_deviation,
    sparse_core_means,
    used_rows,
)
from tbprof.analysis.job.step_outliers import StepOutliers
from tbprof.analysis.vocabulary.phases import COMPUTE, WORK, Phase
from tbprof.base.values import median, unique
from tbprof.tools.model.datatable import Column

# Property and column. Source: names of the profile plugin.
_PARTS = (
    ("device_compute_time_ms", "deviceComputeTimeMs"),
    ("device_to_device_time_ms", "deviceToDeviceTimeMs"),
    ("device_collectives_time_ms", "deviceCollectivesTimeMs"),
    ("infeed_time_ms", "infeedTimeMs"),
    ("outfeed_time_ms", "outfeedTimeMs"),
    ("host_compute_time_ms", "hostComputeTimeMs"),
    ("kernel_launch_time_ms", "kernelLaunchTimeMs"),
    ("compile_time_ms", "compileTimeMs"),
    ("other_time_ms", "otherTimeMs"),
)
_TPU_PARTS = (
    ("tc_compute_ms_average", "tcComputeTimeMs"),
    ("tc_infeed_ms_average", "tcInfeedTimeMs"),
    ("tc_outfeed_ms_average", "tcOutfeedTimeMs"),
    ("tc_idle_ms_average", "tcIdleTimeMs"),
    ("host_transfer_ms_average", "hostTransferTimeMs"),
    ("host_callback_ms_average", "hostCallbackTimeMs"),
    ("tc_copy_ms_average", "tcCopyTimeMs"),
)
_ACTIVE = ("tc_active_ms_average", "active_steptime_ms_average")
_NOT_MEASURED = ("scv0_compute_ms_average", "scv0_infeed_ms_average")
# Waits of a SparseCore; infeed and outfeed have their own figures.
_IDLE = tuple(phase for phase in Phase if phase not in (*WORK, Phase.INPUT, Phase.OUTPUT))
_HARDWARE = {"TPU": "TPU", "SparseCore": "TPU", "GPU": "GPU", "CPU": "CPU_ONLY"}

# A smaller percentage reads 0.0.
_SMALL = 0.05


def properties(
    job: JobSteps,
    chosen: tuple[StepMeans, StepOutliers],
    columns: Sequence[Column],
    pipeline: InputOps | None,
    hardware: str,
    cause: InputCause | None = None,
    *,
    is_tpu: bool,
    idle: Sequence[IdleShare] = (),
) -> dict[str, str]:
    """The properties of a step table, all texts; "" for undefined figures.

    Those of the profile plugin cover all complete steps, `typical_…` the typical ones; sentences
    and `waiting_percent` cover the `chosen` steps.
    """
    means, outliers = chosen
    counted = means.is_whole
    values = {column.id: column.values for column in columns}

    def of(column: str) -> NDArray[np.float64]:
        return np.asarray(values[column], np.float64)[counted]

    typical_ms = np.asarray(values["stepTimeMs"], np.float64)[counted & ~outliers.is_outlier]
    digits = 2 if is_tpu else 1
    is_transfer = cause is not None and cause.kind == "transfer"
    bottlenecks = find_bottlenecks(
        means, pipeline, is_tpu=is_tpu, idle=idle, is_transfer=is_transfer
    )
    graph_ids = [column.id for column in columns]
    end = graph_ids.index("infeedPercentAverage" if is_tpu else "stepTimeMs")
    out = {
        "hardware_type": hardware or hardware_type(job),
        **_statistics("steptime_ms", of("stepTimeMs"), digits),
        "steptime_ms_median": _figure(_median(of("stepTimeMs")), digits),
        **_statistics("typical_steptime_ms", typical_ms, digits),
        "typical_steptime_ms_median": _figure(_median(typical_ms), digits),
        **_statistics("infeed_percent", of("waitingPercentAverage"), 1),
        "step_time_graph_column_ids": ",".join(graph_ids[:end]),
        "waiting_percent": _not_zero(means.share(Phase.INPUT)),
        "step_source": job.source,
        "step_marker": job.marker,
        "step_note": job.note,
        "is_inferred": _truth(job.is_inferred),
        "worker_count": str(int(unique(job.worker[used_rows(job)]).size)),
        "steps_total": str(len(job.label)),
        "steps_averaged": str(int(counted.sum())),
        "steps_typical": str(typical_ms.size),
        "steps_chosen": "typical" if means.steps == typical_ms.size else ALL_STEPS,
        **_statements(bottlenecks),
        "summary_nextstep": next_step(bottlenecks.input, cause),
        "longest_wait": longest_wait(job, means, cause),
        **(cause.properties() if cause is not None else {}),
    }
    # Over workers as well as steps: the range of all waiting.
    out["infeed_percent_minimum"] = _figure(_least(of("waitingPercentMin")), 1)
    out["infeed_percent_maximum"] = _figure(-_least(-of("waitingPercentMax")), 1)
    for name, column in _PARTS:
        part = _statistics("", of(column), 1)
        out[f"{name}_avg"] = part["_average"]
        out[f"{name}_sdv"] = part["_standard_deviation"]
    if is_tpu:
        out.update({name: _statistics("", of(id_), 2)["_average"] for name, id_ in _TPU_PARTS})
        out.update(dict.fromkeys(_NOT_MEASURED, ""))
        # Copies between devices and memories leave the compute units idle.
        active = means.whole.mean_ms(*COMPUTE, Phase.COLLECTIVES)
        out.update(dict.fromkeys(_ACTIVE, _figure(active, 2)))
        out.update(_of_sparse_cores(job))
    return out


def longest_wait(job: JobSteps, means: StepMeans, cause: InputCause | None) -> str:
    """Where in the trace viewer the longest wait for input is, "" if steps do not wait."""
    waits = means.mean_ms(Phase.INPUT) > 0
    return waits_in_trace(job, means, cause).query if waits else ""


def _of_sparse_cores(job: JobSteps) -> dict[str, str]:
    """The profile plugin's properties of SparseCores; {} without any beside TensorCores."""
    means = sparse_core_means(job)
    if means is None:
        return {}
    return {
        "sc_compute_ms_average": _figure(means.mean_ms(*WORK), 2),
        "sc_infeed_ms_average": _figure(means.mean_ms(Phase.INPUT), 2),
        "sc_outfeed_ms_average": _figure(means.mean_ms(Phase.OUTPUT), 2),
        "sc_idle_ms_average": _figure(means.mean_ms(*_IDLE), 2),
        "sc_step_time_ms_average": _figure(means.mean_ms(), 2),
    }


def hardware_type(job: JobSteps) -> str:
    """The kind of the job's workers, in the profile plugin's spelling."""
    for kind, name in _HARDWARE.items():
        if kind in job.worker_kind:
            return name
    return "UNKNOWN_HARDWARE"


def next_step(bottleneck: Bottleneck, cause: InputCause | None) -> str:
    """Where to look next, given the cause of waits for input."""
    if bottleneck.level == DEVICE:
        return ""
    if bottleneck.level not in (HOST, BOTH):
        return (
            "Mark the steps of the program (see the overview page), or choose an event that "
            "repeats once per step; the page then shows how long they wait for input."
        )
    if not bottleneck.percent >= MODERATELY_INPUT_BOUND:
        return TRY_APART  # no wait was recorded that would have a cause
    known = f"{cause.sentence} {cause.action}" if cause is not None else ""
    return f"{TRY_APART} {known}" if bottleneck.is_guess and TRY_APART not in known else known


def slowest_op(pipeline: InputOps) -> int:
    """The op that threads worked longest for, -1 if none worked."""
    work = pipeline.work_ps
    return int(work.argmax()) if work.size and work.max() > 0 else -1


def _statements(bottlenecks: Bottlenecks) -> Mapping[str, str]:
    named = {
        "device_collectives": bottlenecks.collectives,
        "kernel_launch": bottlenecks.kernel_launch,
        "all_other": bottlenecks.other,
    }
    return {
        "input_conclusion": bottlenecks.input.statement,
        "input_bottleneck": bottlenecks.input.level,
        "input_is_guess": _truth(bottlenecks.input.is_guess),
        "output_conclusion": bottlenecks.output.statement,
        "output_bottleneck": bottlenecks.output.level,
        "precision_statement": bottlenecks.precision,
        **{f"{name}_statement": bottleneck.statement for name, bottleneck in named.items()},
        **{f"{name}_bottleneck": bottleneck.level for name, bottleneck in named.items()},
    }


def _statistics(name: str, values: NDArray[np.float64], digits: int) -> dict[str, str]:
    """Average, sample deviation, minimum and maximum of known values; "" if undefined."""
    known = values[np.isfinite(values)]
    deviation = sample_deviation(known)
    return {
        f"{name}_average": _figure(float(known.mean()) if known.size else float("nan"), digits),
        f"{name}_standard_deviation": _figure(deviation, digits),
        f"{name}_minimum": _figure(_least(known), digits),
        f"{name}_maximum": _figure(-_least(-known), digits),
    }


def _median(values: NDArray[np.float64]) -> float:
    known = values[np.isfinite(values)]
    return float(median(known)) if known.size else float("nan")


def _least(values: NDArray[np.float64]) -> float:
    known = values[np.isfinite(values)]
    return float(known.min()) if known.size else float("nan")


def _figure(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if np.isfinite(value) else ""


def _not_zero(value: float) -> str:
    """A percentage with one digit after the point, or more if a small one would read 0."""
    return f"{value:.1g}" if 0 < value < _SMALL else _figure(value, 1)


def _truth(value: bool) -> str:
    return "true" if value else "false"
