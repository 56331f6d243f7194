"""The table of steps: how each step's time was spent, and statistics over complete steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.input.input_cause import InputCause
from tbprof.advice.outlier_causes import reasons
from tbprof.analysis.input.input_ops import InputOps
from tbprof.analysis.job.idle_shares import IdleShare
from tbprof.analysis.job.idle_time import IdleTime
from tbprof.analysis.job.job_steps import JobSteps
from tbprof.analysis.job.step_choice import chosen_means
from tbprof.analysis.job.step_means import StepMeans, used_rows
from tbprof.analysis.job.step_outliers import StepOutliers
from tbprof.analysis.vocabulary.phases import COMPUTE, Phase
from tbprof.tools.model.datatable import Column, Numbers, Table, boolean, number, text
from tbprof.tools.steps.step_properties import properties

TPU = "TPU"
HOST_TRANSFER = "hostTransferTimeMs"
HOST_CALLBACK = "hostCallbackTimeMs"

# (id, label, name in texts, phases). Source: ids and labels of the profile plugin.
PARTS: tuple[tuple[str, str, str, tuple[Phase, ...]], ...] = (
    ("deviceComputeTimeMs", "Device compute", "Device compute", COMPUTE),
    ("deviceToDeviceTimeMs", "Device to device", "Device to device", (Phase.DEVICE_TO_DEVICE,)),
    (HOST_TRANSFER, "Host transfer", "Host transfer", (Phase.HOST_TRANSFER,)),
    (HOST_CALLBACK, "Host callbacks", "Host callbacks", (Phase.HOST_CALLBACK,)),
    (
        "deviceCollectivesTimeMs",
        "Device collective communication",
        "Device collectives",
        (Phase.COLLECTIVES,),
    ),
    ("hostComputeTimeMs", "Host compute", "Host compute", (Phase.HOST_COMPUTE,)),
    ("kernelLaunchTimeMs", "Kernel launch", "Kernel launch", (Phase.KERNEL_LAUNCH,)),
    ("infeedTimeMs", "Input", "Input", (Phase.INPUT,)),
    ("outfeedTimeMs", "Output", "Output", (Phase.OUTPUT,)),
    ("compileTimeMs", "Compilation", "Compilation", (Phase.COMPILATION,)),
    ("otherTimeMs", "All others", "All others", (Phase.OTHER,)),
)
_PRECISIONS = (
    ("deviceCompute64Ms", "Device compute, 64 bit", Phase.COMPUTE_64),
    ("deviceCompute32Ms", "Device compute, 32 bit", Phase.COMPUTE_32),
    ("deviceComputeTf32Ms", "Device compute, TF32", Phase.COMPUTE_TF32),
    ("deviceCompute16Ms", "Device compute, 16 bit", Phase.COMPUTE_16),
    ("deviceCompute8Ms", "Device compute, 8 bit", Phase.COMPUTE_8),
    ("deviceComputeUnknownMs", "Device compute, precision unknown", Phase.COMPUTE_UNKNOWN),
)
# Parts that the profile plugin does not have.
_ADDED_PARTS = (HOST_TRANSFER, HOST_CALLBACK)
# Waits of a TensorCore, whatever on the host causes them.
_IDLE = (Phase.OTHER, Phase.COMPILATION, Phase.KERNEL_LAUNCH, Phase.HOST_COMPUTE)
_TPU_PARTS = (
    ("tcComputeTimeMs", "TensorCore compute (in ms)", (*COMPUTE, Phase.COLLECTIVES)),
    ("tcInfeedTimeMs", "TensorCore input (in ms)", (Phase.INPUT,)),
    ("tcOutfeedTimeMs", "TensorCore output (in ms)", (Phase.OUTPUT,)),
    ("tcIdleTimeMs", "TensorCore idle (in ms)", _IDLE),
    (HOST_TRANSFER, "Host transfer (in ms)", (Phase.HOST_TRANSFER,)),
    (HOST_CALLBACK, "Host callbacks (in ms)", (Phase.HOST_CALLBACK,)),
    ("tcCopyTimeMs", "TensorCore copies (in ms)", (Phase.DEVICE_TO_DEVICE,)),
)


def step_table(
    job: JobSteps,
    pipeline: InputOps | None = None,
    hardware: str = "",
    cause: InputCause | None = None,
    chosen: tuple[StepMeans, StepOutliers] | None = None,
    idle: Sequence[IdleShare] = (),
    idle_time: Sequence[IdleTime] = (),
) -> Table:
    """A row per step in order, including incomplete ones; times in ms.

    Steps without recorded work on any worker have no times.

    A step's time, and each part of it, is the mean over its workers, so parts add up to the step.
    TPU jobs have the columns of TensorCores first, which add up to it as well; `scv0` counts as
    input, output or idle there, and is not measured separately. Properties contain statistics over
    complete steps and over typical ones, and sentences about bottlenecks of the `chosen` steps (as
    from `chosen_means`, by default the typical ones), for which `pipeline`, the `cause` of waits
    for input, and what threads did in `idle` time (from `idle_time` by host) are useful.
    """
    means, outliers = chosen or chosen_means(job, {})
    is_tpu = TPU in job.worker_kind
    columns = _Columns(job, means, outliers, idle_time).table(is_tpu=is_tpu)
    return Table(
        columns,
        properties(
            job, (means, outliers), columns, pipeline, hardware, cause, is_tpu=is_tpu, idle=idle
        ),
    )


class _Columns:
    """The columns of a step table."""

    def __init__(
        self,
        job: JobSteps,
        means: StepMeans,
        outliers: StepOutliers,
        idle_time: Sequence[IdleTime],
    ) -> None:
        self._job = job
        self._means = means
        self._outliers = outliers
        self._reasons = reasons(job, means, outliers, idle_time)
        self._is_known = means.workers > 0
        self._step_ms = self._known(means.duration_ps)
        self._part_ms = [self._ms(*phases) for _, _, _, phases in PARTS]
        self._waiting = waiting_percent(job)

    def _ms(self, *phases: Phase) -> NDArray[np.float64]:
        return self._known(self._means.phase_ps[:, phases].sum(axis=1))

    def _known(self, time_ps: NDArray[np.float64]) -> NDArray[np.float64]:
        """[steps] in ms, NaN for steps that no worker has."""
        return np.where(self._is_known, time_ps, np.nan) / 1e9

    def table(self, *, is_tpu: bool) -> tuple[Column, ...]:
        """All columns, in order."""
        parts = self._parts(are_added=False)
        tooltip = Column("tooltip", "tooltip", "string", self._tooltips(), role="tooltip")
        step_time = number("stepTimeMs", "Step time", self._step_ms)
        if is_tpu:
            return (*self._of_tpu(tooltip), *parts, step_time, *self._added())
        labels = text("stepnum", "Step number", self._job.label)
        added = self._parts(are_added=True)
        return (labels, *parts, tooltip, step_time, *self._added(), *added)

    def _parts(self, *, are_added: bool) -> list[Column]:
        """The parts that the profile plugin has, or those that were added."""
        return [
            number(name, label, values)
            for (name, label, _, _), values in zip(PARTS, self._part_ms, strict=True)
            if (name in _ADDED_PARTS) == are_added
        ]

    def _of_tpu(self, tooltip: Column) -> tuple[Column, ...]:
        job = self._job
        compute, *others = [
            number(name, label, self._ms(*phases)) for name, label, phases in _TPU_PARTS
        ]
        unknown = np.full(len(job.label), np.nan)
        has_sparse_cores = "SparseCore" in job.worker_kind
        sparse = () if has_sparse_cores else (
            number("scv0ComputeTimeMs", "SparseCoreV0 compute (in ms)", unknown),
            number("scv0InfeedTimeMs", "SparseCoreV0 input (in ms)", unknown),
        )  # fmt: skip
        return (
            text("stepnum", "stepnum", job.label),
            compute,
            *sparse,
            *others,
            tooltip,
            number("infeedPercentAverage", "% step time waiting for input data", self._waiting[0]),
            _interval("infeedPercentMin", "Infeed percent min", self._waiting[1]),
            _interval("infeedPercentMax", "Infeed percent max", self._waiting[2]),
        )

    def _added(self) -> tuple[Column, ...]:
        """Columns that the profile plugin does not have."""
        job, means = self._job, self._means
        average, least, most = self._waiting
        label = "Step time waiting for input"
        return (
            *(number(name, label, self._ms(phase)) for name, label, phase in _PRECISIONS),
            number("startMs", "Start (ms)", job.first_start_ms()),
            number("slowestMs", "Slowest worker (ms)", self._known(means.slowest_ps)),
            *_slowest(job),
            number("waitingPercentAverage", f"{label} (%)", average),
            number("waitingPercentMin", f"{label}, least (%)", least),
            number("waitingPercentMax", f"{label}, most (%)", most),
            number("workers", "Workers", means.workers),
            number("gapMs", "Gap before the next step (ms)", self._known(means.gap_ps)),
            boolean("isTruncated", "Truncated", job.is_step_truncated),
            boolean("isUnrecorded", "Not recorded", job.is_step_unrecorded),
            text("bottleneck", "Largest part", self._largest()),
            boolean("isOutlier", "Outlier", self._outliers.is_outlier),
            text("outlierCause", "Why it takes longer", self._reasons),
        )

    def _largest(self) -> list[str]:
        """[steps] the label of the largest part, of equals the alphabetically later one."""
        by_label = sorted(range(len(PARTS)), key=lambda index: PARTS[index][1], reverse=True)
        parts = np.stack([self._part_ms[index] for index in by_label], axis=1)
        largest = zip(parts.argmax(axis=1).tolist(), self._is_known.tolist(), strict=True)
        return [PARTS[by_label[index]][1] if is_known else "" for index, is_known in largest]

    def _tooltips(self) -> list[str]:
        # Most jobs have none of these, and the same texts as in the profile plugin.
        shown = [
            (name, part.tolist())
            for (id_, _, name, _), part in zip(PARTS, self._part_ms, strict=True)
            if id_ not in _ADDED_PARTS or np.nan_to_num(part).any()
        ][::-1]
        names = [name for name, _ in shown]
        rows = zip(*(values for _, values in shown), strict=True)
        return [
            f"Step {label}, duration: {step_ms:.2f} ms"
            + "".join(f"\n-{name}: {value:.2f} ms" for name, value in zip(names, row, strict=True))
            if np.isfinite(step_ms)
            else f"Step {label}: not recorded"
            for label, step_ms, row in zip(
                self._job.label, self._step_ms.tolist(), rows, strict=True
            )
        ]


def _interval(id_: str, label: str, values: Numbers) -> Column:
    return Column(id_, label, "number", values, role="interval")


def _slowest(job: JobSteps) -> tuple[Column, Column]:
    """When each step began on its slowest worker, since its host's trace began, and its host.

    Of equals the first worker.
    """
    steps = len(job.label)
    rows = used_rows(job)
    order = rows[np.lexsort((-job.worker[rows], job.duration_ps[rows], job.step[rows]))]
    slowest = np.full(steps, -1, np.int64)
    slowest[job.step[order]] = order  # the last one of a step stays
    is_known = slowest >= 0
    start = np.full(steps, np.nan)
    start[is_known] = job.start_ps[slowest[is_known]] / 1e9
    hosts = [
        job.hosts[int(job.worker_host[job.worker[row]])] if row >= 0 else ""
        for row in slowest.tolist()
    ]
    return (
        number("slowestStartMs", "Start on the slowest worker (ms)", start),
        text("slowestHost", "Host of the slowest worker", hosts),
    )


def waiting_percent(
    job: JobSteps,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """(mean, least, most) [steps] over workers of the percentage of a step that waits for input.

    NaN for steps without a worker whose step has a length.
    """
    rows = used_rows(job)
    rows = rows[job.duration_ps[rows] > 0]
    step = job.step[rows]
    percent = 100.0 * job.phase_ps[rows, Phase.INPUT] / job.duration_ps[rows]
    steps = len(job.label)
    workers = np.bincount(step, minlength=steps)
    average = np.full(steps, np.nan)
    np.divide(np.bincount(step, percent, steps), workers, out=average, where=workers > 0)
    least = np.full(steps, np.nan)
    most = np.full(steps, np.nan)
    np.fmin.at(least, step, percent)
    np.fmax.at(most, step, percent)
    return average, least, most
