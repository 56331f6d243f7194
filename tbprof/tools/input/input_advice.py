"""The table of advice on an input pipeline: what to do about each kind of work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tbprof.advice.input.input_facts import CATEGORIES, dominant_category
from tbprof.advice.input.input_findings import by_category, find_input_findings
from tbprof.advice.tf_data.tf_data_pipelines import is_bound
from tbprof.analysis.input.input_ops import InputOps
from tbprof.analysis.vocabulary.input_names import InputCategory
from tbprof.base.values import sum_of
from tbprof.tools.model.datatable import Table, boolean, number, text

if TYPE_CHECKING:
    from tbprof.advice.tf_data.tf_data_diagnosis import Diagnosis


def input_advice_table(
    ops: InputOps, diagnoses: Sequence[Diagnosis], *, is_waited_for: bool = True
) -> Table:
    """The advice that applies, by category; advice on what holds up the program comes first.

    For a tf.data pipeline, it is the advice of the tf.data page on the worst one. Where steps wait
    for input (`is_waited_for`), sending data has advice if that was recorded; what holds for all
    programs is under the last category. `ms` is the work of a category, `share` its percentage of
    that of all (null without any). `is_dominant` is the category of what holds the program up, or
    else that with most work.
    """
    work = {category: ops.work_of(category) for category, _, _ in CATEGORIES}
    whole = sum_of(work.values())
    names = {category: (id_, label) for category, id_, label in CATEGORIES}
    on_pipeline = by_category(ops, diagnoses[0]) if diagnoses else []
    is_bound_by = bool(diagnoses) and is_bound(diagnoses[0].severity)
    dominant = on_pipeline[0][0] if is_bound_by else dominant_category(ops)
    general = find_input_findings(ops) if is_waited_for else []
    applying = [
        (category, finding)
        for category, finding in general
        if work[category] or category == InputCategory.UNKNOWN
    ]
    rows = sorted(
        (*on_pipeline, *applying),
        key=lambda row: (row[0] != dominant, -work[row[0]], int(row[0])),
    )
    category_of = [category for category, _ in rows]
    findings = [finding for _, finding in rows]
    share = [100.0 * work[category] / whole if whole else np.nan for category in category_of]
    return Table(
        (
            text("category", "Category id", [names[category][0] for category in category_of]),
            text("label", "Category", [names[category][1] for category in category_of]),
            number("ms", "Work (ms)", [work[category] / 1e9 for category in category_of]),
            number("share", "Share of work (%)", np.array(share, np.float64)),
            boolean(
                "is_dominant",
                "What to begin with",
                [category == dominant for category in category_of],
            ),
            text("title", "What", [finding.title for finding in findings]),
            text("advice", "Advice", [finding.action for finding in findings]),
            text("guide_title", "Guide", [finding.guide.title for finding in findings]),
            text("guide_url", "Guide URL", [finding.guide.url for finding in findings]),
        )
    )
