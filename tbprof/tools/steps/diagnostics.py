"""What users should know about the steps and the recording."""

from __future__ import annotations

from collections.abc import Iterable

from tbprof.advice.sentences import shortened
from tbprof.analysis.job.job_steps import JobSteps
from tbprof.analysis.job.step_means import step_means
from tbprof.analysis.job.step_outliers import NO_OUTLIERS, StepOutliers
from tbprof.analysis.steps.recording_gaps import MOST_NAMES, silent_notes
from tbprof.base.texts import few
from tbprof.tools.model.datatable import Table, text

# How many steps a message names.
_NAMED = 5

_NO_MARKER = (
    "No step marker was found, so the step time is unknown. Instrument the steps (TensorFlow: the "
    "Keras callback, or tf.profiler.experimental.Trace with _r=1; JAX: "
    "jax.profiler.StepTraceAnnotation), or record for longer."
)
_DISTINCT = (
    "The hosts have no steps in common, so the step time of the whole job is unknown. Record "
    "all hosts at the same time."
)


def diagnostics_table(
    job: JobSteps,
    outliers: StepOutliers = NO_OUTLIERS,
    errors: Iterable[str] = (),
    warnings: Iterable[str] = (),
) -> Table:
    """The diagnostics as a table."""
    rows = diagnostics(job, outliers, errors, warnings)
    return Table(
        (
            text("severity", "Severity", [severity for severity, _ in rows]),
            text("message", "Message", [message for _, message in rows]),
        )
    )


def diagnostics(
    job: JobSteps,
    outliers: StepOutliers = NO_OUTLIERS,
    errors: Iterable[str] = (),
    warnings: Iterable[str] = (),
) -> list[tuple[str, str]]:
    """Severities and messages: INFO, then WARNING, then ERROR; each message once.

    `errors` and `warnings` are those of the recorder; warnings about steps follow them.
    """
    rows = dict.fromkeys(
        (
            *(("INFO", message) for message in _infos(job, outliers)),
            *(("WARNING", message) for message in sorted(set(warnings))),
            *(("WARNING", message) for message in _step_warnings(job)),
            *(("ERROR", message) for message in sorted(set(errors))),
        )
    )
    return list(rows)


def _infos(job: JobSteps, outliers: StepOutliers) -> list[str]:
    means = step_means(job)
    infos = []
    if job.label:
        infos += _inferences(job)
    infos += silent_notes(job.hosts, job.parts)
    unrecorded = int(job.is_step_unrecorded.sum())  # a separate warning says so
    left_out = len(job.label) - means.steps - unrecorded
    if left_out:
        infos.append(
            f"{left_out} of {len(job.label)} steps {'was' if left_out == 1 else 'were'} not fully "
            "recorded, up to the start of the next one; "
            f"{'it is' if left_out == 1 else 'they are'} shown, but left out of averages."
        )
    elif bool(job.is_step_truncated.any()):
        infos.append("No step was recorded completely; the averages cover the recorded parts.")
    slow = outliers.step
    if slow.size:
        named = few([shortened(job.label[step], 30) for step in slow.tolist()], _NAMED)
        infos.append(
            f"{slow.size} of {means.steps} complete steps took much longer than the others "
            f"({named}): pages describe the {means.steps - slow.size} typical ones, unless "
            "all steps are chosen."
        )
    return infos


def _inferences(job: JobSteps) -> list[str]:
    """How unmarked steps were inferred, by host if that differs."""
    hosts: dict[str, list[str]] = {}
    for host, part in job.step_parts:
        if part.is_inferred:
            hosts.setdefault(part.note, []).append(host)
    if len(hosts) < 2:
        return list(hosts)
    return [f"{few(names, MOST_NAMES)}: {note}" for note, names in hosts.items()]


def _step_warnings(job: JobSteps) -> list[str]:
    messages = [
        f"{notice.host}: {notice.message}" if notice.host else notice.message
        for notice in job.notices
    ]
    if not job.label:
        had_steps = any(part.worker.size for part in job.parts)
        unmarked = job.note if job.ends_early else _NO_MARKER
        messages.append(_DISTINCT if had_steps else unmarked)
    return messages
