"""Which steps of several hosts are the same step of the job."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

# Picoseconds from a common origin must fit in an int64: 100 days.
_FARTHEST_NS = 100 * 86_400 * 10**9


@dataclass(frozen=True, slots=True)
class HostSteps:
    """The steps of one host in order of time; `repeat` counts equal numbers and labels before.

    Times in ps since `epoch_ns`, which is 0 where the trace does not tell the time of day.
    """

    number: NDArray[np.int64]
    label: list[str]
    repeat: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]
    epoch_ns: int
    has_explicit_numbers: bool

    def __len__(self) -> int:
        return len(self.label)


@dataclass(frozen=True, slots=True)
class Apart:
    """A host (an index) of which nothing shows which of its steps is which of the others', why."""

    host: int
    code: Literal["hosts_apart", "no_common_step"]
    message: str


Alignment = tuple[list[NDArray[np.int64]], list[tuple[int, int]], list[Apart]]


def align(hosts: Sequence[HostSteps]) -> Alignment:
    """(job step of each step, per host; (host, row) of one of each job step; hosts apart).

    Job steps are in the order of time of the host with the most steps; steps that it lacks follow
    the step before them on their own host.
    """
    if not hosts:
        return [], [], []
    lead = max(range(len(hosts)), key=lambda at: len(hosts[at]))
    is_numbered = all(host.has_explicit_numbers for host in hosts)
    keys, apart = _numbered(hosts) if is_numbered else _timed(hosts, lead)
    return (*_merged(keys, lead), apart)


Keys = list[list[tuple[object, ...]]]


def _numbered(hosts: Sequence[HostSteps]) -> tuple[Keys, list[Apart]]:
    """(the keys of each host's steps by number; hosts that share none with any other)."""
    keys: Keys = [
        list(zip(host.number.tolist(), host.label, host.repeat.tolist(), strict=True))
        for host in hosts
    ]
    shared = Counter(key for mine in keys for key in mine)
    text = (
        "it has no step number in common with the other hosts ({first} to {last}): its steps "
        "stand beside theirs, and averages are over the steps of all"
    )
    return keys, [
        Apart(at, "no_common_step", text.format(first=host.label[0], last=host.label[-1]))
        for at, host in enumerate(hosts)
        if len(hosts) > 1 and all(shared[key] == 1 for key in keys[at])
    ]


def _timed(hosts: Sequence[HostSteps], lead: int) -> tuple[Keys, list[Apart]]:
    """(the keys of each host's steps, the hosts that share no time with the lead).

    A key is the place of the lead's step that a step overlaps most with; hosts apart are paired in
    order.
    """
    text = (
        "its steps share no time with those of the other hosts, so they are paired in order: "
        "the hosts' clocks differ, or they were not recorded at the same time"
    )
    shifts = [0 if at == lead else _shift(hosts[lead], host) for at, host in enumerate(hosts)]
    keys: Keys = [
        [(place + (shift or 0),) for place in range(len(host))]
        for host, shift in zip(hosts, shifts, strict=True)
    ]
    return keys, [
        Apart(at, "hosts_apart", text) for at, shift in enumerate(shifts) if shift is None
    ]


def _shift(lead: HostSteps, host: HostSteps) -> int | None:
    """What to add to a step's place to get that of the lead's step; None where none overlaps."""
    apart = host.epoch_ns - lead.epoch_ns
    if abs(apart) > _FARTHEST_NS or (host.epoch_ns == 0) != (lead.epoch_ns == 0):
        return None
    start, end = host.start_ps + apart * 1000, host.end_ps + apart * 1000
    first = np.searchsorted(np.maximum.accumulate(lead.end_ps), start, "right")
    last = np.searchsorted(lead.start_ps, end, "left")
    pairs = np.maximum(last - first, 0)
    mine = np.repeat(np.arange(len(host)), pairs)
    begin = np.repeat(first, pairs)
    offset = np.arange(mine.size) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    theirs = begin + offset
    shared = np.minimum(end[mine], lead.end_ps[theirs]) - np.maximum(
        start[mine], lead.start_ps[theirs]
    )
    if not shared.size or int(shared.max()) <= 0:
        return None
    weight = np.bincount(theirs - mine + len(host), np.maximum(shared, 0).astype(np.float64))
    return int(np.argmax(weight)) - len(host)


def _merged(
    keys: Sequence[Sequence[tuple[object, ...]]], lead: int
) -> tuple[list[NDArray[np.int64]], list[tuple[int, int]]]:
    """(job step of each step, per host; (host, row) of one of each job step)."""
    known: dict[tuple[object, ...], tuple[int, int]] = {}
    after: dict[tuple[object, ...] | None, list[tuple[object, ...]]] = {}
    for row, key in enumerate(keys[lead]):
        known[key] = (lead, row)
    for host, mine in enumerate(keys):
        before = None
        for row, key in enumerate(mine):
            if key not in known:
                known[key] = (host, row)
                after.setdefault(before, []).append(key)
            before = key
    order: list[tuple[object, ...]] = []
    stack = [*reversed(keys[lead]), *reversed(after.get(None, []))]
    while stack:
        key = stack.pop()
        order.append(key)
        stack.extend(reversed(after.get(key, [])))
    place = {key: at for at, key in enumerate(order)}
    steps = [np.array([place[key] for key in mine], np.int64) for mine in keys]
    return steps, [known[key] for key in order]
