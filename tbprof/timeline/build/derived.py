"""Tracks that are not in the file: the steps of the analysis, and the ops and scopes of devices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.steps.steps import Steps
from tbprof.analysis.vocabulary.lines import gpu_planes, host_planes, tpu_planes
from tbprof.base import names
from tbprof.events.space import Space
from tbprof.events.strings import Strings
from tbprof.timeline.build.derived_ops import DerivedTrack, derive_ops
from tbprof.timeline.build.tracks import KIND_ORDER, line_kinds
from tbprof.timeline.model.category_names import Category
from tbprof.timeline.model.initial_window import median_step
from tbprof.timeline.model.sections import section_of, section_order
from tbprof.timeline.model.store import Section
from tbprof.timeline.model.type_tables import TypeCollector
from tbprof.timeline.model.unlaid_tracks import UnlaidEvents, UnlaidTrack, UnlaidTracks

_DERIVED = ("modules", "ops", "xla_ops", "scopes")
# Derived lines have these ids, read as signed 32-bit numbers.
_FIRST_ID = names.DERIVED_FIRST - 2**32


def find_derived(space: Space, programs: Programs, steps: Steps) -> UnlaidTracks:
    """Steps for each worker, and the ops, scopes and programs of devices, as tracks.

    Only kinds for which the device's plane has no line. Sections are those of `find_tracks`. Steps
    last until the next one, as on all pages; unmarked steps are called inferred. The window to open
    with is the median complete step.
    """
    labels = step_names(steps)
    worker_of = _worker_planes(space, steps)
    devices = [*gpu_planes(space), *tpu_planes(space)]
    types = TypeCollector(space.strings)
    sections: list[Section] = []
    tracks: list[UnlaidTrack] = []
    for row in section_order(space):
        plane = space.planes[row]
        is_own = steps.worker == worker_of.get(row, -1)
        has = line_kinds(plane)
        derived_tracks: list[DerivedTrack] = []
        if is_own.any() and not ("steps" in has and steps.source == "steps_line"):
            derived_tracks.append(
                _step_track(steps, np.flatnonzero(is_own), labels, is_second="steps" in has)
            )
        if any(plane is device for device in devices) and plane.lines.id.size:
            missing_kinds = [kind for kind in _DERIVED if kind not in has]
            if missing_kinds:
                derived_tracks += derive_ops(plane, programs, steps.start_ps[is_own], missing_kinds)
        if derived_tracks:
            tracks += _drafts(derived_tracks, len(sections), types, space.strings)
            sections.append(section_of(plane))
    initial_window = _initial_window(steps, labels)
    return UnlaidTracks(sections, tracks, [], types.table(), 0, 0, 0, initial_window)


def step_names(steps: Steps) -> list[str]:
    """The names of the steps [n]: "train 7", "step 7".

    "train 7 (not recorded)" is a step without recorded device work.
    """
    return [
        f"{f'step {label}' if label.isdigit() else label}"
        f"{' (not recorded)' if is_unrecorded else ''}"
        for label, is_unrecorded in zip(steps.label, steps.is_unrecorded.tolist(), strict=True)
    ]


def _worker_planes(space: Space, steps: Steps) -> dict[int, int]:
    """The worker of each worker's plane, by the plane's row in `space.planes`."""
    rows: dict[str, int] = {}
    for row, plane in enumerate(space.planes):
        rows.setdefault(plane.name, row)
    hosts = [plane.name for plane in host_planes(space)]
    plane_of = {}
    for worker, (name, kind) in enumerate(zip(steps.worker_name, steps.worker_kind, strict=True)):
        plane_name = (hosts[0] if hosts else "") if kind == "CPU" else f"/device:{name}"
        if plane_name in rows:
            plane_of[rows[plane_name]] = worker
    return plane_of


def _step_track(
    steps: Steps, rows: NDArray[np.int64], labels: Sequence[str], *, is_second: bool
) -> DerivedTrack:
    name = [labels[row] for row in rows.tolist()]
    # If the device has its own line, the name states the source.
    suffix = "inferred" if steps.is_inferred else steps.marker if is_second else ""
    start = steps.start_ps[rows]
    return DerivedTrack(
        "steps",
        f"Steps ({suffix})" if suffix else "Steps",
        0,
        start,
        start + steps.duration_ps[rows],
        np.arange(rows.size),
        name,
        name,
        [int(Category.STEPS)] * rows.size,
    )


def _drafts(
    derived_tracks: Sequence[DerivedTrack], section: int, types: TypeCollector, strings: Strings
) -> list[UnlaidTrack]:
    """The tracks of one section, in their order."""
    derived_tracks = sorted(derived_tracks, key=lambda track: KIND_ORDER.index(track.kind))
    start = np.concatenate([track.start_ps for track in derived_tracks])
    columns = UnlaidEvents(
        start,
        np.concatenate([track.end_ps for track in derived_tracks]) - start,
        np.concatenate([track.type for track in derived_tracks]).astype(np.int32),
        np.full(start.size, -1, np.int64),
    )
    unlaid: list[UnlaidTrack] = []
    last = 0
    for track in derived_tracks:
        first, last = last, last + track.start_ps.size
        type_of = types.add(
            np.arange(len(track.name)),
            len(track.name) + 1,
            strings.intern(track.name),
            strings.intern(track.full_name),
            np.array(track.category, np.uint8),
        )
        unlaid.append(
            UnlaidTrack(
                section=section,
                name=track.label,
                kind=track.kind,
                plane=-1,
                line_id=_FIRST_ID + track.number,
                is_derived=True,
                columns=columns,
                type_of=type_of,
                first=first,
                last=last,
            )
        )
    return unlaid


def _initial_window(steps: Steps, labels: Sequence[str]) -> tuple[int, int, str] | None:
    """The median step of the worker that has most of them, the first if several are equal."""
    count = np.bincount(steps.worker, minlength=1)
    rows = np.flatnonzero(steps.worker == int(count.argmax()))
    return median_step(
        steps.start_ps[rows],
        steps.duration_ps[rows],
        [labels[row] for row in rows.tolist()],
        ~(steps.is_truncated | steps.is_unrecorded)[rows],
    )
