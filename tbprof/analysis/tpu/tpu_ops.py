"""The HLO ops of TPU cores: time, shapes, and what the Cloud TPU notes on ops say about them."""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Module, Programs
from tbprof.analysis.hlo.hlo_roles import (
    PRODUCTS,
    Move,
    Reduction,
    Reductions,
    dimension_roles,
    move_of,
    opcodes_of,
)
from tbprof.analysis.hlo.hlo_shapes import Padding, Shape, padding_of, parse_shapes, read_shape
from tbprof.analysis.hlo.hlo_shapes import split_text as split_hlo
from tbprof.analysis.hlo.host_channels import Peer, is_exchange
from tbprof.analysis.hlo.host_copies import is_host_copy, is_vmem_copy
from tbprof.analysis.tpu.tpu_kinds import TpuOpNames, find_tpu_kinds
from tbprof.analysis.tpu.tpu_phases import op_kind, op_peer
from tbprof.analysis.vocabulary.collectives import is_collective_op
from tbprof.analysis.vocabulary.lines import tensor_core_planes
from tbprof.analysis.vocabulary.op_names import OpCategory, OpName
from tbprof.analysis.vocabulary.tpu_op_names import (
    POOL_GRADIENT_TYPES,
    SPACE_TYPES,
    Random,
    batch_norm_scope,
    is_fused_batch_norm,
    is_moving_average,
    random_kind,
)
from tbprof.base import names
from tbprof.base.lazy import regex
from tbprof.base.records import as_dict, dataclass
from tbprof.events.space import Plane, Space

_TEXTS = ("long_name", "hlo_text", "shape_with_layout")
_NAME = regex(r"%?([A-Za-z_][\w.\-]*)")
# Control flow: its shapes are those of the ops that it runs.
_CONTROL = frozenset(
    {"while", "conditional", "call", "tuple", "get-tuple-element", "after-all", "bitcast"}
)
_UNKNOWN = Padding(-1, -1, None, is_assumed=False)
_MOST_TEXT = 400
_MOST = 2**62


@dataclass(frozen=True, slots=True)
class TpuOps:
    """One row per instruction of a program that ran on TPU cores, summed over the cores.

    `op` is its name in op tables. `result` and `operands` are HLO shapes with layouts, `dtype` is
    that of the largest array. `elements` and `padded_elements` are those of the result, `bytes` and
    `padded_bytes` those of all arrays that the op takes and returns, -1 if unknown; `padding` says
    which array is padded most, and how. `move`, `reduction`, `random` and `peer` hold `Move`,
    `Reduction`, `Random` and `Peer`.
    """

    name: list[str]
    program: NDArray[np.int64]
    op: list[str]
    op_type: list[str]
    category: list[str]
    opcode: list[str]
    dtype: list[str]
    result: list[str]
    operands: list[str]
    padding: list[str]
    occurrences: NDArray[np.int64]
    total_ps: NDArray[np.int64]
    self_ps: NDArray[np.int64]
    elements: NDArray[np.int64]
    padded_elements: NDArray[np.int64]
    bytes: NDArray[np.int64]
    padded_bytes: NDArray[np.int64]
    is_assumed: NDArray[np.bool_]
    is_jax: NDArray[np.bool_]
    is_pool_gradient: NDArray[np.bool_]
    is_batch_norm: NDArray[np.bool_]
    move: NDArray[np.int64]
    reduction: NDArray[np.int64]
    random: NDArray[np.int64]
    peer: NDArray[np.int64]

    @property
    def wasted(self) -> NDArray[np.float64]:
        """[n] the share of the bytes that is padding, NaN for unknown shapes."""
        padded = np.where(self.padded_bytes > 0, self.padded_bytes, np.nan)
        return np.asarray(1 - self.bytes / padded, np.float64)

    @property
    def is_host_copy(self) -> NDArray[np.bool_]:
        """[n] whether an op copies between the core's memory and host memory, or waits for that."""
        texts = zip(self.opcode, self.result, self.operands, strict=True)
        return np.array(
            [is_host_copy(opcode, result + operands) for opcode, result, operands in texts], bool
        )

    @property
    def is_vmem_copy(self) -> NDArray[np.bool_]:
        """[n] whether an op copies between the core's vector memory and HBM, or waits for that."""
        texts = zip(self.opcode, self.result, self.operands, strict=True)
        return np.array(
            [is_vmem_copy(opcode, result + operands) for opcode, result, operands in texts], bool
        )

    @property
    def is_between_devices(self) -> NDArray[np.bool_]:
        """[n] whether an op exchanges data with another device directly, not through the host."""
        kinds = zip(self.category, self.opcode, strict=True)
        by_kind = np.array([any(is_exchange(part) for part in kind) for kind in kinds], bool)
        return np.asarray(by_kind & (self.peer == Peer.NONE), np.bool_)

    @property
    def is_collective(self) -> NDArray[np.bool_]:
        """[n] whether an op exchanges data with other cores, including those of other slices."""
        kinds = zip(self.category, self.opcode, strict=True)
        by_kind = [any(is_collective_op(part) for part in kind) for kind in kinds]
        return np.asarray(np.array(by_kind, bool) | (self.peer == Peer.SLICES), np.bool_)

    def longest(self, is_wanted: NDArray[np.bool_]) -> list[int]:
        """The rows in the mask that took time, longest first."""
        rows = np.flatnonzero(is_wanted & (self.self_ps > 0))
        return [int(row) for row in rows[np.argsort(-self.self_ps[rows], kind="stable")]]


@dataclass(slots=True)
class _OpRow:
    """An instruction while rows are collected."""

    name: str
    program: int
    op: str
    op_type: str
    category: str
    opcode: str
    dtype: str
    result: str
    operands: str
    padding: str
    elements: int
    padded_elements: int
    bytes: int
    padded_bytes: int
    is_assumed: bool
    is_jax: bool
    is_pool_gradient: bool
    is_batch_norm: bool
    move: int
    reduction: int
    random: int
    peer: int
    occurrences: int = 0
    total_ps: int = 0
    self_ps: int = 0


def find_tpu_ops(space: Space, programs: Programs) -> TpuOps:
    """The ops of all TPU cores except SparseCores, in the order in which they first ran."""
    rows: dict[tuple[int, str], _OpRow] = {}
    reader = _OpReader(programs)
    for plane in tensor_core_planes(space):
        _gather(plane, reader, rows)
    fused = {
        (row.program, batch_norm_scope(row.op))
        for row in rows.values()
        if is_fused_batch_norm(row.op, row.op_type)
    }
    for row in rows.values():
        row.is_batch_norm &= (row.program, batch_norm_scope(row.op)) not in fused
    return _table(list(rows.values()))


def _gather(plane: Plane, reader: "_OpReader", rows: dict[tuple[int, str], _OpRow]) -> None:
    kinds = find_tpu_kinds(plane, names.XLA_OPS_LINE)
    if not kinds.type.size:
        return
    ops = TpuOpNames(plane)
    stats = plane.types.stats([names.PROGRAM_ID, *_TEXTS])
    program = stats[names.PROGRAM_ID].integers(-1)
    texts = [stats[name].texts() for name in _TEXTS]
    strings = plane.strings
    for kind, row in enumerate(kinds.type.tolist()):
        event = strings[int(plane.types.name[row])] if row >= 0 else ""
        label = strings[int(plane.types.display_name[row])] if row >= 0 else ""
        match = _NAME.match(event)
        name = match[1] if match else label or event or "(unnamed)"
        number = int(program[row]) if row >= 0 else -1
        key = (number, name)
        if key not in rows:
            stat_texts = [strings[int(column[row])] for column in texts] if row >= 0 else []
            rows[key] = reader.read(
                name,
                number,
                _instruction_text(event, label or name, stat_texts),
                ops.op(row),
                ops.category(row),
            )
        op_row = rows[key]
        op_row.occurrences += int(kinds.occurrences[kind])
        op_row.total_ps += int(kinds.total_ps[kind])
        op_row.self_ps += int(kinds.self_ps[kind])


def _instruction_text(event: str, label: str, stated: list[str]) -> str:
    """The text of an instruction: the event's name, a stat, or one composed of its shape."""
    for text in (event, *stated[:-1]):
        if " = " in text:
            return text
    return f"%{label} = {stated[-1]}" if stated and stated[-1] else event


class _OpReader:
    """Reads instructions from their program, or from their text if the program lacks them."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        self._reductions: dict[int, Reductions] = {}

    def read(self, name: str, program: int, text: str, op: OpName, category: str) -> _OpRow:
        module = self._programs.module(program, "")
        proto = module.find(name) if module is not None else None
        if module is not None and proto is not None:
            results = tuple(read_shape(proto.shape))
            operands = tuple(
                shape
                for operand in module.operands_of(proto)
                for shape in read_shape(operand.shape)
            )
            opcode, opcodes = proto.opcode, opcodes_of(module, module.index.find(name))
            reduction = self._role(program, module, proto)
        else:
            result, opcode, operand_text = split_hlo(text)
            results, operands = parse_shapes(result), parse_shapes(operand_text)
            opcode = opcode or category
            opcodes = frozenset({opcode})
            reduction = Reduction.NONE
        instruction = module.instruction(name) if module is not None else None
        kind = op_kind(category, text, name, instruction)
        is_known = opcode not in _CONTROL and bool(results or operands)
        padding = padding_of((*results, *operands)) if is_known else _UNKNOWN
        roles: Callable[[], dict[tuple[int, ...], dict[int, str]]] = dict
        if module is not None and proto is not None:
            roles = lambda: dimension_roles(module, proto)  # noqa: E731 (only where it is padded)
        largest = max((*results, *operands), key=lambda shape: shape.elements, default=None)
        is_jax = op.category == OpCategory.JAX
        is_layer = not is_jax and bool(batch_norm_scope(op.name)) and not opcodes & PRODUCTS
        move = move_of(opcodes, results, operands)
        is_pool_gradient = "select-and-scatter" in opcodes or op.type in POOL_GRADIENT_TYPES
        return _OpRow(
            name,
            program,
            op.name,
            op.type,
            category,
            opcode,
            largest.dtype if largest is not None else "",
            _text(results),
            _text(operands),
            _explain(padding, roles),
            sum(shape.elements for shape in results) if is_known else -1,
            sum(shape.padded_elements for shape in results) if is_known else -1,
            padding.bytes,
            padding.padded_bytes,
            padding.is_assumed,
            is_jax,
            is_pool_gradient,
            is_layer and not is_moving_average(op.name)
            and not is_fused_batch_norm(op.name, op.type),
            Move.SPACE if op.type in SPACE_TYPES else move,
            reduction,
            _random(op, opcodes),
            op_peer(kind, text, instruction, f"{op.name}:{op.type}"),
        )  # fmt: skip

    def _role(self, program: int, module: Module, proto: Any) -> Reduction:
        if program not in self._reductions:
            self._reductions[program] = Reductions(module)
        return self._reductions[program].role(proto)


def _random(op: OpName, opcodes: frozenset[str]) -> Random:
    kind = random_kind(op.name, op.type)
    if kind == Random.NONE and opcodes & {"rng", "rng-bit-generator"}:
        return Random.FAST
    return kind


def _text(shapes: Sequence[Shape]) -> str:
    """Shapes with their layouts, as many as a table can show."""
    out: list[str] = []
    for shape in shapes:
        if sum(map(len, out)) > _MOST_TEXT:
            return ", ".join([*out, "…"])
        out.append(_written(shape))
    return ", ".join(out)


@functools.lru_cache(maxsize=16384)
def _written(shape: Shape) -> str:
    return shape.text + shape.layout


def _explain(padding: Padding, roles: Callable[[], dict[tuple[int, ...], dict[int, str]]]) -> str:
    """The padded dimensions of the array that wastes most: "f32[8,100]: 100 as 128"."""
    worst = padding.worst
    if worst is None:
        return ""
    roles_of_dimensions = roles().get(worst.sizes, {})
    parts = [
        f"{roles_of_dimensions[dimension]} {size} as {padded}"
        if dimension in roles_of_dimensions
        else f"{size} as {padded}"
        for dimension, (size, padded) in enumerate(zip(worst.sizes, worst.padded, strict=True))
        if size != padded
    ]
    return f"{worst.text}: {', '.join(parts)}" if parts else worst.text


def _table(rows: list[_OpRow]) -> TpuOps:
    def columns() -> Iterator[Any]:
        for name, kind in TpuOps.__annotations__.items():
            values = [getattr(row, name) for row in rows]
            if kind == list[str]:
                yield values
            elif "bool" in str(kind):
                yield np.array(values, bool)
            else:
                # Damaged shapes may exceed what a column holds.
                yield np.array([max(-_MOST, min(_MOST, int(value))) for value in values], np.int64)

    return TpuOps(*columns())


def merge_tpu_ops(parts: Sequence[TpuOps]) -> TpuOps:
    """The sum over hosts, with one row per instruction of a program."""
    if len(parts) == 1:
        return parts[0]
    rows: dict[tuple[int, str], _OpRow] = {}
    for part in parts:
        for index, name in enumerate(part.name):
            values = {field: column[index] for field, column in as_dict(part).items()}
            key = (int(part.program[index]), name)
            row = rows.get(key)
            if row is None:
                rows[key] = _OpRow(**values)
                continue
            row.occurrences += values["occurrences"]
            row.total_ps += values["total_ps"]
            row.self_ps += values["self_ps"]
    return _table(list(rows.values()))
