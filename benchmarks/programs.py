"""The programs that are compared, each as the cost of one cold run."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import measure
from benchmarks.measure import Cost

ROOT = Path(__file__).resolve().parent.parent
ROUTE = "/data/plugin/profile"
XPROF_PROGRAM = """
import sys
from xprof.convert import raw_to_tool_data
for tool in sys.argv[2].split("+"):
    if raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], tool, {})[0] is None:
        sys.exit(f"xprof has nothing for {tool}")
"""
# What `tbprof export` does, for several tools.
TBPROF_PROGRAM = """
import sys
from tbprof.engine.engine import DataRequest, Engine
from tbprof.storage.logdir import Logdir
from tbprof.storage.results import ResultStore
logdir = Logdir([sys.argv[1]], wait_s=600)
engine = Engine(logdir, ResultStore())
for tool in sys.argv[2].split("+"):
    engine.data(DataRequest(list(logdir.runs())[0], tool)).content
"""


class Programs:
    """The three programs, each as the cost of one cold run of a tool."""

    def __init__(self, scratch: Path, python: str, xprof_python: str, xprof_rs: str) -> None:
        self.scratch, self.python = scratch, python
        self.xprof_python, self.xprof_rs = xprof_python, xprof_rs

    @classmethod
    @contextmanager
    def installed(cls) -> Iterator["Programs"]:
        """tbprof with this interpreter, and what else there is on this machine.

        They have a folder of their own, which goes afterwards.
        """
        beside = ROOT / ".venv-xprof" / "bin" / "python"
        xprof = os.environ.get("TBPROF_XPROF_PYTHON", str(beside) if beside.exists() else "")
        folders = [*os.get_exec_path(), str(Path(xprof).parent)]
        rs = shutil.which("xprof-rs", path=os.pathsep.join(folders))
        with tempfile.TemporaryDirectory(prefix="tbprof-bench-") as scratch:
            yield cls(Path(scratch), sys.executable, xprof, rs or "")

    def all(self) -> dict[str, Callable[[Path, str], Cost]]:
        """The programs that are installed, by name."""
        programs: dict[str, Callable[[Path, str], Cost]] = {"tbprof": self.tbprof}
        if self.xprof_python:
            programs["xprof"] = self.xprof
        if self.xprof_rs:
            programs["xprof-rs"] = self.xprof_rs_server
        return programs

    def tbprof(self, trace: Path, tool: str) -> Cost:
        """`tbprof export` with an empty cache."""
        cache = self.fresh_cache()
        return measure.run(self._export(trace, tool), self.cache_at(cache))

    def xprof(self, trace: Path, tool: str) -> Cost:
        """xprof's conversion in a process of its own."""
        with measure.private_logdir(trace, self.scratch / "xprof") as logdir:
            path = str(measure.trace_in(logdir))
            return measure.run([self.xprof_python, "-c", XPROF_PROGRAM, path, tool])

    def xprof_rs_server(self, trace: Path, tool: str) -> Cost:
        """xprof-rs has a server alone: from its start to the payload."""
        with measure.private_logdir(trace, self.scratch / "rs") as logdir:
            cache = self.scratch / "rs-cache"
            shutil.rmtree(cache, ignore_errors=True)
            command = [self.xprof_rs, "--logdir", str(logdir), "--port", "{port}"]
            with measure.serving(command, {"XPROF_CACHE_DIR": str(cache)}) as server:
                server.wait_for(f"{ROUTE}/runs")
                for name in tool.split("+"):
                    server.get(f"{ROUTE}/data?run=bench&tag={name}&host=host0")
            assert server.cost is not None
            return server.cost

    @contextmanager
    def serving(self, trace: Path, python: str = "") -> Iterator[measure.Server]:
        """tbprof's server of one trace as it begins to answer, with nothing computed before."""
        with measure.private_logdir(trace, self.scratch / "served") as logdir:
            command = [python or self.python, "-m", "tbprof.cli", "serve", str(logdir)]
            env = self.cache_at(self.fresh_cache())
            with measure.serving([*command, "--port", "{port}"], env) as server:
                server.wait_for(f"{ROUTE}/version")
                yield server

    def fresh_cache(self) -> Path:
        """An empty cache folder: nothing has been computed before."""
        cache = self.scratch / "cache"
        shutil.rmtree(cache, ignore_errors=True)
        return cache

    def _export(self, trace: Path, tool: str) -> list[str]:
        if "+" in tool:
            return [self.python, "-c", TBPROF_PROGRAM, str(trace), tool]
        export = [self.python, "-m", "tbprof.cli", "export", str(trace), "--tool", tool]
        return [*export, "-o", os.devnull]

    def cache_at(self, folder: Path) -> dict[str, str]:
        """What a process needs in its environment to keep its files in `folder`."""
        return {"TBPROF_CACHE_DIR": str(folder)}
