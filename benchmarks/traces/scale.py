"""Makes a big trace out of a small one, line by line, so that memory follows one copy of a line.

    python -m benchmarks.traces.scale SOURCE.xplane.pb TARGET.xplane.pb COPIES

Every line's events are repeated COPIES times, each copy shifted by the length of the whole trace,
so that the mix of events, names and stats stays real. Each copy gets group, correlation and
context ids and step numbers of its own. 400 copies of a 3 MB trace of TensorFlow on V100 GPUs make
9.25 M events with 40 M stats: 767 MB.
"""

import tempfile
from pathlib import Path
from typing import IO, Any

from benchmarks.command_line import parser_of
from tbprof._pb import message

_CONTEXT_STEP = 0x9E3779B97F4A7C15


def scale(source: Path, target: Path, copies: int) -> None:
    """Writes `copies` times the events of `source` to `target`; an existing file is replaced."""
    space = message("tensorflow.profiler.XSpace").FromString(source.read_bytes())
    length_ps = _length_ps(space)
    group_step, correlation_step = (
        _largest(space, "group_id") + 1,
        _largest(space, "correlation_id") + 1,
    )
    steps = {
        "group_id": group_step,
        "correlation_id": correlation_step,
        "_p": _CONTEXT_STEP,
        "_c": _CONTEXT_STEP,
    }

    partial = target.with_suffix(".part")
    with partial.open("wb") as file:
        for plane in space.planes:
            shifts = {
                key: steps[entry.name]
                for key, entry in plane.stat_metadata.items()
                if entry.name in steps
            }
            added: dict[str, int] = {}
            with tempfile.TemporaryFile() as lines:
                for line in plane.lines:
                    _write_line(lines, plane, line, copies, length_ps, shifts, group_step, added)
                del plane.lines[:]
                # Fields may stand in any order: the lines go last.
                head = plane.SerializeToString()
                file.write(_key(1) + _varint(len(head) + lines.tell()) + head)
                _copy(lines, file)
        del space.planes[:]
        file.write(space.SerializeToString())
    partial.replace(target)


def _write_line(
    file: IO[bytes],
    plane: Any,
    line: Any,
    copies: int,
    length_ps: int,
    shifts: dict[int, int],
    group_step: int,
    added: dict[str, int],
) -> None:
    """Appends one line as field 3 of its plane."""
    moved = [
        (stat, shifts[stat.metadata_id])
        for event in line.events
        for stat in event.stats
        if stat.metadata_id in shifts
    ]
    is_steps = line.name == "Steps"
    numbers = [event.metadata_id for event in line.events] if is_steps else []
    with tempfile.TemporaryFile() as body:
        body.write(line.SerializeToString())
        for copy in range(1, copies):
            for event in line.events:
                event.offset_ps += length_ps
            for stat, by in moved:
                _move(stat, by)
            for event, first in zip(line.events, numbers, strict=False):
                event.metadata_id = _renumbered(plane, first, copy * group_step, added)
            _clear_header(line)
            body.write(line.SerializeToString())
        file.write(_key(3) + _varint(body.tell()))
        _copy(body, file)


def _clear_header(line: Any) -> None:
    """Leaves the events alone, so that further copies of them can follow the first."""
    for field in ("id", "name", "timestamp_ns", "duration_ps", "display_id", "display_name"):
        line.ClearField(field)


def _renumbered(plane: Any, metadata_id: int, by: int, added: dict[str, int]) -> int:
    """Id of event metadata named by the step number of `metadata_id` plus `by`, made if missing.

    New ids follow the largest one: xprof-rs 0.1.3 refuses ids that are far from dense.
    """
    name = plane.event_metadata[metadata_id].name
    if not name.isdigit():
        return metadata_id
    number = str(int(name) + by)
    if number not in added:
        added[number] = max(plane.event_metadata) + 1
        entry = plane.event_metadata[added[number]]
        entry.id = added[number]
        entry.name = number
    return added[number]


def _move(stat: Any, by: int) -> None:
    """Adds `by` to an integer stat, modulo 2^64, in the member that it uses."""
    member = stat.WhichOneof("value")
    if member == "uint64_value":
        stat.uint64_value = (stat.uint64_value + by) % 2**64
    elif member == "int64_value":
        value = (stat.int64_value + by) % 2**64
        stat.int64_value = value - 2**64 if value >= 2**63 else value


def _length_ps(space: Any) -> int:
    """From the first event's start to the last one's end, and a microsecond."""
    starts, ends = [], []
    for plane in space.planes:
        for line in plane.lines:
            for event in line.events:
                start = line.timestamp_ns * 1000 + event.offset_ps
                starts.append(start)
                ends.append(start + event.duration_ps)
    return int(max(ends) - min(starts)) + 1_000_000


def _largest(space: Any, name: str) -> int:
    """The largest value of the integer stat `name`; 0 where there is none."""
    largest = 0
    for plane in space.planes:
        keys = {key for key, entry in plane.stat_metadata.items() if entry.name == name}
        for line in plane.lines:
            for event in line.events:
                for stat in event.stats:
                    if stat.metadata_id in keys:
                        largest = max(largest, stat.int64_value or stat.uint64_value)
    return largest


def _copy(source: IO[bytes], target: IO[bytes]) -> None:
    source.seek(0)
    while chunk := source.read(1 << 20):
        target.write(chunk)


def _key(field: int) -> bytes:
    return bytes([field << 3 | 2])  # a length-delimited field below 16


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def main() -> None:
    """The command line."""
    parser = parser_of(__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("copies", type=int)
    args = parser.parse_args()
    scale(args.source, args.target, args.copies)


if __name__ == "__main__":
    main()
