"""Pod viewer: the steps of every worker side by side, and which worker makes the others wait."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.summaries import Summaries
from tbprof.analysis.devices.devices import Devices, merge_devices
from tbprof.analysis.job.coupling import Coupling
from tbprof.analysis.job.idle_time import IdleTime
from tbprof.analysis.job.job_steps import JobSteps, merge_steps
from tbprof.analysis.job.step_choice import chosen_means
from tbprof.analysis.job.step_outliers import StepOutliers
from tbprof.analysis.steps.steps import Steps
from tbprof.analysis.tpu.cores import Cores
from tbprof.analysis.tpu.exchanges import Exchanges
from tbprof.analysis.vocabulary.phases import COMPUTE, Phase
from tbprof.base.lazy import Later
from tbprof.base.texts import whole_number
from tbprof.base.values import median
from tbprof.tools.model.datatable import Table, boolean, number, text
from tbprof.tools.model.tool import Document
from tbprof.tools.pods.pod_exchanges import PodExchanges
from tbprof.tools.steps.diagnostics import diagnostics

if TYPE_CHECKING:
    from tbprof.analysis.job.stragglers import Lateness, Stragglers

# Only the page shows these.
_reasons = Later("tbprof.advice.outlier_causes.reasons")
_find_stragglers = Later("tbprof.analysis.job.stragglers.find_stragglers")

PARTS = ("steps", "devices", "coupling", "cores", "exchanges", "idle_time")

# (id, name, phases). Source: tools of the profile plugin, PodViewerDatabase.step_breakdown_events.
EVENTS: tuple[tuple[int, str, tuple[Phase, ...]], ...] = (
    (1, "Device compute", COMPUTE),
    (2, "Device to device", (Phase.DEVICE_TO_DEVICE,)),
    (10, "Host transfer", (Phase.HOST_TRANSFER,)),  # the profile plugin lacks these two
    (11, "Host callbacks", (Phase.HOST_CALLBACK,)),
    (3, "Device collective communication", (Phase.COLLECTIVES,)),
    (4, "Host compute", (Phase.HOST_COMPUTE,)),
    (5, "Kernel launch", (Phase.KERNEL_LAUNCH,)),
    (6, "Input", (Phase.INPUT,)),
    (7, "Output", (Phase.OUTPUT,)),
    (8, "Compilation", (Phase.COMPILATION,)),
    (9, "All others", (Phase.OTHER,)),
)
_MOST_STRAGGLERS = 100
# Step times are sent in whole units, at least this many per typical step: 0.1 % is visible.
_UNITS_PER_STEP = 2_000
# A unit is up to ten times smaller than this, and numbers in JavaScript are exact up to 2^53.
_MOST_UNITS = 2**53 / 10


def build(summaries: Summaries) -> Document:
    """The records of all steps and workers; with the parameter `step`, of one step exactly.

    Empty if nothing marks steps and no event could mark them.
    """
    job = merge_steps(summaries.hosts, summaries.take("steps", Steps))
    means, outliers = chosen_means(job, summaries.params)
    device = merge_devices(summaries.take("devices", Devices)).type
    couplings = summaries.take("coupling", Coupling)
    cores = summaries.take("cores", Cores)
    places = _places(job, cores)
    exchanges = summaries.take("exchanges", Exchanges)
    idle_time = summaries.take("idle_time", IdleTime)
    doubts = [
        f"{host}: {text}"
        for host, core in zip(job.hosts, cores, strict=True)
        for text in core.doubts
    ]
    event_ps = np.stack([job.phase_ps[:, list(phases)].sum(axis=1) for _, _, phases in EVENTS], 1)
    chosen = _chosen_step(summaries.params, len(job.label))
    return Document(
        rows=lambda: _records(
            job, outliers, event_ps, device, chosen, places, doubts, PodExchanges(job, exchanges)
        ),
        columns=lambda: (
            _overview(
                job,
                outliers,
                _reasons(job, means, outliers, idle_time),
                event_ps,
                device,
                _find_stragglers(job, means, couplings),
                places,
                doubts,
            )
            if chosen is None
            else _one(job, event_ps, chosen)
        ),
        table=lambda: _table(job, event_ps, chosen),
        is_empty=not job.label and not any(part.candidate_name for part in job.parts),
    )


def _chosen_step(params: Mapping[str, str], steps: int) -> int | None:
    """The requested step, counted from 0; None for all, also if there is no such step."""
    step = whole_number(params.get("step", ""), 9)
    return step if step is not None and step < steps else None


def _records(
    job: JobSteps,
    outliers: StepOutliers,
    event_ps: NDArray[np.int64],
    device: str,
    chosen: int | None,
    places: NDArray[np.int64],
    doubts: Sequence[str],
    exchanges: PodExchanges,
) -> dict[str, object]:
    """The JSON that scripts for the profile plugin read."""
    known = diagnostics(job, outliers)
    bottleneck = _bottlenecks(event_ps)
    event_us = (event_ps / 1e6).tolist()
    total_us = (job.duration_ps / 1e6).tolist()
    ids = [str(id_) for id_, _, _ in EVENTS]
    steps: list[dict[str, object]] = []
    first = np.searchsorted(job.step, np.arange(len(job.label) + 1)).tolist()
    # Scripts only expect numbers: 0 if unknown, as in the profile plugin.
    chip, core, _ = np.maximum(places, 0).T.tolist()
    core_id = list(map(str, job.core_id))
    replicas = {
        core_id[worker]: replica
        for worker, replica in enumerate(places[:, 2].tolist())
        if replica >= 0
    }
    worker_of, number = job.worker.tolist(), job.number.tolist()
    is_unrecorded, is_truncated = job.is_unrecorded.tolist(), job.is_truncated.tolist()
    for step in range(len(job.label)) if chosen is None else [chosen]:
        cores = {}
        for row in range(first[step], first[step + 1]):
            if is_unrecorded[row]:
                continue  # zeros would be read as a device that did nothing
            worker = worker_of[row]
            cores[core_id[worker]] = {
                "hostName": job.hosts[job.worker_host[worker]],
                "chipId": chip[worker],
                "nodeId": core[worker],
                "stepNum": number[step],
                "totalDurationUs": total_us[row],
                "bottleneck": EVENTS[bottleneck[row]][1],
                "stepBreakdownUs": dict(zip(ids, event_us[row], strict=True)),
                "workerName": job.worker_name[worker],
                "isTruncated": is_truncated[row],
            }
        steps.append(
            {
                "stepNum": number[step],
                "stepName": job.label[step],
                "podStatsPerCore": cores,
                "channelDb": exchanges.channels(step),
                "coreIdToReplicaIdMap": replicas,
                "allReduceOpDb": exchanges.collectives(step),
            }
        )
    return {
        "podStatsSequence": {"podStatsMap": steps},
        "diagnostics": {
            "info": [message for severity, message in known if severity == "INFO"],
            "warnings": [
                *(message for severity, message in known if severity == "WARNING"),
                *doubts,
            ],
            "errors": [],
        },
        "stepBreakdownEvents": [{"id": id_, "name": name} for id_, name, _ in EVENTS],
        "deviceType": device,
    }


def _places(job: JobSteps, cores: Sequence[Cores]) -> NDArray[np.int64]:
    """[workers, 3] chip in the pod, core on the chip, replica; -1 where the trace does not say."""
    known = {
        (host, name): (part.chip[index], part.core[index], part.replica[index])
        for host, part in enumerate(cores)
        for index, name in enumerate(part.name)
    }
    workers = zip(job.worker_host.tolist(), job.worker_name, strict=True)
    return np.array([known.get(worker, (-1, -1, -1)) for worker in workers], np.int64).reshape(
        -1, 3
    )


def _bottlenecks(event_ps: NDArray[np.int64]) -> list[int]:
    """[n] the event that took longest; of equals the one with the larger name, as in xprof."""
    by_name = sorted(range(len(EVENTS)), key=lambda index: EVENTS[index][1], reverse=True)
    best = event_ps[:, by_name].argmax(axis=1) if event_ps.size else np.empty(0, np.int64)
    return [by_name[index] for index in best.tolist()]


def _overview(
    job: JobSteps,
    outliers: StepOutliers,
    causes: Sequence[str],
    event_ps: NDArray[np.int64],
    device: str,
    stragglers: Stragglers,
    places: NDArray[np.int64],
    doubts: Sequence[str],
) -> dict[str, object]:
    """Every cell in few bytes: total times in whole units, events in thousandths of the total.

    Cells are by worker, then step, and -1 if a worker has no such step, or if its work in it was
    not recorded (`unrecorded` [cells]). Neighbours in time are similar, which compresses well.
    """
    workers, steps = len(job.worker_name), len(job.label)
    known = np.flatnonzero(~job.is_unrecorded)
    typical_us = float(median(job.duration_ps[known])) / 1e6 if known.size else 1.0
    unit_us = max(typical_us, 1e-6) / _UNITS_PER_STEP
    longest_us = float(job.duration_ps.max(initial=0)) / 1e6
    unit_us = 10.0 ** np.floor(np.log10(max(unit_us, longest_us / _MOST_UNITS)))
    cell = job.worker * steps + job.step

    def cells(values: NDArray[np.int64]) -> NDArray[np.int64]:
        out = np.full(workers * steps, -1, np.int64)
        out[cell[known]] = values[known]
        return out

    total = np.rint(job.duration_ps / (1e6 * unit_us)).astype(np.int64)
    whole = np.maximum(job.duration_ps, 1)[:, None]
    share = np.rint(event_ps * 1000.0 / whole).astype(np.int64)
    return {
        "steps": {
            "number": job.number,
            "label": job.label,
            "start_ms": job.first_start_ms(),
            "is_truncated": job.is_step_truncated,
            "is_outlier": outliers.is_outlier,
            "outlier_cause": causes,
        },
        "workers": {
            "core_id": job.core_id,
            "name": job.worker_name,
            "kind": job.worker_kind,
            "host": job.worker_host,
            "chip_id": [number if number >= 0 else None for number in places[:, 0].tolist()],
            "node_id": [number if number >= 0 else None for number in places[:, 1].tolist()],
            "replica_id": [number if number >= 0 else None for number in places[:, 2].tolist()],
        },
        "hosts": list(job.hosts),
        "events": [{"id": id_, "name": name} for id_, name, _ in EVENTS],
        "unit_us": float(unit_us),
        "total": cells(total),
        "unrecorded": np.sort(cell[job.is_unrecorded]),
        "share_permille": {
            str(id_): cells(share[:, index])
            for index, (id_, _, _) in enumerate(EVENTS)
            if event_ps[:, index].any()
        },
        "stragglers": [_lateness(worker) for worker in stragglers.late[:_MOST_STRAGGLERS]],
        "compared": None if stragglers.compared is None else _lateness(stragglers.compared),
        "no_straggler": stragglers.reason,
        "device_type": device,
        "step_source": job.source,
        "step_marker": job.marker,
        "step_note": job.note,
        "is_inferred": job.is_inferred,
        "diagnostics": [
            {"severity": severity, "message": message}
            for severity, message in (
                *diagnostics(job, outliers),
                *(("WARNING", text) for text in doubts),
            )
        ],
        "markers": _markers(job),
    }


def _lateness(lateness: Lateness) -> dict[str, object]:
    """How much later one worker is than another, in µs; unknown values are None."""
    return {
        "worker": lateness.worker,
        "device": lateness.device if lateness.device >= 0 else None,
        "reference": lateness.reference,
        "reference_device": lateness.reference_device if lateness.reference_device >= 0 else None,
        "late_us": lateness.late_ps / 1e6,
        "low_us": lateness.low_ps / 1e6 if math.isfinite(lateness.low_ps) else None,
        "high_us": lateness.high_ps / 1e6 if math.isfinite(lateness.high_ps) else None,
        "wait_us": lateness.wait_ps / 1e6,
        "share": lateness.share,
        "event": next((id_ for id_, _, phases in EVENTS if lateness.phase in phases), None),
        "last_steps": lateness.last_steps,
        "steps": lateness.steps,
    }


def _markers(job: JobSteps) -> dict[str, object]:
    """The events that could mark steps, over all hosts, with the first host's counts."""
    part = next((part for part in job.parts if part.candidate_name), None)
    if part is None:
        return {"name": [], "line": [], "count": [], "median_ms": []}
    return {
        "name": part.candidate_name,
        "line": part.candidate_line,
        "count": part.candidate_count,
        "median_ms": part.candidate_median_ps / 1e9,
    }


def _one(job: JobSteps, event_ps: NDArray[np.int64], step: int) -> dict[str, object]:
    """One step exactly, in µs, of the workers whose work in it was recorded."""
    rows = np.flatnonzero((job.step == step) & ~job.is_unrecorded)
    bottleneck = _bottlenecks(event_ps[rows])
    return {
        "step": step,
        "worker": job.worker[rows],
        "start_ms": job.start_ps[rows] / 1e9,
        "total_us": job.duration_ps[rows] / 1e6,
        "own_us": job.own_ps[rows] / 1e6,
        "event_us": {
            str(id_): event_ps[rows, index] / 1e6 for index, (id_, _, _) in enumerate(EVENTS)
        },
        "bottleneck": [EVENTS[phase][0] for phase in bottleneck],
        "is_truncated": job.is_truncated[rows],
    }


def _table(job: JobSteps, event_ps: NDArray[np.int64], chosen: int | None) -> Table:
    rows = np.arange(job.step.size)
    if chosen is not None:
        rows = np.flatnonzero(job.step == chosen)
    worker, step = job.worker[rows], job.step[rows]
    bottleneck = [EVENTS[phase][1] for phase in _bottlenecks(event_ps[rows])]
    is_known = ~job.is_unrecorded[rows]

    def microseconds(values: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.where(is_known, values[rows] / 1e6, np.nan)

    return Table(
        (
            number("step_number", "Step number", job.number[step]),
            text("step_name", "Step", [job.label[row] for row in step.tolist()]),
            text("host", "Host", [job.hosts[job.worker_host[row]] for row in worker.tolist()]),
            number("core_id", "Core id", job.core_id[worker]),
            text("worker", "Worker", [job.worker_name[row] for row in worker.tolist()]),
            number("total_us", "Step time (μs)", microseconds(job.duration_ps)),
            *(
                number(f"event_{id_}_us", f"{name} (μs)", microseconds(event_ps[:, index]))
                for index, (id_, name, _) in enumerate(EVENTS)
            ),
            text(
                "bottleneck",
                "Bottleneck",
                [name if known else "" for name, known in zip(bottleneck, is_known, strict=True)],
            ),
            boolean("is_truncated", "Truncated", job.is_truncated[rows]),
            boolean("is_unrecorded", "Not recorded", job.is_unrecorded[rows]),
        )
    )
