"""Op profile: which instructions of compiled programs take time, and how much of it is wasted."""

from __future__ import annotations

from tbprof.advice.summaries import Summaries
from tbprof.analysis.devices.peaks import Peaks, merge_peaks
from tbprof.analysis.programs.program_ops import ProgramOps
from tbprof.analysis.programs.program_ops_merging import merge_program_ops
from tbprof.base.errors import BadRequest
from tbprof.tools.model.tool import Document
from tbprof.tools.programs.op_profile_page import ProfilePage
from tbprof.tools.programs.op_profile_tree import GROUPINGS, profile_tree

PARTS = ("program_ops", "peaks")

_KEYS = {"program": "byProgram", "category": "byCategory", "provenance": "byProvenance"}
_CPU = "CPU_ONLY"


def build(summaries: Summaries) -> Document:
    """The tree for scripts, in two variants: with idle time, and without it.

    Parameters: `group_by` is "program" (usually), "category" or "provenance". Of our page: `rows`
    is the place of the first of those that are wanted instead of the longest, or "all", `row` the
    number of one whose details are wanted. Empty if nothing that ran belongs to a program.
    """
    ops = merge_program_ops(summaries.take("program_ops", ProgramOps))
    peaks = merge_peaks(summaries.take("peaks", Peaks))
    group_by = summaries.params.get("group_by", "") or "program"
    if group_by not in GROUPINGS:
        raise BadRequest(
            f"ops cannot be grouped by {group_by[:40]!r}",
            f"they are grouped by {', '.join(GROUPINGS)}",
        )
    page = ProfilePage(ops, peaks, summaries.params)

    def trees() -> dict[str, object]:
        key = _KEYS[group_by]
        return {
            key: profile_tree(ops, peaks, group_by, has_idle=True),
            "deviceType": _CPU if ops.device_type == "CPU" else ops.device_type,
            f"{key}ExcludeIdle": profile_tree(ops, peaks, group_by, has_idle=False),
            "aggDvfsTimeScaleMultiplier": 1,
        }

    return Document(
        rows=trees,
        columns=page.columns,
        table=page.table,
        is_empty=not any(ops.program_id) and not any(ops.program),
    )
