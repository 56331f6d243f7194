"""Facts about input pipelines: categories of their work, and the facts that advice needs."""

from __future__ import annotations

import numpy as np

from tbprof.analysis.input.input_ops import InputOps
from tbprof.analysis.vocabulary.input_names import InputCategory
from tbprof.base.records import dataclass

# Categories of the host-side analysis: id and label. Properties are named by the id and "_us".
CATEGORIES: tuple[tuple[InputCategory, str, str], ...] = (
    (InputCategory.ENQUEUE, "enqueue", "Enqueuing data for the device"),
    (InputCategory.DEMANDED_READ, "demanded_file_read", "Reading files on demand"),
    (InputCategory.ADVANCED_READ, "advanced_file_read", "Reading files in advance"),
    (InputCategory.PREPROCESSING, "preprocessing", "Preprocessing"),
    (InputCategory.UNKNOWN, "unclassified", "Other"),
)


@dataclass(frozen=True, slots=True)
class InputFacts:
    """The facts that advice depends on.

    `transfer` is the op that took the most time among those that send data to devices, "" if there
    is none; `transfers` counts its calls, and `transfer_us` is their mean duration.
    """

    transfer: str
    transfers: int
    transfer_us: float
    has_jax: bool
    has_device_put: bool
    has_tf_data: bool


def find_input_facts(ops: InputOps) -> InputFacts:
    """The facts of the input ops of all hosts."""
    sent = np.where(ops.category == InputCategory.ENQUEUE, ops.work_ps, -1)
    top = int(sent.argmax()) if sent.size and sent.max() >= 0 else -1
    count = int(ops.count[top]) if top >= 0 else 0
    return InputFacts(
        ops.name[top] if top >= 0 else "",
        count,
        float(ops.total_ps[top]) / 1e6 / count if count else 0.0,
        ops.has_jax,
        ops.has_device_put,
        ops.has_tf_data,
    )


def dominant_category(ops: InputOps) -> InputCategory | None:
    """The category with the most work, None without work."""
    best = max(InputCategory, key=lambda category: (ops.work_of(category), -category))
    return best if ops.work_of(best) > 0 else None
