"""`tbprof capture`: records running programs from the shell."""

import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

import click

from tbprof.base.errors import BadRequest
from tbprof.base.terminal import printable, progress_line

if TYPE_CHECKING:
    from tqdm import tqdm

    from tbprof.capturing.session import Capture, CaptureReport, WorkerReport
    from tbprof.capturing.targets import Target

_SIGNS = {"written": "✓", "failed": "✗", "cancelled": "–"}


@click.command()
@click.argument("addresses", metavar="ADDRESS[,ADDRESS...]", nargs=-1)
@click.option(
    "--logdir", default="", help="Where the new run goes; any fsspec URL. Made if missing."
)
@click.option(
    "--duration-ms", "-d", default=1000, show_default=True, help="How long to record, in ms."
)
@click.option("--delay-ms", default=0, show_default=True, help="Wait before all begin, in ms.")
@click.option(
    "--host-level", default=2, show_default=True, help="Host tracing: 0 off to 3 every op."
)
@click.option("--device-level", default=1, show_default=True, help="Device tracing: 0 off, 1 on.")
@click.option("--python-level", default=0, show_default=True, help="Python calls: 0 off, 1 on.")
@click.option("--hlo/--no-hlo", default=True, show_default=True, help="Include XLA programs.")
@click.option("--retries", default=3, show_default=True, help="Attempts after the first.")
@click.option("--run", default="", help="Name of the run; default the local time.")
@click.option(
    "--workers",
    default="",
    metavar="ADDRESS,...",
    help="TPU workers that the first one's analysis service records.",
)
@click.option(
    "--option",
    "advanced",
    metavar="NAME=VALUE",
    multiple=True,
    help="Option of the profiler itself; may be repeated.",
)
@click.option("--test", "is_test", is_flag=True, help="Test the connections, record nothing.")
@click.option(
    "--monitor", "is_monitor", is_flag=True, help="Print how busy TPUs are, record nothing."
)
def capture(
    addresses: tuple[str, ...],
    logdir: str,
    is_test: bool,
    is_monitor: bool,
    advanced: tuple[str, ...],
    **choices: object,
) -> None:
    """Record a profile of programs that run a profiler server.

    TensorFlow: tf.profiler.experimental.server.start(6009); JAX: jax.profiler.start_server(9999).
    Ctrl-C stops the recording. Exit status 1 if any worker could not be recorded.
    """
    from tbprof.capturing.request import parse_request

    values = {**choices, "addresses": ",".join(addresses), "advanced": _advanced(advanced)}
    request = parse_request(values)
    if is_test:
        sys.exit(_test(request.asked))
    if is_monitor:
        _monitor(request.asked, request.options.duration_ms)
        return
    if not logdir:
        raise click.UsageError("Missing option '--logdir': where the new run goes.")
    from tbprof.capturing.session import Capture, nothing_captured

    report = _recorded(Capture(request, logdir))
    # What is said to people; the path of the run alone goes to standard output.
    click.echo(_table(report.workers), err=True)
    if not report.written:
        if all(worker.phase == "cancelled" for worker in report.workers):
            click.echo("cancelled: nothing was recorded", err=True)
            sys.exit(1)
        raise nothing_captured(report)
    click.echo(report.path)
    click.echo(f"look at it: tbprof serve {logdir}", err=True)
    sys.exit(0 if report.written == len(report.workers) else 1)


def _advanced(texts: Sequence[str]) -> dict[str, str]:
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise BadRequest(f"--option {text!r} is not NAME=VALUE")
        found[name] = value
    return found


def _recorded(capture: "Capture") -> "CaptureReport":
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
        # An event, since a join that Ctrl-C interrupts may take the thread for ended.
        while not done.is_set():
            try:
                done.wait(0.1)
                _show(progress, capture)
            except KeyboardInterrupt:
                capture.cancel()
    return reports[0]


def _show(progress: "tqdm[NoReturn]", capture: "Capture") -> None:
    text = _standing(capture.report().workers)
    if text:
        progress.n = capture.share()
        progress.set_description_str("cancelling" if capture.is_cancelled else text)


def _standing(workers: "Sequence[WorkerReport]") -> str:
    """What is being done, "" where all has ended."""
    left = [worker for worker in workers if worker.phase not in _SIGNS]
    if not left:
        return ""
    coming = sum(worker.bytes for worker in left)
    size = f" {coming / 1e6:,.1f} MB" if coming else ""
    ended = f" · {len(workers) - len(left)} of {len(workers)} done" if len(workers) > 1 else ""
    return f"{left[0].phase}{size}{ended}"


def _table(workers: "Sequence[WorkerReport]") -> str:
    from tabulate import tabulate

    rows = []
    for worker in workers:
        size = f"{worker.bytes / 1e6:,.2f} MB" if worker.is_written else ""
        sign = _SIGNS.get(worker.phase, "?")
        rows.append((sign, printable(worker.address), size, _story(worker)))
    return tabulate(
        rows,
        headers=("", "worker", "size", "what happened"),
        tablefmt="plain",
        colalign=("left", "left", "right", "left"),
        disable_numparse=True,
    )


def _story(worker: "WorkerReport") -> str:
    parts = [worker.message or worker.phase]
    if worker.details and worker.details != worker.message:
        parts.append(f"({worker.details[:200]})")
    text = " ".join(parts)
    if worker.fix:
        text += f": {worker.fix}"
    if worker.is_written and worker.late_s > 1:
        text += f", {worker.late_s:.1f} s after the others"
    lines = [text, *(f"recorder: {one}" for one in worker.complaints)]
    return "\n".join(map(printable, lines))


def _monitor(targets: "Sequence[Target]", duration_ms: int) -> None:
    from tbprof.capturing.monitor import monitor
    from tbprof.capturing.tpu_names import find_tpus

    for target in find_tpus(targets):
        text = monitor(target, duration_ms)
        click.echo("\n".join([target.address, *map(printable, text.splitlines())]))


def _test(targets: "Sequence[Target]") -> int:
    """Prints what answers at each address; the exit status."""
    from tbprof.capturing.probe import probe_all

    status = 0
    for target, findings in zip(targets, probe_all(targets), strict=True):
        if target.is_tpu_name:
            click.echo(f"{target.address}: a TPU's name, looked up when recording")
            continue
        failed = next((one for one in findings if one.reason is not None), None)
        steps = " ".join(f"{one.step.value} {'✗' if one.reason else '✓'}" for one in findings)
        click.echo(f"{target.address}: {steps}")
        if failed is not None and failed.reason is not None:
            click.echo(f"  {failed.reason.text}: {failed.reason.fix}")
            status = 1
    return status
