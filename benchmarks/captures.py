"""Measures captures: from the click to the overview, the start of many workers, memory.

    python -m benchmarks.captures

The click is in a real browser, the program a JAX one where TBPROF_RECORD_PYTHON has JAX, else a
server that sends one of the sample traces. The 64 workers are servers in eight processes. Memory is
that of a whole process that receives 200 MB.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import grpc

from benchmarks import measure, pages
from benchmarks.programs import ROUTE, Programs
from tbprof._pb import message
from tbprof.capturing.python import capture

ROOT = Path(__file__).resolve().parent.parent
WORKERS, PROCESSES = 64, 8
TRACE_BYTES = 200_000_000
CLICKS = 5
STARTS = 3
# Serves as many profilers as asked, and prints their ports; then, at a line on stdin, when each
# began to record.
SERVERS = """
import json, sys, time
from benchmarks.captures import Profilers
profilers = Profilers(int(sys.argv[1]), int(sys.argv[2]))
print(json.dumps(profilers.ports), flush=True)
sys.stdin.readline()
print(json.dumps(profilers.starts), flush=True)
"""
RECEIVER = """
import re, sys, tbprof
tbprof.capture(sys.argv[1], sys.argv[2], duration_ms=20)
print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024)
"""


class Profilers:
    """Profiler servers that record nothing and send a trace of a given size."""

    def __init__(self, count: int, size: int) -> None:
        self.ports: list[int] = []
        self.starts: list[float] = []
        space = message("tensorflow.profiler.XSpace")()
        space.planes.add(name="/host:CPU").lines.add(name="x" * size)
        response = message("tensorflow.ProfileResponse")(xspace=space.SerializeToString())
        self._answer: bytes = response.SerializeToString()
        self._servers = [self._serve() for _ in range(count)]

    def _serve(self) -> grpc.Server:
        server = grpc.server(ThreadPoolExecutor(2))
        handlers: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
            "Profile": grpc.unary_unary_rpc_method_handler(self._profile),
            "Terminate": grpc.unary_unary_rpc_method_handler(lambda _data, _context: b""),
        }
        service = "tensorflow.ProfilerService"
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
        self.ports.append(server.add_insecure_port("127.0.0.1:0"))
        server.start()
        return server

    def _profile(self, data: bytes, _context: grpc.ServicerContext) -> bytes:
        opts = message("tensorflow.ProfileRequest").FromString(data).opts
        time.sleep(max(0.0, opts.start_timestamp_ns / 1e9 - time.time()))
        self.starts.append(time.time())
        time.sleep(opts.duration_ms / 1000)
        return self._answer


@dataclass(slots=True)
class Measured:
    """Times in ms, memory as multiples of the trace."""

    firsts_ms: list[float] = field(default_factory=list)
    clicks_ms: list[float] = field(default_factory=list)
    program: str = ""
    spread_ms: float = 0.0
    memory: float = 0.0


@contextmanager
def _profilers(count: int, size: int) -> "Iterator[subprocess.Popen[str]]":
    child = subprocess.Popen(
        [sys.executable, "-c", SERVERS, str(count), str(size)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def _line(child: "subprocess.Popen[str]") -> list[float]:
    assert child.stdout is not None
    seconds: list[float] = json.loads(child.stdout.readline())
    return seconds


def measure_start(scratch: Path) -> float:
    """Between the first and the last of 64 workers that begin to record, in ms."""
    with ExitStack() as stack:
        children = [
            stack.enter_context(_profilers(WORKERS // PROCESSES, 1000)) for _ in range(PROCESSES)
        ]
        ports = [int(port) for child in children for port in _line(child)]
        report = capture([f"127.0.0.1:{port}" for port in ports], str(scratch), duration_ms=200)
        if report.written != WORKERS:
            raise measure.Failed(f"{report.written} of {WORKERS} workers were recorded")
        starts: list[float] = []
        for child in children:
            assert child.stdin is not None
            child.stdin.write("\n")
            child.stdin.flush()
            starts += _line(child)
    return 1000 * (max(starts) - min(starts))


def measure_memory(scratch: Path) -> float:
    """What receiving and writing a trace takes at most, as a multiple of its size."""
    with _profilers(1, TRACE_BYTES) as child:
        [port] = _line(child)
        result = subprocess.run(
            [sys.executable, "-c", RECEIVER, f"127.0.0.1:{int(port)}", str(scratch)],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=True,
        )
    return int(result.stdout) / TRACE_BYTES


def measure_clicks(
    programs: Programs, scratch: Path, cache: Path, clicks: int
) -> tuple[list[float], str]:
    """(ms from each click to its overview, what was captured), on a server that has just started.

    `cache` holds compiled kernels, or nothing, as after an installation.
    """
    beside = ROOT / ".venv-record" / "bin" / "python"
    recorder = os.environ.get("TBPROF_RECORD_PYTHON", str(beside) if beside.exists() else "")
    os.sync()  # a browser waits for its cache, and that for what others have still to write
    with ExitStack() as stack:
        if recorder:
            port, what = 21_888, "a JAX program"
            script = str(ROOT / "examples" / "serve_jax.py")
            child = subprocess.Popen(
                [recorder, script, str(port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            stack.callback(child.wait)
            stack.callback(child.kill)
            assert child.stdout is not None
            child.stdout.readline()
        else:
            server = stack.enter_context(_profilers(1, 1000))
            port, what = int(_line(server)[0]), "a server that sends an empty trace"
        command = [programs.python, "-m", "tbprof.cli", "serve", str(scratch), "--port", "{port}"]
        served = stack.enter_context(measure.serving(command, programs.cache_at(cache)))
        served.wait_for(f"{ROUTE}/version")
        page = f"http://127.0.0.1:{served.port}{ROUTE}/index.html"
        said = pages.in_browser("capture_time", page, f"localhost:{port}", str(clicks))
    return [float(line) for line in said.split()], what


def measure_captures(programs: Programs) -> Measured:
    """All figures."""
    measured = Measured()
    with tempfile.TemporaryDirectory(prefix="tbprof-captures-") as folder:
        scratch = Path(folder)
        measured.spread_ms = measure_start(scratch / "many")
        for start in range(STARTS):
            logdir = scratch / f"clicked{start}"
            logdir.mkdir()
            clicks, measured.program = measure_clicks(
                programs, logdir, programs.fresh_cache(), 1 + (CLICKS if start == 0 else 0)
            )
            measured.firsts_ms.append(clicks[0])
            measured.clicks_ms += clicks[1:]
        measured.memory = measure_memory(scratch / "large")
    print(f"captures: {measured}", file=sys.stderr)
    return measured


def section(measured: Measured) -> list[str]:
    """The lines of the report."""
    clicks = statistics.median(measured.clicks_ms) / 1000
    what = f"a capture of 1 s of {measured.program}"
    first = statistics.median(measured.firsts_ms) / 1000
    what = f"from the click to the overview on screen, {what}"
    rows = {
        f"{what}, as soon as the server has started, median of {STARTS}": f"{first:.2f} s",
        f"the same, later captures, median of {CLICKS}": f"{clicks:.2f} s",
        f"from the first to the last of {WORKERS} workers to begin": f"{measured.spread_ms:.1f} ms",
        f"memory for a trace of {TRACE_BYTES / 1e6:.0f} MB": f"{measured.memory:.2f} × the trace",
    }
    table = [f"| {name} | {figure} |" for name, figure in rows.items()]
    return ["## Captures", "", "| what | figure |", "| --- | --- |", *table, ""]


def measure_all(programs: Programs) -> list[str]:
    """The lines of the page's section."""
    return section(measure_captures(programs))


def main() -> int:
    """The command line."""
    with Programs.installed() as programs:
        print("\n".join(measure_all(programs)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
