"""An instruction of a compiled program as text, much as XLA prints it."""

import functools
from collections.abc import Iterator
from typing import Any

from tbprof._pb import message
from tbprof.analysis.hlo.module import Module

_TUPLE = 13  # PrimitiveType.TUPLE
_MOST_LINES = 200
_MOST_DEPTH = 8
_MOST_OPERANDS = 64


def instruction_with_callees(module: Module, name: str) -> str:
    """The instruction, and below it the computations that it calls; "" if there is none.

        %fusion.1 = f32[8]{0} fusion(f32[8]{0} %p), kind=kLoop, calls=%fused

        %fused {
          %a = f32[8]{0} parameter(0)
          ROOT %b = f32[8]{0} negate(f32[8]{0} %a)
        }

    After 200 lines the rest is left out, and the text says so.
    """
    proto = module.find(name)
    if proto is None:
        return ""
    lines: list[str] = []
    for line in _lines(module, proto, 0, set()):
        if len(lines) >= _MOST_LINES:
            lines.append("… (more is left out)")
            break
        lines.append(line)
    return "\n".join(lines)


def source_line(module: Module, name: str) -> str:
    """`file.py:12` of the instruction's metadata, "" if it has none."""
    proto = module.find(name)
    if proto is None or not proto.metadata.source_file:
        return ""
    metadata = proto.metadata
    return f"{metadata.source_file}:{metadata.source_line}"


def _lines(module: Module, proto: Any, depth: int, seen: set[int]) -> Iterator[str]:
    called = module.called_by(proto)
    yield _line(module, proto, [computation.name for computation in called])
    for computation in called:
        if computation.id in seen or depth >= _MOST_DEPTH:
            continue
        seen.add(computation.id)
        yield ""
        yield f"%{computation.name} {{"
        nested: list[Any] = []
        for instruction in computation.instructions:
            inner = module.called_by(instruction)
            root = "ROOT " if instruction.id == computation.root_id else ""
            yield f"  {root}{_line(module, instruction, [other.name for other in inner])}"
            nested += [instruction] if inner else []
        yield "}"
        for caller in nested:
            # Its own line comes first.
            lines = _lines(module, caller, depth + 1, seen)
            next(lines)
            yield from lines


def _line(module: Module, proto: Any, called: list[str]) -> str:
    if proto.opcode == "parameter":
        operands = str(proto.parameter_number)
    else:
        operand_protos = module.operands_of(proto)
        texts = [
            f"{_shape_text(operand.shape)} %{operand.name}"
            for operand in operand_protos[:_MOST_OPERANDS]
        ]
        operands = ", ".join([*texts, "…"] if len(operand_protos) > _MOST_OPERANDS else texts)
    more = [
        f"dimensions={{{','.join(map(str, proto.dimensions))}}}" if proto.dimensions else "",
        f"kind={proto.fusion_kind}" if proto.fusion_kind else "",
        f"index={proto.tuple_index}" if proto.opcode == "get-tuple-element" else "",
        f"calls={', '.join(f'%{name}' for name in called)}" if called else "",
        f'custom_call_target="{proto.custom_call_target}"' if proto.custom_call_target else "",
        f"channel_id={proto.channel_id}" if proto.channel_id else "",
        _metadata(proto.metadata),
    ]
    attributes = "".join(f", {attribute}" for attribute in more if attribute)
    return f"%{proto.name} = {_shape_text(proto.shape)} {proto.opcode}({operands}){attributes}"


def _metadata(proto: Any) -> str:
    parts = [
        f'{key}="{value}"'
        for key, value in (
            ("op_type", proto.op_type),
            ("op_name", proto.op_name),
            ("source_file", proto.source_file),
        )
        if value
    ]
    if proto.source_line:
        parts.append(f"source_line={proto.source_line}")
    return f"metadata={{{' '.join(parts)}}}" if parts else ""


def _shape_text(proto: Any, depth: int = 0) -> str:
    """`f32[8,16]{1,0}`, or `(f32[8]{0}, s32[])` of a tuple."""
    if proto.element_type == _TUPLE:
        parts = proto.tuple_shapes if depth < 16 else ()
        return f"({', '.join(_shape_text(part, depth + 1) for part in parts)})"
    sizes = ",".join(map(str, proto.dimensions))
    order = ",".join(map(str, proto.layout.minor_to_major))
    tiles = "".join(f"({','.join(map(str, tile.dimensions))})" for tile in proto.layout.tiles)
    space = f"S({proto.layout.memory_space})" if proto.layout.memory_space else ""
    more = f"T{tiles}" if tiles else ""
    layout = f"{{{order}{':' if more or space else ''}{more}{space}}}" if order else ""
    return f"{_word(proto.element_type)}[{sizes}]{layout}"


@functools.lru_cache(maxsize=256)
def _word(element_type: int) -> str:
    words = message("xla.ShapeProto").DESCRIPTOR.fields_by_name["element_type"].enum_type
    value = words.values_by_number.get(element_type)
    return value.name.lower() if value is not None else f"type{element_type}"
