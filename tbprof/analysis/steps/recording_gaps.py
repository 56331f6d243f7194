"""What was not recorded of the devices of a job, in sentences."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.ops.device_phases import DeviceIntervals
from tbprof.analysis.steps.steps import Steps
from tbprof.base.errors import Notice
from tbprof.base.values import unique

_MOST_RANGES = 4
_MOST_NAMES = 4
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
    """One per host and set of steps [rows: worker, step] that were not recorded on some workers."""
    missing: dict[tuple[int, tuple[int, ...]], list[str]] = {}
    for one in unique(worker).tolist():
        if worker_name[one] == "CPU":
            continue  # it stands for devices that are lost, which says all
        steps = tuple(unique(step[worker == one]).tolist())
        missing.setdefault((int(worker_host[one]), steps), []).append(worker_name[one])
    return [
        Notice(
            "unrecorded_steps",
            f"{listed(names)}: {_steps(label, steps)} not recorded; averages leave "
            f"{'them' if len(steps) > 1 else 'it'} out.",
            hosts[host] if len(hosts) > 1 else "",
        )
        for (host, steps), names in missing.items()
    ]


def partial_notices(
    hosts: Sequence[str],
    label: Sequence[str],
    workers: Sequence[tuple[int, str, str]],
    worker: NDArray[np.int64],
    step: NDArray[np.int64],
) -> list[Notice]:
    """One per host and step at which cores begin later, or end earlier, than others of their kind.

    `workers` are (host, kind, name), [rows: worker, step] the steps that they have.
    """
    if not step.size:
        return []
    first = np.full(len(workers), len(label), np.int64)
    last = np.full(len(workers), -1, np.int64)
    np.minimum.at(first, worker, step)
    np.maximum.at(last, worker, step)
    peers: dict[tuple[int, str], list[int]] = {}
    for at in np.flatnonzero(last >= 0).tolist():
        host, kind, _ = workers[at]
        if kind in _CORES:
            peers.setdefault((host, kind), []).append(at)
    found: dict[tuple[int, str, int], list[str]] = {}
    for (host, _), members in peers.items():
        for at in members:
            if first[at] > first[members].min():
                found.setdefault((host, _LATE, int(first[at])), []).append(workers[at][2])
            if last[at] < last[members].max():
                found.setdefault((host, _EARLY, int(last[at])), []).append(workers[at][2])
    return [
        Notice(
            "partial_devices",
            f"{listed(names)}: {how.format(_range([label[at]], '', 1)[0])} have no figures of "
            f"{'it' if len(names) == 1 else 'them'}.",
            hosts[host] if len(hosts) > 1 else "",
        )
        for (host, how, at), names in found.items()
    ]


def lost_notices(hosts: Sequence[str], parts: Sequence[Steps]) -> list[Notice]:
    """One per host whose calls launched work for devices of which nothing was recorded."""
    return [
        Notice("unrecorded_devices", _lost(part), host if len(hosts) > 1 else "")
        for host, part in zip(hosts, parts, strict=True)
        if part.lost_devices
    ]


def _lost(part: Steps) -> str:
    known = listed(_devices(part))
    which = f"{part.lost_devices}{' more' if known else ''} device"
    text = f"Work was launched for {which}{'s' if part.lost_devices > 1 else ''}, of which nothing "
    if known:
        return f"{text}was recorded: figures are of {known} alone."
    return f"{text}was recorded: what devices did in the steps is not known."


def clock_doubts(devices: Sequence[DeviceIntervals]) -> list[str]:
    """A sentence on the devices of a host whose own clocks jump, none where all go steadily."""
    jumps = {one.name: one.clock_jump_ps for one in devices if one.clock_jump_ps}
    if not jumps:
        return []
    whose = "clock" if len(jumps) == 1 else "clocks"
    jump = "jumps" if len(jumps) == 1 else "jump"
    most = max(jumps.values()) / 1e12
    text = (
        f"The {whose} of {listed([*jumps])} {jump} by up to {most:.3g} s against the times of the "
        "file, which are shown: they may be wrong by some tenths of a second."
    )
    return [text]


def silent_notes(hosts: Sequence[str], parts: Sequence[Steps]) -> list[str]:
    """One sentence per host with GPUs of which no kernel is in the trace, while others worked.

    Without parts of hosts nothing is known of them.
    """
    return [
        f"{f'{host}: ' if len(hosts) > 1 else ''}The trace has no kernels of "
        f"{listed(part.silent_device)}: figures are of {listed(_devices(part))} alone."
        for host, part in zip(hosts, parts, strict=bool(parts))
        if part.silent_device and _devices(part) and not part.lost_devices
    ]


def _devices(part: Steps) -> list[str]:
    return [
        name for name, kind in zip(part.worker_name, part.worker_kind, strict=True) if kind != "CPU"
    ]


def listed(names: Sequence[str]) -> str:
    """Names of devices: those that follow each other as a range, the first few of many.

    "GPU:0, GPU:2 to GPU:7", "GPU:0, GPU:2, GPU:4, GPU:6 and 3 more"
    """
    numbers = []
    for at, name in enumerate(names):
        stem, _, number = name.rpartition(":")
        numbers.append((stem, int(number) - at if number.isdecimal() else -1 - at))
    ranges = []
    at = 0
    for _, run in groupby(numbers):
        size = len(list(run))
        ranges.extend(_range(names[at : at + size], " to ", 2))
        at += size
    return few(ranges)


def _steps(label: Sequence[str], steps: Sequence[int]) -> str:
    """Steps, ascending, by their labels: "step 7 was", "steps 3, 5 to 9 were"."""
    texts = []
    for _, run in groupby(enumerate(steps), lambda pair: pair[1] - pair[0]):
        texts.extend(_range([label[step] for _, step in run], " to ", 1))
    many = len(steps) > 1
    return f"step{'s' if many else ''} {few(texts, _MOST_RANGES)} {'were' if many else 'was'}"


def _range(texts: Sequence[str], to: str, most: int) -> list[str]:
    """Texts that follow each other: as a range where there are more than so many."""
    shown = [text if len(text) <= 40 else f"{text[:39]}…" for text in texts]
    return shown if len(shown) <= most else [f"{shown[0]}{to}{shown[-1]}"]


def few(texts: Sequence[str], most: int = _MOST_NAMES) -> str:
    """The first of many texts, joined."""
    if len(texts) <= most:
        return ", ".join(texts)
    return f"{', '.join(texts[:most])} and {len(texts) - most} more"
