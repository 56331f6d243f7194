"""The calls of a kernel: how long they ran, how long the GPU was idle before, their launches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.summaries import Summaries
from tbprof.analysis.devices.tensor_cores import CoreUse
from tbprof.analysis.gpu.kernel_calls import UNKNOWN, KernelCalls, Unlinked
from tbprof.analysis.gpu.kernel_launch import Launch
from tbprof.analysis.gpu.kernels import Kernels
from tbprof.base.records import dataclass
from tbprof.base.values import median, unique
from tbprof.tools.kernel_stats import USES

PARTS = ("kernels", "kernel_calls")

_BINS = 24
# Durations that differ more are shown on a logarithmic axis.
_WIDE = 4


@dataclass(frozen=True, slots=True)
class ChosenKernel:
    """The kernel `name`, as launched by `op` ("" for no op) in the `shape` of `Launch.shape`.

    The others are `is_op_tensor_core_eligible` ("true", "false"), `tensor_core_use` and
    `driver_copy` of kernel_stats, in which otherwise equal rows may differ. None matches any.
    """

    name: str
    op: str | None = None
    shape: str | None = None
    eligible: str | None = None
    use: str | None = None
    copy: str | None = None


def describe_calls(summaries: Summaries, chosen: ChosenKernel) -> dict[str, object]:
    """The calls of a kernel on all hosts, as JSON; times in ps.

    `percentile_95_ps` is the shortest time of a call that 95 % of the calls do not exceed. Values
    that are unknown for all calls are None.
    """
    kernels = summaries.take("kernels", Kernels)
    calls = summaries.take("kernel_calls", KernelCalls)
    rows = [_rows_of(part.first, named, chosen) for named, part in zip(kernels, calls, strict=True)]

    def take(name: str) -> NDArray[np.int64]:
        columns = [getattr(part, name)[row] for part, row in zip(calls, rows, strict=True)]
        return np.concatenate([np.empty(0, np.int64), *columns])

    duration, latency = take("duration_ps"), take("latency_ps")
    return {
        "durations": {
            **_summary(duration),
            "deviation_ps": float(duration.std()) if duration.size else None,
            "min_ps": int(duration.min()) if duration.size else None,
            "max_ps": int(duration.max()) if duration.size else None,
        },
        "histogram": _histogram(duration),
        "idle": _summary(_known(take("idle_ps"))),
        "pause": _summary(_known(take("pause_ps"))),
        "latency": _summary(_known(latency)),
        "queue": _summary(_known(take("queue_ps"))),
        "unlinked": {reason.name.lower(): int((latency == reason).sum()) for reason in Unlinked},
        "streams": _streams(summaries.hosts, calls, rows),
    }


def _rows_of(first: NDArray[np.int64], kernels: Kernels, chosen: ChosenKernel) -> NDArray[np.int64]:
    """The rows of a host's calls that belong to the kernel."""
    begins = first.tolist()
    places = [
        np.arange(begins[row], begins[row + 1])
        for row, name in enumerate(kernels.name)
        if name == chosen.name and _is_chosen(kernels, row, chosen)
    ]
    return np.concatenate([np.empty(0, np.int64), *places])


def _is_chosen(kernels: Kernels, row: int, chosen: ChosenKernel) -> bool:
    wanted = (chosen.op, chosen.shape, chosen.eligible, chosen.use, chosen.copy)
    found = (
        kernels.op[row],
        _shape(kernels, row),
        "true" if kernels.is_eligible[row] else "false",
        USES[CoreUse(kernels.core_use[row])],
        kernels.copy[row],
    )
    return all(want in (None, is_) for want, is_ in zip(wanted, found, strict=True))


def _shape(kernels: Kernels, row: int) -> str:
    registers, shared = int(kernels.registers[row]), int(kernels.shared_bytes[row])
    return Launch(
        None if registers < 0 else registers,
        None if shared < 0 else shared,
        tuple(kernels.block[row].tolist()),
        tuple(kernels.grid[row].tolist()),
    ).shape


def _known(times: NDArray[np.int64]) -> NDArray[np.int64]:
    return times[times > UNKNOWN]


def _summary(times: NDArray[np.int64]) -> dict[str, object]:
    """The number of times, their sum, median and 95th percentile."""
    if not times.size:
        return {"calls": 0, "total_ps": None, "median_ps": None, "percentile_95_ps": None}
    place = -(-times.size * 95 // 100) - 1
    return {
        "calls": times.size,
        "total_ps": int(times.sum()),
        "median_ps": float(median(times)),
        "percentile_95_ps": int(np.partition(times, place)[place]),
    }


def _histogram(times: NDArray[np.int64]) -> dict[str, object]:
    """The number of times in each bin; a bin includes its first edge, the last one both.

    Edges are at equal ratios if the longest time is over four times the shortest, else equally
    far apart.
    """
    if not times.size:
        return {"is_logarithmic": False, "edges_ps": [], "calls": []}
    least, most = int(times.min()), int(times.max())
    is_wide = most > _WIDE * max(least, 1)
    if is_wide:
        edges = max(least, 1) * (most / max(least, 1)) ** (np.arange(_BINS + 1) / _BINS)
    else:
        edges = np.linspace(least, most, _BINS + 1)
    whole = np.round(edges).astype(np.int64)
    whole[0], whole[-1] = least, most
    distinct = [*dict.fromkeys(whole.tolist())]
    if len(distinct) == 1:
        distinct *= 2
    ordered = np.sort(times)
    cuts = np.searchsorted(ordered, distinct[1:-1])
    counts = np.diff(cuts, prepend=0, append=times.size)
    return {"is_logarithmic": is_wide, "edges_ps": distinct, "calls": counts.tolist()}


def _streams(
    hosts: Sequence[str], calls: Sequence[KernelCalls], rows: Sequence[NDArray[np.int64]]
) -> list[dict[str, object]]:
    """The calls by stream, longest total first; ties by the order of hosts and streams."""
    found: list[tuple[int, dict[str, object]]] = []
    for host, of_host, own in zip(hosts, calls, rows, strict=True):
        for which in unique(of_host.stream[own]).tolist():
            here = own[of_host.stream[own] == which]
            duration = of_host.duration_ps[here]
            stream = {
                "host": host,
                "device": of_host.stream_device[which],
                "stream": of_host.stream_name[which],
                "calls": here.size,
                "total_ps": int(duration.sum()),
                "median_ps": float(median(duration)),
                "idle_ps": int(_known(of_host.idle_ps[here]).sum()),
            }
            found.append((-int(duration.sum()), stream))
    return [stream for _, stream in sorted(found, key=lambda entry: entry[0])]
