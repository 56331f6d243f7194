"""Tools that turned out to have no data for a run although its outlines did not show it."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from tbprof.base.caches import LatestCache
from tbprof.engine.empty_reasons import EmptyReason, empty_tool
from tbprof.engine.hosts.kept_parts import PartResult
from tbprof.storage.files import fingerprints
from tbprof.storage.runs import Run, TraceFile
from tbprof.tools import TOOLS
from tbprof.tools.model.tool import Tool

_RUNS = 256


class LearnedReasons:
    """By the files of a run, the tools that had no data when requested, with the reason."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: LatestCache[tuple[str, ...], dict[str, EmptyReason]] = LatestCache(_RUNS, 0)

    def of(self, files: Sequence[TraceFile]) -> Mapping[str, EmptyReason]:
        """The reason of each tool that is known to have no data for these files."""
        return self._found.get(fingerprints(files)) or {}

    def learn(self, tool: Tool, run: Run, files: Sequence[TraceFile], reason: EmptyReason) -> None:
        """Remembers that a tool has no data for all hosts, which the index does not show."""
        if len(files) < len(run.files):
            return
        key = fingerprints(files)
        with self._lock:
            self._found.put(key, {**(self._found.get(key) or {}), tool.name: reason})

    def learn_of_steps(
        self, run: Run, files: Sequence[TraceFile], good: Mapping[str, dict[str, PartResult]]
    ) -> None:
        """Remembers the tools without data if the hosts that can be read have no steps."""
        steps = [parts["steps"].value for parts in good.values() if "steps" in parts]
        if not steps or any(step.worker.size or step.candidate_name for step in steps):
            return
        outlines = {host: parts["outline"].value for host, parts in good.items()}
        for tool in TOOLS:
            if tool.rests_on_steps:
                self.learn(tool, run, files, empty_tool(tool, outlines))
