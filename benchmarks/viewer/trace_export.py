"""Measures the export of whole traces as Chrome JSON: time, memory, size.

    python -m benchmarks.viewer.trace_export [--trace FILE ...]

tbprof writes every event, gzipped, as `tbprof export --tool trace_viewer` does; xprof's
`trace_viewer` writes the earliest million events as plain JSON.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks import measure
from benchmarks.command_line import parser_of
from benchmarks.measure import Cost, Failed
from benchmarks.programs import Programs

XPROF_PROGRAM = """
import sys
from xprof.convert import raw_to_tool_data
content = raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], "trace_viewer", {})[0]
if content is None:
    sys.exit("xprof has nothing for trace_viewer")
with open(sys.argv[2], "wb") as file:
    file.write(content if isinstance(content, bytes) else content.encode())
"""


@dataclass(frozen=True, slots=True)
class Export:
    """What an export took, and the bytes that it wrote."""

    cost: Cost
    bytes: int


def measure_exports(programs: Programs, trace: Path) -> dict[str, Export | str]:
    """The export of a trace by each program, or why there is none."""
    exports: dict[str, Export | str] = {}
    output = programs.scratch / "export.json.gz"
    command = [programs.python, "-m", "tbprof.cli", "export", str(trace), "--tool", "trace_viewer"]
    exports["tbprof"] = _export(
        [*command, "-o", str(output)], output, programs.cache_at(programs.fresh_cache())
    )
    if programs.xprof_python:
        output = programs.scratch / "export.json"
        with measure.private_logdir(trace, programs.scratch / "xprof") as logdir:
            path = str(measure.trace_in(logdir))
            command = [programs.xprof_python, "-c", XPROF_PROGRAM, path, str(output)]
            exports["xprof"] = _export(command, output, {})
    return exports


def _export(command: list[str], output: Path, env: dict[str, str]) -> Export | str:
    try:
        cost = measure.run(command, env)
        return Export(cost, output.stat().st_size)
    except (Failed, OSError) as error:
        return f"failed: {error}"
    finally:
        output.unlink(missing_ok=True)


def report(name: str, size: int, exports: dict[str, Export | str]) -> str:
    """A row of the table: time and memory of each program, and what it wrote."""
    cells = [_cell(exports.get(program, "not installed"), size) for program in ("tbprof", "xprof")]
    return f"| {name} | {' | '.join(cells)} |"


def _cell(export: Export | str, size: int) -> str:
    if isinstance(export, str):
        return export.partition(":")[0]
    return f"{measure.cost_cell(export.cost, None, size)}, wrote {export.bytes / 1e6:,.1f} MB"


HEAD = [
    "",
    (
        "The whole trace as Chrome JSON, in a separate process: wall time, processor time, peak "
        "memory, and the size of the output. tbprof writes every event, gzipped; xprof's "
        "`trace_viewer` writes the first million as plain text."
    ),
    "",
    "| trace | tbprof | xprof |",
    "| --- | --- | --- |",
]


def main() -> int:
    """The command line: prints the table."""
    parser = parser_of(__doc__)
    parser.add_argument("--trace", type=Path, nargs="+", required=True)
    args = parser.parse_args()
    lines = list(HEAD)
    with Programs.installed() as programs:
        for trace in args.trace:
            measure.read_once(trace)
            exports = measure_exports(programs, trace)
            lines.append(report(trace.name, trace.stat().st_size, exports))
    print("\n".join(lines[1:]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
