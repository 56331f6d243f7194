"""`tbprof capture`: records running programs from the shell."""

from __future__ import annotations

import sys
import threading
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from tbprof.base.errors import BadRequest
from tbprof.base.process.terminal import printable, progress_line

if TYPE_CHECKING:
    from tqdm import tqdm

    from tbprof.capturing.requests.targets import Target
    from tbprof.capturing.sessions.session import Capture, CaptureReport, WorkerReport

_SIGNS = {"written": "✓", "failed": "✗", "cancelled": "–"}


_MORE = """\
TensorFlow: tf.profiler.experimental.server.start(6009); JAX: jax.profiler.start_server(9999).
Ctrl-C stops the recording. Exit status 1 if any worker could not be recorded."""


def declare(parser: ArgumentParser) -> None:
    """Adds the arguments of the command to its parser."""
    parser.epilog = _MORE
    parser.add_argument("addresses", metavar="ADDRESS[,ADDRESS...]", nargs="*")
    parser.add_argument(
        "--logdir",
        default="",
        help=("where the new run is written; any fsspec URL; created if missing"),
    )
    parser.add_argument(
        "--duration-ms", "-d", type=int, default=1000, metavar="N", help="how long to record, in ms"
    )
    parser.add_argument(
        "--delay-ms", type=int, default=0, metavar="N", help="delay before all workers begin, in ms"
    )
    parser.add_argument(
        "--host-level", type=int, default=2, metavar="N", help="host tracing: 0 off to 3 every op"
    )
    parser.add_argument(
        "--device-level", type=int, default=1, metavar="N", help="device tracing: 0 off, 1 on"
    )
    parser.add_argument(
        "--python-level", type=int, default=0, metavar="N", help="Python calls: 0 off, 1 on"
    )
    parser.add_argument(
        "--hlo", action=BooleanOptionalAction, default=True, help="include XLA programs"
    )
    parser.add_argument(
        "--retries", type=int, default=3, metavar="N", help="further attempts after the first fails"
    )
    parser.add_argument("--run", default="", help="name of the run; default: the local time")
    parser.add_argument(
        "--workers",
        default="",
        metavar="ADDRESS,...",
        help="TPU workers that the first one's analysis service records",
    )
    parser.add_argument(
        "--option",
        dest="advanced",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="option passed to the profiler unchanged; may be repeated",
    )
    parser.add_argument(
        "--test", dest="is_test", action="store_true", help="test the connections, record nothing"
    )
    parser.add_argument(
        "--monitor",
        dest="is_monitor",
        action="store_true",
        help="print how busy TPUs are, record nothing",
    )


def capture(chosen: Namespace) -> None:
    """Records as the command says; raises SystemExit with 1 if any worker was not recorded."""
    from tbprof.capturing.requests.request import parse_request

    choices = {
        **vars(chosen),
        "addresses": ",".join(chosen.addresses),
        "advanced": _advanced(chosen.advanced),
    }
    logdir, is_test, is_monitor = map(choices.pop, ("logdir", "is_test", "is_monitor"))
    request = parse_request(choices)
    if is_test:
        sys.exit(_test(request.asked))
    if is_monitor:
        _monitor(request.asked, request.options.duration_ms)
        return
    if not logdir:
        print("tbprof: --logdir is missing: it says where the new run is written", file=sys.stderr)
        sys.exit(2)
    from tbprof.capturing.sessions.session import Capture, nothing_captured

    report = _recorded(Capture(request, logdir))
    # Messages go to standard error; only the path of the run goes to standard output.
    print(_table(report.workers), file=sys.stderr)
    if not report.written:
        if all(worker.phase == "cancelled" for worker in report.workers):
            print("cancelled: nothing was recorded", file=sys.stderr)
            sys.exit(1)
        raise nothing_captured(report)
    print(report.path)
    print(f"open it with: tbprof serve {logdir}", file=sys.stderr)
    sys.exit(0 if report.written == len(report.workers) else 1)


def _advanced(texts: Sequence[str]) -> dict[str, str]:
    options = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise BadRequest(f"--option {text!r} is not NAME=VALUE")
        options[name] = value
    return options


def _recorded(capture: Capture) -> CaptureReport:
    """The report of a capture, with progress while it runs; Ctrl-C cancels it."""
    done = threading.Event()
    reports: list[CaptureReport] = []

    def work() -> None:
        try:
            reports.append(capture.run())
        finally:
            done.set()

    with progress_line("{desc} {bar:30} {elapsed}") as progress:
        progress.set_description_str("connecting")
        threading.Thread(target=work, name="tbprof-capture", daemon=True).start()
        # An event, since a join that Ctrl-C interrupts may regard the thread as ended.
        while not done.is_set():
            try:
                done.wait(0.1)
                _show(progress, capture)
            except KeyboardInterrupt:
                capture.cancel()
    return reports[0]


def _show(progress: tqdm[NoReturn], capture: Capture) -> None:
    text = _activity(capture.report().workers)
    if text:
        progress.n = capture.share()
        progress.set_description_str("cancelling" if capture.is_cancelled else text)


def _activity(workers: Sequence[WorkerReport]) -> str:
    """The current activity of the workers, "" if all have ended."""
    running = [worker for worker in workers if worker.phase not in _SIGNS]
    if not running:
        return ""
    coming = sum(worker.bytes for worker in running)
    size = f" {coming / 1e6:,.1f} MB" if coming else ""
    done = f" · {len(workers) - len(running)} of {len(workers)} done" if len(workers) > 1 else ""
    return f"{running[0].phase}{size}{done}"


def _table(workers: Sequence[WorkerReport]) -> str:
    from tabulate import tabulate

    rows = []
    for worker in workers:
        size = f"{worker.bytes / 1e6:,.2f} MB" if worker.is_written else ""
        sign = _SIGNS.get(worker.phase, "?")
        rows.append((sign, printable(worker.address), size, _outcome(worker)))
    return tabulate(
        rows,
        headers=("", "worker", "size", "result"),
        tablefmt="plain",
        colalign=("left", "left", "right", "left"),
        disable_numparse=True,
    )


def _outcome(worker: WorkerReport) -> str:
    parts = [worker.message or worker.phase]
    if worker.details and worker.details != worker.message:
        parts.append(f"({worker.details[:200]})")
    text = " ".join(parts)
    if worker.fix:
        text += f": {worker.fix}"
    if worker.is_written and worker.late_s > 1:
        text += f", {worker.late_s:.1f} s after the others"
    lines = [text, *(f"recorder: {error}" for error in worker.recorder_errors)]
    return "\n".join(map(printable, lines))


def _monitor(targets: Sequence[Target], duration_ms: int) -> None:
    from tbprof.capturing.probing.monitor import monitor
    from tbprof.capturing.requests.tpu_names import find_tpus

    for target in find_tpus(targets):
        text = monitor(target, duration_ms)
        print("\n".join([target.address, *map(printable, text.splitlines())]))


def _test(targets: Sequence[Target]) -> int:
    """Prints what answers at each address; returns the exit status."""
    from tbprof.capturing.probing.probe import probe_all

    status = 0
    for target, findings in zip(targets, probe_all(targets), strict=True):
        if target.is_tpu_name:
            print(f"{target.address}: a TPU's name, looked up when recording")
            continue
        failed = next((finding for finding in findings if finding.reason is not None), None)
        steps = " ".join(
            f"{finding.step.value} {'✗' if finding.reason else '✓'}" for finding in findings
        )
        print(f"{target.address}: {steps}")
        if failed is not None and failed.reason is not None:
            print(f"  {failed.reason.text}: {failed.reason.fix}")
            status = 1
    return status
