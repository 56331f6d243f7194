"""What threads did in the uncovered part of the average step, as a table."""

from __future__ import annotations

import numpy as np

from tbprof.advice.evidence import Evidence
from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.job.idle_shares import LABELS
from tbprof.analysis.vocabulary.python_frames import describe_frame
from tbprof.base.values import sum_of
from tbprof.tools.model.datatable import Table, number, text

# At most this many rows below a kind, and below each of these; only from this share on.
_MOST = 5
_LEAST = 0.01

# Id, label, event name, ms, id of the parent.
_Row = tuple[str, str, str, float, str]


def idle_table(evidence: Evidence) -> Table:
    """Rows without a parent add up to "All others"; kinds, longest first, each with its parts.

    `event` is the recorded name that a row counts, "" if it is not a single event; `share` is the
    percentage of the average step. No rows without steps.
    """
    by_kind: dict[Activity, dict[tuple[str, str], float]] = {}
    for gap in evidence.idle:
        names = by_kind.setdefault(gap.kind, {})
        for part, ms in gap.parts:
            names[gap.name, part] = names.get((gap.name, part), 0.0) + ms
    whole = sum_of(gap.ms for gap in evidence.idle)
    rows: list[_Row] = []
    for kind, names in sorted(by_kind.items(), key=lambda item: -sum_of(item[1].values())):
        id_ = kind.name.lower()
        rows.append((id_, LABELS[kind], "", sum_of(names.values()), ""))
        ranked = sorted(names.items(), key=lambda item: -item[1])
        for index, ((name, part), ms) in enumerate(ranked[:_MOST]):
            if (name or part) and ms >= _LEAST * whole:
                rows.append((f"{id_}.{index}", _label(name, part), name or part, ms, id_))
    times = np.array([row[3] for row in rows], np.float64)
    return Table(
        (
            text("id", "Id", [row[0] for row in rows]),
            text("label", "Activity", [row[1] for row in rows]),
            text("event", "Event", [row[2] for row in rows]),
            number("ms", "Average time (ms)", times),
            number("share", "Share of step time (%)", 100 * times / evidence.step_ms),
            text("parent", "Part of", [row[4] for row in rows]),
        )
    )


def _label(name: str, part: str) -> str:
    """`batch (train.py:14): time.sleep`, or the one that is known."""
    return ": ".join(describe_frame(text) for text in (name, part) if text)
