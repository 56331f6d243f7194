"""Why a tool has nothing to show, and what is missing from what it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tbprof.analysis.run.outline import Outline
from tbprof.base.errors import CUT_HINT, NoData, Notice, TbprofError
from tbprof.base.recorder_errors import error_notices
from tbprof.base.records import NamedTuple, replace
from tbprof.engine.hosts.kept_parts import PartResult
from tbprof.storage.runs import Run, TraceFile
from tbprof.tools.model.tool import Tool

Outlines = Mapping[str, Outline | TbprofError]


class EmptyReason(NamedTuple):
    """Why a tool has nothing to show, and what to do."""

    message: str
    hint: str


def find_empty_reason(tool: Tool, run: Run, outlines: Outlines) -> EmptyReason | None:
    """Why the tool has nothing for the run, None if it may have data; only reads outlines."""
    good = {host: outline for host, outline in outlines.items() if isinstance(outline, Outline)}
    if good:
        return empty_reason_by_outlines(tool, good)
    errors = [outline for outline in outlines.values() if isinstance(outline, TbprofError)]
    if errors:
        return EmptyReason(f"no trace of this run can be read: {errors[0].message}", errors[0].hint)
    return EmptyReason(
        f"run {run.name!r} has no trace files",
        "the capture may have failed, or may still be writing: check its log",
    )


def empty_tool(tool: Tool, outlines: Mapping[str, Outline]) -> EmptyReason:
    """Why a tool has nothing to show although its hosts have events."""
    return _cut(outlines) or EmptyReason(tool.empty, tool.empty_hint)


def no_data(tool: Tool, reason: EmptyReason, failures: Sequence[TbprofError]) -> NoData:
    """The error for a tool without data, which may have been in the lost part of a file."""
    hint = reason.hint
    if failures:
        hint = f"{hint}; {len(failures)} of the hosts could not be read: {failures[0].message}"
    return NoData(f"{tool.label} has nothing to show: {reason.message}", hint)


def empty_reason_by_outlines(tool: Tool, outlines: Mapping[str, Outline]) -> EmptyReason | None:
    """Why no host has what the tool shows.

    None if a plane of the tool has events, and the file contains what the tool shows.
    """
    is_there = False
    for outline in outlines.values():
        for plane, size in zip(outline.planes, outline.event_bytes.tolist(), strict=True):
            if plane.startswith(tool.planes):
                if size and (not tool.content or tool.content in outline.holds):
                    return None
                is_there = True
    if is_there:
        return empty_tool(tool, outlines)
    return _cut(outlines) or EmptyReason(tool.absent, tool.absent_hint)


def _cut(outlines: Mapping[str, Outline]) -> EmptyReason | None:
    """The reason for files that were cut off: the tool's data may be in the missing part."""
    cut = [(host, outline.ends_early) for host, outline in outlines.items() if outline.ends_early]
    if not cut:
        return None
    host, ends_early = cut[0]
    of_host = f" ({host})" if len(outlines) > 1 else ""
    more = f", those of {len(cut) - 1} more hosts too" if len(cut) > 1 else ""
    return EmptyReason(
        f"{ends_early}{of_host}{more}: the data of this page may have been in the missing part",
        CUT_HINT,
    )


def find_warnings(
    files: Sequence[TraceFile], results: Sequence[dict[str, PartResult] | TbprofError]
) -> tuple[Notice, ...]:
    """What is missing, per host: hosts left out, damage, and errors that the recorder reported."""
    warnings: dict[Notice, None] = {}
    for file, parts in zip(files, results, strict=True):
        if isinstance(parts, TbprofError):
            notice = Notice(parts.code, f"left out: {parts.message}", file.host, parts.hint)
            warnings[notice] = None
            continue
        outline = parts["outline"].value
        warnings |= dict.fromkeys(error_notices(outline.errors, outline.warnings, file.host))
        for _, notices in parts.values():
            for lost in notices:
                warnings[replace(lost, host=file.host)] = None
    return tuple(warnings)
