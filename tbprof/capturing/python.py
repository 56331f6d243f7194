"""Captures from Python: `tbprof.capture("localhost:6009", "logs")`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tbprof.capturing.requests.request import parse_request
from tbprof.capturing.sessions.session import Capture, CaptureReport, nothing_captured


def capture(
    addresses: str | Iterable[str],
    logdir: str,
    *,
    duration_ms: int = 1000,
    delay_ms: int = 0,
    host_level: int = 2,
    device_level: int = 1,
    python_level: int = 0,
    hlo: bool = True,
    dataset_ops: bool = True,
    retries: int = 3,
    run: str = "",
    workers: str | Iterable[str] = "",
    advanced: Mapping[str, str | int | bool] | None = None,
    on_progress: Callable[[CaptureReport], None] | None = None,
) -> CaptureReport:
    """Records running programs into a new run of `logdir`; returns a report on each worker.

    `addresses` are those of profiler servers (`host:port`, separated by commas) or names of
    TPUs. Levels: host 0 to 3, device and Python 0 or 1. With `workers`, the analysis service of a
    TPU records those. `on_progress` is called for every change, on the calling thread.

    Raises BadOption for invalid options, NothingCaptured if no worker could be recorded,
    and NotWritten or Unreachable for the logdir. If some workers failed, the report says which.
    """
    request = parse_request(
        {
            "addresses": _listed(addresses),
            "workers": _listed(workers),
            "duration_ms": duration_ms,
            "delay_ms": delay_ms,
            "host_level": host_level,
            "device_level": device_level,
            "python_level": python_level,
            "hlo": hlo,
            "dataset_ops": dataset_ops,
            "retries": retries,
            "run": run,
            "advanced": advanced or {},
        }
    )
    report = Capture(request, str(logdir)).run(on_progress)
    if not report.written:
        raise nothing_captured(report)
    return report


def _listed(addresses: str | Iterable[str]) -> str:
    return addresses if isinstance(addresses, str) else ",".join(addresses)
