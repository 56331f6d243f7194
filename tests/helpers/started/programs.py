"""Programs of TensorFlow and JAX that tests start and record."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
# Who may not go first is started all the same.
_NICENESS = -15
_FIRST = ("nice", "-n", str(_NICENESS)) if shutil.which("nice") else ()
_MOST_SECONDS = 600.0
# XLA_FLAGS of JAX for programs that run once: machine code is what takes longest to compile.
QUICK_TO_COMPILE = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"


def started(
    *command: str,
    stdin: int = subprocess.DEVNULL,
    stdout: int = subprocess.DEVNULL,
    stderr: int = subprocess.DEVNULL,
) -> subprocess.Popen[str]:
    """A program that goes before others of a busy machine, where that is allowed.

    Those of its session heed its niceness, other sessions that of the session.
    Source: Linux, sched(7), "The autogroup feature".
    """
    # No GPU, where the machine has one, and few messages.
    quiet = {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [*_FIRST, *command],
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        text=True,
        env={**os.environ, **quiet},
        start_new_session=True,
    )
    with contextlib.suppress(OSError):
        Path(f"/proc/{process.pid}/autogroup").write_text(str(_NICENESS), encoding="ascii")
    return process


def run(*command: str) -> str:
    """Runs a program to its end; what it wrote."""
    with started(*command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            written, _ = process.communicate(timeout=_MOST_SECONDS)
        finally:
            process.kill()
    assert process.returncode == 0, written[-2000:]
    return written


class ForkedProgram:
    """A program of a `ForkServer`."""

    def __init__(self, server: "ForkServer", process: int, output: Path) -> None:
        self._server = server
        self._process = process
        self._output = output
        self._status: int | None = None

    def poll(self) -> int | None:
        """Its exit status, None while it runs."""
        return self._ask_status(waits=False)

    def wait(self, seconds: float = _MOST_SECONDS) -> int:
        """Its exit status once it has ended; it is killed if that takes too long."""
        timer = threading.Timer(seconds, os.kill, (self._process, signal.SIGKILL))
        timer.start()
        try:
            status = self._ask_status(waits=True)
        finally:
            timer.cancel()
            timer.join()
        assert status is not None
        return status

    def kill(self) -> None:
        """Ends it if it runs."""
        if self.poll() is None:
            os.kill(self._process, signal.SIGKILL)

    def written(self) -> str:
        """What it wrote so far."""
        return self._output.read_text(encoding="utf-8", errors="replace")

    def _ask_status(self, *, waits: bool) -> int | None:
        if self._status is None:
            self._status = self._server.ask({"status": self._process, "waits": waits})
        return self._status


class ForkServer:
    """Starts programs of TensorFlow in forks of one process, which imports it for the first."""

    def __init__(self, python: str) -> None:
        self._python = python
        self._server: subprocess.Popen[str] | None = None
        self._outputs = tempfile.TemporaryDirectory()
        self._programs = 0

    def close(self) -> None:
        """Ends the process."""
        if self._server is not None:
            self._server.communicate()
        self._outputs.cleanup()

    def start(self, *command: str) -> ForkedProgram:
        """A script with its arguments."""
        self._programs += 1
        output = Path(self._outputs.name, str(self._programs))
        process = self.ask({"run": command, "output": str(output)})
        return ForkedProgram(self, process, output)

    def run(self, *command: str) -> str:
        """Runs a script to its end; what it wrote."""
        program = self.start(*command)
        assert program.wait() == 0, program.written()[-2000:]
        return program.written()

    def ask(self, request: dict[str, object]) -> Any:
        """The answer of the process, see fork_server.py."""
        if self._server is None:
            script = str(ROOT / "tests" / "recorded" / "scripts" / "fork_server.py")
            pipe = subprocess.PIPE
            self._server = started(self._python, script, stdin=pipe, stdout=pipe)
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        return json.loads(self._server.stdout.readline())
