"""Converters of xprof and of the older profile plugin: processes that answer many times."""

import json
import select
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

XPROF = "xprof"
PROFILE = "tensorboard_plugin_profile"

_TIMEOUT_S = 300
# What the package prints is not an answer. Parameters are parsed for each tool: it changes them.
_SCRIPT = """
import importlib, json, os, sys
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
convert = importlib.import_module(sys.argv[1] + ".convert.raw_to_tool_data")
for question in sys.stdin:
    out, tools, params, paths = json.loads(question)
    try:
        found = {
            tool: json.loads(convert.xspace_to_tool_data(paths, tool, json.loads(params))[0])
            for tool in tools
        }
        with open(out, "w") as file:
            json.dump(found, file)
        answers.write("null\\n")
    except Exception as error:
        answers.write(json.dumps(repr(error)) + "\\n")
"""


class Converter:
    """A process with the package imported, for one question after another."""

    def __init__(self, python: str, package: str) -> None:
        self._seen: set[str] = set()
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - as long as the process
        self._process = subprocess.Popen(
            [python, "-c", _SCRIPT, package],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def convert(self, out: Path, tools: Sequence[str], params: str, paths: Sequence[str]) -> str:
        """Why nothing was written to `out`, "" if it was; the process may have died of it."""
        self._seen.update(paths)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(out), tools, params, paths]) + "\n")
        self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], _TIMEOUT_S)
        line = self._process.stdout.readline() if ready else ""
        if not line:
            self.close()
            return f"no answer, status {self._process.returncode}"
        return json.loads(line) or ""

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def is_fresh_for(self, paths: Sequence[str]) -> bool:
        """Whether it runs and knows none of the paths: of those it remembers windows and more."""
        return self.is_running and self._seen.isdisjoint(paths)

    def close(self) -> None:
        if self.is_running:
            self._process.kill()
            self._process.communicate()
            self._log.close()


_converters: dict[tuple[str, str], Converter] = {}


def convert(
    python: str,
    package: str,
    out: Path,
    tools: Sequence[str],
    paths: Sequence[str],
    params: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The JSON of each tool for traces at `paths`; fails where the package does."""
    converter = _converters.get((python, package))
    if converter is None or not converter.is_fresh_for(paths):
        if converter is not None:
            converter.close()
        converter = _converters[python, package] = Converter(python, package)
    error = converter.convert(out, tools, json.dumps(params or {}), paths)
    assert not error, error
    answer: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return answer


def close_converters() -> None:
    """Ends the processes."""
    for converter in _converters.values():
        converter.close()
    _converters.clear()
