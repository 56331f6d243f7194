"""Overview: how long steps take, on what, what holds them up, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tbprof.advice.evidence import Evidence
from tbprof.advice.gathering import PARTS as PARTS
from tbprof.advice.gathering import gather
from tbprof.advice.rules.findings import find_findings
from tbprof.advice.summaries import Summaries
from tbprof.analysis.job.idle_shares import callbacks_as_runtime
from tbprof.tools.model.datatable import Table, number, text
from tbprof.tools.overview.idle_table import idle_table
from tbprof.tools.overview.overview_advice import findings_table, recommendation_table
from tbprof.tools.overview.overview_environment import environment_table, run_table
from tbprof.tools.overview.overview_figures import figures_table
from tbprof.tools.overview.overview_ops import top_families_table, top_ops_table
from tbprof.tools.steps.breakdown import breakdown_table, markers_table
from tbprof.tools.steps.diagnostics import diagnostics_table
from tbprof.tools.steps.step_table import step_table

_TABLES = 14
_HARDWARE = {"GPU": "GPU", "TPU": "TPU", "CPU": "CPU_ONLY"}
_NO_DEVICE_TRACE = (
    "No device trace was collected: the program's device is known, but not what ran on it."
)


def build(summaries: Summaries) -> Sequence[Table]:
    """The tables of the page, all empty if nothing was recorded.

    0 the ops that take longest, 1 steps, 2 run environment as scripts know it, 3 recommendations as
    scripts know them, 4 latency of inference requests, 5 nothing, 6 diagnostics; 7 findings,
    8 figures, 9 what the average step is made of, 10 environment, 11 events that can mark steps,
    12 what threads did in the time of the average step that nothing covers, 13 the ops that take
    longest, those that differ in numbers alone as one.
    """
    evidence = gather(summaries)
    job = evidence.job
    if not (job.label or evidence.ops.name or evidence.gpus.name or len(markers_table(job))):
        return [Table(())] * _TABLES
    errors = [text for environment in evidence.environments for text in environment.errors]
    if not errors and evidence.devices.type != "CPU" and not _has_devices(evidence):
        errors = [_NO_DEVICE_TRACE]
    warnings = [text for environment in evidence.environments for text in environment.warnings]
    return [
        top_ops_table(evidence),
        step_table(
            job,
            evidence.inputs,
            _HARDWARE[evidence.platform],
            evidence.input_cause,
            (evidence.means, evidence.outliers),
            callbacks_as_runtime(evidence.idle, evidence.callbacks),
            evidence.idle_time,
        ),
        run_table(evidence, summaries.hosts),
        recommendation_table(evidence),
        _latency_table(),
        Table(()),
        diagnostics_table(job, evidence.outliers, errors, warnings),
        findings_table(find_findings(evidence)),
        figures_table(evidence),
        breakdown_table(evidence.means),
        environment_table(evidence, summaries.hosts),
        markers_table(job),
        idle_table(evidence),
        top_families_table(evidence),
    ]


def _has_devices(evidence: Evidence) -> bool:
    return any(int(environment.active.sum()) > 0 for environment in evidence.environments)


def _latency_table() -> Table:
    """Percentiles of the latency of inference requests; none, as no trace of ours marks any."""
    nothing = np.zeros(0)
    return Table(
        (
            text("percentile", "percentile", []),
            number("hostTimeMs", "Host time (in ms)", nothing),
            number("deviceTimeMs", "Device time (in ms)", nothing),
            number("communicationTimeMs", "Host-device communication time (in ms)", nothing),
            number("totalTimeMs", "Total latency (in ms)", nothing),
        )
    )
