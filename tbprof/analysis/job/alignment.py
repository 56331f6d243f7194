"""Which steps of several hosts are the same step of the job."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.job.step_matching import (
    Basis,
    HostSteps,
    Match,
    are_as_long,
    epochs_apart_ps,
    match_steps,
)
from tbprof.base.records import dataclass
from tbprof.base.values import common, median, unique

# Steps with one number and different names may be the same if they last as long, and if this share
# of the numbers of either host is common.
_SHARED = 0.5

# Clocks that are synchronized over a network agree to this.
_LEAST_APART_PS = 10**10
_BY_NUMBER = "paired by their numbers"
_HOW: Mapping[Basis, str] = {
    "lengths": "paired by their durations",
    "clocks": "paired by the clocks",
    "order": "paired in order",
}
_TWO_CAUSES = "the hosts' clocks differ, or they were not recorded at the same time"


Code = Literal["hosts_apart", "no_common_step", "clocks_apart", "doubtful_pairs", "other_names"]


@dataclass(frozen=True, slots=True)
class Doubt:
    """What is uncertain about the steps of a host (an index).

    With `is_unpaired` nothing shows which of its steps equal those of other hosts.
    """

    host: int
    code: Code
    message: str
    is_unpaired: bool = False


Alignment = tuple[list[NDArray[np.int64]], list[tuple[int, int]], list[Doubt]]
StepKeys = list[list[tuple[object, ...]]]


def align(hosts: Sequence[HostSteps]) -> Alignment:
    """(job step of each step, per host; (host, row) of one of each job step; doubts).

    Steps that programs numbered are matched by number and label. Those of other hosts are matched
    with those of the host with the most (numbered) steps by `match_steps`. Job steps are in the
    order of time of that host; steps that it does not have follow the step before them on their own
    host.
    """
    if not hosts:
        return [], [], []
    lead = max(
        range(len(hosts)), key=lambda index: (hosts[index].has_explicit_numbers, len(hosts[index]))
    )
    keys: StepKeys = [
        list(zip(host.number.tolist(), host.label, host.repeat.tolist(), strict=True))
        if host.has_explicit_numbers
        else [(place,) for place in range(len(host))]
        for host in hosts
    ]
    doubts = _match_by_number(hosts, keys, lead)
    for index, host in enumerate(hosts):
        if index != lead and not host.has_explicit_numbers:
            match = match_steps(hosts[lead], host)
            keys[index] = [
                keys[lead][place] if 0 <= place < len(keys[lead]) else (place,)
                for place in range(match.shift, match.shift + len(host))
            ]
            doubts += _doubts_of_match(index, match)
    return (*_merged(keys, lead), doubts)


def _match_by_number(hosts: Sequence[HostSteps], keys: StepKeys, lead: int) -> list[Doubt]:
    """Doubts about hosts with numbers; other names of the same steps are replaced."""
    numbered = [index for index, host in enumerate(hosts) if host.has_explicit_numbers]
    shared = Counter(key for host_row in numbered for key in keys[host_row])
    doubts = []
    for host_row in numbered if len(numbered) > 1 else ():
        if any(shared[key] > 1 for key in keys[host_row]):
            continue
        host, label = hosts[host_row], hosts[host_row].label
        if host_row != lead and _is_renamed(hosts[lead], host):
            names = {key[::2]: key for key in keys[lead]}
            keys[host_row] = [names.get(key[::2], key) for key in keys[host_row]]
            text = (
                f"its steps have different names from those of the other hosts ({label[0]} to "
                f"{label[-1]}), so they are paired by number alone"
            )
            doubts.append(Doubt(host_row, "other_names", text))
        elif host_row != lead or not any(
            _is_renamed(host, hosts[other]) for other in numbered if other != host_row
        ):
            text = (
                f"it has no step in common with the other hosts ({label[0]} to {label[-1]}): its "
                "steps are shown beside theirs, and averages cover the steps of all hosts"
            )
            doubts.append(Doubt(host_row, "no_common_step", text, is_unpaired=True))
    return doubts + _clocks_apart(
        hosts, keys, [lead, *(host_row for host_row in numbered if host_row != lead)]
    )


def _is_renamed(lead: HostSteps, host: HostSteps) -> bool:
    """Whether steps with one number are the same although their names differ."""
    shared = common(lead.number, host.number).size
    if shared < _SHARED * max(unique(lead.number).size, unique(host.number).size):
        return False
    return are_as_long(lead, host)


def _clocks_apart(
    hosts: Sequence[HostSteps], keys: StepKeys, numbered: Sequence[int]
) -> list[Doubt]:
    """The hosts whose steps share no time with the same steps of most hosts, by 10 ms or more.

    The first of the `numbered` hosts gives the time, unless that of another is closer to all.
    """
    lead = hosts[numbered[0]]
    place = {key: row for row, key in enumerate(keys[numbered[0]])}
    apart: dict[int, float] = {}
    for index in numbered:
        rows = [(place[key], row) for row, key in enumerate(keys[index]) if key in place]
        origin = epochs_apart_ps(lead, hosts[index])
        if rows and origin is not None:
            lead_rows, own_rows = np.array(rows, np.int64).T
            between = hosts[index].start_ps[own_rows] - lead.start_ps[lead_rows]
            apart[index] = float(median(between)) + origin
    away = np.array(list(apart.values()))
    distance = np.abs(away[:, None] - away).sum(axis=1)
    usual = float(away[distance.argmin()]) if away.size else 0.0
    least = max(float(median(lead.length_ps)), _LEAST_APART_PS)
    return [
        Doubt(index, "clocks_apart", _paired(offset - usual, _BY_NUMBER))
        for index, offset in apart.items()
        if abs(offset - usual) >= least
    ]


def _doubts_of_match(host: int, match: Match) -> list[Doubt]:
    if match.is_sure:
        return []
    why = _HOW[match.by]
    if not match.shares_time and match.by != "lengths":
        if match.apart_ps is None:
            text = (
                f"nothing shows when its steps and those of the other hosts ran, so they are {why}"
            )
        else:
            text = f"its steps share no time with those of the other hosts, so they are {why}"
            text = f"{text}: {_TWO_CAUSES}"
        return [Doubt(host, "hosts_apart", text, is_unpaired=True)]
    if match.by == "clocks":
        text = (
            "its steps have no numbers, and by the clocks each may match either of two steps of "
            "the other hosts: paired steps may be one step apart"
        )
        return [Doubt(host, "doubtful_pairs", text)]
    if match.apart_ps is None:
        return []  # the lengths of steps are evidence enough, and nothing contradicts
    code: Code = "clocks_apart" if match.by == "lengths" else "doubtful_pairs"
    return [Doubt(host, code, _paired(match.apart_ps, why))]


def _paired(apart_ps: float, why: str) -> str:
    """A doubt: steps of a host are apart in time from those that they are paired with."""
    ms = abs(apart_ps) / 1e9
    size = f"{ms / 1e3:,.1f} s" if ms >= 1000 else f"{ms:.3g} ms"
    side = "later" if apart_ps > 0 else "earlier"
    return f"its steps lie {size} {side} than the other hosts' and are {why}: {_TWO_CAUSES}"


def _merged(
    keys: Sequence[Sequence[tuple[object, ...]]], lead: int
) -> tuple[list[NDArray[np.int64]], list[tuple[int, int]]]:
    """(job step of each step, per host; (host, row) of one of each job step)."""
    rows: dict[tuple[object, ...], tuple[int, int]] = {}
    after: dict[tuple[object, ...] | None, list[tuple[object, ...]]] = {}
    for row, key in enumerate(keys[lead]):
        rows[key] = (lead, row)
    for host, host_keys in enumerate(keys):
        before = None
        for row, key in enumerate(host_keys):
            if key not in rows:
                rows[key] = (host, row)
                after.setdefault(before, []).append(key)
            before = key
    order: list[tuple[object, ...]] = []
    stack = [*reversed(keys[lead]), *reversed(after.get(None, []))]
    while stack:
        key = stack.pop()
        order.append(key)
        stack.extend(reversed(after.get(key, [])))
    place = {key: index for index, key in enumerate(order)}
    steps = [np.array([place[key] for key in host_keys], np.int64) for host_keys in keys]
    return steps, [rows[key] for key in order]
