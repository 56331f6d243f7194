"""Facts about GPUs: busy time, kernels and the gaps before them, copies and their sizes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.spans.layers import unite
from tbprof.analysis.vocabulary.lines import gpus_with_lines
from tbprof.base import names
from tbprof.base.lazy import Later
from tbprof.base.records import dataclass, replace
from tbprof.base.texts import whole_number
from tbprof.base.values import join_tables, median, unique
from tbprof.events.space import Plane, Space

if TYPE_CHECKING:
    from tbprof.analysis.gpu.gpu_events import GpuKinds

# Many traces have no GPU.
_find_gpu_kinds = Later("tbprof.analysis.gpu.gpu_events.find_gpu_kinds")

# A launch takes the host 5 to 20 µs: a shorter kernel cannot hide the launch of the next one, and a
# longer pause has another cause. Source: Holistic Trace Analysis, "CUDA kernel launch statistics";
# NVIDIA, "Getting started with CUDA graphs".
SMALL_PS = 5_000_000
PAUSE_PS = 20_000_000


@dataclass(frozen=True, slots=True)
class GpuFacts:
    """One entry per GPU on which something ran, and one per (GPU, kind of copy).

    `median_ps` is the median duration of its kernels, -1 without kernels. Small kernels are shorter
    than `SMALL_PS`: `small_ps` is their union, `small_gap_ps` the time before them in which nothing
    ran on the device, without pauses over `PAUSE_PS`. `busy_ps` is the union of all events,
    `window_ps` the time from the first start to the last end. `memory_bytes` is the device's
    capacity, -1 if unknown.

    Copies: `copy_gpu` is an index into `name`, `copy_kind` such as "MemcpyHToD". `copy_ps` is the
    sum of their times, `copying_ps` the union, as copies overlap. Sizes are -1 if the recorder
    states none; `pageable` counts copies to or from memory that is not pinned.

    `bias_ps` is the time of bias additions that are directly followed, on the same stream, by batch
    normalization of the result in the same part of the model, which removes any bias.
    """

    name: list[str]
    memory_bytes: NDArray[np.int64]
    kernels: NDArray[np.int64]
    kernel_ps: NDArray[np.int64]
    median_ps: NDArray[np.int64]
    small_kernels: NDArray[np.int64]
    small_ps: NDArray[np.int64]
    small_gap_ps: NDArray[np.int64]
    busy_ps: NDArray[np.int64]
    window_ps: NDArray[np.int64]
    bias_ps: NDArray[np.int64]
    copy_gpu: NDArray[np.int64]
    copy_kind: list[str]
    copies: NDArray[np.int64]
    copy_ps: NDArray[np.int64]
    copying_ps: NDArray[np.int64]
    copy_bytes: NDArray[np.int64]
    pageable: NDArray[np.int64]


def find_gpu_facts(space: Space, programs: Programs) -> GpuFacts:
    """The facts of every GPU that recorded an event."""
    name: list[str] = []
    rows: list[tuple[int, ...]] = []
    copies: list[tuple[str, tuple[int, ...]]] = []
    for plane in gpus_with_lines(space):
        kinds = _find_gpu_kinds(plane, programs)
        if len(kinds.events):
            copies += _copies(plane, kinds, len(name))
            name.append(plane.name.removeprefix("/device:"))
            rows.append(_kernels(plane, kinds))
    of_gpus = np.array(rows, np.int64).reshape(-1, 10).T
    copy_gpu, *of_copies = np.array([row for _, row in copies], np.int64).reshape(-1, 6).T
    columns = [name, *of_gpus, copy_gpu, [kind for kind, _ in copies], *of_copies]
    return GpuFacts(*columns)


def _kernels(plane: Plane, kinds: GpuKinds) -> tuple[int, ...]:
    """The row of one GPU, in the order of the fields."""
    memory = plane.stats.get("memory_size", -1)
    capacity = memory if isinstance(memory, int) and 0 < memory < 2**62 else -1
    is_kind = zip(kinds.details, kinds.copy, strict=True)
    is_kernel = np.array([details is not None and not copy for details, copy in is_kind], bool)
    is_kernel = is_kernel[kinds.code]
    start, duration = kinds.events.start_ps, kinds.events.duration_ps
    length = duration[is_kernel]
    is_small = is_kernel & (duration < SMALL_PS)
    gap_ps = gaps_before(start, duration)[is_small]
    return (
        capacity,
        length.size,
        int(length.sum()),
        int(median(length)) if length.size else -1,
        int(is_small.sum()),
        _union_ps(start[is_small], duration[is_small]),
        int(gap_ps[gap_ps <= PAUSE_PS].sum()),
        kinds.busy_ps,
        kinds.window_ps,
        _bias_ps(kinds),
    )


def _bias_ps(kinds: GpuKinds) -> int:
    """The time of kernels that add a bias that the next kernel normalizes away.

    Events are ordered by stream, then time. A layer's op is `model/conv/BiasAdd`, that of the layer
    after it `model/batch_norm/FusedBatchNormV3`.
    """
    adds = np.array([op.type == "BiasAdd" for op in kinds.op], bool)
    norms = np.array([op.type.startswith("FusedBatchNorm") and "Grad" not in op.type
                      for op in kinds.op], bool)  # fmt: skip
    if not adds.any() or not norms.any():
        return 0
    parts = [op.name.rsplit("/", 2)[0] if op.name.count("/") > 1 else "" for op in kinds.op]
    numbers = {part: number for number, part in enumerate(dict.fromkeys(parts))}
    scope = np.array([numbers[part] for part in parts], np.int64)
    code, line = kinds.code, kinds.events.line
    current, following = code[:-1], code[1:]
    is_lost = (
        adds[current]
        & norms[following]
        & (scope[current] == scope[following])
        & (line[:-1] == line[1:])
    )
    return int(kinds.events.duration_ps[:-1][is_lost].sum())


def gaps_before(start: NDArray[np.int64], duration: NDArray[np.int64]) -> NDArray[np.int64]:
    """[n] the time before each interval in which no other interval was open, 0 for the first.

    Intervals are in any order; if several start at the same time, the first one gets the gap.
    """
    gap = np.zeros(start.size, np.int64)
    if start.size < 2:
        return gap
    order = np.argsort(start, kind="stable")
    until = np.maximum.accumulate((start + duration)[order])
    gap[order[1:]] = np.maximum(start[order[1:]] - until[:-1], 0)
    return gap


def _copies(plane: Plane, kinds: GpuKinds, gpu: int) -> list[tuple[str, tuple[int, ...]]]:
    """The copies of one GPU by kind, without memsets; numbers in the order of the fields."""
    copy_kinds = sorted(kind for kind in set(kinds.copy) if kind.startswith("Memcpy"))
    number_of = dict(zip(copy_kinds, range(len(copy_kinds)), strict=True))
    number = np.array([number_of.get(kind, -1) for kind in kinds.copy], np.int64)
    events = kinds.events
    rows = np.flatnonzero(number[kinds.code] >= 0)
    if not rows.size:
        return []
    kind_of = number[kinds.code[rows]]
    details = events.stats([names.MEMCPY_DETAILS], rows)[names.MEMCPY_DETAILS].texts()
    distinct, text_of = np.unique(details, return_inverse=True)
    parsed = [_parse_copy(text) for text in plane.strings.take(distinct.tolist())]
    size = np.array([size for size, _ in parsed], np.int64)[text_of]
    is_pageable = np.array([pageable for _, pageable in parsed], bool)[text_of]
    copies: list[tuple[str, tuple[int, ...]]] = []
    for code in unique(kind_of).tolist():
        is_kind = kind_of == code
        sizes = size[is_kind]
        numbers = (
            gpu,
            int(is_kind.sum()),
            int(events.duration_ps[rows[is_kind]].sum()),
            _union_ps(events.start_ps[rows[is_kind]], events.duration_ps[rows[is_kind]]),
            int(sizes[sizes >= 0].sum()) if (sizes >= 0).any() else -1,
            int(is_pageable[is_kind].sum()),
        )
        copies.append((copy_kinds[code], numbers))
    return copies


def _union_ps(start: NDArray[np.int64], duration: NDArray[np.int64]) -> int:
    """The length of the union of intervals, in any order."""
    begin, end = unite(start, start + duration)
    return int((end - begin).sum())


def _parse_copy(details: str) -> tuple[int, bool]:
    """(bytes, whether a side is pageable) of a `memcpy_details` text; -1 bytes if not stated.

    "size:112 dest:4 async:0"                                          recorders of 2020
    "kind_src:pageable kind_dst:device size:4096 dest:0 async:1"
    """
    stated = dict(token.split(":", 1) for token in details.split() if ":" in token)
    size = whole_number(stated.get("size", ""), 15)
    ends = stated.get("kind_src"), stated.get("kind_dst")
    return -1 if size is None else size, "pageable" in ends


def merge_gpu_facts(parts: Sequence[GpuFacts]) -> GpuFacts:
    """The GPUs of all hosts, one host after the other."""
    before = itertools.accumulate((len(part.name) for part in parts), initial=0)
    places = zip(parts, before, strict=False)
    return join_tables([replace(part, copy_gpu=part.copy_gpu + first) for part, first in places])
