"""Aligns the steps of several hosts to the steps of the job."""

from __future__ import annotations

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

# Steps with the same number and different names may be the same step if they last about as long and
# if both hosts have at least this share of their numbers in common.
_SHARED = 0.5

# Clocks that are synchronized over a network agree to within 10 ms.
_LEAST_APART_PS = 10**10
_BY_NUMBER = "matched by number"
_HOW: Mapping[Basis, str] = {
    "lengths": "matched by duration",
    "clocks": "matched by timestamp",
    "order": "matched in order",
}
_TWO_CAUSES = "the hosts' clocks differ, or the hosts were not recorded at the same time"


Code = Literal["hosts_apart", "no_common_step", "clocks_apart", "doubtful_pairs", "other_names"]


@dataclass(frozen=True, slots=True)
class Doubt:
    """An uncertainty about the steps of a host (an index).

    `is_unpaired`: there is no evidence which of its steps are the same as those of other hosts.
    """

    host: int
    code: Code
    message: str
    is_unpaired: bool = False


Alignment = tuple[list[NDArray[np.int64]], list[tuple[int, int]], list[Doubt]]
StepKeys = list[list[tuple[object, ...]]]


def align(hosts: Sequence[HostSteps]) -> Alignment:
    """Return (job step of each step, per host; (host, row) of one step of each job step; doubts).

    Steps that programs numbered are matched by number and label. Steps of other hosts are matched
    by `match_steps` with those of the lead, the host with the most (numbered) steps. Job steps are
    in the time order of the lead; a step that the lead lacks follows the step that precedes it on
    its own host.
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
    """Return doubts about hosts with numbered steps; replaces other names of the same steps."""
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
                f"the names of its steps ({label[0]} to {label[-1]}) differ from those of the "
                "other hosts, so steps are matched by number alone"
            )
            doubts.append(Doubt(host_row, "other_names", text))
        elif host_row != lead or not any(
            _is_renamed(host, hosts[other]) for other in numbered if other != host_row
        ):
            text = (
                f"it has no step in common with the other hosts ({label[0]} to {label[-1]}): its "
                "steps are shown as separate steps, and averages cover the steps of all hosts"
            )
            doubts.append(Doubt(host_row, "no_common_step", text, is_unpaired=True))
    return doubts + _clocks_apart(
        hosts, keys, [lead, *(host_row for host_row in numbered if host_row != lead)]
    )


def _is_renamed(lead: HostSteps, host: HostSteps) -> bool:
    """Whether steps with the same number are the same step although their names differ."""
    shared = common(lead.number, host.number).size
    if shared < _SHARED * max(unique(lead.number).size, unique(host.number).size):
        return False
    return are_as_long(lead, host)


def _clocks_apart(
    hosts: Sequence[HostSteps], keys: StepKeys, numbered: Sequence[int]
) -> list[Doubt]:
    """Return doubts about hosts whose steps are 10 ms or more away from those of most hosts.

    They must also be a median step or more away. The reference is the host that is closest to all
    others, by default the first of `numbered`.
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
                "the traces do not record when its steps and those of the other hosts ran, so they "
                f"are {why}"
            )
        else:
            text = (
                f"its steps do not overlap in time with those of the other hosts, so they are {why}"
            )
            text = f"{text}: {_TWO_CAUSES}"
        return [Doubt(host, "hosts_apart", text, is_unpaired=True)]
    if match.by == "clocks":
        text = (
            "its steps have no numbers, and each overlaps in time with two steps of the other "
            "hosts: matched steps may be one step apart"
        )
        return [Doubt(host, "doubtful_pairs", text)]
    if match.apart_ps is None:
        return []  # the durations are sufficient evidence, and nothing contradicts them
    code: Code = "clocks_apart" if match.by == "lengths" else "doubtful_pairs"
    return [Doubt(host, code, _paired(match.apart_ps, why))]


def _paired(apart_ps: float, why: str) -> str:
    """Return the message that a host's steps and the matching steps ran at different times."""
    ms = abs(apart_ps) / 1e9
    size = f"{ms / 1e3:,.1f} s" if ms >= 1000 else f"{ms:.3g} ms"
    side = "later" if apart_ps > 0 else "earlier"
    return f"its steps ran {size} {side} than the steps of the other hosts ({why}): {_TWO_CAUSES}"


def _merged(
    keys: Sequence[Sequence[tuple[object, ...]]], lead: int
) -> tuple[list[NDArray[np.int64]], list[tuple[int, int]]]:
    """Return (job step of each step, per host; (host, row) of one step of each job step)."""
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
