"""The exchanges between the cores of a pod, step by step: channels, and collectives of groups.

Fields and units are those of the profile plugin's pod viewer (ChannelInfo and AllReduceOpInfo of
its pod_stats.proto; 64-bit numbers are texts, as in all JSON of protocol buffers). Unknown values
have no field.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.job.job_steps import JobSteps
from tbprof.analysis.spans.groups import repeats
from tbprof.analysis.tpu.exchanges import ExchangeRole, Exchanges, numbers_in
from tbprof.base.records import NamedTuple
from tbprof.base.values import is_in, join_tables, take_rows, unique


class _ExchangeRuns(NamedTuple):
    """Runs [n] of exchanges by step: in ps since the start of the host's trace, -1 unknown."""

    step: NDArray[np.int64]
    kind: NDArray[np.int64]
    worker: NDArray[np.int64]
    step_start: NDArray[np.int64]  # of the run's own worker
    start: NDArray[np.int64]
    done: NDArray[np.int64]
    end: NDArray[np.int64]


class PodExchanges:
    """The exchanges of all hosts; the same instruction of a program is one exchange on all hosts.

    Runs outside of the steps are left out.
    """

    def __init__(self, job: JobSteps, parts: Sequence[Exchanges]) -> None:
        self._job = job
        self._kinds: list[tuple[Exchanges, int]] = []
        known: dict[tuple[int, str], int] = {}
        pieces: list[_ExchangeRuns] = []
        for host, part in enumerate(parts):
            codes = np.empty(len(part.name), np.int64)
            for row, key in enumerate(zip(part.program.tolist(), part.name, strict=True)):
                codes[row] = known.setdefault(key, len(known))
                if codes[row] == len(self._kinds):
                    self._kinds.append((part, row))
            pieces += _in_steps(job, host, part, codes)
        none = [_ExchangeRuns(*(np.empty(0, np.int64) for _ in _ExchangeRuns._fields))]
        runs = join_tables(pieces or none)
        self._runs = take_rows(runs, np.argsort(runs.step, kind="stable"))
        self._role = np.array([part.role[row] for part, row in self._kinds], np.int64)

    def collectives(self, step: int) -> list[dict[str, object]]:
        """The collectives of groups that ran in a step, longest first."""
        runs = self._of(step)
        out = []
        for kind in unique(runs.kind).tolist():
            part, row = self._kinds[kind]
            if part.role[row] != ExchangeRole.GROUPS:
                continue
            own_runs = take_rows(runs, runs.kind == kind)
            collective: dict[str, object] = {
                "name": part.name[row],
                "opcode": part.opcode[row],
                "occurrences": _per_core(own_runs),
                "startUs": float((own_runs.start - own_runs.step_start).min()) / 1e6,
            }
            whole = own_runs.end >= 0
            if whole.all():
                collective["durationUs"] = float((own_runs.end - own_runs.start).mean()) / 1e6
            collective |= _data_size(part, row)
            if part.groups[row]:
                collective["replicaGroups"] = [
                    {"replicaIds": list(map(str, group))} for group in numbers_in(part.groups[row])
                ]
            out.append(collective)
        return sorted(out, key=_by_duration)

    def channels(self, step: int) -> list[dict[str, object]]:
        """The channels by which cores sent to others in a step, slowest first."""
        runs = self._of(step)
        channels: dict[tuple[int, object], list[int]] = {}
        for kind in unique(runs.kind).tolist():
            part, row = self._kinds[kind]
            if part.role[row] != ExchangeRole.GROUPS:
                # A permutation without a number is a separate channel.
                key = int(part.program[row]), int(part.channel[row]) or part.name[row]
                channels.setdefault(key, []).append(kind)
        described = [self._channel(runs, kinds) for kinds in channels.values()]
        return sorted(described, key=_by_duration)

    def _of(self, step: int) -> _ExchangeRuns:
        first, last = np.searchsorted(self._runs.step, [step, step + 1])
        return take_rows(self._runs, slice(first, last))

    def _channel(self, runs: _ExchangeRuns, kinds: list[int]) -> dict[str, object]:
        own_runs = take_rows(runs, is_in(runs.kind, kinds))
        role = self._role[own_runs.kind]
        sends, receives = (
            take_rows(own_runs, role != ExchangeRole.RECV),
            take_rows(own_runs, role != ExchangeRole.SEND),
        )
        # The send, if it is in the trace, states the size.
        kinds = sorted(kinds, key=lambda kind: self._role[kind] == ExchangeRole.RECV)
        part, row = self._kinds[kinds[0]]
        channel: dict[str, object] = {}
        if part.channel[row]:
            channel["channelId"] = str(part.channel[row])
        exchanges = [self._kinds[kind] for kind in kinds]
        pairs = next((owner.pairs[place] for owner, place in exchanges if owner.pairs[place]), "")
        if ExchangeRole.PERMUTE in role:
            if pairs:
                channel["sourceTargetPairs"] = list(numbers_in(pairs))
        else:
            channel["srcCoreIds"] = self._core_ids(sends)
            channel["dstCoreIds"] = self._core_ids(receives)
        channel |= _data_size(part, row)
        channel |= _span(self._job, sends, receives)
        channel["occurrences"] = max(_per_core(sends), _per_core(receives))
        channel["hloNames"] = sorted(
            {
                name
                for owner, place in exchanges
                for name in (owner.name[place], owner.done[place])
                if name
            }
        )
        return channel

    def _core_ids(self, runs: _ExchangeRuns) -> list[int]:
        ids: list[int] = unique(self._job.core_id[runs.worker]).tolist()
        return ids


def _in_steps(
    job: JobSteps, host: int, part: Exchanges, codes: NDArray[np.int64]
) -> list[_ExchangeRuns]:
    """The runs of a host that are in steps of their cores; `codes` [k] are their kinds."""
    pieces = []
    for worker in np.flatnonzero(job.worker_host == host).tolist():
        name = job.worker_name[worker]
        rows = np.flatnonzero(job.worker == worker)
        if name not in part.cores or not rows.size:
            continue
        rows = rows[np.argsort(job.start_ps[rows], kind="stable")]
        runs = np.flatnonzero(part.core == part.cores.index(name))
        step = np.searchsorted(job.start_ps[rows], part.start_ps[runs], "right") - 1
        row = rows[step]
        is_inside = (step >= 0) & (part.start_ps[runs] < job.start_ps[row] + job.duration_ps[row])
        row, runs = row[is_inside], runs[is_inside]
        pieces.append(
            _ExchangeRuns(
                job.step[row],
                codes[part.kind[runs]],
                np.full(runs.size, worker),
                job.start_ps[row],
                part.start_ps[runs],
                part.done_ps[runs],
                part.end_ps[runs],
            )
        )
    return pieces


def _per_core(runs: _ExchangeRuns) -> int:
    """How often an instruction ran, on the core where it ran most often."""
    if not runs.kind.size:
        return 0
    return int(repeats([runs.worker, runs.kind]).max()) + 1


def _span(job: JobSteps, sends: _ExchangeRuns, receives: _ExchangeRuns) -> dict[str, object]:
    """The duration of transfers, and how long receivers waited for them to begin, in µs.

    Unknown if senders and receivers are on different hosts, whose clocks differ, or if part of a
    transfer is missing in the trace.
    """
    durations: list[NDArray[np.int64]] = []
    delays: list[NDArray[np.int64]] = []
    hosts = unique(job.worker_host[sends.worker])
    if not np.array_equal(hosts, unique(job.worker_host[receives.worker])):
        return {}
    for host in hosts.tolist():
        sent = take_rows(sends, job.worker_host[sends.worker] == host)
        received = take_rows(receives, job.worker_host[receives.worker] == host)
        begin = _times(sent, sent.start, np.minimum)
        wait = _times(received, received.done, np.minimum)
        end = _times(received, received.end, np.maximum)
        if begin is None or end is None or wait is None or begin.size != end.size:
            return {}
        durations.append(end - begin)
        delays.append(np.maximum(begin - wait, 0))
    if not durations:
        return {}
    return {
        "durationUs": float(np.concatenate(durations).mean()) / 1e6,
        "sendDelayUs": float(np.concatenate(delays).mean()) / 1e6,
    }


def _times(
    runs: _ExchangeRuns, time: NDArray[np.int64], least: np.ufunc
) -> NDArray[np.int64] | None:
    """[occurrences] the least (or greatest) time of each over cores; None if one lacks it."""
    order = np.lexsort((runs.start, runs.worker))
    number = repeats([runs.worker[order]])
    count = np.bincount(number)
    if (time < 0).any() or not count.size or (count != count[0]).any():
        return None
    out: NDArray[np.int64] = least.reduceat(
        time[order][np.argsort(number, kind="stable")], np.arange(count.size) * count[0]
    )
    return out


def _data_size(part: Exchanges, row: int) -> dict[str, object]:
    return {"dataSize": str(part.bytes[row])} if part.bytes[row] >= 0 else {}


def _by_duration(exchange: dict[str, object]) -> float:
    known = exchange.get("durationUs")
    return -known if isinstance(known, float) else 0.0
