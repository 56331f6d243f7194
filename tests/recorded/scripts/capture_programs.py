"""Captures real programs in every way, and prints what came of it as JSON: PYTHON LOGDIR.

PYTHON has TensorFlow and JAX. Runs in a network of its own, since profiler servers let anyone in.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from unittest import mock

from relay import relaying

from tbprof._pb import message
from tbprof.capturing.probing.probe import probe
from tbprof.capturing.requests.request import parse_request
from tbprof.capturing.requests.targets import parse_target
from tbprof.capturing.sessions.capture_worker import WorkerState
from tbprof.capturing.sessions.session import Capture, CaptureReport

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
TENSORFLOW, SECOND, JAX, DEAD = 21009, 21010, 21999, 21001
SEVERAL_MS = 2000


@contextmanager
def programs(
    python: str, *scripts_and_ports: tuple[str, int]
) -> Iterator[list[subprocess.Popen[str]]]:
    """Programs that train, once all of them do."""
    children = [
        subprocess.Popen(
            [python, str(EXAMPLES / script), str(port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for script, port in scripts_and_ports
    ]
    try:
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline().strip() == "ready"
        yield children
    finally:
        for child in children:
            child.kill()
            child.wait()


def capture(logdir: str, run: str, ports: list[int], **choices: object) -> dict[str, object]:
    return asdict(_capture(logdir, run, ports, **choices).run())


def _capture(logdir: str, run: str, ports: list[int], **choices: object) -> Capture:
    addresses = ",".join(f"localhost:{port}" for port in ports)
    values = {"addresses": addresses, "duration_ms": 500, "run": run, **choices}
    return Capture(parse_request(values), logdir)


@contextmanager
def recording(logdir: str, run: str, ports: list[int], **choices: object) -> Iterator[Capture]:
    """A capture whose first worker records, however long that takes; afterwards it has ended."""
    running = _capture(logdir, run, ports, **choices)
    thread = threading.Thread(target=running.run)
    thread.start()
    wait_for_recording(running, 0)
    yield running
    thread.join()


def wait_for_recording(running: Capture, worker: int) -> None:
    """Returns once a worker of a capture records, or has failed to."""
    before = {WorkerState.WAITING, WorkerState.CONNECTING, WorkerState.STARTING}
    while WorkerState(running.report().workers[worker].phase) in before:
        time.sleep(0.01)
    time.sleep(0.1)  # the request is on its way


def command(*arguments: str) -> tuple[int, str]:
    result = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def main(python: str, logdir: str) -> dict[str, object]:
    found: dict[str, object] = {}
    with programs(
        python,
        ("serve_tensorflow.py", TENSORFLOW),
        ("serve_tensorflow.py", SECOND),
        ("serve_jax.py", JAX),
    ) as (_, second, jax):
        found["probes"] = {
            port: [finding.reason is None for finding in probe(parse_target(f"localhost:{port}"))]
            for port in (TENSORFLOW, JAX)
        }
        found["tensorflow"] = capture(logdir, "tensorflow", [TENSORFLOW])
        found["jax"] = capture(logdir, "jax", [JAX])
        found["relayed"] = [_relayed(logdir, port) for port in (TENSORFLOW, JAX)]
        found["python"] = capture(logdir, "python", [TENSORFLOW], python_level=1)
        found["several"] = capture(
            logdir, "several", [TENSORFLOW, SECOND, JAX, DEAD], duration_ms=SEVERAL_MS
        )
        ipv6 = {"addresses": f" grpc://[::1]:{TENSORFLOW} , [::1]:{TENSORFLOW}"}
        found["ipv6"] = capture(logdir, "ipv6", [], **ipv6) if has_ipv6() else None
        shell = ["-m", "tbprof.cli", "capture", "--logdir", logdir, "--run", "shell"]
        found["command"] = command(*shell, f"localhost:{TENSORFLOW}")
        both = f"localhost:{TENSORFLOW},localhost:{SECOND}"
        found["example"] = command(str(EXAMPLES / "capture_workers.py"), both, logdir)
        found["busy"] = _busy(logdir)
        found["slow"] = _slow(logdir, second, until=(0, 2))
        with mock.patch("tbprof.capturing.requests.options._COLLECTING_S", 6.0):
            found["too_slow"] = _slow(logdir, second, until=(0, 1, 2))
        with stopped(second):
            found["stopped"] = capture(logdir, "stopped", [TENSORFLOW, SECOND])
        found["cancelled"] = _cancelled(logdir)
        found["again"] = capture(logdir, "cancelled", [TENSORFLOW])
        with recording(logdir, "killed", [JAX], duration_ms=20_000) as lost:
            jax.kill()
        found["killed"] = asdict(lost.report())
    return found


def _relayed(logdir: str, port: int) -> dict[str, object]:
    """A capture, and whether its file holds the bytes of the trace that the server sent."""
    with relaying(port) as relay:
        report = capture(logdir, f"relayed{port}", [relay.port])
    sent = message("tensorflow.ProfileResponse").FromString(relay.longest_answer()).xspace
    [path] = Path(logdir, "plugins", "profile", f"relayed{port}").iterdir()
    return {"report": report, "bytes": len(sent), "is_same": path.read_bytes() == sent}


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def _busy(logdir: str) -> dict[str, object]:
    """Others while one runs: refused, the worker beside it is not, and tried again until the first
    has ended."""
    retried = _capture(logdir, "retried", [TENSORFLOW], retries=5)
    thread = threading.Thread(target=retried.run)
    with recording(logdir, "first", [TENSORFLOW], duration_ms=2500) as first:
        thread.start()
        refused = capture(logdir, "refused", [TENSORFLOW, SECOND])
    thread.join()
    return {
        "first": asdict(first.report()),
        "refused": refused,
        "retried": asdict(retried.report()),
    }


@contextmanager
def stopped(child: subprocess.Popen[str]) -> Iterator[None]:
    """A program that does nothing meanwhile, as on a machine that swaps."""
    child.send_signal(signal.SIGSTOP)
    os.waitpid(child.pid, os.WUNTRACED)  # until the last of its threads stands still
    try:
        yield
    finally:
        child.send_signal(signal.SIGCONT)


def _slow(logdir: str, child: subprocess.Popen[str], until: tuple[int, ...]) -> dict[str, object]:
    """The report where the second of three stops while it records, until those of `until` ended.

    Also when each one had ended, and when the second one went on.
    """
    ports = [TENSORFLOW, SECOND, JAX]
    running = _capture(logdir, "", ports, duration_ms=SEVERAL_MS)
    ended_s = [0.0] * len(ports)
    began = time.monotonic()

    def note(report: CaptureReport) -> None:
        for at, worker in enumerate(report.workers):
            if not ended_s[at] and WorkerState(worker.phase).is_final:
                ended_s[at] = time.monotonic() - began

    thread = threading.Thread(target=running.run, args=(note,))
    thread.start()
    wait_for_recording(running, 1)
    with stopped(child):
        while not all(ended_s[at] for at in until):
            time.sleep(0.01)
        went_on_s = time.monotonic() - began
    thread.join()
    return {"report": asdict(running.report()), "ended_s": ended_s, "went_on_s": went_on_s}


def _cancelled(logdir: str) -> dict[str, object]:
    with recording(logdir, "cancelled", [TENSORFLOW], duration_ms=20_000) as running:
        began = time.monotonic()
        running.cancel()
    return {"report": asdict(running.report()), "seconds": time.monotonic() - began}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1], sys.argv[2])) + "\n")
