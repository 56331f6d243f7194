"""The finding about input: that steps wait for it, and what for."""

from collections.abc import Iterator

from tbprof.analysis.bottlenecks import HIGHLY_INPUT_BOUND, MODERATELY_INPUT_BOUND
from tbprof.analysis.finding import (
    DATA_GUIDE,
    INPUT_PIPELINE,
    TF_DATA,
    TRACE,
    Evidence,
    Finding,
    Guide,
    Page,
    Rule,
    Severity,
    graded,
    milliseconds,
    percent,
)
from tbprof.analysis.input_cause import InputCause
from tbprof.analysis.job_steps import JobSteps
from tbprof.analysis.phases import Phase
from tbprof.analysis.step_means import StepMeans
from tbprof.analysis.step_places import worst_place


def input_bound(evidence: Evidence) -> Iterator[Finding]:
    """Steps that wait for their input, with what they wait for where the trace tells it."""
    share = evidence.share(Phase.INPUT)
    grade = graded(share, MODERATELY_INPUT_BOUND, HIGHLY_INPUT_BOUND)
    if grade is None:
        return
    severity, threshold = grade
    gain_ms, gain_ratio = evidence.gain_of(share)
    cause = evidence.input_cause
    taken = milliseconds(evidence.means.mean_ms(Phase.INPUT))
    whole = milliseconds(evidence.step_ms)
    yield Finding(
        "input_bound",
        severity,
        _title(evidence, severity, share),
        (
            f"Of an average step of {whole} it takes {taken}."
            if is_transfer(evidence)
            else f"Of an average step of {whole} the {_whom(evidence)} {taken} for data."
        )
        + (f" {cause.sentence}" if cause is not None else ""),
        share,
        "%",
        threshold,
        gain_ms,
        gain_ratio,
        cause.action if cause is not None else _LOOK,
        _next_page(cause),
        waits_in_trace(evidence.job, evidence.means, cause),
        DATA_GUIDE if cause is None else Guide("TensorFlow guide", cause.guide_url),
    )


def is_transfer(evidence: Evidence) -> bool:
    """Whether data on its way to devices is what counts as input.

    Cores of TPUs wait for their infeed, whatever hosts send meanwhile.
    """
    cause = evidence.input_cause
    return cause is not None and cause.kind == "transfer" and evidence.platform != "TPU"


def _title(evidence: Evidence, severity: Severity, share: float) -> str:
    if is_transfer(evidence):
        return f"{percent(share)} of step time goes to sending data to devices"
    cause = evidence.input_cause
    how_much = "highly" if severity == "high" else "moderately"
    above_all = f", above all for {cause.type}" if cause is not None and cause.is_most else ""
    return (
        f"The program is {how_much} input-bound: {percent(share)} of step time waits for "
        f"input{above_all}"
    )


_LOOK = "See on the input pipeline's page which stage works longest."


def _whom(evidence: Evidence) -> str:
    return "program waits" if evidence.platform == "CPU" else "devices wait"


def waits_in_trace(job: JobSteps, means: StepMeans, cause: InputCause | None) -> Page:
    """The trace viewer at the longest wait of a step that counts, with what is waited for marked.

    Copies are what is waited for where no pipeline is slow.
    """
    of_pipeline = cause is not None and cause.kind not in ("transfer", "unknown")
    events = "category:input" if of_pipeline else "/category:^(input|copies)$/"
    return TRACE.marking(events, worst_place(job, means, job.phase_ps[:, Phase.INPUT]))


def _next_page(cause: InputCause | None) -> Page:
    return TF_DATA if cause is not None and cause.kind in ("stage", "pipeline") else INPUT_PIPELINE


INPUT_RULES: tuple[Rule, ...] = (input_bound,)
