"""Evidence that workers of a job wait for each other: data exchanges and programs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_events import host_events, host_threads
from tbprof.analysis.host.host_roles import host_types
from tbprof.analysis.spans.groups import group_rows, repeats
from tbprof.analysis.vocabulary.collectives import is_collective_op
from tbprof.analysis.vocabulary.lines import gpus_with_lines, host_planes, tpu_planes
from tbprof.analysis.vocabulary.name_families import remembered
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base import names
from tbprof.base.digests import blake2b
from tbprof.base.lazy import Later
from tbprof.base.records import dataclass
from tbprof.base.values import is_in, join_columns
from tbprof.events.space import Plane, Space

# Keep this many names per worker: those with the lowest hashes, which are an unbiased sample.
MOST_NAMES = 256
# Hash only this many characters of a name: HLO texts have thousands.
_LONGEST = 512
_RENDEZVOUS = "Rendezvous"
# Levels to ascend: a rendezvous is nested in the collective instruction, or in a call of it.
_LEVELS = 3
_CPU = "CPU"

# Imported on first use: few traces have both GPUs and TPUs.
find_gpu_kinds = Later("tbprof.analysis.gpu.gpu_events.find_gpu_kinds")
kind_phases = Later("tbprof.analysis.gpu.gpu_phases.kind_phases")
tpu_phases = Later("tbprof.analysis.tpu.tpu_phases.tpu_phases")

NO_EXCHANGE, COLLECTIVE, TRANSFER = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Coupling:
    """Names of the events that one host's devices ran, and collectives of simulated CPU devices.

    `worker` are device names as in `Steps`, "CPU" if there is no device. The next three columns
    have one row per (device, name) [n]: `worker_of` indexes `worker`, `hash` is the hash of the
    name, and `exchange` is how events with that name exchange data with other workers:
    `NO_EXCHANGE`, `COLLECTIVE` or `TRANSFER`.

    The other columns have one row [m] per arrival of a device that the CPU simulates at a
    collective: `device` is its ordinal, -1 if not recorded. It arrives at `arrive_ps` and leaves at
    `end_ps`, in ps. Rows with the same `meeting` wait for each other.
    """

    worker: list[str]
    worker_of: NDArray[np.int32]
    hash: NDArray[np.int64]
    exchange: NDArray[np.int8]
    meeting: NDArray[np.int32]
    device: NDArray[np.int32]
    arrive_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]


def find_coupling(space: Space, programs: Programs) -> Coupling:
    """Return the event names of each device of a space, and the meetings of its CPU's devices."""
    named = [_gpu_names(plane, programs) for plane in gpus_with_lines(space)]
    named += [_tpu_names(plane, programs) for plane in tpu_planes(space)]
    named = [pair for pair in named if pair[1]]
    meetings = [_meetings(plane) for plane in host_planes(space)] if not named else []
    if not named:
        named = [_cpu_names(space)]
    sampled = [_sampled(ran) for _, ran in named]
    columns = join_columns(meetings, 4)
    return Coupling(
        [name for name, _ in named],
        np.repeat(np.arange(len(named), dtype=np.int32), [hash_.size for hash_, _ in sampled]),
        np.concatenate([hash_ for hash_, _ in sampled]),
        np.concatenate([exchange for _, exchange in sampled]),
        columns[0].astype(np.int32),
        columns[1].astype(np.int32),
        columns[2],
        columns[3],
    )


# The exchange of events on a device, by their name.
_ExchangeByName = dict[str, int]


def _sampled(ran: _ExchangeByName) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Return (hash, exchange) of the names with the lowest hashes: exchanges, then other names."""
    hash_ = np.fromiter(map(_hash, ran), np.int64, len(ran))
    exchange = np.fromiter(ran.values(), np.int8, len(ran))
    order = np.lexsort((exchange, hash_))
    exchanges = order[exchange[order] != NO_EXCHANGE][:MOST_NAMES]
    others = order[exchange[order] == NO_EXCHANGE][:MOST_NAMES]
    rows = np.concatenate([exchanges, others])
    return hash_[rows], exchange[rows]


@remembered
def _hash(name: str) -> int:
    text = name[:_LONGEST].encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little", signed=True)


def _device_name(plane: Plane) -> str:
    return plane.name.removeprefix("/device:")


def _gpu_names(plane: Plane, programs: Programs) -> tuple[str, _ExchangeByName]:
    kinds = find_gpu_kinds(plane, programs)
    phase = kind_phases(plane, kinds, programs)
    # Copies have the same names in all programs.
    computes = np.flatnonzero((phase >= 0) & (phase <= Phase.COMPUTE_UNKNOWN))
    meets = np.flatnonzero(phase == Phase.COLLECTIVES)
    ran = {kinds.event_name[kind]: NO_EXCHANGE for kind in computes.tolist()}
    ran |= {kinds.event_name[kind]: COLLECTIVE for kind in meets.tolist()}
    return _device_name(plane), ran


def _tpu_names(plane: Plane, programs: Programs) -> tuple[str, _ExchangeByName]:
    # Event types of ops have a category, unless the recorder writes none.
    category = plane.types.stats([names.HLO_CATEGORY])[names.HLO_CATEGORY].texts()
    is_op = category >= 0 if (category >= 0).any() else category < 0
    type_names = plane.types.full_names
    types = np.flatnonzero(
        is_op | np.array([name == names.CORE_BARRIER for name in type_names], bool)
    )
    phase = tpu_phases(plane, programs, types)
    texts = plane.strings.take(plane.types.name[types].tolist())
    return _device_name(plane), {
        text: COLLECTIVE
        if phase_code == Phase.COLLECTIVES
        else TRANSFER * (phase_code == Phase.DEVICE_TO_DEVICE and _is_transfer(text))
        for text, phase_code in zip(texts, phase.tolist(), strict=True)
    }


def _is_transfer(text: str) -> bool:
    """Whether an instruction sends to or receives from another program: "%send-done.3 = …"."""
    return text.lstrip("%").startswith(("send.", "send-done", "recv.", "recv-done"))


def _cpu_names(space: Space) -> tuple[str, _ExchangeByName]:
    ran: _ExchangeByName = {}
    for plane in host_planes(space):
        types = host_types(host_events(plane), has_device=False)
        works = is_in(types.role, (Phase.COLLECTIVES, Phase.HOST_COMPUTE)) | types.is_hlo
        rows = np.flatnonzero(works[:-1])
        texts = plane.strings.take(plane.types.name[rows].tolist())
        meets = np.fromiter(map(is_collective_op, texts), np.bool_, len(texts))
        meets |= types.role[rows] == Phase.COLLECTIVES
        ran.update(zip(texts, meets.astype(np.int64).tolist(), strict=True))
    return _CPU, ran


def _meetings(plane: Plane) -> tuple[NDArray[np.int64], ...]:
    """Return columns (meeting, device, arrive, end) of host threads that arrive at collectives.

    thread 1 |..rrrrrrrr     r, s: the rendezvous of one program execution;
    thread 2 |.......sss     each device has a thread, and the second is 5 late
    """
    texts = plane.types.full_names
    if _RENDEZVOUS not in texts:
        nothing = np.empty(0, np.int64)
        return nothing, nothing, nothing, nothing
    is_meeting = np.array([*(text == _RENDEZVOUS for text in texts), False], bool)
    events, parent = host_threads(plane)
    rows = events.rows_of(is_meeting)
    key = _texts(plane, rows)
    run, device = np.full(rows.size, -1, np.int64), np.full(rows.size, -1, np.int64)
    kind, above = np.full(rows.size, -1, np.int64), parent[rows].astype(np.int64)
    for _ in range(_LEVELS):
        nested = np.flatnonzero((device < 0) & (above >= 0))
        stats = _numbers(plane, above[nested])
        run[nested] = np.where(stats[1] >= 0, stats[0], run[nested])
        device[nested] = stats[1]
        kind[nested] = np.where(stats[1] >= 0, events.type[above[nested]], kind[nested])
        above[nested] = parent[above[nested]]
    order = np.lexsort((events.start_ps[rows], device))
    rows, key, run, device, kind = (column[order] for column in (rows, key, run, device, kind))
    repeat = repeats([key, run, kind, device])
    meeting, _ = group_rows([key, run, kind, repeat])
    end = events.start_ps[rows] + events.duration_ps[rows]
    return meeting.astype(np.int64), device, events.start_ps[rows], end


def _texts(plane: Plane, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return [n] text numbers of the rendezvous keys, which name the collective; -1 if unknown.

    Source: xla, service/rendezvous.h and collective_ops_utils.h (RendezvousKey::ToString).
    """
    if "name" not in plane.stat_names:
        return np.full(rows.size, -1, np.int64)
    return host_events(plane).stats(["name"], rows)["name"].texts().astype(np.int64)


def _numbers(plane: Plane, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (execution, device ordinal) of instructions [n]; -1 if not recorded."""
    stat_names = [name for name in (names.RUN_ID, names.DEVICE_ORDINAL) if name in plane.stat_names]
    unknown = np.full(rows.size, -1, np.int64)
    if not stat_names or not rows.size:
        return unknown, unknown
    stats = host_events(plane).stats(stat_names, rows)
    run, device = (
        stats[name].integers(-1) if name in stats else unknown
        for name in (names.RUN_ID, names.DEVICE_ORDINAL)
    )
    return run, device
