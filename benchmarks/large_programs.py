"""Measures the pages of programs on programs of 50,000 and of a million instructions.

    python -m benchmarks.large_programs [--instructions N ...] [--repeats N]

The programs are made of a small one by `scale_program.py`. Each request is a process of its own;
what the same request takes of the small program is subtracted. Frames are measured in headless
Chromium by frontend/e2e/timings/program_frames.mjs, on the first of the programs.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import measure, pages
from benchmarks.command_line import parser_of
from benchmarks.measure import Cost
from benchmarks.programs import ROUTE, Programs
from benchmarks.traces import build_traces, scale_program

INSTRUCTIONS = (50_000, 1_000_000)
# What pages ask for, as the parameters of the request.
REQUESTS: tuple[tuple[str, dict[str, str]], ...] = (
    ("op_profile", {}),
    ("hlo_stats", {}),
    ("roofline_model", {"per": "op", "feeds": "1"}),
    ("memory_viewer", {}),
    ("graph_viewer", {}),
    ("graph_viewer", {"type": "text", "first_line": "0"}),
)
PROGRAM = """
import json, sys
from tbprof.base.process.garbage import collect_garbage
from tbprof.engine.engine import DataRequest, Engine
from tbprof.storage.logdir import Logdir
from tbprof.tools import TOOLS
logdir = Logdir([sys.argv[1]], wait_s=600)
engine = Engine(logdir)
engine.load_tools()
collect_garbage()  # as servers do
run, tool, params = list(logdir.runs())[0], sys.argv[2], json.loads(sys.argv[3])
first_row = 0 if any(listed.name == tool and listed.is_in_batches for listed in TOOLS) else None
body = engine.data(DataRequest(run, tool, layout="columns", first_row=first_row, params=params))
open(sys.argv[4], "w").write(str(len(body.gzipped)))
"""


@dataclass(frozen=True, slots=True)
class LargeProgram:
    """A trace of one program, and by request its cost and the size of the compressed response.

    The cost is what comes on top of that of the process.
    """

    label: str
    trace: Path
    costs: dict[str, Cost] = field(default_factory=dict)
    sent_bytes: dict[str, int] = field(default_factory=dict)


def small_program() -> Path:
    """The trace of a GPU where this machine has it, else the project's sample."""
    traces = build_traces.default_source().parents[4]
    sample = build_traces.SAMPLE.parents[1] / "jax_cpu_training" / "host0.xplane.pb"
    return [*sorted((traces / "gpu_jax_mi350").rglob("*.xplane.pb")), sample][0]


def build(instructions: int, *, is_varied: bool) -> Path:
    """The trace of a program of so many instructions, made when it is missing."""
    name = f"program{instructions}{'varied' if is_varied else ''}.xplane.pb"
    target = build_traces.DATA / name
    if not target.exists():
        words = (scale_program.__name__, small_program(), target, instructions)
        command = [sys.executable, "-m", *map(str, words)]
        if is_varied:
            command.append("--varied")
        subprocess.run(command, check=True, cwd=build_traces.ROOT)
    return target


def measure_program(programs: Programs, label: str, trace: Path, repeats: int) -> LargeProgram:
    """The median cost of each request."""
    program = LargeProgram(label, trace)
    for tool, params in REQUESTS:
        name = " ".join([f"`{tool}`", *(f"{key}={value}" for key, value in params.items())])
        (small, _), (large, program.sent_bytes[name]) = (
            _ask(programs, made, tool, params, repeats) for made in (small_program(), trace)
        )
        program.costs[name] = Cost(
            large.wall_s - small.wall_s,
            large.cpu_s - small.cpu_s,
            large.peak_bytes - small.peak_bytes,
        )
        print(f"{trace.name} {name}: {program.costs[name]}", file=sys.stderr)
    return program


def _ask(
    programs: Programs, trace: Path, tool: str, params: dict[str, str], repeats: int
) -> tuple[Cost, int]:
    measure.read_once(trace)
    sent = programs.scratch / "sent"
    with measure.private_logdir(trace, programs.scratch / "large") as logdir:
        words = (str(logdir), tool, json.dumps(params), str(sent))
        command = [programs.python, "-c", PROGRAM, *words]
        cost = measure.middle([measure.run(command) for _ in range(repeats)])
    return cost, int(sent.read_text())


def measure_frames(programs: Programs, trace: Path) -> list[dict[str, Any]]:
    """What each part of the pages takes for a frame."""
    with programs.serving(trace) as server:
        base = f"http://127.0.0.1:{server.port}{ROUTE}"
        said = pages.in_browser("program_frames", base, "bench")
    return [json.loads(line) for line in said.splitlines()]


def measure_all(
    programs: Programs, instructions: Sequence[int] = INSTRUCTIONS, repeats: int = 3
) -> list[str]:
    """The lines of the page's section."""
    measured = []
    for count in instructions:
        is_first = count == instructions[0]
        for is_varied in (False, True) if is_first else (False,):
            label = f"{count:,}{', all shapes different' if is_varied else ''}"
            trace = build(count, is_varied=is_varied)
            measured.append(measure_program(programs, label, trace, repeats if is_first else 1))
    frames = []
    if (pages.FRONTEND / "node_modules").is_dir():
        frames = measure_frames(programs, measured[0].trace)
    return section(measured, frames)


def section(programs: Sequence[LargeProgram], frames: Sequence[dict[str, Any]]) -> list[str]:
    """Lines of the page."""
    lines = [
        "## Large programs",
        "",
        (
            "A compiled GPU program, repeated like the layers of a model "
            "(`benchmarks/traces/scale_program.py`). The first request of a page with empty "
            "caches: processor time and peak memory beyond those of the same request for the small "
            "program, in brackets the ratio of the memory to the file, and the size of the "
            "compressed response. Files of up to 16 MiB are held in memory, and included. Larger "
            "programs are measured once."
        ),
        "",
        f"| request | {' | '.join(f'{program.label}: {_size(program)}' for program in programs)} |",
        f"| --- |{' --- |' * len(programs)}",
    ]
    for name in programs[0].costs:
        cells = [_cell(program, name) for program in programs]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    if frames:
        lines += [
            "",
            (
                f"Frames on {programs[0].label} instructions in headless Chromium, with one input "
                "per frame: processor time of the page's scripts, and of its main thread, which "
                "includes styles, layout and painting. A display of 60 Hz leaves 16.7 ms."
            ),
            "",
            "| part | rows or nodes | scripts | main thread |",
            "| --- | --- | --- | --- |",
        ]
        for frame in frames:
            rows = f"{frame['rows']:,}" if frame["rows"] else ""
            cells = [
                frame["part"],
                rows,
                f"{frame['script_ms']:.1f} ms",
                f"{frame['task_ms']:.1f} ms",
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def _size(program: LargeProgram) -> str:
    return f"{program.trace.stat().st_size / 1e6:,.0f} MB"


def _cell(program: LargeProgram, name: str) -> str:
    cost, sent = program.costs[name], program.sent_bytes[name]
    ratio = cost.peak_bytes / program.trace.stat().st_size
    peak = f"{cost.peak_bytes / 1e6:,.0f} MB ({ratio:.1f} × file)"
    return f"{cost.cpu_s:.2f} s, {peak}, {sent / 1e3:,.0f} kB"


def main() -> int:
    """The command line: prints the section."""
    parser = parser_of(__doc__)
    parser.add_argument("--instructions", type=int, nargs="*", default=INSTRUCTIONS)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    with Programs.installed() as programs:
        print("\n".join(measure_all(programs, args.instructions, args.repeats)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
