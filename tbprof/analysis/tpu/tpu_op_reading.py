"""Reads the HLO ops of TPU cores, from their programs or from their texts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.hlo.hlo_roles import (
    PRODUCTS,
    Reductions,
    dimension_roles,
    move_of,
    opcodes_of,
)
from tbprof.analysis.hlo.hlo_shapes import Padding, padding_of, parse_shapes, shapes_text
from tbprof.analysis.hlo.hlo_shapes import split_text as split_hlo
from tbprof.analysis.hlo.module import Module
from tbprof.analysis.tpu.tpu_kinds import (
    INSTRUCTION_TEXTS,
    UNNAMED,
    TpuOpNames,
    find_tpu_kinds,
    instruction_text,
)
from tbprof.analysis.tpu.tpu_ops import TpuOpRow
from tbprof.analysis.tpu.tpu_phases import NAME, op_kind, op_peer
from tbprof.analysis.vocabulary.instruction_roles import Move, Reduction
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
from tbprof.events.space import Plane

# Control flow, whose shapes are those of the ops that it runs.
_CONTROL = frozenset(
    {"while", "conditional", "call", "tuple", "get-tuple-element", "after-all", "bitcast"}
)
_UNKNOWN = Padding(-1, -1, None, is_assumed=False)


def read_ops(planes: Sequence[Plane], programs: Programs) -> list[TpuOpRow]:
    """The ops of TPU cores, in the order in which they first ran."""
    rows: dict[tuple[int, str], TpuOpRow] = {}
    reader = _OpReader(programs)
    for plane in planes:
        _gather(plane, reader, rows)
    fused = {
        (row.program, batch_norm_scope(row.op))
        for row in rows.values()
        if is_fused_batch_norm(row.op, row.op_type)
    }
    for row in rows.values():
        row.is_batch_norm &= (row.program, batch_norm_scope(row.op)) not in fused
    return list(rows.values())


def _gather(plane: Plane, reader: _OpReader, rows: dict[tuple[int, str], TpuOpRow]) -> None:
    kinds = find_tpu_kinds(plane, names.XLA_OPS_LINE)
    if not kinds.type.size:
        return
    ops = TpuOpNames(plane)
    stats = plane.types.stats([names.PROGRAM_ID, *INSTRUCTION_TEXTS])
    program = stats[names.PROGRAM_ID].integers(-1)
    texts = [stats[name].texts() for name in INSTRUCTION_TEXTS]
    strings = plane.strings
    for kind, row in enumerate(kinds.type.tolist()):
        event = strings[int(plane.types.name[row])] if row >= 0 else ""
        label = strings[int(plane.types.display_name[row])] if row >= 0 else ""
        match = NAME.match(event)
        name = match[1] if match else label or event or UNNAMED
        number = int(program[row]) if row >= 0 else -1
        key = (number, name)
        if key not in rows:
            stat_texts = [strings[int(column[row])] for column in texts] if row >= 0 else []
            rows[key] = reader.read(
                name,
                number,
                instruction_text(event, label or name, stat_texts),
                ops.op(row),
                ops.category(row),
            )
        op_row = rows[key]
        op_row.occurrences += int(kinds.occurrences[kind])
        op_row.total_ps += int(kinds.total_ps[kind])
        op_row.self_ps += int(kinds.self_ps[kind])


class _OpReader:
    """Reads instructions from their program, or from their text if the program lacks them."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        self._reductions: dict[int, Reductions] = {}

    def read(self, name: str, program: int, text: str, op: OpName, category: str) -> TpuOpRow:
        module = self._programs.module(program, "")
        row = module.index.find(name) if module is not None else -1
        if module is not None and row >= 0:
            results, operands = module.shapes.of(row).shapes, module.operand_shapes(row)
            opcode, opcodes = module.opcode(row), opcodes_of(module, row)
            reduction = self._role(program, module, row)
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
        if module is not None and row >= 0:
            # Called only if there is padding.
            roles = functools.partial(dimension_roles, module, row)
        largest = max((*results, *operands), key=lambda shape: shape.elements, default=None)
        is_jax = op.category == OpCategory.JAX
        is_layer = not is_jax and bool(batch_norm_scope(op.name)) and not opcodes & PRODUCTS
        move = move_of(opcodes, results, operands)
        is_pool_gradient = "select-and-scatter" in opcodes or op.type in POOL_GRADIENT_TYPES
        return TpuOpRow(
            name,
            program,
            op.name,
            op.type,
            category,
            opcode,
            largest.dtype if largest is not None else "",
            shapes_text(results),
            shapes_text(operands),
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

    def _role(self, program: int, module: Module, row: int) -> Reduction:
        if program not in self._reductions:
            self._reductions[program] = Reductions(module)
        return self._reductions[program].role(row)


def _random(op: OpName, opcodes: frozenset[str]) -> Random:
    kind = random_kind(op.name, op.type)
    if kind == Random.NONE and opcodes & {"rng", "rng-bit-generator"}:
        return Random.FAST
    return kind


def _explain(padding: Padding, roles: Callable[[], dict[tuple[int, ...], dict[int, str]]]) -> str:
    """The padded dimensions of the array that wastes the most: "f32[8,100]: 100 as 128"."""
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
