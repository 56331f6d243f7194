"""Advice on each category of input work, based on the recorded ops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from tbprof.advice.finding import Finding, by_severity
from tbprof.advice.guides import (
    DATA_ANALYSIS_GUIDE,
    DATA_GUIDE,
    DEVICE_PUT,
    GRAIN,
    PREFETCH_TO_DEVICE,
    TF_DATA_GUIDE,
    Guide,
)
from tbprof.analysis.input.input_ops import NO_CATEGORY, InputOps
from tbprof.analysis.vocabulary.input_names import InputCategory, stage_name

if TYPE_CHECKING:
    from tbprof.advice.tf_data.tf_data_diagnosis import Diagnosis

# The category of a pipeline whose stages are unknown.
_OTHERWISE = InputCategory.PREPROCESSING
# The cost of a shorter transfer is mostly that of starting it.
_SMALL_TRANSFER_US = 100.0


def find_input_findings(ops: InputOps) -> list[tuple[InputCategory, Finding]]:
    """Advice for any program that waits for its input, by category of work."""
    return [(category, finding) for category, rule in _RULES.items() for finding in rule(ops)]


def by_category(ops: InputOps, diagnosis: Diagnosis) -> list[tuple[InputCategory, Finding]]:
    """The findings about a tf.data pipeline, each with the category of its stage."""
    categories = {
        stage_name(name): InputCategory(category)
        for name, category in zip(ops.name, ops.category.tolist(), strict=True)
        if category != NO_CATEGORY
    }
    usual = categories.get(diagnosis.usual.long_name if diagnosis.usual else "", _OTHERWISE)
    return [
        (categories.get(finding.stage, usual) if finding.stage else usual, finding)
        for finding in by_severity(diagnosis.findings)
    ]


def _sending(ops: InputOps) -> Iterator[Finding]:
    """Data sent to devices."""
    yield from _small_transfers(ops)
    if ops.has_tf_data or not ops.has_jax:
        yield _advice(
            "transfer_ahead",
            "Overlap transfers with computation",
            "Copy the next batch to the device during the current step: end the pipeline "
            "with prefetch_to_device, or let a distribution strategy distribute the dataset.",
            PREFETCH_TO_DEVICE,
        )
    if ops.has_jax:
        instead = ", instead of passing NumPy arrays to the step"
        yield _advice(
            "device_put_ahead",
            "Put the next batch on the device early",
            "jax.device_put returns before the copy is complete. Call it for the next one or "
            "two batches before you wait for the current step"
            f"{'' if ops.has_device_put else instead}.",
            DEVICE_PUT,
        )
    yield _advice(
        "small_types",
        "Send smaller types",
        "Transfer images and labels in their stored types (uint8, int32), and cast and "
        "normalize them on the device.",
        DATA_GUIDE,
    )


def _small_transfers(ops: InputOps) -> Iterator[Finding]:
    """Many short calls of the op that took the most time among those that send data."""
    sent = np.where(ops.category == InputCategory.ENQUEUE, ops.work_ps, -1)
    top = int(sent.argmax()) if sent.max(initial=-1) >= 0 else -1
    count = int(ops.count[top]) if top >= 0 else 0
    if count < 2:
        return
    mean_us = float(ops.total_ps[top]) / 1e6 / count
    if mean_us < _SMALL_TRANSFER_US:
        yield _advice(
            "small_transfers",
            "Make fewer, larger transfers",
            f"{ops.name[top]} ran {count} times, for {mean_us:.0f} µs "
            "each on average. Many small transfers cost more than a few large ones: combine "
            "the tensors of a step, and send constants only once.",
            DATA_GUIDE,
        )


def _loading(ops: InputOps) -> Iterator[Finding]:
    """Loaders that leave no events."""
    if not ops.has_tf_data:
        yield _advice(
            "instrumented_loader",
            "Use tf.data or another instrumented loader",
            "The time of plain Python loaders cannot be broken down further. With tf.data, "
            "the stages of the pipeline appear here and run in their own threads.",
            TF_DATA_GUIDE,
        )
    if ops.has_jax:
        yield _advice(
            "other_processes",
            "Load data in other processes",
            "For JAX, tf.data and Grain load and transform data outside the thread that "
            "dispatches steps; keep one or two batches ready on the device with "
            "jax.device_put.",
            GRAIN,
        )
    if not ops.has_tf_data:
        yield _advice(
            "input_alone",
            "Measure the input alone",
            "Iterate over the pipeline without a model to measure its throughput. Run the "
            "model repeatedly on one batch to measure the throughput that it could reach.",
            DATA_ANALYSIS_GUIDE,
        )


def _advice(id_: str, title: str, action: str, guide: Guide) -> Finding:
    """Advice that holds for any program, so no figure shows that it is needed."""
    return Finding(id=id_, severity="low", title=title, detail="", action=action, guide=guide)


_RULES: Mapping[InputCategory, Callable[[InputOps], Iterator[Finding]]] = {
    InputCategory.ENQUEUE: _sending,
    InputCategory.UNKNOWN: _loading,
}
