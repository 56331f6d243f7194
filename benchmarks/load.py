"""Fifty browsers at one server: small runs, cold and warm, and beside a large one.

    python benchmarks/load.py [--users 50] [--seconds 20] [--small 10] [--large TRACE] [--only NAME]

The browsers are locust's: `pip install locust` into any environment on PATH; ours is without it.
tbprof and xprof are asked the same routes, one after the other; each begins with nothing computed.
Prints the table of benchmarks/load.md.
"""

import argparse
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

import build_traces
import measure
import psutil
from measure import Failed
from programs import ROUTE, Programs

ROOT = Path(__file__).resolve().parent.parent
# What both programs answer of the V100 trace.
TOOLS = (
    "overview_page", "input_pipeline_analyzer", "framework_op_stats", "kernel_stats",
    "memory_profile", "pod_viewer",
)  # fmt: skip
LARGE, LARGE_COPIES = "large", 400


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

    def put_on(self, server: measure.Server) -> str:
        """Requests a second, median and percentiles of the time of a request, and failures."""
        with tempfile.TemporaryDirectory() as folder, watching(server.process.pid) as watched:
            subprocess.run(
                [
                    self.locust, "-f", str(Path(__file__).with_name("load_users.py")), "--headless",
                    "--users", str(self.users), "--spawn-rate", str(self.users),
                    "--run-time", f"{self.seconds}s", "--stop-timeout", "60",
                    "--host", f"http://127.0.0.1:{server.port}", "--csv", f"{folder}/found",
                    "--exit-code-on-error", "0",
                ],
                env={**os.environ, "LOAD_RUNS": ",".join(self.runs), "LOAD_TOOLS": ",".join(TOOLS)},
                check=True,
                capture_output=True,
            )  # fmt: skip
            figures = _figures(Path(folder, "found_stats.csv"))
        return f"{figures} | {watched.threads} | {watched.bytes / 1e6:,.0f} MB"


def _figures(path: Path) -> str:
    with path.open(newline="", encoding="utf-8") as file:
        (data,) = [row for row in csv.DictReader(file) if row["Name"] == "data"]
    times = ", ".join(f"{float(data[one]):,.0f}" for one in ("50%", "95%", "99%", "100%"))
    return (
        f"{data['Request Count']} | {float(data['Requests/s']):.1f} | {times} ms | "
        f"{data['Failure Count']}"
    )


def measure_program(command: Sequence[str], env: dict[str, str], load: Load) -> Iterator[str]:
    """Rows of the table: cold, warm, and beside the large run."""
    with measure.serving(command, env) as server:
        server.wait_for(f"{ROUTE}/runs")
        yield f"cold | {load.put_on(server)}"
        yield f"warm | {load.put_on(server)}"
        took: list[float] = []
        large = threading.Thread(target=lambda: took.extend(_open_large(server)))
        large.start()
        row = load.put_on(server)
        large.join()
        yield f"beside a run of 767 MB, whose pages took {', '.join(_seconds(took))} | {row}"


def _open_large(server: measure.Server) -> Iterator[float]:
    time.sleep(2)
    for tool in TOOLS:
        yield server.get(f"{ROUTE}/data?run={LARGE}&tag={tool}&host=host0")[0]


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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--small", type=int, default=10)
    parser.add_argument("--large", type=Path)
    parser.add_argument("--only", help="tbprof or xprof")
    args = parser.parse_args()
    locust = shutil.which("locust")
    if locust is None:
        sys.exit("locust is not on PATH: install it in an environment of its own")
    large = args.large or build_traces.build(build_traces.default_source(), LARGE_COPIES)
    measure.read_once(large)
    facts = ", ".join(f"{name} {value}" for name, value in measure.machine().items())
    today = dt.datetime.now(tz=dt.timezone.utc).date()
    print(f"{today}; {facts}; {args.users} browsers for {args.seconds} s\n")
    print(
        "| program | state | requests | a second | 50, 95, 99, 100 % | failed | threads | memory |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in [args.only] if args.only else ["tbprof", "xprof"]:
        with (
            tempfile.TemporaryDirectory() as scratch,
            logdir_of(args.small, large.resolve()) as (logdir, runs),
        ):
            programs = Programs.installed(Path(scratch))
            command = [
                programs.python,
                "-m",
                "tbprof.cli",
                "serve",
                str(logdir),
                "--port",
                "{port}",
            ]
            if name == "xprof":
                xprof = str(Path(programs.xprof_python).with_name("xprof"))
                command = [xprof, "--logdir", str(logdir), "--port", "{port}"]
            env = programs.cache_at(programs.fresh_cache())
            try:
                load = Load(locust, args.users, args.seconds, runs)
                for row in measure_program(command, env, load):
                    print(f"| {name} | {row} |", flush=True)
            except Failed as error:
                print(f"| {name} | failed: {error} |", flush=True)


if __name__ == "__main__":
    main()
