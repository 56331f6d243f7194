"""Ops, name scopes and programs of devices, if the file has no lines of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.devices.device_clock import find_core_ops
from tbprof.analysis.gpu.gpu_events import GpuKinds, find_gpu_kinds
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.tpu.tpu_kinds import TpuOpNames
from tbprof.analysis.tpu.tpu_phases import find_op_segments
from tbprof.analysis.vocabulary.op_names import OpCategory, OpName
from tbprof.base import names
from tbprof.base.records import dataclass, replace
from tbprof.base.values import take_rows
from tbprof.events.space import Plane
from tbprof.timeline.model.categories import op_category
from tbprof.timeline.model.category_names import Category
from tbprof.timeline.model.op_runs import (
    FOREVER_PS,
    LONGEST_GAP_PS,
    KeyedSpans,
    join_runs,
    unite_runs,
)

# Deeper scopes are left out: names are untrusted.
_DEEPEST = 64
_LONGEST = 4096
_NO_OP = OpName(OpCategory.UNKNOWN, "", "")
_T = TypeVar("_T", bound=Hashable)


@dataclass(frozen=True, slots=True)
class DerivedTrack:
    """A track's events [n] by (start, longest first).

    `type` [n] are rows of `name`, `full_name` and `category`. `number` distinguishes derived
    lines as recorders do.
    """

    kind: str
    label: str
    number: int
    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]
    type: NDArray[np.int64]
    name: list[str]
    full_name: list[str]
    category: list[int]


@dataclass(frozen=True, slots=True)
class _DeviceWork:
    """What ran on a device, and the op of each kind (the `key` of `spans`), "" if unknown."""

    spans: KeyedSpans
    op: list[OpName]
    module: list[str]
    instruction: list[str]


def derive_ops(
    plane: Plane, programs: Programs, step_start_ps: NDArray[np.int64], missing: Sequence[str]
) -> Iterator[DerivedTrack]:
    """The tracks of the kinds in `missing`: modules, ops, xla_ops, scopes.

    An op lasts from its first kernel to its last one: runs of kernels of one op are joined on each
    stream, within a step (`step_start_ps`, ascending), and overlapping runs on several streams are
    one. Scopes are joined in the same way, level by level, so that they enclose each other and
    their ops; gaps within a step do not end them. Empty without events.
    """
    is_gpu = plane.name.startswith(names.GPU_PREFIX)
    work = _gpu_work(plane, programs) if is_gpu else _tpu_work(plane)
    if not work.spans.key.size:
        return
    part = np.searchsorted(step_start_ps, work.spans.start_ps, side="right")
    spans = replace(work.spans, part=part)
    if "modules" in missing and any(work.module):
        yield from _named(
            spans, work.module, "modules", "XLA Modules", 4, lambda _: Category.PROGRAMS
        )
    if {"ops", "scopes"} & set(missing) and any(op.name for op in work.op):
        key, ops = _numbered(work.op, lambda op: op if op.name else None)
        runs = join_runs(_known(spans, key))
        if "ops" in missing:
            yield _op_track(unite_runs(runs), ops)
        if "scopes" in missing:
            # Steps separate the runs of a scope; without steps, only gaps can.
            gap = FOREVER_PS if step_start_ps.size else LONGEST_GAP_PS
            yield from _scope_track(runs, [op.name for op in ops], gap)
    if "xla_ops" in missing and any(work.instruction):
        yield from _named(spans, work.instruction, "xla_ops", "XLA Ops", 5, op_category)


def _gpu_work(plane: Plane, programs: Programs) -> _DeviceWork:
    kinds: GpuKinds = find_gpu_kinds(plane, programs)
    events = kinds.events
    spans = KeyedSpans(
        events.line.astype(np.int64),
        events.start_ps,
        events.start_ps + events.duration_ps,
        np.zeros(len(events), np.int64),
        kinds.code.astype(np.int64),
    )
    return _DeviceWork(spans, kinds.op, kinds.module, kinds.instruction)


def _tpu_work(plane: Plane) -> _DeviceWork:
    """The innermost ops of a core: its own lines have the programs and instructions."""
    placed = find_core_ops(plane, *names.OP_LINES)
    ops = placed.events
    start, duration, row = find_op_segments(placed)
    types, kind = np.unique(ops.type[row], return_inverse=True)
    op_names = TpuOpNames(plane)
    op_of_type = [op_names.op(type_row) for type_row in types.tolist()]
    spans = KeyedSpans(
        ops.line[row].astype(np.int64),
        start,
        start + duration,
        np.zeros(row.size, np.int64),
        kind.astype(np.int64),
    )
    # What the compiler added is not an op of the framework.
    op_of = [op if op.category != OpCategory.UNKNOWN else _NO_OP for op in op_of_type]
    nothing = [""] * types.size
    return _DeviceWork(spans, op_of, nothing, nothing)


def _numbered(
    values: Sequence[_T], key: Callable[[_T], Hashable | None]
) -> tuple[NDArray[np.int64], list[_T]]:
    """(number [values], the first value of each number): equal keys share one, None has -1."""
    numbers: dict[Hashable, int] = {}
    first: list[_T] = []
    out = np.full(len(values), -1, np.int64)
    for index, value in enumerate(values):
        own_key = key(value)
        if own_key is not None:
            number = numbers.setdefault(own_key, len(numbers))
            if number == len(first):
                first.append(value)
            out[index] = number
    return out, first


def _known(spans: KeyedSpans, key: NDArray[np.int64]) -> KeyedSpans:
    """The pieces with a key, by it: pieces without an op do not interrupt one."""
    spans = replace(spans, key=key[spans.key])
    rows = np.flatnonzero(spans.key >= 0)
    return spans if rows.size == spans.key.size else take_rows(spans, rows)


def _named(
    spans: KeyedSpans,
    texts: Sequence[str],
    kind: str,
    label: str,
    number: int,
    category: Callable[[str], int],
) -> Iterator[DerivedTrack]:
    key, values = _numbered(texts, lambda text: text or None)
    runs = unite_runs(join_runs(_known(spans, key)))
    yield DerivedTrack(
        kind,
        label,
        number,
        runs.start_ps,
        runs.end_ps,
        runs.key,
        values,
        values,
        [int(category(text)) for text in values],
    )


def _op_track(runs: KeyedSpans, ops: Sequence[OpName]) -> DerivedTrack:
    """Ops are named by their type, as recorders do; TensorFlow's full names are `name:Type`."""
    full_name = [f"{op.name}:{op.type}" if _is_tensorflow(op) else op.name for op in ops]
    return DerivedTrack(
        "ops",
        "TensorFlow Ops" if any(map(_is_tensorflow, ops)) else "Framework Ops",
        3,
        runs.start_ps,
        runs.end_ps,
        runs.key,
        [op.type or op.name for op in ops],
        full_name,
        [int(op_category(text)) for text in full_name],
    )


def _is_tensorflow(op: OpName) -> bool:
    return op.category == OpCategory.TENSORFLOW


def _scope_track(runs: KeyedSpans, op_names: Sequence[str], gap: int) -> Iterator[DerivedTrack]:
    prefixes, scope_of = _scopes(op_names)
    levels = [unite_runs(join_runs(replace(runs, key=key[runs.key]), gap)) for key in scope_of.T]
    if not levels:
        return
    start = np.concatenate([level.start_ps for level in levels])
    end = np.concatenate([level.end_ps for level in levels])
    key = np.concatenate([level.key for level in levels])
    # Outer levels come first and stay first among equals.
    order = np.lexsort((-end, start))
    yield DerivedTrack(
        "scopes",
        "Name Scope",
        2,
        start[order],
        end[order],
        key[order],
        [prefix[-1] for prefix in prefixes],
        ["/".join(prefix) for prefix in prefixes],
        [int(Category.SCOPES)] * len(prefixes),
    )


def _scopes(op_names: Sequence[str]) -> tuple[list[tuple[str, ...]], NDArray[np.int64]]:
    """(paths of scopes, the row [ops, levels] in these of each op's scope on each level, else -1).

    "a/b/MatMul" is in the scopes "a" and "a/b".
    """
    paths = [tuple(split_path(name[:_LONGEST])[:-1][:_DEEPEST]) for name in op_names]
    rows: dict[tuple[str, ...], int] = {}
    out = np.full((len(paths), max(map(len, paths), default=0)), -1, np.int64)
    for op, path in enumerate(paths):
        for level in range(len(path)):
            prefix = path[: level + 1]
            out[op, level] = rows.setdefault(prefix, len(rows))
    return list(rows), out


def split_path(name: str) -> list[str]:
    """The segments of an op's name; slashes in brackets belong to parameters.

    "jit(f)/pjit[name=a/b]/add" -> "jit(f)", "pjit[name=a/b]", "add"
    """
    if "[" not in name:
        return name.split("/")
    segments: list[list[str]] = [[]]
    depth = 0
    for piece in name.split("/"):
        if depth <= 0 and segments[-1]:
            segments.append([])
            depth = 0
        segments[-1].append(piece)
        depth += piece.count("[") - piece.count("]")
    return ["/".join(segment) for segment in segments]
