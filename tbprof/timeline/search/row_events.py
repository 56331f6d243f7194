"""Which events a row of a table of ops, kernels, instructions or stages of pipelines counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.gpu.gpu_events import GpuKinds, find_gpu_kinds, op_or_event
from tbprof.analysis.gpu.kernel_launch import parse_launch
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_events import host_events
from tbprof.analysis.input.input_events import OPS, OpIndex, find_input_events
from tbprof.analysis.ops.host_ops import find_op_events
from tbprof.analysis.programs.instruction_events import instruction_events
from tbprof.analysis.tpu.tpu_kinds import TpuOpNames
from tbprof.analysis.vocabulary import input_names
from tbprof.analysis.vocabulary.lines import (
    gpu_planes,
    host_planes,
    is_sparse_core,
    named_lines,
    tensor_core_planes,
    tpu_planes,
)
from tbprof.base import names
from tbprof.base.values import is_in
from tbprof.events.space import Plane, Space
from tbprof.timeline.search.query import TableKind, TableRow


def find_row_events(
    space: Space, programs: Programs, row: TableRow
) -> list[tuple[int, NDArray[np.int64]]]:
    """(plane, sources) per plane that has any: a row of `space.planes` and `Events.source`.

    Their number is that of the table, without aggregated events, which have no position.
    """
    find = _FINDERS[row.kind]
    number = {id(plane): index for index, plane in enumerate(space.planes)}
    return [
        (number[id(plane)], sources)
        for plane, sources in find(space, programs, row)
        if sources.size
    ]


_Found = Iterator[tuple[Plane, NDArray[np.int64]]]


def _of_device_op(space: Space, programs: Programs, row: TableRow) -> _Found:
    for plane in gpu_planes(space):
        kinds = find_gpu_kinds(plane, programs)
        is_wanted = [
            op_or_event(*op_names).name == row.name
            for op_names in zip(kinds.op, kinds.event_name, kinds.copy, strict=True)
        ]
        yield plane, _of_kinds(kinds, is_wanted)
    yield from _of_tpu_op(tensor_core_planes(space) or tpu_planes(space), row)


def _of_sparse_core_op(space: Space, _programs: Programs, row: TableRow) -> _Found:
    return _of_tpu_op([plane for plane in tpu_planes(space) if is_sparse_core(plane)], row)


def _of_tpu_op(planes: Sequence[Plane], row: TableRow) -> _Found:
    for plane in planes:
        events = plane.events(named_lines(plane, *names.OP_LINES))
        ops, types = TpuOpNames(plane), int(plane.types.id.size)
        wanted = np.zeros(types + 1, np.bool_)
        for type_row in events.used_types(types).tolist():
            wanted[type_row] = ops.op(type_row).name == row.name
        wanted[-1] = ops.op(-1).name == row.name
        yield plane, events.source[events.rows_of(wanted)]


def _of_kernel(space: Space, programs: Programs, row: TableRow) -> _Found:
    for plane in gpu_planes(space):
        kinds = find_gpu_kinds(plane, programs)
        is_wanted = [
            details is not None
            and event == row.name
            and row.op in (None, op.name)
            and row.launch in (None, parse_launch(details).shape)
            for details, event, op in zip(kinds.details, kinds.event_name, kinds.op, strict=True)
        ]
        yield plane, _of_kinds(kinds, is_wanted)


def _of_kinds(kinds: GpuKinds, is_wanted: list[bool]) -> NDArray[np.int64]:
    return kinds.events.source[np.array(is_wanted, np.bool_)[kinds.code]]


def _of_host_op(space: Space, programs: Programs, row: TableRow) -> _Found:
    for plane in host_planes(space):
        events, code, ops = find_op_events(plane, programs)
        is_wanted = np.array([*(op.name == row.name for op in ops), False], np.bool_)
        # Markers of eager execution have negative codes.
        yield plane, events.source[is_wanted[np.maximum(code, -1)]]


def _of_input_op(space: Space, _programs: Programs, row: TableRow) -> _Found:
    index = OpIndex()
    for plane in host_planes(space):
        input_events = find_input_events(plane, host_events(plane, is_kept=False), index)
        is_op = (
            is_in(input_events.kind, OPS)
            & (input_events.op == index.get(row.name))
            & (input_events.op >= 0)
        )
        yield plane, input_events.events.source[is_op]


def _of_iterator(space: Space, _programs: Programs, row: TableRow) -> _Found:
    """The calls of all copies of a stage."""
    for plane in host_planes(space):
        events = host_events(plane, is_kept=False)
        types = int(plane.types.id.size)
        used = events.used_types(types)
        wanted = np.zeros(types + 1, np.bool_)
        wanted[used] = [
            input_names.is_iterator(text) and input_names.stage_name(text) == row.name
            for text in plane.strings.take(plane.types.name[used].tolist())
        ]
        yield plane, events.source[events.rows_of(wanted)]


def _of_instruction(space: Space, programs: Programs, row: TableRow) -> _Found:
    return instruction_events(space, programs, row.name, row.program)


_FINDERS: dict[TableKind, Callable[[Space, Programs, TableRow], _Found]] = {
    "device-op": _of_device_op,
    "sparse-core-op": _of_sparse_core_op,
    "host-op": _of_host_op,
    "kernel": _of_kernel,
    "input-op": _of_input_op,
    "iterator": _of_iterator,
    "instruction": _of_instruction,
}
