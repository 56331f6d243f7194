"""Worker processes in which a part does what a test says."""

from pathlib import Path

import pytest

from tbprof.engine.workers import starting

# Runs in every worker before it is asked for anything.
_PLANT = """
import os, signal, sys, time
from pathlib import Path
import numpy
from tbprof.engine.hosts import summary_cache

compute, parts = summary_cache._compute, summary_cache.SummaryCache.parts

def planted_parts(self, file, *arguments, **named):
    global host
    host = file.host
    return parts(self, file, *arguments, **named)

def planted(space, part, needed):
    with Path({log!r}).open("a") as log:
        print(part.name, host, os.getpid(), file=log)
    if part.name == "ops":
        exec(Path({script!r}).read_text(), {{**globals(), **locals()}})
    return compute(space, part, needed)

summary_cache._compute, summary_cache.SummaryCache.parts = planted, planted_parts
"""


class Plant:
    """What workers do when they compute the part `ops` of a `host`, and who computed what."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._script, self.log = folder / "script", folder / "log"
        self.do("")
        self.log.touch()
        code = _PLANT.format(log=str(self.log), script=str(self._script))
        (folder / "planted.py").write_text(code)
        monkeypatch.syspath_prepend(folder)
        monkeypatch.setattr(
            starting, "_CODE", starting._CODE.replace("from {}", "import planted; from {}")
        )

    def do(self, script: str) -> None:
        """From now on, workers run this first."""
        self._script.write_text(script)

    def computed(self, part: str) -> list[tuple[str, int]]:
        """(host, process) of each computation of a part that was begun, in order."""
        lines = [line.split() for line in self.log.read_text().splitlines()]
        return [(host, int(process)) for name, host, process in lines if name == part]
