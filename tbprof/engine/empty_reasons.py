"""Why a tool has nothing to show, and what was lost of what it shows."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tbprof.analysis.run.outline import Outline
from tbprof.base.errors import CUT_HINT, NoData, Notice, TbprofError
from tbprof.base.recorder_errors import complaint_notices
from tbprof.engine.kept_parts import PartResult
from tbprof.storage.runs import Run, TraceFile
from tbprof.tools.tool import Tool

Outlines = Mapping[str, Outline | TbprofError]


class Absence(NamedTuple):
    """Why a tool has nothing to show, and the way out."""

    reason: str
    hint: str


def find_absence(tool: Tool, run: Run, outlines: Outlines) -> Absence | None:
    """Why the tool has nothing for the run, None where it may have; looks at outlines alone."""
    good = {host: outline for host, outline in outlines.items() if isinstance(outline, Outline)}
    if good:
        return _absence(tool, good)
    errors = [outline for outline in outlines.values() if isinstance(outline, TbprofError)]
    if errors:
        return Absence(f"no trace of this run can be read: {errors[0].message}", errors[0].hint)
    return Absence(
        f"run {run.name!r} holds no trace files",
        "the capture may have failed, or still be writing: look at its log",
    )


def check_outlines(
    tool: Tool, outlines: Mapping[str, Outline], failures: Sequence[TbprofError]
) -> None:
    """Raises NoData where no host has what the tool is about."""
    absence = _absence(tool, outlines)
    if absence is not None:
        raise no_data(tool, absence, failures)


def empty_tool(tool: Tool, outlines: Mapping[str, Outline]) -> Absence:
    """Why a tool has nothing of events that its hosts have."""
    return _cut(outlines) or Absence(tool.empty, tool.empty_hint)


def no_data(tool: Tool, absence: Absence, failures: Sequence[TbprofError]) -> NoData:
    """The error for a tool without data; what was lost may be where the data was."""
    hint = absence.hint
    if failures:
        hint = f"{hint}; {len(failures)} of the hosts could not be read: {failures[0].message}"
    return NoData(f"{tool.label} has nothing to show: {absence.reason}", hint)


def _absence(tool: Tool, outlines: Mapping[str, Outline]) -> Absence | None:
    """None where a plane of the tool has events, and the file what it shows of them."""
    is_there = False
    for outline in outlines.values():
        for plane, size in zip(outline.planes, outline.event_bytes.tolist(), strict=True):
            if plane.startswith(tool.planes):
                if size and (not tool.content or tool.content in outline.holds):
                    return None
                is_there = True
    if is_there:
        return empty_tool(tool, outlines)
    return _cut(outlines) or Absence(tool.absent, tool.absent_hint)


def _cut(outlines: Mapping[str, Outline]) -> Absence | None:
    """What to say of files that were cut off: what a tool lacks may be in the missing part."""
    cut = [(host, outline.ends_early) for host, outline in outlines.items() if outline.ends_early]
    if not cut:
        return None
    host, ends_early = cut[0]
    of_host = f" ({host})" if len(outlines) > 1 else ""
    more = f", those of {len(cut) - 1} more hosts too" if len(cut) > 1 else ""
    return Absence(
        f"{ends_early}{of_host}{more}: what this page shows may have been in the missing part",
        CUT_HINT,
    )


def find_warnings(
    files: Sequence[TraceFile], results: Sequence[dict[str, PartResult] | TbprofError]
) -> tuple[Notice, ...]:
    """What was lost, per host: hosts left out, damage, and the recorder's own complaints."""
    warnings: dict[Notice, None] = {}
    for file, found in zip(files, results, strict=True):
        if isinstance(found, TbprofError):
            notice = Notice(found.code, f"left out: {found.message}", file.host, found.hint)
            warnings[notice] = None
            continue
        outline = found["outline"].value
        warnings |= dict.fromkeys(complaint_notices(outline.errors, outline.warnings, file.host))
        for _, notices in found.values():
            for one in notices:
                warnings[dataclasses.replace(one, host=file.host)] = None
    return tuple(warnings)
