"""Measures pages in headless Chromium, from opening the address until they are complete."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.programs import ROUTE, Programs

FRONTEND = Path(__file__).resolve().parent.parent / "frontend"
REPEATS = 3


def measure_pages(programs: Programs, trace: Path, tools: Sequence[str]) -> dict[str, float]:
    """Median milliseconds until a page is complete, with nothing computed before."""
    seconds: dict[str, float] = {}
    for tool in tools:
        times = [cold_page_ms(programs, trace, tool) for _ in range(REPEATS)]
        seconds[tool] = sorted(times)[len(times) // 2]
        print(f"page {tool}: {times} ms", file=sys.stderr)
    return seconds


def cold_page_ms(programs: Programs, trace: Path, tool: str, python: str = "") -> float:
    """Milliseconds until a page of a new server is complete, which runs in `python`."""
    with programs.serving(trace, python) as server:
        url = f"http://127.0.0.1:{server.port}{ROUTE}/index.html#tool={tool}"
        return float(in_browser("page_time", url))


def in_browser(script: str, *arguments: str) -> str:
    """What a script of frontend/e2e/timings/ prints."""
    program = [shutil.which("node") or "node", f"e2e/timings/{script}.mjs", *arguments]
    said = subprocess.run(program, cwd=FRONTEND, capture_output=True, text=True, check=True)
    return said.stdout


def section(trace: Path, figures: dict[str, float]) -> list[str]:
    """Lines of the page."""
    return [
        f"## A page in the browser: {trace.stat().st_size / 1e6:,.1f} MB",
        "",
        "From opening the address in headless Chromium to a complete page, with nothing computed",
        f"before; median of {REPEATS}.",
        "",
        *(f"- `{tool}`: {milliseconds:,.0f} ms" for tool, milliseconds in figures.items()),
        "",
    ]
