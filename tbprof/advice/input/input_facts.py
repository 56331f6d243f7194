"""The categories of the work of input pipelines."""

from __future__ import annotations

from tbprof.analysis.input.input_ops import InputOps
from tbprof.analysis.vocabulary.input_names import InputCategory

# Categories of the host-side analysis: id and label. Properties are named by the id and "_us".
CATEGORIES: tuple[tuple[InputCategory, str, str], ...] = (
    (InputCategory.ENQUEUE, "enqueue", "Enqueuing data for the device"),
    (InputCategory.DEMANDED_READ, "demanded_file_read", "Reading files on demand"),
    (InputCategory.ADVANCED_READ, "advanced_file_read", "Reading files in advance"),
    (InputCategory.PREPROCESSING, "preprocessing", "Preprocessing"),
    (InputCategory.UNKNOWN, "unclassified", "Other"),
)


def dominant_category(ops: InputOps) -> InputCategory | None:
    """The category with the most work, None without work."""
    best = max(InputCategory, key=lambda category: (ops.work_of(category), -category))
    return best if ops.work_of(best) > 0 else None
