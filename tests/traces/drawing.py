"""Traces drawn as text, for tests.

One column is 1 µs, a run of one letter is one event, `.` is nothing. A row with a label begins a
line, a row without one goes on the same line, where its events nest inside those above:

    draw({"/device:GPU:0": '''
        Stream #1 |mmmm.rr.nnnn.
                  |.aa......b....
        Stream #2 |..mm
    '''}, names={"m": "matmul", "n": "matmul"}, stats={"m": {"kernel_details": "regs:32"}})

Letters of one name and display name are one event type. Two events that touch need two letters.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from tbprof._pb import message
from tbprof.events.space import Space
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.reader import space_in
from traces.space_writer import SpaceWriter

COLUMN_PS = 1_000_000

# Of `Stats`; where values differ in type, mypy joins literals to `object`.
ByLetter = Mapping[str, Any]


def draw(
    planes: Mapping[str, str] | Sequence[tuple[str, str]],
    *,
    names: Mapping[str, str] | None = None,
    display_names: Mapping[str, str] | None = None,
    stats: ByLetter | None = None,
    type_stats: ByLetter | None = None,
    plane_stats: ByLetter | None = None,
    line_ids: Mapping[str, int] | None = None,
    start_ns: int = 0,
    hostnames: Sequence[str] = (),
    programs: Mapping[str, bytes] | None = None,
) -> bytes:
    """A serialized XSpace of `planes`: (name, drawing) pairs, as a mapping where names differ.

    By letter: `names` (by default the letter itself), `display_names`, `stats` of events and
    `type_stats` that all events of a type share. `plane_stats` go by the plane's name, `line_ids`
    (by default 1, 2, ...) by the line's; `start_ns` is the time stamp of every line. Stat values:
    str (str_value), `Ref`, int (int64_value; bool too), `Unsigned`, float, bytes. `programs` are
    HloProtos by the names that recorders give them, such as "jit_f(7)".
    """
    space = SpaceWriter(hostnames)
    names, shown = names or {}, display_names or {}
    pairs = planes.items() if isinstance(planes, Mapping) else planes
    for plane_name, drawing in pairs:
        plane = space.plane(plane_name)
        for letter, stated in (type_stats or {}).items():
            plane.kind(names.get(letter, letter), shown.get(letter, ""), stated)
        for label, events in _parse(drawing):
            line = plane.line(label, (line_ids or {}).get(label), start_ns)
            for begin, columns, letter in events:
                plane.event(
                    line,
                    plane.kind(names.get(letter, letter), shown.get(letter, "")),
                    start_ns * 1000 + begin * COLUMN_PS,
                    columns * COLUMN_PS,
                    (stats or {}).get(letter),
                )
        plane.state((plane_stats or {}).get(plane_name, {}))
    if programs:
        plane = space.plane("/host:metadata")
        for name, proto in programs.items():
            plane.kind(name, stats={"Hlo Proto": proto})
    return space.bytes()


def write(folder: Path, content: bytes, host: str = "host0") -> Path:
    """The path of a trace file with `content`, made in `folder`."""
    path = folder / f"{host}.xplane.pb"
    path.write_bytes(content)
    return path


def write_run(logdir: Path, hosts: Mapping[str, bytes], run: str = "run") -> Path:
    """The folder of a run of a logdir, made where there is none, with the traces of its hosts."""
    folder = logdir / "plugins" / "profile" / run
    folder.mkdir(parents=True, exist_ok=True)
    for host, content in hosts.items():
        write(folder, content, host)
    return folder


def drawn_space(planes: Mapping[str, str] | Sequence[tuple[str, str]], **more: Any) -> Space:
    """The space of what `draw` draws."""
    return space_of(draw(planes, **more))


def message_of(content: bytes) -> Any:
    """The message in a trace file."""
    return message("tensorflow.profiler.XSpace").FromString(content)


def space_of(content: bytes) -> Space:
    """The space that tbprof reads from serialized bytes, as from a file named `drawn`."""
    return space_in(Buffer(content, "drawn"))


def _parse(drawing: str) -> list[tuple[str, list[tuple[int, int, str]]]]:
    """(label, events) of each line, events as (first column, columns, letter), parents first."""
    lines: list[tuple[str, list[tuple[int, int, str]]]] = []
    for row in drawing.splitlines():
        if not row.strip():
            continue
        label, bar, cells = row.partition("|")
        if not bar or (not label.strip() and not lines):
            raise ValueError(f"a row is 'label |cells', and the first has a label: {row!r}")
        if label.strip():
            lines.append((label.strip(), []))
        at = 0
        for letter, run in groupby(cells.rstrip().rstrip("|")):
            columns = len(list(run))
            if letter not in ". ":
                lines[-1][1].append((at, columns, letter))
            at += columns
    for _, events in lines:
        events.sort(key=lambda event: (event[0], -event[1]))  # stable: upper rows first
    return lines
