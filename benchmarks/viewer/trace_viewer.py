"""Measures the trace viewer's server against xprof's and xprof-rs's, for one trace at a time.

    python -m benchmarks.viewer.trace_viewer [--trace FILE ...] [--repeats N]

First open: a whole process from its start to the tiles of the first view, with nothing kept from
before; later open: the same with what was kept. The session (trace_session.py) and the questions
are asked of a server, one after another, with gzip, as a browser asks them; xprof is asked for the
same windows of time.
"""

import gzip
import http.client
import math
import random
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any, TypeVar
from urllib.parse import urlencode

from benchmarks import measure
from benchmarks.command_line import parser_of
from benchmarks.measure import Cost, Failed
from benchmarks.programs import ROUTE, Programs
from benchmarks.traces import build_traces
from benchmarks.viewer import trace_export, trace_session
from benchmarks.viewer.trace_export import Export

_T = TypeVar("_T")

COPIES = (1, 30, 400)
# What xprof's server asks for where the page names no resolution.
XPROF_OPEN_PROGRAM = """
import sys
from xprof.convert import raw_to_tool_data
options = {"resolution": 8000, "full_dma": False}
raw_to_tool_data.xspace_to_tool_data(
    [sys.argv[1]], "trace_viewer@", {"trace_viewer_options": options, "hosts": ["host0"]}
)
"""
QUESTIONS = 30
SEARCHES: dict[str, dict[str, object]] = {
    "search `MatMul`": {"q": "MatMul"},
    "search a regular expression": {"q": r"(conv|gemm).*[0-9]{2}", "regex": 1},
    "search a name that is nowhere": {"q": "no such name"},
}


@dataclass(frozen=True, slots=True)
class Answers:
    """What requests took, one after another: seconds, and bytes as sent."""

    seconds: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def add(self, answer: tuple[float, int]) -> None:
        """Takes one answer in."""
        self.seconds.append(answer[0])
        self.sizes.append(answer[1])

    def __str__(self) -> str:
        if not self.seconds:
            return "not measured"
        middle_s, late_s = percentiles(self.seconds)
        middle, large = percentiles(self.sizes)
        return (
            f"{middle_s * 1e3:,.1f} ms, {late_s * 1e3:,.1f} ms; "
            f"{middle / 1e3:,.1f} kB, {large / 1e3:,.1f} kB"
        )


@dataclass(slots=True)
class Measured:
    """All of one trace: what it holds, opens, the session, questions, and files written."""

    trace: Path
    events: int = 0
    views: list[trace_session.View] = field(default_factory=list)
    opens: dict[str, Cost | str] = field(default_factory=dict)
    sessions: dict[str, Answers | str] = field(default_factory=dict)
    questions: dict[str, Answers] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    exports: dict[str, Export | str] = field(default_factory=dict)


def scaled_traces() -> list[Path]:
    """Traces of 0.02, 0.7 and 9 million events."""
    source = build_traces.default_source()
    return [build_traces.build(source, copies) for copies in COPIES]


def measure_trace(programs: Programs, trace: Path, repeats: int) -> Measured:
    """Everything about one trace; programs take turns."""
    measure.read_once(trace)
    measured = Measured(trace)
    _measure_opens(programs, measured, repeats)
    _measure_served(programs, measured)
    if programs.xprof_python:
        try:
            _measure_xprof_served(programs, measured)
        except (Failed, OSError, ValueError, KeyError, http.client.HTTPException) as error:
            measured.sessions["xprof"] = f"failed: {error}"
    measured.exports = trace_export.measure_exports(programs, trace)
    return measured


def _measure_opens(programs: Programs, measured: Measured, repeats: int) -> None:
    costs: dict[str, list[Cost]] = {}
    ways = {"tbprof": _open_tbprof}
    if programs.xprof_python:
        ways["xprof"] = _open_xprof
    if programs.xprof_rs:
        ways["xprof-rs"] = _open_xprof_rs
    for _ in range(repeats):
        for name, way in ways.items():
            if name in measured.opens:
                continue
            try:
                for what, cost in way(programs, measured):
                    costs.setdefault(what, []).append(cost)
            except (Failed, OSError) as error:
                measured.opens[name] = measured.opens[f"{name}, later"] = str(error)
    measured.opens.update({what: measure.middle(all_of) for what, all_of in costs.items()})
    shown = {
        what: c if isinstance(c, str) else f"{c.wall_s:.2f} s" for what, c in measured.opens.items()
    }
    print(f"{measured.trace.name} trace viewer: {shown}", file=sys.stderr)


def _open_tbprof(programs: Programs, measured: Measured) -> Iterator[tuple[str, Cost]]:
    with measure.private_logdir(measured.trace, programs.scratch / "opened") as logdir:
        command = [programs.python, "-m", "benchmarks.viewer.trace_open", str(logdir)]
        opened = measure.run(command, programs.cache_at(programs.fresh_cache()))
        cache = programs.fresh_cache()
        before = _bytes_below(cache)
        kept = measure.run([*command, "--keep"], programs.cache_at(cache))
        # Writing the timeline takes memory, too, though nobody waits for it.
        peak = max(opened.peak_bytes, kept.peak_bytes)
        yield "tbprof", Cost(opened.wall_s, opened.cpu_s, peak)
        measured.written["tbprof"] = (
            f"{_megabytes(_bytes_below(logdir))} in the logdir, "
            f"{_megabytes(_bytes_below(cache) - before)} in its own cache "
            f"after {kept.wall_s:.2f} s"
        )
        yield "tbprof, later", measure.run(command, programs.cache_at(cache))


def _open_xprof(programs: Programs, measured: Measured) -> Iterator[tuple[str, Cost]]:
    with measure.private_logdir(measured.trace, programs.scratch / "xprof") as logdir:
        path = str(measure.trace_in(logdir))
        for what in ("xprof", "xprof, later"):
            yield what, measure.run([programs.xprof_python, "-c", XPROF_OPEN_PROGRAM, path])
        measured.written["xprof"] = f"{_megabytes(_bytes_below(logdir))} in the logdir"


def _open_xprof_rs(programs: Programs, measured: Measured) -> Iterator[tuple[str, Cost]]:
    with measure.private_logdir(measured.trace, programs.scratch / "rs") as logdir:
        cache = programs.scratch / "rs-cache"
        shutil.rmtree(cache, ignore_errors=True)
        command = [programs.xprof_rs, "--logdir", str(logdir), "--port", "{port}"]
        for what in ("xprof-rs", "xprof-rs, later"):
            with measure.serving(command, {"XPROF_CACHE_DIR": str(cache)}) as server:
                server.wait_for(f"{ROUTE}/runs")
                server.get(f"{ROUTE}/data?run=bench&tag=trace_viewer@&host=host0")
            assert server.cost is not None
            yield what, server.cost
        measured.written["xprof-rs"] = (
            f"{_megabytes(_bytes_below(logdir))} in the logdir, "
            f"{_megabytes(_bytes_below(cache))} in its own cache"
        )


def _measure_served(programs: Programs, measured: Measured) -> None:
    with programs.serving(measured.trace) as server:
        server.wait_for(f"{ROUTE}/runs")
        with _connection(server.port) as ask:
            index, first = trace_session.first_view(ask("timeline?run=bench&host=host0").body)
            ask(first)
            measured.events = index["events_in_file"]
            session = Answers()
            measured.views = list(trace_session.views(index))
            for view in measured.views:
                query = trace_session.tiles_query(index, view)
                session.add(ask(trace_session.url("timeline_tiles", index, **query)).cost)
            measured.sessions["tbprof"] = session
            for what, path in _questions(index):
                measured.questions.setdefault(what, Answers()).add(ask(path).cost)
    print(f"{measured.trace.name} session: {measured.sessions['tbprof']}", file=sys.stderr)


def _questions(index: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(what is asked, URL), the same on every run."""
    for what, parameters in SEARCHES.items():
        for _ in range(5):
            yield what, trace_session.url("timeline_search", index, **parameters)
    chosen = random.Random(1)
    for _ in range(QUESTIONS):
        event = chosen.randrange(max(index["events"], 1))
        yield "details of an event", trace_session.url("timeline_event", index, id=event)
        yield "flows of an event", trace_session.url("timeline_flows", index, id=event)
    begin, end = index["begin_ps"], index["end_ps"]
    for _ in range(5):
        for what, width in (("all of the trace", end - begin), ("10 ms", 10**10)):
            span = {"from_ps": begin, "to_ps": min(begin + width, end)}
            url = trace_session.url("timeline_aggregate", index, by="name", **span)
            yield f"aggregation over {what}", url


def _measure_xprof_served(programs: Programs, measured: Measured) -> None:
    program = str(Path(programs.xprof_python).with_name("xprof"))
    with measure.private_logdir(measured.trace, programs.scratch / "served") as logdir:
        command = [program, "--logdir", str(logdir), "--port", "{port}"]
        with measure.serving(command) as server:
            server.wait_for(f"{ROUTE}/runs")
            data = {"run": "bench", "tag": "trace_viewer@", "host": "host0"}
            with _connection(server.port) as ask:
                ask(f"data?{urlencode(data)}")
                session = Answers()
                for view in measured.views:
                    # Both count from the start of the profile.
                    window = {
                        "start_time_ms": view.from_ps / 1e9,
                        "end_time_ms": view.to_ps / 1e9,
                    }
                    session.add(ask(f"data?{urlencode({**data, **window})}").cost)
                measured.sessions["xprof"] = session
    print(f"{measured.trace.name} session, xprof: {session}", file=sys.stderr)


@dataclass(frozen=True, slots=True)
class _Answer:
    body: bytes
    cost: tuple[float, int]


@contextmanager
def _connection(port: int) -> Iterator[Callable[[str], _Answer]]:
    """Asks for routes over one connection, as browsers do."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=measure.ANSWER_SECONDS)

    def ask(path: str) -> _Answer:
        start = time.perf_counter()
        connection.request("GET", f"{ROUTE}/{path}", headers={"Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        sent = answer.read()
        seconds = time.perf_counter() - start
        is_zipped = answer.headers.get("Content-Encoding") == "gzip"
        body = gzip.decompress(sent) if is_zipped else sent
        if answer.status != 200:
            raise Failed(f"{path}: {answer.status} {body[:300]!r}")
        return _Answer(body, (seconds, len(sent)))

    try:
        yield ask
    finally:
        connection.close()


def report(measured: Sequence[Measured]) -> list[str]:
    """The lines of the page's section."""
    lines = [
        "## The trace viewer's server",
        "",
        (
            "*First*: a whole process, from its start to the tiles of the first view, with empty "
            "caches; for xprof, to `trace_viewer@` at its default resolution. *Later*: the same "
            "with what the first one cached. Wall time, processor time, peak memory; in brackets, "
            "the speed relative to xprof."
        ),
        "",
        "| trace | events | open | tbprof | xprof | xprof-rs |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for trace in measured:
        size = trace.trace.stat().st_size
        for which, suffix in (("first", ""), ("later", ", later")):
            base = trace.opens.get(f"xprof{suffix}")
            cells = [
                measure.cost_cell(
                    trace.opens.get(f"{name}{suffix}"), base if name != "xprof" else None, size
                )
                for name in ("tbprof", "xprof", "xprof-rs")
            ]
            lines.append(
                f"| {trace_name(trace.trace)} | {trace.events:,} | {which} | {' | '.join(cells)} |"
            )
    lines += [
        "",
        (
            "One session of zooming, panning and scrolling, with views of the same width on each "
            "trace. Each view requests all of its tiles again, gzipped: median and 95th percentile "
            "of time and size. The cost of a view does not depend on the size of the trace."
        ),
        "",
        "| trace | views | tbprof | xprof |",
        "| --- | --- | --- | --- |",
    ]
    for trace in measured:
        session = trace.sessions.get("tbprof")
        views = len(session.seconds) if isinstance(session, Answers) else 0
        cells = [str(trace.sessions.get(name, "not installed")) for name in ("tbprof", "xprof")]
        lines.append(f"| {trace_name(trace.trace)} | {views} | {' | '.join(cells)} |")
    questions = list(dict.fromkeys(what for trace in measured for what in trace.questions))
    lines += [
        "",
        "Other requests, measured in the same way:",
        "",
        f"| request | {' | '.join(trace_name(trace.trace) for trace in measured)} |",
        f"| --- |{' --- |' * len(measured)}",
        *(
            f"| {what} | {' | '.join(str(trace.questions.get(what, '')) for trace in measured)} |"
            for what in questions
        ),
        "",
        "Files written:",
        "",
    ]
    for trace in measured:
        written = "; ".join(f"{name}: {text}" for name, text in trace.written.items())
        lines.append(f"- {trace_name(trace.trace)}: {written}")
    lines += trace_export.HEAD
    for trace in measured:
        size = trace.trace.stat().st_size
        lines.append(trace_export.report(trace_name(trace.trace), size, trace.exports))
    return [*lines, ""]


def percentiles(values: Sequence[float]) -> tuple[float, float]:
    """(median, 95th percentile), inclusive."""
    if len(values) < 2:
        return values[0], values[0]
    cuts = quantiles(values, n=20, method="inclusive")
    return cuts[9], cuts[18]


def trace_name(trace: Path) -> str:
    """A trace in tables: its file's name and size."""
    return f"{trace.name.removesuffix('.xplane.pb')}, {math.ceil(trace.stat().st_size / 1e6):,} MB"


def _bytes_below(folder: Path) -> int:
    """Bytes of the files in a folder but for links, as to the trace."""
    return sum(
        path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    )


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size else "nothing"


def print_section(
    description: str,
    figures_of: Callable[[Programs, Path, int], _T],
    report: Callable[[Sequence[_T]], list[str]],
) -> int:
    """The command line of a section: measures each trace and prints the section."""
    parser = parser_of(description)
    parser.add_argument("--trace", type=Path, nargs="*", help="default: the scaled traces")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    traces = args.trace or scaled_traces()
    with Programs.installed() as programs:
        print("\n".join(report([figures_of(programs, trace, args.repeats) for trace in traces])))
    return 0


if __name__ == "__main__":
    sys.exit(print_section(__doc__, measure_trace, report))
