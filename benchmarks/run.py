"""Measures tbprof, xprof and xprof-rs in one run, alternating, and writes benchmarks/README.md.

    python -m benchmarks.run [--trace FILE ...] [--tools TOOL ...] [--repeats N] [--no-write]

Each figure is a whole process: start, imports, reading the trace, and the tool's payload. Result
caches are empty each time: tbprof's in a folder of its own, xprof's beside a private link to the
trace. Ratios count; figures of different runs do not compare. xprof-rs takes part where it is on
PATH or beside xprof: `.venv-xprof/bin/pip install --no-deps xprof-rs`.
"""

import datetime as dt
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.error import HTTPError

from benchmarks import captures, installation, large_programs, measure, pages
from benchmarks.command_line import parser_of
from benchmarks.measure import Cost, Failed
from benchmarks.programs import ROUTE, Programs
from benchmarks.traces import build_traces
from benchmarks.viewer import trace_frames, trace_viewer
from tbprof.tools import registry

ROOT = Path(__file__).resolve().parent.parent
# The trace viewer has a section of its own.
TOOLS = tuple(tool.name for tool in registry.TOOLS if not tool.is_streamed)
STEP_TOOLS = tuple(tool.name for tool in registry.TOOLS if "steps" in tool.params)
# One process that makes the payloads of several tools.
TOGETHER = "+".join(STEP_TOOLS)
QUIET_S = 1.0
# By then a server has imported everything.
STARTED_S = 3.0
START_REPEATS = 7

# TensorBoard with and without our entry point, in one environment.
TENSORBOARD_PROGRAM = """
import sys, importlib.metadata as metadata
if sys.argv.pop(1) == "without":
    select = metadata.EntryPoints.select
    metadata.EntryPoints.select = lambda self, **by: [
        entry for entry in select(self, **by) if not entry.value.startswith("tbprof.")
    ]
from tensorboard.main import run_main
run_main()
"""

Measured = dict[str, Cost | str]


def measure_tools(
    programs: Programs, trace: Path, tools: Sequence[str], repeats: int
) -> dict[str, Measured]:
    """For each tool the median cost of each program; runs of the programs alternate."""
    measure.read_once(trace)
    table: dict[str, Measured] = {}
    for tool in tools:
        costs: dict[str, list[Cost]] = {}
        failures: Measured = {}
        for _ in range(repeats):
            for name, program in programs.all().items():
                if name in failures:
                    continue
                try:
                    costs.setdefault(name, []).append(program(trace, tool))
                except (Failed, OSError) as error:
                    failures[name] = str(error)
        row: Measured = {name: measure.middle(each) for name, each in costs.items() if each}
        row.update(failures)
        table[tool] = row
        shown = {name: c if isinstance(c, str) else f"{c.wall_s:.2f} s" for name, c in row.items()}
        print(f"{trace.name} {tool}: {shown}", file=sys.stderr)
    return table


def measure_servers(programs: Programs, trace: Path, tools: Sequence[str]) -> list[tuple[str, str]]:
    """Latencies in milliseconds of a freshly started server: (what, figures)."""
    rows = []
    tbprof = [programs.python, "-m", "tbprof.cli", "serve", "{logdir}", "--port", "{port}"]
    servers = {"tbprof": (tbprof, "TBPROF_CACHE_DIR")}
    if programs.xprof_python:
        xprof = str(Path(programs.xprof_python).with_name("xprof"))
        servers["xprof"] = ([xprof, "--logdir", "{logdir}", "--port", "{port}"], "")
    if programs.xprof_rs:
        rs = [programs.xprof_rs, "--logdir", "{logdir}", "--port", "{port}"]
        servers["xprof-rs"] = (rs, "XPROF_CACHE_DIR")
    for name, (template, cache_variable) in servers.items():
        with measure.private_logdir(trace, programs.scratch / "served") as logdir:
            command = [part.replace("{logdir}", str(logdir)) for part in template]
            cache = programs.fresh_cache()
            env = {cache_variable: str(cache)} if cache_variable else {}
            try:
                with measure.serving(command, env) as server:
                    rows.append((name, _latencies(server, tools)))
            except (Failed, OSError) as error:
                rows.append((name, f"failed: {error}"))
            print(f"{trace.name} {': '.join(rows[-1])}", file=sys.stderr)
    return rows


def _latencies(server: measure.Server, tools: Sequence[str]) -> str:
    """Ready, first request of each tool in turn, then each once more."""
    ready_s = server.wait_for(f"{ROUTE}/runs")
    parts = [f"ready after {ready_s:.2f} s"]
    for turn in ("first", "again"):
        for tool in tools:
            try:
                seconds, body = server.get(f"{ROUTE}/data?run=bench&tag={tool}&host=host0")
            except HTTPError:  # a tool that the program does not have
                parts.append(f"{tool} {turn} failed")
                continue
            parts.append(f"{tool} {turn} {seconds * 1e3:,.1f} ms ({len(body) / 1e3:,.0f} kB)")
    return ", ".join(parts)


def measure_prepared(programs: Programs, trace: Path, tools: Sequence[str]) -> str:
    """Latencies of tbprof's server that has started: of a first page, and of prepared ones."""
    with programs.serving(trace) as server:
        server.wait_for(f"{ROUTE}/runs")
        time.sleep(STARTED_S)
        first = server.get(f"{ROUTE}/data?run=bench&tag={tools[0]}&host=host0")[0]
        _wait_until_idle(server, tools)
        parts = [f"{tools[0]} first {first * 1e3:,.1f} ms; after the preparation that follows"]
        for tool in tools[1:]:
            try:
                seconds, _ = server.get(f"{ROUTE}/data?run=bench&tag={tool}&host=host0")
            except HTTPError:  # a tool for which the trace has no data
                continue
            parts.append(f"{tool} {seconds * 1e3:,.1f} ms")
    return ", ".join(parts)


def _wait_until_idle(server: measure.Server, tools: Sequence[str]) -> None:
    """Returns once no tool has been at work for a second: one page is prepared after the other."""
    quiet_since = time.monotonic()
    while time.monotonic() - quiet_since < QUIET_S:
        for tool in tools:
            _, body = server.get(f"{ROUTE}/progress?run=bench&tag={tool}")
            if json.loads(body)["state"] not in {"idle", "error"}:
                quiet_since = time.monotonic()
        time.sleep(0.05)


def measure_start(python: str, scratch: Path) -> dict[str, float]:
    """Median seconds from TensorBoard's start to its plugin list, with and without tbprof."""
    logdir = scratch / "empty"
    logdir.mkdir(exist_ok=True)
    seconds: dict[str, list[float]] = {"without": [], "with": []}
    for _ in range(START_REPEATS):
        for which, times in seconds.items():
            command = [python, "-c", TENSORBOARD_PROGRAM, which, "--logdir", str(logdir)]
            with measure.serving([*command, "--port", "{port}"]) as server:
                times.append(server.wait_for("/data/plugins_listing"))
    return {which: sorted(times)[len(times) // 2] for which, times in seconds.items()}


def report(
    facts: dict[str, object],
    tables: dict[Path, dict[str, Measured]],
    servers: dict[Path, list[tuple[str, str]]],
    start: dict[str, float],
    opened: tuple[Path, dict[str, float]] | None,
    viewer: Sequence[trace_viewer.Measured],
    frames: Sequence[trace_frames.Frames],
    sections: Sequence[str],
) -> str:
    """The page: what was measured on what, and the tables."""
    lines = [
        "# Benchmarks",
        "",
        " ".join(_prose().split()),
        "",
        *(f"- {name}: {value}" for name, value in facts.items()),
        "",
    ]
    for trace, table in tables.items():
        size = trace.stat().st_size
        lines += [
            f"## {_title(trace)}: {size / 1e6:,.{0 if size > 10e6 else 1}f} MB",
            "",
            "Wall time, processor time, peak memory; in brackets, the speed relative to xprof.",
            "",
            "| tool | tbprof | xprof | xprof-rs |",
            "| --- | --- | --- | --- |",
        ]
        for tool, row in table.items():
            base = row.get("xprof")
            cells = [
                measure.cost_cell(row.get(name), base if name != "xprof" else None, size)
                for name in ("tbprof", "xprof", "xprof-rs")
            ]
            name = "the three tools of steps together" if tool == TOGETHER else f"`{tool}`"
            lines.append(f"| {name} | {' | '.join(cells)} |")
        lines += ["", "A server, from its start:", ""]
        lines += [f"- {name}: {figures}" for name, figures in servers[trace]]
        lines.append("")
    if viewer:
        lines += trace_viewer.report(viewer)
    if frames:
        lines += trace_frames.report(frames)
    lines += sections
    if opened:
        lines += pages.section(*opened)
    if start:
        delta = start["with"] - start["without"]
        lines += [
            "## TensorBoard's start",
            "",
            (
                f"From the process to its list of plugins: {start['without']:.2f} s without "
                f"tbprof, {start['with']:.2f} s with it ({delta * 1e3:+,.0f} ms); median of "
                f"{START_REPEATS}."
            ),
            "",
        ]
    return "\n".join(lines)


def _title(trace: Path) -> str:
    """The name of a scaled trace, or of the logdir of one as it was recorded."""
    parts = trace.parts
    return parts[parts.index("plugins") - 1] if "plugins" in parts else trace.name.split(".")[0]


def _prose() -> str:
    return """Written by `make bench` (`benchmarks/run.py`). Each figure is the median over
    whole processes, from their start to the tool's payload, with empty result caches and the trace
    in the page cache. The programs take turns. xprof-rs only has a server: its figures are from
    the start of the server to its response. Only compare figures within a table.
    [scale.md](../docs/scale.md) has runs of many hosts (`benchmarks/hosts.py`), [load.md](load.md)
    many browsers at once."""


def versions(python: str, xprof_python: str, xprof_rs: str) -> str:
    """Versions of the programs and of what they run on."""
    query = "import importlib.metadata as m, sys; print(*[m.version(n) for n in sys.argv[1:]])"

    def ask(interpreter: str, *names: str) -> list[str]:
        command = [interpreter, "-c", query, *names]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    ours = zip(
        ("tbprof", "numpy", "protobuf", "tensorboard"),
        ask(python, "tbprof", "numpy", "protobuf", "tensorboard"),
        strict=True,
    )
    parts = [" ".join(pair) for pair in ours] + [f"Python {sys.version.split()[0]}"]
    if xprof_python:
        parts.append(f"xprof {ask(xprof_python, 'xprof')[0]}")
    if xprof_rs:
        parts.append(f"xprof-rs {_rs_version(xprof_rs)}")
    return ", ".join(parts)


def _rs_version(program: str) -> str:
    """What pip or cargo noted at installation; the program itself does not say."""
    python = Path(program).with_name("python")
    if python.exists():
        query = "import importlib.metadata as m; print(m.version('xprof-rs'))"
        asked = subprocess.run([python, "-c", query], capture_output=True, text=True, check=False)
        if asked.returncode == 0:
            return asked.stdout.strip()
    noted = Path(program).resolve().parent.parent / ".crates.toml"
    if noted.exists():
        for line in noted.read_text().splitlines():
            if line.startswith('"xprof-rs '):
                return line.split()[1]
    return "(version unknown)"


def _rows(tools: Sequence[str]) -> list[str]:
    """The rows of a table: each tool, and the tools of steps in one process, as they share work."""
    return [*tools, *([TOGETHER] if set(STEP_TOOLS) <= set(tools) else [])]


def _section(
    what: str, measure_all: Callable[[Programs], list[str]], programs: Programs
) -> list[str]:
    """The lines of a section, none where it cannot be measured here."""
    try:
        return measure_all(programs)
    except (Failed, OSError, subprocess.CalledProcessError) as error:
        print(f"no figures of {what}: {error}", file=sys.stderr)
        return []


def main() -> int:
    """The command line."""
    parser = parser_of(__doc__)
    parser.add_argument("--trace", type=Path, nargs="*", help="default: the scaled traces")
    parser.add_argument("--tools", nargs="*", default=TOOLS)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--no-write", action="store_true", help="print the page, leave the file")
    parser.add_argument("--no-trace-viewer", action="store_true", help="leave that section out")
    parser.add_argument("--no-start", action="store_true", help="leave TensorBoard's start out")
    args = parser.parse_args()

    traces = args.trace
    if not traces:
        source = build_traces.default_source()
        traces = [
            *build_traces.small_traces(),
            *(build_traces.build(source, copies) for copies in build_traces.COPIES),
        ]
    noted = measure.machine()
    with Programs.installed() as programs:
        facts: dict[str, object] = {
            "machine": ", ".join(f"{name} {value}" for name, value in noted.items()),
            "versions": versions(programs.python, programs.xprof_python, programs.xprof_rs),
            "date": dt.datetime.now(dt.timezone.utc).date().isoformat(),
            "repeats": args.repeats,
        }
        tables: dict[Path, dict[str, Measured]] = {}
        servers: dict[Path, list[tuple[str, str]]] = {}
        for trace in traces:
            tables[trace] = measure_tools(programs, trace, _rows(args.tools), args.repeats)
            servers[trace] = measure_servers(programs, trace, args.tools)
            try:
                prepared = measure_prepared(programs, trace, args.tools)
                servers[trace].append(("tbprof, 3 s after its start, then prepared", prepared))
            except (Failed, OSError) as error:
                print(f"no figures after preparation: {error}", file=sys.stderr)
        viewer: list[trace_viewer.Measured] = []
        if not args.no_trace_viewer:
            some = args.trace or trace_viewer.scaled_traces()
            viewer = [trace_viewer.measure_trace(programs, trace, args.repeats) for trace in some]
        start = {} if args.no_start else measure_start(programs.python, programs.scratch)
        opened = None
        frames: list[trace_frames.Frames] = []
        source = build_traces.default_source()
        if (ROOT / "frontend" / "node_modules").is_dir():
            try:
                # A text in place of a cost: the trace has no data for that page.
                table = tables.get(source, {})
                shown = [
                    tool
                    for tool in args.tools
                    if not isinstance(table.get(tool, {}).get("tbprof"), str)
                ]
                opened = (source, pages.measure_pages(programs, source, shown))
                for measured in viewer:
                    frames += [trace_frames.measure_frames(programs, measured.trace, pages.REPEATS)]
            except (Failed, OSError, subprocess.CalledProcessError) as error:
                print(f"no figures of pages: {error}", file=sys.stderr)
        sections = [
            *_section("large programs", large_programs.measure_all, programs),
            *_section("captures", captures.measure_all, programs),
            *_section("the installation", installation.measure_all, programs),
        ]
    page = report(facts, tables, servers, start, opened, viewer, frames, sections)
    if args.no_write:
        print(page)
    else:
        (ROOT / "benchmarks" / "README.md").write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
