"""Why a program waits for its input: the diagnosis that all pages share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tbprof.advice.guides import DATA_GUIDE
from tbprof.advice.input.input_cause import TRY_APART, CauseKind, InputCause
from tbprof.advice.sentences import milliseconds
from tbprof.advice.summaries import Summaries
from tbprof.analysis.host.single_ops import SingleOps
from tbprof.analysis.input.input_ops import InputOps, merge_input_ops
from tbprof.analysis.input.tf_data import TfData
from tbprof.analysis.steps.steps import Steps, copies_most
from tbprof.analysis.vocabulary.input_names import InputCategory
from tbprof.base.lazy import Later

if TYPE_CHECKING:
    from tbprof.advice.tf_data.tf_data_diagnosis import Diagnosis

# Many programs do not use tf.data.
_diagnose = Later("tbprof.advice.input.pipeline_diagnosis.diagnose")
_cause_of = Later("tbprof.advice.input.pipeline_diagnosis.cause_of")

# The parts that a diagnosis is based on.
INPUT_PARTS = ("tf_data", "input_ops", "devices")


def diagnose_input(summaries: Summaries, most: int | None = None) -> list[Diagnosis]:
    """The diagnoses of all hosts' tf.data pipelines, worst first: at most `most`, or all.

    Empty without tf.data.
    """
    parts = summaries.take("tf_data", TfData)
    diagnoses: list[Diagnosis] = (
        _diagnose(summaries, most) if any(part.has_events for part in parts) else []
    )
    return diagnoses


def find_cause(summaries: Summaries, diagnoses: Sequence[Diagnosis]) -> InputCause:
    """The cause of waits for input, according to the first of the diagnoses, the worst."""
    ops = merge_input_ops(summaries.take("input_ops", InputOps))
    sent_ps = ops.work_of(InputCategory.ENQUEUE)
    if not diagnoses:
        # Where tf.data was recorded, its page decides without steps, and so does the code below.
        steps = summaries.take("steps", Steps)
        if sent_ps <= ops.program_wait_ps and not copies_most(steps):
            return _unknown(ops)
        most = max((host_steps.steps_per_worker for host_steps in steps), default=0)
        single_ps = sum(
            single_ops.sent_ps
            for single_ops in summaries.take("single_ops", SingleOps)
            if single_ops.is_many(most)
        )
        return _single_ops(ops) if 2 * single_ps > sent_ps else _transfer(ops)
    worst = diagnoses[0]
    if ops.making_ps > max(sent_ps, ops.program_wait_ps):
        return _making(ops)
    if sent_ps > worst.pipeline.total_ps:
        return _transfer(ops)
    cause: InputCause = _cause_of(worst)
    return cause


def _making(ops: InputOps) -> InputCause:
    """The program creates iterators for longer than it takes batches from them."""
    return _cause_outside_tf_data(
        "elsewhere",
        f"Creating {ops.making_count:,} iterators took {milliseconds(ops.making_ps / 1e9)}, which "
        "is more than all requests for a batch took "
        f"({milliseconds(ops.program_wait_ps / 1e9)}).",
        "Create the dataset and its iterator once, before the loop. Keras's predict() and "
        "evaluate() create new ones in each call: for single batches, call the model itself or "
        "predict_on_batch().",
    )


def _transfer(ops: InputOps) -> InputCause:
    """Data sent to devices: a batch, or other arguments of calls."""
    sent = np.where(ops.category == InputCategory.ENQUEUE, ops.work_ps, 0)
    name = ops.name[int(sent.argmax())] if sent.any() else "copies from the host to GPUs"
    if ops.has_device_put:
        return _cause_outside_tf_data(
            "transfer",
            f"The program sends data with jax.device_put or as arguments of its calls ({name}); "
            "the trace does not show which.",
            "Call jax.device_put for the next batch before waiting for the current step. If the "
            "program already does, the copies take longer than the rest of the step: send less, "
            "in its stored type, and keep what does not change between steps on the device.",
        )
    ahead = "jax.device_put of the next batch" if ops.has_jax else "prefetch to the device"
    return _cause_outside_tf_data(
        "transfer",
        f"These are inputs or other arguments of the program's calls ({name}); the trace does not "
        "show which.",
        f"Send data ahead of the step ({ahead}), in its stored type. "
        "Keep what does not change between steps on the device.",
    )


def _single_ops(ops: InputOps) -> InputCause:
    """Data passed to ops that are dispatched individually."""
    jit = "jax.jit" if ops.has_jax else "tf.function"
    return _cause_outside_tf_data(
        "transfer",
        "Most of this time goes to arguments of ops that are dispatched individually.",
        f"Put these ops into one compiled function ({jit}), so that the values that they pass to "
        "each other stay on the device.",
    )


def _unknown(ops: InputOps) -> InputCause:
    """A loader that leaves no events."""
    sentence = (
        "The trace contains no events of tf.data or another instrumented loader, so it does not "
        "show which part of the input is slow."
    )
    ahead = (
        "Load data in other threads or processes while the step runs, and put the next "
        "batch on the device ahead of time (jax.device_put)."
        if ops.has_jax
        else "Load the next batch in other threads or processes while the step runs."
    )
    return _cause_outside_tf_data("unknown", sentence, f"{TRY_APART} {ahead}")


def _cause_outside_tf_data(kind: CauseKind, sentence: str, action: str) -> InputCause:
    return InputCause(kind, "", "", "", "", math.nan, math.nan, sentence, action, DATA_GUIDE)
