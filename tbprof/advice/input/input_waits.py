"""Where the trace shows waits for input."""

from __future__ import annotations

from tbprof.advice.input.input_cause import InputCause
from tbprof.advice.pages import TRACE, Page
from tbprof.analysis.job.job_steps import JobSteps
from tbprof.analysis.job.step_means import StepMeans
from tbprof.analysis.job.step_places import worst_place
from tbprof.analysis.vocabulary.phases import Phase


def waits_in_trace(job: JobSteps, means: StepMeans, cause: InputCause | None) -> Page:
    """The trace viewer at the longest wait of any counted step, with the awaited events marked.

    These include copies if no pipeline is slow.
    """
    of_pipeline = cause is not None and cause.kind not in ("transfer", "unknown")
    events = "category:input" if of_pipeline else "/category:^(input|copies)$/"
    return TRACE.marking(events, worst_place(job, means, job.phase_ps[:, Phase.INPUT]))
