"""The finding about input: that steps wait for it, and which stage of the pipeline is slowest."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tbprof.analysis.bottlenecks import HIGHLY_INPUT_BOUND, MODERATELY_INPUT_BOUND
from tbprof.analysis.finding import (
    DATA_ANALYSIS_GUIDE,
    DATA_GUIDE,
    INPUT_PIPELINE,
    TRACE,
    Evidence,
    Finding,
    Rule,
    graded,
    milliseconds,
    percent,
    shortened,
)
from tbprof.analysis.input_names import InputCategory
from tbprof.analysis.input_ops import NO_CATEGORY
from tbprof.analysis.phases import Phase


def input_bound(evidence: Evidence) -> Iterator[Finding]:
    """Steps that wait for their input, with the stage of the pipeline that works longest."""
    share = evidence.share(Phase.INPUT)
    grade = graded(share, MODERATELY_INPUT_BOUND, HIGHLY_INPUT_BOUND)
    if grade is None:
        return
    severity, threshold = grade
    gain_ms, gain_ratio = evidence.gain_of(share)
    stage = _slowest_stage(evidence)
    how_much = "highly" if severity == "high" else "moderately"
    yield Finding(
        "input_bound",
        severity,
        f"The program is {how_much} input-bound: {percent(share)} of step time waits for input",
        f"Of an average step of {milliseconds(evidence.step_ms)} the {_whom(evidence)} "
        f"{milliseconds(evidence.means.mean_ms(Phase.INPUT))} for data. {stage.told}",
        share,
        "%",
        threshold,
        gain_ms,
        gain_ratio,
        _input_action(evidence, stage),
        TRACE.marking("category:input", evidence.worst_step_in(Phase.INPUT)),
        INPUT_PIPELINE,
        DATA_GUIDE if stage.category == NO_CATEGORY else DATA_ANALYSIS_GUIDE,
    )


def _whom(evidence: Evidence) -> str:
    return "program waits" if evidence.platform == "CPU" else "devices wait"


class _Stage(NamedTuple):
    """The category of the stage that works longest, and a sentence about it."""

    category: int
    told: str


def _slowest_stage(evidence: Evidence) -> _Stage:
    inputs = evidence.inputs
    if inputs is None or not inputs.name:
        told = "The trace holds no events of an input pipeline, so it cannot tell which stage."
        return _Stage(NO_CATEGORY, told)
    work = np.where(inputs.category != NO_CATEGORY, inputs.work_ps, 0)
    if not work.any():
        return _Stage(NO_CATEGORY, "No stage of the input pipeline was seen at work.")
    slowest = int(work.argmax())
    category = InputCategory(int(inputs.category[slowest]))
    return _Stage(
        category,
        f"The stage of the input pipeline that works longest is {shortened(inputs.name[slowest])} "
        f"({category.label.lower()}): {percent(100 * float(work[slowest]) / float(work.sum()))} of "
        "the work of all stages.",
    )


def _input_action(evidence: Evidence, stage: _Stage) -> str:
    if stage.category == InputCategory.ENQUEUE:
        return (
            "Hand data to the device in few large pieces, in the type that the model computes in, "
            "and ahead of the step: prefetch to the device."
        )
    if stage.category != NO_CATEGORY:
        return (
            "Make that stage parallel (num_parallel_calls=tf.data.AUTOTUNE for map and "
            "interleave), do its work once (cache, or before training), and end the pipeline with "
            "prefetch(tf.data.AUTOTUNE)."
        )
    if evidence.is_jax:
        return (
            "Load and transform the next batch on other threads or processes while the step "
            "runs, and put it on the device ahead of time (jax.device_put)."
        )
    return (
        "Feed the program by tf.data, where stages run beside the step and can be told apart "
        "here; end the pipeline with prefetch(tf.data.AUTOTUNE)."
    )


INPUT_RULES: tuple[Rule, ...] = (input_bound,)
