"""Records a list of TPU workers through their analysis service, which writes the files itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import closing

import grpc

from tbprof.capturing.probing.probe import why_unreachable
from tbprof.capturing.probing.reasons import Reason, reason_of_error
from tbprof.capturing.protocol.channels import error_of, open_channel
from tbprof.capturing.protocol.profiler_messages import (
    NEW_SESSION,
    Garbled,
    profile_request,
    session_answer,
    session_request,
)
from tbprof.capturing.requests.options import CaptureOptions
from tbprof.capturing.sessions.capture_worker import Stopped, Worker, WorkerState, attempts, end
from tbprof.storage.new_run import NewRun

_FILES_S = 10.0  # how long files may take to appear in a bucket
_SUFFIX = ".xplane.pb"


def record_session(
    workers: Sequence[Worker], options: CaptureOptions, run: NewRun, cancelled: threading.Event
) -> None:
    """Records all workers in one call to the first one's service; `workers` get the results."""
    try:
        attempts(
            workers,
            options.retries,
            cancelled,
            lambda: _new_session(workers, options, run, cancelled),
        )
        _find_files(workers, run, cancelled)
    except Stopped as stop:
        for worker in workers:
            if not worker.phase.is_final:
                end(worker, stop.reason, stop.details)
    except Exception as error:  # noqa: BLE001 - reported beside the workers
        for worker in workers:
            if not worker.phase.is_final:
                end(worker, Reason.FAILED, f"{type(error).__name__}: {error}")


def _new_session(
    workers: Sequence[Worker], options: CaptureOptions, run: NewRun, cancelled: threading.Event
) -> None:
    for worker in workers:
        worker.phase = WorkerState.CONNECTING
    first = workers[0]
    reason = why_unreachable(first.target, cancelled)
    if reason is not None:
        raise Stopped(reason)
    start_ns = time.time_ns() + options.delay_ms * 1_000_000 if options.delay_ms else 0
    profile = profile_request(options, run.root, run.name, first.target.host, start_ns)
    hosts = [worker.target.host for worker in workers]
    request = session_request(profile, run.root, run.name, hosts)
    with closing(open_channel(first.target.address)) as channel:
        session: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(NEW_SESSION)
        call = session.future(request, timeout=options.deadline_s)
        recorded = time.monotonic() + (options.delay_ms + options.duration_ms) / 1000
        done = threading.Event()
        call.add_done_callback(lambda _call: done.set())
        while not done.wait(0.05):
            for worker in workers:
                is_over = time.monotonic() > recorded
                worker.phase = WorkerState.RECEIVING if is_over else WorkerState.RECORDING
            if cancelled.is_set():
                call.cancel()
                raise Stopped(Reason.CANCELLED)
        try:
            error, is_empty = session_answer(call.result())
        except grpc.RpcError as failure:
            code, details = error_of(failure)
            raise Stopped(reason_of_error(code, details), details) from None
        except Garbled as failure:
            raise Stopped(Reason.GARBLED, str(failure)) from failure
    if error:
        raise Stopped(Reason.FAILED, error)
    if is_empty:
        raise Stopped(Reason.EMPTY)


def _find_files(workers: Sequence[Worker], run: NewRun, cancelled: threading.Event) -> None:
    until = time.monotonic() + _FILES_S
    while True:
        missing = False
        for worker in workers:
            if worker.phase is WorkerState.WRITTEN:
                continue
            url = _file_of(worker, run)
            if url is None:
                missing = True
            else:
                worker.url, worker.phase = url, WorkerState.WRITTEN
                worker.reason, worker.details = None, ""
        if not missing:
            return
        if time.monotonic() > until or cancelled.wait(0.5):
            raise Stopped(Reason.MISSING_FILE)


def _file_of(worker: Worker, run: NewRun) -> str | None:
    """The service names files by the host, with or without its port."""
    for name in (worker.target.host, worker.host):
        if "/" not in name:
            url = run.find(f"{name}{_SUFFIX}")
            if url is not None:
                return url
    return None
