"""Sentences about what was not recorded of a job's devices."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.ops.device_phases import DeviceIntervals
from tbprof.analysis.steps.steps import Steps
from tbprof.base.errors import Notice
from tbprof.base.texts import cut, few
from tbprof.base.values import unique

_MOST_RANGES = 4
MOST_NAMES = 4
_CORES = ("TPU", "SparseCore")
_LATE = "recorded from step {} on; earlier steps"
_EARLY = "recorded up to step {}; later steps"


def unrecorded_notices(
    hosts: Sequence[str],
    label: Sequence[str],
    worker_name: Sequence[str],
    worker_host: NDArray[np.int64],
    worker: NDArray[np.int64],
    step: NDArray[np.int64],
) -> list[Notice]:
    """One notice per host and set of steps [rows: worker, step] that workers did not record."""
    missing_steps: dict[tuple[int, tuple[int, ...]], list[str]] = {}
    for index in unique(worker).tolist():
        if worker_name[index] == "CPU":
            continue  # it represents lost devices, which have their own notice
        steps = tuple(unique(step[worker == index]).tolist())
        missing_steps.setdefault((int(worker_host[index]), steps), []).append(worker_name[index])
    return [
        Notice(
            "unrecorded_steps",
            f"{device_list(names)}: {_steps(label, steps)} not recorded; averages exclude "
            f"{'them' if len(steps) > 1 else 'it'}.",
            hosts[host] if len(hosts) > 1 else "",
        )
        for (host, steps), names in missing_steps.items()
    ]


def partial_notices(
    hosts: Sequence[str],
    label: Sequence[str],
    workers: Sequence[tuple[int, str, str]],
    worker: NDArray[np.int64],
    step: NDArray[np.int64],
) -> list[Notice]:
    """One notice per host and step at which cores begin later, or end earlier, than their peers.

    `workers` are (host, kind, name); `worker` and `step` [rows] are their steps.
    """
    if not step.size:
        return []
    first = np.full(len(workers), len(label), np.int64)
    last = np.full(len(workers), -1, np.int64)
    np.minimum.at(first, worker, step)
    np.maximum.at(last, worker, step)
    peers: dict[tuple[int, str], list[int]] = {}
    for index in np.flatnonzero(last >= 0).tolist():
        host, kind, _ = workers[index]
        if kind in _CORES:
            peers.setdefault((host, kind), []).append(index)
    partial: dict[tuple[int, str, int], list[str]] = {}
    for (host, _), members in peers.items():
        for index in members:
            if first[index] > first[members].min():
                partial.setdefault((host, _LATE, int(first[index])), []).append(workers[index][2])
            if last[index] < last[members].max():
                partial.setdefault((host, _EARLY, int(last[index])), []).append(workers[index][2])
    return [
        Notice(
            "partial_devices",
            f"{device_list(names)}: {text.format(_range([label[index]], '', 1)[0])} have no "
            f"figures for {'it' if len(names) == 1 else 'them'}.",
            hosts[host] if len(hosts) > 1 else "",
        )
        for (host, text, index), names in partial.items()
    ]


def lost_notices(hosts: Sequence[str], parts: Sequence[Steps]) -> list[Notice]:
    """One notice per host that launched work for devices that have no recorded work."""
    return [
        Notice("unrecorded_devices", _lost(part), host if len(hosts) > 1 else "")
        for host, part in zip(hosts, parts, strict=True)
        if part.lost_devices
    ]


def _lost(part: Steps) -> str:
    named_devices = device_list(_devices(part))
    devices_text = f"{part.lost_devices}{' more' if named_devices else ''} device"
    text = (
        f"Work was launched for {devices_text}{'s' if part.lost_devices > 1 else ''}, but none was "
    )
    if named_devices:
        return f"{text}recorded: figures cover only {named_devices}."
    return f"{text}recorded: device activity in the steps is unknown."


def clock_doubts(devices: Sequence[DeviceIntervals]) -> list[str]:
    """A sentence about devices of a host whose clocks jump, [] if there are none."""
    jumps = {device.name: device.clock_jump_ps for device in devices if device.clock_jump_ps}
    if not jumps:
        return []
    noun = "clock" if len(jumps) == 1 else "clocks"
    verb = "jumps" if len(jumps) == 1 else "jump"
    most_s = max(jumps.values()) / 1e12
    text = (
        f"The {noun} of {device_list([*jumps])} {verb} by up to {most_s:.3g} s against the times "
        "in the file. The pages show the times in the file, which may be off by a few tenths of a "
        "second."
    )
    return [text]


def silent_notes(hosts: Sequence[str], parts: Sequence[Steps]) -> list[str]:
    """One sentence per host with GPUs whose kernels are missing while other GPUs worked.

    Returns [] if there are no `parts`.
    """
    return [
        f"{f'{host}: ' if len(hosts) > 1 else ''}The trace has no kernels from "
        f"{device_list(part.silent_device)}: figures cover only {device_list(_devices(part))}."
        for host, part in zip(hosts, parts, strict=bool(parts))
        if part.silent_device and _devices(part) and not part.lost_devices
    ]


def _devices(part: Steps) -> list[str]:
    return [
        name for name, kind in zip(part.worker_name, part.worker_kind, strict=True) if kind != "CPU"
    ]


def device_list(names: Sequence[str]) -> str:
    """Names of devices in a sentence: consecutive ones as a range, and only the first few of many.

    "GPU:0, GPU:2 to GPU:7", "GPU:0, GPU:2, GPU:4, GPU:6 and 3 more"
    """
    numbers = []
    for index, name in enumerate(names):
        stem, _, number = name.rpartition(":")
        numbers.append((stem, int(number) - index if number.isdecimal() else -1 - index))
    ranges = []
    index = 0
    for _, run in groupby(numbers):
        size = len(list(run))
        ranges.extend(_range(names[index : index + size], " to ", 2))
        index += size
    return few(ranges, MOST_NAMES)


def _steps(label: Sequence[str], steps: Sequence[int]) -> str:
    """Steps, ascending, by their labels: "step 7 was", "steps 3, 5 to 9 were"."""
    texts = []
    for _, run in groupby(enumerate(steps), lambda pair: pair[1] - pair[0]):
        texts.extend(_range([label[step] for _, step in run], " to ", 1))
    many = len(steps) > 1
    return f"step{'s' if many else ''} {few(texts, _MOST_RANGES)} {'were' if many else 'was'}"


def _range(texts: Sequence[str], to: str, most: int) -> list[str]:
    """Consecutive texts, as a range if there are more than `most`."""
    short_texts = [cut(text, 40) for text in texts]
    return short_texts if len(short_texts) <= most else [f"{short_texts[0]}{to}{short_texts[-1]}"]
