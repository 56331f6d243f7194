"""Finds the start of an asynchronous instruction: "copy-start.1" for "copy-done.1"."""

from typing import TYPE_CHECKING, Any

from tbprof.analysis.hlo.hlo_shapes import split_text
from tbprof.base.lazy import regex

if TYPE_CHECKING:
    from tbprof.analysis.hlo.module import Module

_OPERAND = regex(r"%([A-Za-z_][\w.\-]{0,200})")
_DEEPEST = 64


def awaited_start(program: "Module", proto: Any) -> str:
    """The name of the start that an instruction completes, "" for other instructions.

    Updates between the two are followed.
    """
    if not proto.opcode.endswith("-done"):
        return ""
    for _ in range(_DEEPEST):
        operands = program.operands_of(proto)
        if not operands:
            return ""
        proto = operands[0]
        if not proto.opcode.endswith("-update"):
            return str(proto.name) if proto.opcode.endswith(("-start", "send", "recv")) else ""
    return ""


def awaited_in(text: str) -> str:
    """The operand that an instruction completes according to its text, "" if it completes none."""
    _, opcode, operands = split_text(text)
    match = _OPERAND.search(operands) if opcode.endswith("-done") else None
    return match[1] if match else ""
