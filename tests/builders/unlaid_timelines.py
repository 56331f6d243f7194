"""Drafts of timelines as plain values, for tests."""

from typing import NamedTuple

from traces import COLUMN_PS

from tbprof.events.space import Space
from tbprof.timeline.build.build import build_timeline
from tbprof.timeline.build.tracks import find_tracks
from tbprof.timeline.model.category_names import CATEGORIES
from tbprof.timeline.model.store import Timeline, freeze
from tbprof.timeline.model.unlaid_tracks import UnlaidTrack, UnlaidTracks


class Shown(NamedTuple):
    """An event as it is drawn; times in µs."""

    name: str
    start: float
    duration: float


def shown(unlaid: UnlaidTracks, track: UnlaidTrack) -> list[Shown]:
    """The events of a track."""
    columns = track.columns
    return [
        Shown(
            unlaid.types.name[track.type_of[columns.type[row]]],
            columns.start_ps[row] / COLUMN_PS,
            columns.duration_ps[row] / COLUMN_PS,
        )
        for row in range(track.first, track.last)
    ]


def outline(unlaid: UnlaidTracks) -> list[tuple[str, list[tuple[str, str]]]]:
    """(label, (kind, name) of each track) of each section."""
    return [
        (
            section.label,
            [(track.kind, track.name) for track in unlaid.tracks if track.section == row],
        )
        for row, section in enumerate(unlaid.sections)
    ]


def tracks(unlaid: UnlaidTracks) -> dict[str, list[Shown]]:
    """The events of each track by its name, which differ."""
    return {track.name: shown(unlaid, track) for track in unlaid.tracks}


def category_of(unlaid: UnlaidTracks) -> dict[str, str]:
    """The category of each kind of event by its name; names of several categories have the last."""
    names = unlaid.types.name
    return {
        name: CATEGORIES[row][0]
        for name, row in zip(names, unlaid.types.category.tolist(), strict=True)
    }


def timeline_of(space: Space) -> Timeline:
    """The timeline of what a space holds, as it is kept."""
    return timeline_of_draft(space, find_tracks(space))


def timeline_of_draft(space: Space, unlaid: UnlaidTracks) -> Timeline:
    """The timeline of unlaid tracks, as it is kept. Uses them up."""
    return freeze(build_timeline(space, unlaid, has_counters=unlaid.in_file > 0))
