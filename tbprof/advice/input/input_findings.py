"""Advice on each category of input work, based on the recorded facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from tbprof.advice.finding import Finding, by_severity
from tbprof.advice.guides import (
    DATA_ANALYSIS_GUIDE,
    DATA_GUIDE,
    DEVICE_PUT,
    GRAIN,
    PREFETCH_TO_DEVICE,
    TF_DATA_GUIDE,
)
from tbprof.advice.input.input_facts import InputFacts
from tbprof.analysis.input.input_ops import NO_CATEGORY, InputOps
from tbprof.analysis.vocabulary.input_names import InputCategory, stage_name

if TYPE_CHECKING:
    from tbprof.advice.tf_data.tf_data_diagnosis import Diagnosis

# The category of a pipeline whose stages are unknown.
_OTHERWISE = InputCategory.PREPROCESSING
# The cost of a shorter transfer is mostly that of starting it.
_SMALL_TRANSFER_US = 100.0


def find_input_findings(facts: InputFacts) -> list[tuple[InputCategory, Finding]]:
    """Advice for any program that waits for its input, by category of work."""
    return [(category, finding) for category, rule in _RULES.items() for finding in rule(facts)]


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


def _sending(facts: InputFacts) -> Iterator[Finding]:
    """Data sent to devices."""
    if facts.transfers > 1 and facts.transfer_us < _SMALL_TRANSFER_US:
        yield Finding(
            id="small_transfers",
            severity="low",
            title="Make fewer, larger transfers",
            detail="",
            action=(
                f"{facts.transfer} ran {facts.transfers} times, for {facts.transfer_us:.0f} µs "
                "each on average. Many small transfers cost more than a few large ones: combine "
                "the tensors of a step, and send constants only once."
            ),
            guide=DATA_GUIDE,
        )
    if facts.has_tf_data or not facts.has_jax:
        yield Finding(
            id="transfer_ahead",
            severity="low",
            title="Overlap transfers with computation",
            detail="",
            action=(
                "Copy the next batch to the device during the current step: end the pipeline "
                "with prefetch_to_device, or let a distribution strategy distribute the dataset."
            ),
            guide=PREFETCH_TO_DEVICE,
        )
    if facts.has_jax:
        yield Finding(
            id="device_put_ahead",
            severity="low",
            title="Put the next batch on the device early",
            detail="",
            action=(
                "jax.device_put returns before the copy is complete. Call it for the next one or "
                "two batches before you wait for the current step"
                + (
                    "."
                    if facts.has_device_put
                    else ", instead of passing NumPy arrays to the step."
                )
            ),
            guide=DEVICE_PUT,
        )
    yield Finding(
        id="small_types",
        severity="low",
        title="Send smaller types",
        detail="",
        action=(
            "Transfer images and labels in their stored types (uint8, int32), and cast and "
            "normalize them on the device."
        ),
        guide=DATA_GUIDE,
    )


def _loading(facts: InputFacts) -> Iterator[Finding]:
    """Loaders that leave no events."""
    if not facts.has_tf_data:
        yield Finding(
            id="instrumented_loader",
            severity="low",
            title="Use tf.data or another instrumented loader",
            detail="",
            action=(
                "The time of plain Python loaders cannot be broken down further. With tf.data, "
                "the stages of the pipeline appear here and run in their own threads."
            ),
            guide=TF_DATA_GUIDE,
        )
    if facts.has_jax:
        yield Finding(
            id="other_processes",
            severity="low",
            title="Load data in other processes",
            detail="",
            action=(
                "For JAX, tf.data and Grain load and transform data outside the thread that "
                "dispatches steps; keep one or two batches ready on the device with "
                "jax.device_put."
            ),
            guide=GRAIN,
        )
    if not facts.has_tf_data:
        yield Finding(
            id="input_alone",
            severity="low",
            title="Measure the input alone",
            detail="",
            action=(
                "Iterate over the pipeline without a model to measure its throughput. Run the "
                "model repeatedly on one batch to measure the throughput that it could reach."
            ),
            guide=DATA_ANALYSIS_GUIDE,
        )


_RULES: Mapping[InputCategory, Callable[[InputFacts], Iterator[Finding]]] = {
    InputCategory.ENQUEUE: _sending,
    InputCategory.UNKNOWN: _loading,
}
