"""Measures frames of the trace viewer in headless Chromium, drawn in software at 1600 × 1000.

    python -m benchmarks.viewer.trace_frames [--trace FILE ...] [--repeats N]

A session of zooming, panning and scrolling (frontend/e2e/timings/trace_session.mjs) is replayed by
frontend/e2e/timings/frame_times.mjs, which says what its figures mean.
"""

import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import pages
from benchmarks.programs import ROUTE, Programs
from benchmarks.viewer import trace_viewer


@dataclass(frozen=True, slots=True)
class Frames:
    """One trace: how many events it holds, and what each replay of the session took."""

    trace: Path
    events: int
    replays: list[dict[str, Any]]

    def middle(self, *path: str) -> float:
        """The median over the replays of the figure at a path of keys."""
        replays = []
        for replay in self.replays:
            value: Any = replay
            for key in path:
                value = value[key]
            replays.append(float(value))
        return statistics.median(replays)


def measure_frames(programs: Programs, trace: Path, repeats: int) -> Frames:
    """Replays the session `repeats` times, on a server that has opened the trace."""
    with programs.serving(trace) as server:
        # Both parts of the timeline: steps that are worked out late would move the view.
        for part in ("derived", "events"):
            _, body = server.get(f"{ROUTE}/timeline?run=bench&host=host0&part={part}")
        events = json.loads(body)["events_in_file"]
        url = f"http://127.0.0.1:{server.port}{ROUTE}/index.html#run=bench&tool=trace_viewer"
        replays = [json.loads(pages.in_browser("frame_times", url)) for _ in range(repeats)]
    frames = Frames(trace, events, replays)
    print(f"{trace.name} frames: {replays}", file=sys.stderr)
    return frames


def report(measured: Sequence[Frames]) -> list[str]:
    """The lines of the page's section."""
    lines = [
        "## The trace viewer's frames",
        "",
        (
            "A session of zooming, panning and scrolling is replayed in headless Chromium, drawn "
            "in software at 1600 × 1000, with one input per frame. Only frames that paint the "
            "timeline count. Frame: the time until the next frame begins, without waiting for a "
            "display; median and 95th percentile. Scripts: the part of it in the page's own "
            "scripts. Missed at 60 Hz: frames that are too slow for such a display. Heap: "
            "JavaScript's heap with array buffers, after the session and at its peak."
        ),
        "",
        "| trace | events | frame | scripts | missed at 60 Hz | heap |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for frames in measured:
        cells = [
            trace_viewer.trace_name(frames.trace),
            f"{frames.events:,}",
            *(_spread(frames, kind) for kind in ("ms", "script_ms")),
            f"{100 * frames.middle('display', 'late_ratio'):.1f} %",
            ", ".join(
                f"{frames.middle(heap) / 1e6:,.0f} MB" for heap in ("heap_bytes", "peak_heap_bytes")
            ),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def _spread(frames: Frames, kind: str) -> str:
    return ", ".join(
        f"{frames.middle('free', kind, percentile):.1f} ms" for percentile in ("p50", "p95")
    )


if __name__ == "__main__":
    sys.exit(trace_viewer.print_section(__doc__, measure_frames, report))
