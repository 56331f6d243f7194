"""Findings about steps that take much longer than the others: once, or in every k-th step."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.bottlenecks import HIGH, MODERATE
from tbprof.advice.evidence import Evidence, Rule
from tbprof.advice.finding import Finding, graded
from tbprof.advice.gain import Gain
from tbprof.advice.guides import PROFILER_GUIDE
from tbprof.advice.outlier_causes import LABELS, causes_of_outliers, excess_ps, ordinal, where
from tbprof.advice.pages import TRACE
from tbprof.advice.rules.host.findings_host import compiling_steps
from tbprof.advice.sentences import milliseconds, percent, shortened
from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.job.idle_shares import ACTIVITY_CLAUSES
from tbprof.analysis.job.step_outliers import Period, StepOutliers, phase_of
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base.lazy import regex
from tbprof.base.texts import few

# Percentages of the time of all steps.
COST = (MODERATE, HIGH)
_NAMED = 3
# A phase with a smaller share of the excess is not its cause.
_PART = 0.2
# Later steps do not compile because the program has just begun.
_WARM_UP = 3
_KEEP_SHAPES = (
    "Functions are recompiled in these steps: keep shapes and Python arguments constant (pad the "
    "last batch, or use only a few sizes)."
)
_GARBAGE = ACTIVITY_CLAUSES[Activity.GARBAGE]
_CHECKPOINT = regex(r"save|checkpoint|ckpt|orbax", re.IGNORECASE)


def periodic_steps(evidence: Evidence) -> Iterator[Finding]:
    """The costliest recurrence of slow steps."""
    outliers = evidence.outliers
    if not outliers.periods:
        return
    period = max(outliers.periods, key=lambda candidate: candidate.cost_ps)
    cost_ms = period.cost_ps / 1e9
    # A share of the average step including that cost, which the typical step does not have.
    ratio = period.cost_ps / (outliers.typical_ps + period.cost_ps)
    grade = graded(100 * ratio, *COST)
    if grade is None:
        return
    others = len(outliers.periods) - 1
    more = ""
    if others:
        noun = "pattern recurs" if others == 1 else "patterns recur"
        more = f" {others} more {noun} at other intervals."
    cause = _cause(evidence, period.step)
    trace = TRACE.marking(place=evidence.place_of(_slowest(outliers, period.step)))
    yield Finding(
        id="periodic_steps",
        **grade,
        title=(
            f"Every {ordinal(period.period)} step takes {milliseconds(period.excess_ps / 1e9)} "
            "longer"
        ),
        detail=(
            f"{_listed(evidence, period.step)} take "
            f"{milliseconds(_mean_ms(evidence, period.step))} on average, compared to "
            f"{milliseconds(outliers.typical_ps / 1e9)} for a typical step. This costs "
            f"{milliseconds(cost_ms)} per step, {percent(100 * ratio)} of the total "
            f"time{_cause_clause(evidence, period.step, cause)}.{more}"
        ),
        gain=Gain(cost_ms, ratio),
        action=_action(evidence, period, cause),
        evidence=trace,
        guide=PROFILER_GUIDE,
    )


def slow_steps(evidence: Evidence) -> Iterator[Finding]:
    """Steps that take much longer than the others and do not recur."""
    outliers = evidence.outliers
    once = outliers.once
    if not once.size:
        return
    total_ps = float(evidence.means.whole.duration_ps[evidence.means.is_whole].sum())
    share = 100 * float(outliers.excess_ps[once].sum()) / total_ps
    if graded(share, MODERATE) is None:
        return
    count, steps = once.size, evidence.means.whole.steps
    is_first = once.size == 1 and int(once[0]) == 0
    trace = TRACE.marking(place=evidence.place_of(_slowest(outliers, once)))
    yield Finding(
        id="slow_steps",
        severity="low",
        title=(
            f"{'The first step takes' if is_first else _counted(count, steps)} much longer than "
            f"the {'others' if steps > count else 'rest'}"
        ),
        detail=(
            f"{_listed(evidence, once)} {'takes' if count == 1 else 'take'} "
            f"{milliseconds(_mean_ms(evidence, once))}{'' if count == 1 else ' on average'}, "
            f"compared to {milliseconds(outliers.typical_ps / 1e9)} for a typical step"
            f"{_cause_clause(evidence, once, _cause(evidence, once), 'the difference')}. "
            f"{_averages_note(evidence)}"
        ),
        value=share,
        threshold=MODERATE,
        action=_once_action(evidence, once),
        evidence=trace,
        guide=PROFILER_GUIDE,
    )


def _counted(count: int, steps: int) -> str:
    return f"{count} of {steps} steps {'takes' if count == 1 else 'take'}"


def _averages_note(evidence: Evidence) -> str:
    if evidence.means.is_counted[evidence.outliers.step].any():
        return "All figures on this page include these steps."
    return "Averages on this page are over the typical steps."


def _slowest(outliers: StepOutliers, steps: NDArray[np.int64]) -> int:
    return int(steps[outliers.excess_ps[steps].argmax()])


def _mean_ms(evidence: Evidence, steps: NDArray[np.int64]) -> float:
    return float(evidence.means.duration_ps[steps].mean()) / 1e9


def _listed(evidence: Evidence, steps: NDArray[np.int64]) -> str:
    """The labels of steps for a sentence: Steps train 5, train 10, train 15 and 2 more."""
    labels = [shortened(evidence.job.label[step], 30) for step in steps.tolist()]
    return f"{'Step' if len(labels) == 1 else 'Steps'} {few(labels, _NAMED)}"


def _cause(evidence: Evidence, steps: NDArray[np.int64]) -> str:
    """The cause of most of the excess of some outliers, "" if the events do not show it."""
    evidence_fields = evidence.job, evidence.means, evidence.outliers, evidence.idle_time
    return causes_of_outliers(*evidence_fields, [steps])[0]


def _cause_clause(
    evidence: Evidence, steps: NDArray[np.int64], cause: str, subject: str = "it"
) -> str:
    """A clause on the phases with most of the outliers' excess, and on its `cause` if known."""
    excess = _excess_ps(evidence, steps)
    large = [
        phase for phase in np.argsort(-excess).tolist() if excess[phase] >= _PART * excess.sum() > 0
    ]
    labels = list(dict.fromkeys(LABELS[Phase(phase)] for phase in large))[:2]
    sentence = where(evidence.outliers, steps, subject) or (
        f", much of {subject} {labels[0]}" if labels else ""
    )
    sentence += "".join(f", then {label}" for label in labels[1:] if label not in sentence)
    return f"{sentence}: {cause}" if cause else sentence


def _excess_ps(evidence: Evidence, steps: NDArray[np.int64]) -> NDArray[np.float64]:
    return excess_ps(evidence.means, evidence.outliers, steps)


def _action(evidence: Evidence, period: Period, cause: str) -> str:
    if cause.startswith(_GARBAGE):
        return (
            "Collect garbage less often, and create fewer objects per step. Call gc.freeze() "
            "once the program has warmed up, so that long-lived objects are not scanned again."
        )
    if _CHECKPOINT.search(cause):
        return (
            "Save less often, or in another thread: Orbax's AsyncCheckpointer in JAX, "
            "tf.train.CheckpointOptions(enable_async=True) in TensorFlow."
        )
    if _most_compile(evidence, period.step):
        return _KEEP_SHAPES
    if phase_of(evidence.outliers, period.step) == Phase.INPUT:
        return (
            "Some batches take longer to prepare than others: find out which stage takes the time. "
            "A larger prefetch buffer spreads that time over other steps, provided that input is "
            "faster than the program on average."
        )
    return (
        "Check in the timeline what these steps do that the others do not (checkpoints, metrics, "
        "logging, garbage collection), and do it less often or in another thread."
    )


def _most_compile(evidence: Evidence, steps: NDArray[np.int64]) -> bool:
    """Whether compilation is part of the cause in most of these steps, not in the first alone."""
    excesses = (_excess_ps(evidence, steps[[index]]) for index in range(steps.size))
    compiling = [excess[Phase.COMPILATION] >= _PART * excess.sum() > 0 for excess in excesses]
    return bool(2 * sum(compiling) > steps.size)


def _once_action(evidence: Evidence, steps: NDArray[np.int64]) -> str:
    compiles = phase_of(evidence.outliers, steps) == Phase.COMPILATION
    is_warm_up = int(steps.max()) < _WARM_UP and not compiling_steps(evidence)[0]
    if (steps.tolist() == [0] and not compiles) or (compiles and is_warm_up):
        return "Start recording a few steps later, once the program has warmed up."
    if compiles:
        return _KEEP_SHAPES
    return "Check in the timeline what these steps do that the others do not."


OUTLIER_RULES: tuple[Rule, ...] = (periodic_steps, slow_steps)
