"""All columns of a space as plain lists, to compare readings of one file."""

from typing import Any

from tbprof.events.space import Space

from .generate import NAMES


def whole(space: Space, every: int = 1) -> list[Any]:
    """Everything that the reader says, texts by their content, values by their bits.

    Details are those of each `every`-th event of a plane.
    """
    return [
        space.start_ns,
        list(space.hostnames),
        [_plane(space, plane, every) for plane in space.planes],
        [notice.message for notice in space.notices],
    ]


def _plane(space: Space, plane: Any, every: int) -> list[Any]:
    events = plane.events()
    together = events.aggregated
    lines = events.lines
    stats = events.stats(NAMES)
    text = space.strings.take
    return [
        plane.name,
        plane.id,
        sorted(plane.stat_names),
        {name: repr(value) for name, value in plane.stats.items()},
        [lines.id.tolist(), text(lines.name.tolist()), lines.start_ps.tolist()],
        [lines.display_id.tolist(), text(lines.display_name.tolist())],
        [plane.types.id.tolist(), text(plane.types.name.tolist())],
        text(plane.types.display_name.tolist()),
        [events.line.tolist(), events.type.tolist(), events.start_ps.tolist()],
        [events.duration_ps.tolist(), events.source.tolist()],
        [together.line.tolist(), together.type.tolist(), together.occurrences.tolist()],
        [together.duration_ps.tolist(), together.source.tolist()],
        [
            [
                stats[name].kind.tolist(),
                stats[name].bits.tolist(),
                text(stats[name].texts().tolist()),
            ]
            for name in NAMES
        ],
        [repr(plane.details(source)) for source in events.source[::every].tolist()],
        [notice.message for notice in plane.notices],
    ]
