"""One process or one server, measured: wall time, processor time, peak memory, latencies."""

import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

READY_SECONDS = 120
ANSWER_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process took, from its start to its end, its threads included."""

    wall_s: float
    cpu_s: float
    peak_bytes: int

    def figures(self) -> str:
        """As tables show it: wall time, processor time, peak memory."""
        return f"{self.wall_s:.2f} s, {self.cpu_s:.2f} s, {self.peak_bytes / 1e6:,.0f} MB"


class Failed(Exception):
    """The measured program failed; the text is the end of what it said."""


def _environment(more: Mapping[str, str] | None) -> dict[str, str]:
    """Our environment and `more`; programs keep bytecode, as installed ones do."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, **(more or {})}


def run(command: Sequence[str], env: Mapping[str, str] | None = None) -> Cost:
    """The cost of a command that must succeed."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        env=_environment(env),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed(f"{' '.join(command)}: {said.decode(errors='replace')[-400:]}")
    return Cost(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def middle(costs: Sequence[Cost]) -> Cost:
    """The median of each figure."""
    return Cost(
        median(cost.wall_s for cost in costs),
        median(cost.cpu_s for cost in costs),
        int(median(cost.peak_bytes for cost in costs)),
    )


def cost_cell(cost: Cost | str | None, base: Cost | str | None, size: int) -> str:
    """A table's cell: the cost, or that there is none, against the file's size and the `base`."""
    if cost is None:
        return "not installed"
    if isinstance(cost, str):
        return "failed"
    text = f"{cost.figures()} ({cost.peak_bytes / size:.2f} × file)"
    if isinstance(base, Cost):
        text += f" [{base.wall_s / cost.wall_s:.1f} × as fast]"
    return text


class Server:
    """A server that was started, and is stopped with its cost known."""

    def __init__(self, process: "subprocess.Popen[bytes]", port: int, started: float) -> None:
        self.process, self.port, self.started = process, port, started
        self.cost: Cost | None = None

    def get(self, path: str) -> tuple[float, bytes]:
        """(seconds, body) of one request."""
        start = time.perf_counter()
        url = f"http://127.0.0.1:{self.port}{path}"
        with urllib.request.urlopen(url, timeout=ANSWER_SECONDS) as answer:
            body: bytes = answer.read()
        return time.perf_counter() - start, body

    def wait_for(self, path: str) -> float:
        """Seconds from the process's start until `path` is answered with success."""
        while True:
            try:
                self.get(path)
            except (OSError, urllib.error.URLError) as error:
                if time.perf_counter() - self.started > READY_SECONDS:
                    raise Failed(f"no answer to {path}: {error}") from error
                if self.process.poll() is not None:
                    raise Failed(f"the server ended with {self.process.returncode}") from error
                time.sleep(0.005)
            else:
                return time.perf_counter() - self.started


@contextmanager
def serving(command: Sequence[str], env: Mapping[str, str] | None = None) -> Iterator[Server]:
    """A running server; `{port}` in the command becomes a free port."""
    port = _free_port()
    started = time.perf_counter()
    process = subprocess.Popen(
        [part.replace("{port}", str(port)) for part in command],
        env=_environment(env),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    server = Server(process, port, started)
    try:
        yield server
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = -signal.SIGKILL
        wall_s = time.perf_counter() - started
        server.cost = Cost(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


@contextmanager
def private_logdir(trace: Path, folder: Path) -> Iterator[Path]:
    """A logdir of one run, `bench`, that links to the trace: caches beside it are cold, and go."""
    shutil.rmtree(folder, ignore_errors=True)
    run_folder = folder / "plugins" / "profile" / "bench"
    run_folder.mkdir(parents=True)
    (run_folder / "host0.xplane.pb").symlink_to(trace.resolve())
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def trace_in(logdir: Path) -> Path:
    """The trace of a private logdir."""
    return logdir / "plugins" / "profile" / "bench" / "host0.xplane.pb"


def read_once(path: Path) -> None:
    """Brings a file into the page cache, so that the first program does not pay for the disk."""
    with path.open("rb") as file:
        while file.read(1 << 24):
            pass


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    model, total_kb = "unknown", 0
    for line in _lines("/proc/cpuinfo"):
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemTotal"):
            total_kb = int(line.split()[1])
    return {
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)),
        "memory GiB": round(total_kb / 2**20),
        "kernel": f"{os.uname().sysname} {os.uname().release}",
        "load at the start": f"{os.getloadavg()[0]:.1f}",
    }


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
