"""Annotations and function calls on the program's own threads, for which ops run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.driving_thread import calls_framework
from tbprof.analysis.host.host_activity import Activity, activity_of
from tbprof.analysis.host.host_events import async_rows, host_threads
from tbprof.analysis.host.host_roles import (
    HostTypes,
    Role,
    host_types,
    is_jitted,
    role_without_device,
)
from tbprof.analysis.spans.groups import reduce_groups
from tbprof.analysis.spans.nesting import nearest_above, nest, self_times
from tbprof.analysis.vocabulary.lines import host_planes
from tbprof.analysis.vocabulary.name_families import NameFamilies, name_families
from tbprof.base.records import dataclass
from tbprof.events.space import Events, Plane, Space

ANNOTATION = "Annotation"
FUNCTION = "tf.function"
COMPILED = "Compiled function"
_KINDS = (ANNOTATION, FUNCTION, COMPILED)

# The characters of the number that distinguishes threads with the same name.
_NUMBER = "/0123456789"
# Keras names its loops like wrappers of the runtime.
_LOOPS = ("train", "test")


@dataclass(frozen=True, slots=True)
class HostCalls:
    """One row per name and kind: annotations of the program, and functions that it called.

    Times in ps: `total_ps` is that of all calls, `self_ps` excludes nested calls of other rows.
    """

    name: list[str]
    kind: list[str]
    occurrences: NDArray[np.int64]
    total_ps: NDArray[np.int64]
    self_ps: NDArray[np.int64]


def find_host_calls(space: Space, _programs: Programs) -> HostCalls:
    """The calls on the threads of a host.

    Calls inside events of the runtime, such as compiler passes, do not belong to the program.
    Neither do annotations on the runtime's threads: the program's threads are those that call its
    framework, and others with the same name.

        |train............|    train, load: annotations, P: PjitFunction(step), r: the runtime
        |.load..PPPPPP....|    ->  train, self 7; load 4; PjitFunction(step) 6
        |.......rrrr......|
    """
    rows: dict[tuple[str, str], NDArray[np.int64]] = {}
    for plane in host_planes(space):
        _add(rows, plane)
    return _table(rows)


def merge_host_calls(parts: Sequence[HostCalls]) -> HostCalls:
    """The sum over hosts, per name and kind."""
    rows: dict[tuple[str, str], NDArray[np.int64]] = {}
    for part in parts:
        sums = np.stack([part.occurrences, part.total_ps, part.self_ps], 1)
        for key, row in zip(zip(part.name, part.kind, strict=True), sums, strict=True):
            rows[key] = rows.get(key, 0) + row
    return _table(rows)


def _table(rows: dict[tuple[str, str], NDArray[np.int64]]) -> HostCalls:
    """The rows by self time, longest first; ties by name."""
    keys = sorted(rows, key=lambda key: (-int(rows[key][2]), key))
    sums = np.array([rows[key] for key in keys], np.int64).reshape(-1, 3)
    return HostCalls(
        [name for name, _ in keys], [kind for _, kind in keys], sums[:, 0], sums[:, 1], sums[:, 2]
    )


def _add(rows: dict[tuple[str, str], NDArray[np.int64]], plane: Plane) -> None:
    events, parent = host_threads(plane)
    texts = plane.types.full_names
    types = host_types(events, has_device=False)
    kind, is_transparent = _kinds(name_families(plane), types)
    lasts = events.duration_ps > 0
    lasts[async_rows(events)] = False
    # Events inside those of the runtime, and inside compiled functions, belong to the runtime.
    hides = events.by_type(~is_transparent) & lasts
    is_call = events.by_type(kind >= 0) & lasts & (nearest_above(parent, hides) < 0)
    is_call &= np.repeat(_is_program(events), np.diff(events.first_event))
    calls = events.select(np.flatnonzero(is_call))
    self_ps = self_times(
        nest(calls.first_event, calls.start_ps, calls.duration_ps),
        calls.start_ps,
        calls.duration_ps,
    )
    count, total, _, _ = reduce_groups(calls.type, calls.duration_ps, len(texts))
    _, total_own, _, _ = reduce_groups(calls.type, self_ps, len(texts))
    for type_ in np.flatnonzero(count).tolist():
        key = texts[type_], _KINDS[kind[type_]]
        rows[key] = rows.get(key, 0) + np.array(
            [count[type_], total[type_], total_own[type_]], np.int64
        )


def _is_program(events: Events) -> NDArray[np.bool_]:
    """[lines] whether a thread may be the program's own; all lines if none calls a framework."""
    calls = calls_framework(events)
    lines = events.plane.strings.take(events.lines.name.tolist())
    names = [name.rstrip(_NUMBER) for name in lines]
    program_names = {name for name, is_own in zip(names, calls.tolist(), strict=True) if is_own}
    return np.array([not program_names or name in program_names for name in names], np.bool_)


def _kinds(families: NameFamilies, types: HostTypes) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """(index into `_KINDS`, -1 for none; whether calls inside count), by type."""
    kinds = families.classify(role_without_device, np.int8)
    does = families.classify_with_roles(activity_of, types.role, np.int8)
    # Wrappers with unknown names were recognized by stats that mark steps.
    is_annotation = (types.role == Role.WRAPPER) & (kinds == Role.ACTIVITY)
    is_annotation |= does == Activity.ANNOTATION
    is_annotation |= families.classify(_LOOPS.__contains__, np.bool_)
    kind = np.full(kinds.size, -1, np.int8)
    kind[families.classify(is_jitted, np.bool_)] = _KINDS.index(COMPILED)
    kind[is_annotation] = _KINDS.index(ANNOTATION)
    kind[types.is_function] = _KINDS.index(FUNCTION)
    is_transparent = (kind >= 0) & (kind != _KINDS.index(COMPILED)) | (types.role == Role.FRAME)
    return kind, is_transparent
