"""Runs `tbprof` in this process, as a shell would, and Python in processes of their own."""

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from helpers.patience import PATIENCE_S
from tbprof.cli import main

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Ran:
    """What a command printed, and its exit status."""

    exit_code: int
    stdout_bytes: bytes
    stderr: str

    @property
    def stdout(self) -> str:
        return self.stdout_bytes.decode()


def run(*arguments: object) -> Ran:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    status: object = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as leaving:
            status = leaving.code or 0
    assert isinstance(status, int)
    printed, said = (stream.buffer.getvalue() for stream in (out, err))
    return Ran(status, printed, said.decode())


def python_prints(*arguments: object, cwd: Path | None = None, **environment: str) -> str:
    """What Python prints in a process of its own, which imports this checkout and succeeds."""
    ran = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, cwd=cwd,
        timeout=PATIENCE_S, env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
