"""Traces drawn as text, for tests.

One column is 1 µs, a run of one letter is one event, `.` is nothing. A row with a label begins a
line, a row without one goes on the same line, where its events nest inside those above:

    draw({"/device:GPU:0": '''
        Stream #1 |mmmm.rr.nnnn.
                  |.aa......b....
        Stream #2 |..mm
    '''}, names={"m": "matmul", "n": "matmul"}, stats={"m": {"kernel_details": "regs:32"}})

Letters of one name are one event type. Two events that touch need two letters.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from tbprof._pb import message
from tbprof.events.space import Space
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.reader import space_in

COLUMN_PS = 1_000_000

Stats = Mapping[str, "str | bytes | int | float"]
# Of `Stats`; where values differ in type, mypy joins literals to `object`.
ByLetter = Mapping[str, Any]


class Ref(str):
    """A text that is written as `ref_value`, the name of a stat metadata entry."""

    __slots__ = ()


class Unsigned(int):
    """An integer that is written as `uint64_value`."""


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
) -> bytes:
    """A serialized XSpace of `planes`: (name, drawing) pairs, as a mapping where names differ.

    By letter: `names` (by default the letter itself), `display_names`, `stats` of events and
    `type_stats` that all events of a type share. `plane_stats` go by the plane's name, `line_ids`
    (by default 1, 2, ...) by the line's; `start_ns` is the time stamp of every line. Stat values:
    str (str_value), `Ref`, int (int64_value; bool too), `Unsigned`, float, bytes.
    """
    space = message("tensorflow.profiler.XSpace")(hostnames=hostnames)
    pairs = planes.items() if isinstance(planes, Mapping) else planes
    for name, drawing in pairs:
        writer = _Plane(space.planes.add(name=name), names or {}, display_names or {})
        writer.add_types(type_stats or {})
        for number, (label, events) in enumerate(_parse(drawing), start=1):
            line = writer.plane.lines.add(
                id=(line_ids or {}).get(label, number), name=label, timestamp_ns=start_ns
            )
            for begin, columns, letter in events:
                event = line.events.add(
                    metadata_id=writer.type_id(letter),
                    offset_ps=begin * COLUMN_PS,
                    duration_ps=columns * COLUMN_PS,
                )
                writer.add_stats(event.stats, (stats or {}).get(letter, {}))
        writer.add_stats(writer.plane.stats, (plane_stats or {}).get(name, {}))
    return bytes(space.SerializeToString())


def write(folder: Path, content: bytes, host: str = "host0") -> Path:
    """The path of a trace file with `content`, made in `folder`."""
    path = folder / f"{host}.xplane.pb"
    path.write_bytes(content)
    return path


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


class _Plane:
    """A message being filled: numbers for what is named."""

    def __init__(
        self, plane: Any, names: Mapping[str, str], display_names: Mapping[str, str]
    ) -> None:
        self.plane = plane
        self._names = names
        self._display_names = display_names
        self._types: dict[str, int] = {}
        self._stats: dict[str, int] = {}

    def type_id(self, letter: str) -> int:
        name = self._names.get(letter, letter)
        if name not in self._types:
            self._types[name] = number = len(self._types) + 1
            entry = self.plane.event_metadata[number]
            entry.id, entry.name = number, name
            entry.display_name = self._display_names.get(letter, "")
        return self._types[name]

    def add_types(self, type_stats: ByLetter) -> None:
        for letter, stats in type_stats.items():
            self.add_stats(self.plane.event_metadata[self.type_id(letter)].stats, stats)

    def _stat_id(self, name: str) -> int:
        if name not in self._stats:
            self._stats[name] = number = len(self._stats) + 1
            self.plane.stat_metadata[number].id = number
            self.plane.stat_metadata[number].name = name
        return self._stats[name]

    def add_stats(self, target: Any, stats: Stats) -> None:
        for name, value in stats.items():
            stat = target.add(metadata_id=self._stat_id(name))
            match value:
                case Ref():
                    stat.ref_value = self._stat_id(value)
                case _:
                    set_stat(stat, value)


def set_stat(stat: Any, value: str | bytes | float) -> None:
    """Gives a stat a value in the field of its type."""
    match value:
        case str():
            stat.str_value = value
        case bytes():
            stat.bytes_value = value
        case Unsigned():
            stat.uint64_value = value
        case int():
            stat.int64_value = value
        case float():
            stat.double_value = value
