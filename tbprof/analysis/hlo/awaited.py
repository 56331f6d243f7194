"""What instructions complete that another one started: "copy-start.1" of "copy-done.1"."""

from typing import TYPE_CHECKING, Any

from tbprof.analysis.hlo.hlo_shapes import split_text
from tbprof.base.lazy import regex

if TYPE_CHECKING:
    from tbprof.analysis.hlo.module import Module

_OPERAND = regex(r"%([A-Za-z_][\w.\-]{0,200})")
_DEEPEST = 64


def awaited_start(program: "Module", proto: Any) -> str:
    """The start that an instruction completes, through updates between them."""
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
    """The operand of an instruction whose text says that it completes one, "" for others."""
    _, opcode, operands = split_text(text)
    match = _OPERAND.search(operands) if opcode.endswith("-done") else None
    return match[1] if match else ""
