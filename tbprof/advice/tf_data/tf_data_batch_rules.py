"""Advice on stages that copy elements into batches, one at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tbprof.advice.finding import Finding
from tbprof.advice.guides import (
    DATASET,
)
from tbprof.advice.tf_data.tf_data_case import (
    Case,
    evidence,
    of_kinds,
)
from tbprof.advice.tf_data.tf_data_stages import Kind


@of_kinds(Kind.BATCH)
def batch(case: Case) -> Iterator[Finding]:
    """Copying elements into batches."""
    stage = case.stage
    size = stage.number("batch_size")
    count = "batch_size" if math.isnan(size) else f"{size:.0f}"
    drops = stage.is_set("drop_remainder") is False
    remainder = ", drop_remainder=True" if drops else ""
    is_padded = stage.parts[-1] == "paddedbatch"
    if is_padded:
        yield Finding(
            id="padded_batch",
            severity=case.severity,
            title=f"{case.type} pads and copies elements in one thread",
            detail=evidence(case),
            action=(
                "Batch elements of similar length together to reduce padding: "
                ".bucket_by_sequence_length(length_of, boundaries, batch_sizes)."
            ),
            code=(
                "dataset = dataset.bucket_by_sequence_length(\n"
                "    element_length_func=lambda x: tf.shape(x)[0],\n"
                "    bucket_boundaries=[64, 128, 256], bucket_batch_sizes=[64, 32, 16, 8])"
            ),
            guide=DATASET.section("bucket_by_sequence_length"),
        )
        return
    window = next((below for below in case.below() if below.parts[-1] == "window"), None)
    if window is not None:
        yield Finding(
            id="batch_of_window",
            severity=case.severity,
            title="Windows are assembled element by element",
            detail=f"{evidence(case)} It assembles each window separately, one element at a time.",
            action=(
                "Cut many windows from a whole array in one op: use tf.signal.frame, or slices of "
                "a tensor in a map, instead of .window(...).flat_map(batch)."
            ),
            code=(
                "windows = tf.signal.frame(series, size, shift)\n"
                "dataset = tf.data.Dataset.from_tensor_slices(windows)"
            ),
            guide=DATASET.section("window"),
        )
        return
    yield Finding(
        id="batch_sequential",
        severity=case.severity,
        title=f"{case.type} collects one batch at a time",
        detail=(
            evidence(case)
            + (" Its last batch may be smaller, so shapes are unknown." if drops else "")
        ),
        action=(
            "Keep elements small (uint8 images, cast on the device), since this stage copies them. "
            f"If they are still large, build several batches in parallel: .batch({count}, "
            f"num_parallel_calls=tf.data.AUTOTUNE{remainder})."
        ),
        code=f"dataset = dataset.batch({count}, num_parallel_calls=tf.data.AUTOTUNE{remainder})",
        guide=DATASET.section("batch"),
    )
