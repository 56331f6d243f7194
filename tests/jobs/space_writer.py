"""XSpaces written event by event, times in ps."""

from collections.abc import Mapping
from typing import Any

from traces import Ref, set_stat

from tbprof._pb import message

StatValue = str | bytes | int | float
Stats = Mapping[str, StatValue]


class SpaceWriter:
    """An XSpace being filled."""

    def __init__(self) -> None:
        self._space = message("tensorflow.profiler.XSpace")()

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

    def line(self, name: str, line_id: int, start_ns: int = 0) -> Any:
        """A new line."""
        return self._plane.lines.add(id=line_id, name=name, timestamp_ns=start_ns)

    def event(
        self, line: Any, kind: int | str, start_ps: int, duration_ps: int, stats: Stats
    ) -> None:
        """Puts an event on a line; times count from the line's own time stamp of 0."""
        event = line.events.add(
            metadata_id=kind if isinstance(kind, int) else self.kind(kind),
            offset_ps=start_ps - line.timestamp_ns * 1000,
            duration_ps=duration_ps,
        )
        self._add(event.stats, stats)

    def _stat_id(self, name: str) -> int:
        if name not in self._stats:
            self._stats[name] = number = len(self._stats) + 1
            self._plane.stat_metadata[number].id = number
            self._plane.stat_metadata[number].name = name
        return self._stats[name]

    def _add(self, target: Any, stats: Stats) -> None:
        for name, value in stats.items():
            stat = target.add(metadata_id=self._stat_id(name))
            if isinstance(value, Ref):
                stat.ref_value = self._stat_id(value)
            else:
                set_stat(stat, value)
