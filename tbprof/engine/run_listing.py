"""A run for the shell: its hosts, its tools, and why some of them have nothing to show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tbprof.analysis.run.outline import Outline
from tbprof.base.errors import TbprofError
from tbprof.engine.empty_reasons import EmptyReason, Outlines
from tbprof.storage.runs import Run
from tbprof.tools import TOOLS
from tbprof.tools.model.tool import Tool

_NO_RUN = EmptyReason("There is no run yet.", "")


def session_of(
    run: Run, outlines: Outlines, empty_reasons: Mapping[str, EmptyReason]
) -> dict[str, Any]:
    """A run's hosts with their errors, and every tool with its reason if it is empty."""
    hosts = [
        {
            "hostname": file.host,
            "bytes": file.bytes,
            "modified_ms": file.modified_ns / 1e6,
            "error": _error(outlines[file.host]),
        }
        for file in run.files
    ]
    tools = [_entry(tool, empty_reasons.get(tool.name)) for tool in TOOLS]
    return {"run": run.name, "hosts": hosts, "tools": tools}


def session_without_run() -> dict[str, Any]:
    """The tools of a logdir that has no run yet."""
    return {"run": "", "hosts": [], "tools": [_entry(tool, _NO_RUN) for tool in TOOLS]}


def _entry(tool: Tool, reason: EmptyReason | None) -> dict[str, object]:
    return {
        "name": tool.name,
        "label": tool.label,
        "short": tool.short,
        "also": list(tool.also),
        "hosts": "any",
        "detail": tool.is_detail,
        "available": reason is None,
        "reason": None if reason is None else reason.message,
        "hint": None if reason is None else reason.hint,
    }


def _error(outline: Outline | TbprofError) -> dict[str, str] | None:
    if isinstance(outline, Outline):
        return None
    return {"code": outline.code, "message": outline.message, "hint": outline.hint}
