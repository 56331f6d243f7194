"""XSpaces written event by event, times in ps."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tbprof._pb import message

StatValue = str | bytes | int | float
Stats = Mapping[str, StatValue]


class Ref(str):
    """A text that is written as `ref_value`, the name of a stat metadata entry."""

    __slots__ = ()


class Unsigned(int):
    """An integer that is written as `uint64_value`."""


def listed(planes: Mapping[str, Mapping[str, Iterable[tuple[Any, ...]]]]) -> bytes:
    """A serialized XSpace of events (name, start, duration, stats or none) by plane and line."""
    space = SpaceWriter()
    for name, lines in planes.items():
        plane = space.plane(name)
        for label, events in lines.items():
            line = plane.line(label)
            for event in events:
                plane.event(line, *event)
    return space.bytes()


class SpaceWriter:
    """An XSpace being filled."""

    def __init__(self, hostnames: Sequence[str] = ()) -> None:
        self._space = message("tensorflow.profiler.XSpace")(hostnames=hostnames)

    def plane(self, name: str, plane_id: int = 0) -> "PlaneWriter":
        """A new plane."""
        return PlaneWriter(self._space.planes.add(name=name, id=plane_id))

    def bytes(self) -> bytes:
        """The file."""
        return bytes(self._space.SerializeToString(deterministic=True))


class PlaneWriter:
    """A plane being filled: event types by (name, short name), stats by name."""

    def __init__(self, plane: Any) -> None:
        self._plane = plane
        self._types: dict[tuple[str, str], int] = {}
        self._stats: dict[str, int] = {}

    def state(self, stats: Stats) -> None:
        """Gives the plane itself stats."""
        self._add(self._plane.stats, stats)

    def kind(
        self, name: str, short: str = "", stats: Stats | None = None, number: int | None = None
    ) -> int:
        """The id of an event type, made where there is none; stats are those of the first call."""
        if (name, short) not in self._types:
            made = len(self._types) + 1 if number is None else number
            self._types[name, short] = made
            entry = self._plane.event_metadata[made]
            entry.id, entry.name, entry.display_name = made, name, short
            self._add(entry.stats, stats or {})
        return self._types[name, short]

    def line(self, name: str, line_id: int | None = None, start_ns: int = 0) -> Any:
        """A new line, by default with the next number."""
        number = len(self._plane.lines) + 1 if line_id is None else line_id
        return self._plane.lines.add(id=number, name=name, timestamp_ns=start_ns)

    def event(
        self,
        line: Any,
        kind: int | str,
        start_ps: int,
        duration_ps: int,
        stats: Stats | None = None,
    ) -> None:
        """Puts an event on a line; times count from the line's own time stamp of 0."""
        event = line.events.add(
            metadata_id=kind if isinstance(kind, int) else self.kind(kind),
            offset_ps=start_ps - line.timestamp_ns * 1000,
            duration_ps=duration_ps,
        )
        self._add(event.stats, stats or {})

    def _stat_id(self, name: str) -> int:
        if name not in self._stats:
            self._stats[name] = number = len(self._stats) + 1
            self._plane.stat_metadata[number].id = number
            self._plane.stat_metadata[number].name = name
        return self._stats[name]

    def _add(self, target: Any, stats: Stats) -> None:
        for name, value in stats.items():
            stat = target.add(metadata_id=self._stat_id(name))
            match value:
                case Ref():
                    stat.ref_value = self._stat_id(value)
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
