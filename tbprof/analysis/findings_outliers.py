"""Findings about steps that take much longer than the others: once, or in each k-th step."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.bottlenecks import HIGH, MODERATE
from tbprof.analysis.finding import (
    PROFILER_GUIDE,
    TRACE,
    Evidence,
    Finding,
    Rule,
    graded,
    milliseconds,
    percent,
    shortened,
)
from tbprof.analysis.host_activity import Activity
from tbprof.analysis.idle_shares import DID, idle_shares
from tbprof.analysis.phases import COMPUTE, Phase
from tbprof.analysis.python_frames import spoken
from tbprof.analysis.step_outliers import MOST_OF_IT, Period, StepOutliers, phase_of

# Percentages of the time of all steps.
COST = (MODERATE, HIGH)
_NAMED = 3
# What has less of an excess than this is no cause of it.
_PART = 0.2
_GARBAGE = DID[Activity.GARBAGE]
_CHECKPOINT = re.compile(r"save|checkpoint|ckpt|orbax", re.IGNORECASE)

_LABELS = {
    **dict.fromkeys(COMPUTE, "device compute"),
    Phase.COLLECTIVES: "collective communication",
    Phase.DEVICE_TO_DEVICE: "copies between devices",
    Phase.HOST_TRANSFER: "copies between device and host memory",
    Phase.HOST_CALLBACK: "waiting for callbacks on the host",
    Phase.INPUT: "waiting for input",
    Phase.OUTPUT: "output",
    Phase.COMPILATION: "compilation",
    Phase.KERNEL_LAUNCH: "kernel launch",
    Phase.HOST_COMPUTE: "host compute",
    Phase.OTHER: "time that no op covers",
}


def reasons(outliers: StepOutliers) -> list[str]:
    """[steps] what makes an outlier slow, for people; "" for other steps."""
    out = [""] * outliers.is_outlier.size
    for step in outliers.step.tolist():
        longer = f"{milliseconds(float(outliers.excess_ps[step]) / 1e9)} longer than a typical step"
        out[step] = f"{longer}{_where(outliers, outliers.step[outliers.step == step])}"
    for period in outliers.periods:
        for step in period.step.tolist():
            out[step] = f"{out[step]}; so is every {ordinal(period.period)} step"
    return out


def periodic_steps(evidence: Evidence) -> Iterator[Finding]:
    """What recurs in each k-th step, the costliest."""
    outliers = evidence.outliers
    if not outliers.periods:
        return
    period = max(outliers.periods, key=lambda one: one.cost_ps)
    cost_ms = period.cost_ps / 1e9
    # Of the average step with that cost, as the typical one is without it.
    ratio = period.cost_ps / (outliers.typical_ps + period.cost_ps)
    grade = graded(100 * ratio, *COST)
    if grade is None:
        return
    others = len(outliers.periods) - 1
    more = f" {others} more recur at other distances." if others else ""
    trace = TRACE.marking(place=evidence.place_of(_slowest(outliers, period.step)))
    yield Finding(
        "periodic_steps",
        grade[0],
        f"Every {ordinal(period.period)} step takes {milliseconds(period.excess_ps / 1e9)} longer",
        f"{_listed(evidence, period.step)} take {milliseconds(_mean_ms(evidence, period.step))} "
        f"on average, a typical step {milliseconds(outliers.typical_ps / 1e9)}: that costs "
        f"{milliseconds(cost_ms)} per step, {percent(100 * ratio)} of all time"
        f"{_cause(evidence, period.step)}.{more}",
        100 * ratio,
        "%",
        grade[1],
        cost_ms,
        ratio,
        _action(evidence, period),
        trace,
        trace,
        PROFILER_GUIDE,
    )


def slow_steps(evidence: Evidence) -> Iterator[Finding]:
    """Steps that take much longer than the others, and do not recur."""
    outliers = evidence.outliers
    once = outliers.once
    if not once.size:
        return
    whole = float(evidence.means.whole.duration_ps[evidence.means.is_whole].sum())
    share = 100 * float(outliers.excess_ps[once].sum()) / whole
    if graded(share, MODERATE) is None:
        return
    count, steps = once.size, evidence.means.whole.steps
    is_first = once.size == 1 and int(once[0]) == 0
    trace = TRACE.marking(place=evidence.place_of(_slowest(outliers, once)))
    yield Finding(
        "slow_steps",
        "low",
        f"{'The first step takes' if is_first else _counted(count, steps)} much longer than the "
        f"{'others' if steps > count else 'rest'}",
        f"{_listed(evidence, once)} {'takes' if count == 1 else 'take'} "
        f"{milliseconds(_mean_ms(evidence, once))}{'' if count == 1 else ' on average'}, a typical "
        f"step {milliseconds(outliers.typical_ps / 1e9)}"
        f"{_cause(evidence, once, 'the difference')}. "
        f"{_taken_in(evidence)}",
        share,
        "%",
        MODERATE,
        None,
        None,
        _once_action(outliers, once),
        trace,
        trace,
        PROFILER_GUIDE,
    )


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, …, 11th, …, 21st."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if 10 < number % 100 < 14 else ending}"


def _counted(count: int, steps: int) -> str:
    return f"{count} of {steps} steps {'takes' if count == 1 else 'take'}"


def _taken_in(evidence: Evidence) -> str:
    if evidence.means.is_counted[evidence.outliers.step].any():
        return "All figures here take such steps in."
    return "Averages here are of the typical steps."


def _slowest(outliers: StepOutliers, steps: NDArray[np.int64]) -> int:
    return int(steps[outliers.excess_ps[steps].argmax()])


def _mean_ms(evidence: Evidence, steps: NDArray[np.int64]) -> float:
    return float(evidence.means.duration_ps[steps].mean()) / 1e9


def _listed(evidence: Evidence, steps: NDArray[np.int64]) -> str:
    """The labels of steps for a sentence: Steps train 5, train 10, train 15 and 2 more."""
    labels: Sequence[str] = [shortened(evidence.job.label[step], 30) for step in steps.tolist()]
    more = f" and {len(labels) - _NAMED} more" if len(labels) > _NAMED else ""
    return f"{'Step' if len(labels) == 1 else 'Steps'} {', '.join(labels[:_NAMED])}{more}"


def _where(outliers: StepOutliers, steps: NDArray[np.int64], whole: str = "it") -> str:
    """What most of the excess is, "" where nothing has most of it; `whole` is what it is called."""
    phase = phase_of(outliers, steps)
    return "" if phase is None else f", most of {whole} {_LABELS[phase]}"


def _cause(evidence: Evidence, steps: NDArray[np.int64], whole: str = "it") -> str:
    """What the excess of outliers is: phases, and a function where that is known."""
    excess = excess_ps(evidence, steps)
    large = [at for at in np.argsort(-excess).tolist() if excess[at] >= _PART * excess.sum() > 0]
    labels = list(dict.fromkeys(_LABELS[Phase(at)] for at in large))[:2]
    where = _where(evidence.outliers, steps, whole) or (
        f", much of {whole} {labels[0]}" if labels else ""
    )
    where += "".join(f", then {label}" for label in labels[1:] if label not in where)
    name = _named(evidence, steps)
    return f"{where}: {name}" if name else where


def _named(evidence: Evidence, steps: NDArray[np.int64]) -> str:
    """What takes most of the excess, "" where the events do not say."""
    excess = excess_ps(evidence, steps)
    if evidence.platform == "CPU" and phase_of(evidence.outliers, steps) == Phase.OUTPUT:
        return "ops that write checkpoints and summaries"
    return _function(evidence, steps, float(excess[Phase.OTHER]))


def excess_ps(evidence: Evidence, steps: NDArray[np.int64]) -> NDArray[np.float64]:
    """[PHASES] how much more time outliers spend in each phase than typical steps, on average."""
    means, outliers = evidence.means, evidence.outliers
    is_typical = means.is_whole & ~outliers.is_outlier
    if not is_typical.any() or not steps.size:
        return np.zeros(means.phase_ps.shape[1])
    more = means.phase_ps[steps].mean(axis=0) - means.phase_ps[is_typical].mean(axis=0)
    return np.asarray(np.maximum(more, 0.0), np.float64)


def _function(evidence: Evidence, steps: NDArray[np.int64], uncovered_ps: float) -> str:
    """What takes most of the excess that no op covers, "" where nothing does.

    A function or an annotation of the thread that drives the program, or garbage collection.
    """
    if uncovered_ps < MOST_OF_IT * float(excess_ps(evidence, steps).sum()):
        return ""
    is_one = np.zeros(evidence.means.is_counted.size, np.bool_)
    is_one[steps] = True
    these = replace(evidence.means, is_counted=is_one)
    typical = replace(
        evidence.means, is_counted=evidence.means.is_whole & ~evidence.outliers.is_outlier
    )
    usual = {
        (one.kind, one.name): one.ms
        for one in idle_shares(evidence.job, typical, evidence.idle_time)
        if one.is_driver
    }
    shares = [
        one
        for one in idle_shares(evidence.job, these, evidence.idle_time)
        if one.is_driver and one.kind not in (Activity.UNCOVERED, Activity.WAIT, Activity.RUNTIME)
    ]
    excess = [one.ms - usual.get((one.kind, one.name), 0.0) for one in shares]
    if not shares or max(excess) < MOST_OF_IT * uncovered_ps / 1e9:
        return ""
    most = shares[int(np.argmax(excess))]
    part, ms = most.parts[0]
    inner = f", in {shortened(spoken(part), 60)}" if part and ms >= MOST_OF_IT * most.ms else ""
    return f"{shortened(spoken(most.name), 60) if most.name else DID[most.kind]}{inner}"


def _action(evidence: Evidence, period: Period) -> str:
    name = _named(evidence, period.step)
    if name.startswith(_GARBAGE):
        return (
            "Collect garbage less often, and less of it: make fewer objects per step, call "
            "gc.freeze() once the program has warmed up, so that what stays is not looked at again."
        )
    if _CHECKPOINT.search(name):
        return (
            "Save less often, or on another thread: orbax's AsyncCheckpointer in JAX, "
            "tf.train.CheckpointOptions(enable_async=True) in TensorFlow."
        )
    excess = excess_ps(evidence, period.step)
    if excess[Phase.COMPILATION] >= _PART * excess.sum() > 0:
        return (
            "Something is compiled anew in these steps: keep shapes and Python arguments the same "
            "(pad the last batch, or put shapes into a few buckets)."
        )
    return (
        "See in the timeline what these steps do that the others do not (checkpoints, metrics, "
        "logging, garbage collection), and do it less often or on another thread."
    )


def _once_action(outliers: StepOutliers, steps: NDArray[np.int64]) -> str:
    if phase_of(outliers, steps) == Phase.COMPILATION or steps.tolist() == [0]:
        return "Start recording once the program has warmed up, a few steps later."
    return "See in the timeline what these steps do that the others do not."


OUTLIER_RULES: tuple[Rule, ...] = (periodic_steps, slow_steps)
