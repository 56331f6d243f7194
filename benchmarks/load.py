"""Fifty browsers at one server: small runs, cold and warm, and beside a large one.

    python -m benchmarks.load [--users 50] [--seconds 20] [--small 10] [--large TRACE] [--only NAME]
    python -m benchmarks.load --light [--small 10] [--large TRACE]

The browsers are locust's: `pip install locust` into any environment on PATH; ours is without it.
tbprof and xprof are asked the same routes, one after the other; each begins with nothing computed.
Cold, all begin at once; then, within four seconds, as the browsers themselves take the processors.
With `--light`, six threads ask tbprof, which need less of the processors. Prints the tables of
benchmarks/load.md.
"""

import csv
import datetime as dt
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import psutil

from benchmarks import measure
from benchmarks.command_line import parser_of
from benchmarks.measure import Failed
from benchmarks.programs import ROUTE, Programs
from benchmarks.traces import build_traces

ROOT = Path(__file__).resolve().parent.parent
# What both programs answer of the V100 trace.
TOOLS = (
    "overview_page", "input_pipeline_analyzer", "framework_op_stats", "kernel_stats",
    "memory_profile", "pod_viewer",
)  # fmt: skip
LARGE, LARGE_COPIES = "large", 400
# What indexes all events; xprof has none.
VIEWER = f"timeline?run={LARGE}&host=host0"


@dataclass
class Watched:
    """The highest figures of a server and the processes that it started."""

    threads: int = 0
    bytes: int = 0
    done: threading.Event = field(default_factory=threading.Event)

    def watch(self, process: int) -> None:
        """Looks ten times a second until it is done."""
        server = psutil.Process(process)
        while not self.done.wait(0.1):
            try:
                self.threads = max(self.threads, server.num_threads())
                everyone = [server, *server.children(recursive=True)]
                self.bytes = max(self.bytes, sum(one.memory_full_info().pss for one in everyone))
            except psutil.Error:
                continue


@contextmanager
def watching(process: int) -> Iterator[Watched]:
    """The highest figures while the block runs."""
    watched = Watched()
    thread = threading.Thread(target=watched.watch, args=(process,))
    thread.start()
    try:
        yield watched
    finally:
        watched.done.set()
        thread.join()


class Load:
    """The browsers, and what they ask for."""

    def __init__(self, locust: str, users: int, seconds: int, runs: Sequence[str]) -> None:
        self.locust, self.users, self.seconds, self.runs = locust, users, seconds, runs

    def put_on(self, server: measure.Server, begin_s: float = 4) -> str:
        """Requests a second, median and percentiles of the time of a request, and failures.

        All browsers have begun after `begin_s`.
        """
        with tempfile.TemporaryDirectory() as folder, watching(server.process.pid) as watched:
            subprocess.run(
                [
                    self.locust, "-f", str(Path(__file__).with_name("load_users.py")), "--headless",
                    "--users", str(self.users), "--spawn-rate", str(self.users / begin_s),
                    "--run-time", f"{self.seconds}s", "--stop-timeout", "60",
                    "--host", f"http://127.0.0.1:{server.port}", "--csv", f"{folder}/found",
                    "--exit-code-on-error", "0",
                ],
                env={
                    **os.environ,
                    "LOAD_RUNS": ",".join(self.runs),
                    "LOAD_TOOLS": ",".join(TOOLS),
                    "PYTHONPATH": str(ROOT),
                },
                check=True,
                capture_output=True,
            )  # fmt: skip
            figures = _figures(Path(folder, "found_stats.csv"))
        return f"{figures} | {watched.threads} | {watched.bytes / 1e6:,.0f} MB"


def _figures(path: Path) -> str:
    with path.open(newline="", encoding="utf-8") as file:
        (data,) = [row for row in csv.DictReader(file) if row["Name"] == "data"]
    times = ", ".join(f"{float(data[column]):,.0f}" for column in ("50%", "95%", "99%", "100%"))
    return (
        f"{data['Request Count']} | {float(data['Requests/s']):.1f} | {times} ms | "
        f"{data['Failure Count']}"
    )


def measure_program(
    command: Sequence[str], env: dict[str, str], load: Load, viewer: str
) -> Iterator[str]:
    """Rows of the table: cold, warm, and beside the large run, `viewer` of which comes last."""
    with measure.serving(command, env) as server:
        server.wait_for(f"{ROUTE}/runs")
        yield f"cold | {load.put_on(server, begin_s=1)}"
        yield f"warm | {load.put_on(server)}"
        took: list[float] = []
        large = threading.Thread(target=lambda: took.extend(_open_large(server, viewer)))
        large.start()
        row = load.put_on(server)
        large.join()
        pages = "pages and trace viewer" if viewer else "pages"
        what = f"beside a run of 767 MB, whose {pages} took"
        yield f"{what} {', '.join(_seconds(took))} | {row}"


def _open_large(server: measure.Server, viewer: str) -> Iterator[float]:
    time.sleep(2)
    for tool in TOOLS:
        yield server.get(f"{ROUTE}/data?run={LARGE}&tag={tool}&host=host0")[0]
    if viewer:
        yield server.get(f"{ROUTE}/{viewer}")[0]


class LightBrowsers:
    """Threads that open pages of small runs until they are stopped, and how long each took."""

    def __init__(self, server: measure.Server, runs: Sequence[str], browsers: int = 6) -> None:
        self._server, self._runs = server, runs
        self._done = threading.Event()
        self._took: list[float] = []
        self._threads = [
            threading.Thread(target=self._browse, args=(Random(seed),)) for seed in range(browsers)
        ]

    def __enter__(self) -> None:
        for thread in self._threads:
            thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        for thread in self._threads:
            thread.join()

    def _browse(self, random: Random) -> None:
        while not self._done.wait(random.uniform(0.05, 0.25)):
            page = f"run={random.choice(self._runs)}&tag={random.choice(TOOLS)}&host=host0"
            self._took.append(self._server.get(f"{ROUTE}/data?{page}")[0])

    def times(self) -> str:
        """The percentiles of the requests since the last call."""
        took, self._took = sorted(self._took), []
        parts = (took[min(int(len(took) * share), len(took) - 1)] for share in (0.5, 0.95, 0.99, 1))
        return ", ".join(f"{seconds * 1e3:,.0f}" for seconds in parts) + " ms"


def measure_lightly(
    command: Sequence[str], env: dict[str, str], runs: Sequence[str]
) -> Iterator[str]:
    """Rows of the second table: what small runs take alone, and while the large one is prepared."""
    with measure.serving(command, env) as server:
        server.wait_for(f"{ROUTE}/runs")
        for run in runs:
            for tool in TOOLS:
                server.get(f"{ROUTE}/data?run={run}&tag={tool}&host=host0")
        browsers = LightBrowsers(server, runs)
        with browsers:
            time.sleep(5)
            yield f"alone | {browsers.times()}"
            for tool in TOOLS:
                server.get(f"{ROUTE}/data?run={LARGE}&tag={tool}&host=host0")
            yield f"while six pages of the large run are computed | {browsers.times()}"
            server.get(f"{ROUTE}/{VIEWER}")
            yield f"while its timeline is built | {browsers.times()}"


def _seconds(took: Sequence[float]) -> Iterator[str]:
    return (f"{seconds:.1f} s" for seconds in took)


@contextmanager
def logdir_of(small: int, large: Path) -> Iterator[tuple[Path, list[str]]]:
    """A logdir with `small` runs of the recorded trace and the large one, and their names."""
    with tempfile.TemporaryDirectory(dir=large.parent) as folder:
        source = build_traces.default_source()
        names = [f"run{number}" for number in range(small)]
        for name in (*names, LARGE):
            place = Path(folder, "plugins", "profile", name)
            place.mkdir(parents=True)
            if name == LARGE:
                (place / "host0.xplane.pb").symlink_to(large)
            else:
                shutil.copy(source, place / "host0.xplane.pb")
        yield Path(folder), names


def main() -> None:
    """The command line."""
    parser = parser_of(__doc__)
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--small", type=int, default=10)
    parser.add_argument("--large", type=Path)
    parser.add_argument("--only", help="tbprof or xprof")
    parser.add_argument("--light", action="store_true")
    args = parser.parse_args()
    large = args.large or build_traces.build(build_traces.default_source(), LARGE_COPIES)
    measure.read_once(large)
    facts = ", ".join(f"{name} {value}" for name, value in measure.machine().items())
    today = dt.datetime.now(tz=dt.timezone.utc).date()
    print(f"{today}; {facts}\n")
    columns = "requests | a second | 50, 95, 99, 100 % | failed | threads | memory"
    if args.light:
        columns = "50, 95, 99, 100 %"
    print(f"| program | state | {columns} |\n|{' --- |' * (columns.count('|') + 3)}")
    names = [args.only] if args.only else ["tbprof"] if args.light else ["tbprof", "xprof"]
    for name in names:
        with (
            Programs.installed() as programs,
            logdir_of(args.small, large.resolve()) as (logdir, runs),
        ):
            command = [programs.python, "-m", "tbprof.cli", "serve", str(logdir)]
            if name == "xprof":
                xprof = str(Path(programs.xprof_python).with_name("xprof"))
                command = [xprof, "--logdir", str(logdir)]
            command += ["--port", "{port}"]
            env = programs.cache_at(programs.fresh_cache())
            try:
                if args.light:
                    rows = measure_lightly(command, env, runs)
                else:
                    load = Load(_locust(), args.users, args.seconds, runs)
                    rows = measure_program(command, env, load, VIEWER if name == "tbprof" else "")
                for row in rows:
                    print(f"| {name} | {row} |", flush=True)
            except Failed as error:
                print(f"| {name} | failed: {error} |", flush=True)


def _locust() -> str:
    locust = shutil.which("locust")
    if locust is None:
        sys.exit("locust is not on PATH: install it in an environment of its own")
    return locust


if __name__ == "__main__":
    main()
