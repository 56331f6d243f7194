"""Finds the steps of a host and splits their time into phases.

`find_steps` is the pipeline: when the steps were (`_find_bounds`), what covers their time
(`_find_step_layers`), then which steps are incomplete, the split by phase, and other events that
could mark steps.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.grouping import find_grouping
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_events import host_events
from tbprof.analysis.ops.device_phases import find_device_intervals
from tbprof.analysis.run.recording import epoch_of_times
from tbprof.analysis.steps.host_runs import NO_RUNS, find_host_runs, program_doubts
from tbprof.analysis.steps.incomplete_steps import Incomplete, find_incomplete
from tbprof.analysis.steps.recording_gaps import clock_doubts
from tbprof.analysis.steps.sources.source_words import STEPS_LINE
from tbprof.analysis.steps.sources.step_candidates import Candidates, find_candidates
from tbprof.analysis.steps.sources.step_sources import find_step_source
from tbprof.analysis.steps.step_layers import (
    NO_HOST_LAYERS,
    StepLayers,
    assign_groups,
    end_with_work,
    find_host_layers,
    find_step_windows,
    split_by_phase,
)
from tbprof.analysis.steps.steps import Steps, StepTimes
from tbprof.analysis.steps.unrecorded_steps import find_silent_gpus, find_unrecorded, with_lost_runs
from tbprof.analysis.vocabulary.lines import host_planes
from tbprof.base.errors import CUT_HINT
from tbprof.base.lazy import Later
from tbprof.base.process.parallel import both
from tbprof.base.records import replace
from tbprof.base.values import joined
from tbprof.events.space import Space

_T = TypeVar("_T")

_CPU = "CPU"
# Few recorders write step lines.
_find_recorded_steps = Later("tbprof.analysis.steps.sources.recorded_steps.find_recorded_steps")


def find_steps(space: Space, programs: Programs, marker: str = "") -> Steps:
    """The steps of one host; `marker` names an event, chosen by the user, that begins each step.

    Device work takes precedence over concurrent host work: the host's phases count only while the
    device is idle. Time that neither explains is `Phase.OTHER`.
    """
    layers = find_step_layers(space, programs, marker)
    (incomplete, split), candidates = both(
        lambda: (find_incomplete(layers), split_by_phase(layers)),
        lambda: find_candidates(layers.source.grouping.hosts),
        _bytes_of_lines(space),
    )
    return _table(space, layers, incomplete, candidates, *split)


def find_step_layers(space: Space, programs: Programs, marker: str = "") -> StepLayers:
    """The steps with what covers their time; computed once, for steps and for idle time."""
    key = "step layers", marker
    return _compute_once(space, key, lambda: _find_step_layers(space, programs, marker))


def find_step_times(space: Space, programs: Programs) -> StepTimes:
    """The times of the steps of `find_steps`; cheaper than their phases."""
    return _times(find_step_bounds(space, programs, ""))


def _find_step_layers(space: Space, programs: Programs, marker: str) -> StepLayers:
    """The steps with what covers their time."""
    bounds = find_step_bounds(space, programs, marker)
    host = find_host_layers(bounds.source, bounds.windows, bounds.devices)
    windows = end_with_work(bounds.windows, bounds.devices, host)
    return replace(bounds, windows=windows, host=host)


def find_step_bounds(space: Space, programs: Programs, marker: str = "") -> StepLayers:
    """The steps without host layers; computed once, for analyses that need only the bounds."""
    key = "step bounds", marker
    return _compute_once(space, key, lambda: _find_bounds(space, programs, marker))


def _find_bounds(space: Space, programs: Programs, marker: str) -> StepLayers:
    """The stages up to the windows of the steps."""
    # Device work, and the source of steps.
    intervals, _ = both(
        lambda: find_device_intervals(space, programs),
        lambda: _prepare_hosts(space, marker),
        _bytes_of_lines(space),
    )
    devices = [device for device in intervals if device.computes]
    source = find_step_source(space, devices, programs, marker)
    devices = [assign_groups(device, source.grouping) for device in devices]

    # Work that is missing from the trace.
    silent = find_silent_gpus(space, devices)
    unrecorded = find_unrecorded(source.grouping, source.steps, devices, has_silent=bool(silent))

    # When steps began and ended; some devices record this themselves.
    is_recorded = source.source == STEPS_LINE
    recorded = _find_recorded_steps(devices, source.grouping) if is_recorded else None
    runs = NO_RUNS
    if not devices:
        runs = find_host_runs(source.grouping.hosts)
        unrecorded = with_lost_runs(unrecorded, source.steps, runs)
    windows, note, is_behind = find_step_windows(source, devices, unrecorded, recorded, runs)
    return StepLayers(
        source, note, devices, windows, NO_HOST_LAYERS, silent, unrecorded, recorded, runs,
        is_behind,
    )  # fmt: skip


def _compute_once(space: Space, key: Hashable, compute: Callable[[], _T]) -> _T:
    """The result of `compute` for a space, cached with its first plane."""
    planes = [*host_planes(space), *space.planes]
    return planes[0].cache.get_or_compute(key, compute) if planes else compute()


def _prepare_hosts(space: Space, marker: str) -> None:
    """Decodes the host's events and groups them; other analyses use both from the cache."""
    planes = host_planes(space)
    for plane in planes:
        host_events(plane)
    if planes and not marker:
        find_grouping(space)


def _bytes_of_lines(space: Space) -> int:
    return sum(int(plane.line_bytes.sum()) for plane in space.planes)


def _times(layers: StepLayers) -> StepTimes:
    """The steps of all workers, one worker after the other."""
    devices, windows = layers.devices, layers.windows
    return StepTimes(
        worker_name=[device.name for device in devices] or [_CPU],
        worker_kind=[device.kind for device in devices] or [_CPU],
        worker=np.repeat(np.arange(len(windows)), [window.start_ps.size for window in windows]),
        label=[label for window in windows for label in window.label],
        start_ps=np.concatenate([window.start_ps for window in windows]),
        duration_ps=np.concatenate([window.duration_ps for window in windows]),
    )


def _table(
    space: Space,
    layers: StepLayers,
    incomplete: Incomplete,
    candidates: Candidates,
    phase_ps: NDArray[np.int64],
    copied_ps: NDArray[np.int64],
) -> Steps:
    """The steps of all workers, one worker after the other."""
    source, devices, recorded = layers.source, layers.devices, layers.recorded
    times = _times(layers)
    has_steps = bool(times.label)
    return Steps(
        source=source.source if has_steps else "none",
        marker=source.marker if has_steps else "",
        note=layers.note if has_steps else _why_none(space, source.note),
        epoch_ns=epoch_of_times(space),
        worker_name=times.worker_name,
        worker_kind=times.worker_kind,
        worker_id=np.array([device.id for device in devices] or [0], np.int64),
        silent_device=layers.silent,
        lost_devices=layers.missing.lost_devices,
        worker=times.worker,
        number=joined(window.number for window in layers.windows),
        label=times.label,
        start_ps=times.start_ps,
        duration_ps=times.duration_ps,
        own_ps=joined(window.own_ps for window in layers.windows),
        is_truncated=np.concatenate(incomplete.is_truncated),
        is_unrecorded=np.concatenate(incomplete.is_unrecorded),
        phase_ps=phase_ps,
        has_explicit_numbers=(recorded or source).has_explicit_numbers,
        doubts=[
            *source.doubts,
            *(recorded.doubts if recorded is not None else ()),
            *clock_doubts(devices),
            *(() if devices else program_doubts(source.grouping.hosts)),
        ],
        candidate_name=candidates.name,
        candidate_line=candidates.line,
        candidate_count=candidates.count,
        candidate_median_ps=candidates.median_ps,
        ends_early=space.ends_early,
        copied_ps=copied_ps,
        is_behind=layers.is_behind,
    )


def _why_none(space: Space, note: str) -> str:
    """Why there are no steps; for a truncated file, that they may have been in the missing part."""
    if not space.ends_early:
        return note
    return (
        f"T{space.ends_early[1:]}. Its step markers may have been in the missing part. "
        f"{CUT_HINT.capitalize()}."
    )
