"""Measures pages in headless Chromium, from opening the address until they are complete."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import measure
from benchmarks.programs import ROUTE, Programs

ROOT = Path(__file__).resolve().parent.parent
REPEATS = 3


def measure_pages(programs: Programs, trace: Path, tools: Sequence[str]) -> dict[str, float]:
    """Median milliseconds until a page is complete, with nothing computed before."""
    seconds: dict[str, float] = {}
    for tool in tools:
        times = [cold_page_ms(programs, trace, tool, [programs.python]) for _ in range(REPEATS)]
        seconds[tool] = sorted(times)[len(times) // 2]
        print(f"page {tool}: {times} ms", file=sys.stderr)
    return seconds


def cold_page_ms(programs: Programs, trace: Path, tool: str, python: Sequence[str]) -> float:
    """Milliseconds until a page of a new server is complete."""
    with measure.private_logdir(trace, programs.scratch / "served") as logdir:
        command = [*python, "-m", "tbprof.cli", "serve", str(logdir), "--port", "{port}"]
        env = programs.cache_at(programs.fresh_cache())
        with measure.serving(command, env) as server:
            server.wait_for(f"{ROUTE}/version")
            return _page_ms(f"http://127.0.0.1:{server.port}{ROUTE}/index.html#tool={tool}")


def _page_ms(url: str) -> float:
    program = [shutil.which("node") or "node", "e2e/timings/page_time.mjs", url]
    folder = ROOT / "frontend"
    said = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=True)
    return float(said.stdout)


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
