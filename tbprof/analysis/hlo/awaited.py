"""Finds the start of an asynchronous instruction: "copy-start.1" for "copy-done.1"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tbprof.analysis.hlo.hlo_shapes import split_text
from tbprof.base.lazy import regex

if TYPE_CHECKING:
    from tbprof.analysis.hlo.module import Module

_OPERAND = regex(r"%([A-Za-z_][\w.\-]{0,200})")
_DEEPEST = 64


def awaited_start(program: Module, row: int) -> int:
    """The row of the start that an instruction completes, -1 for other instructions.

    Updates between the two are followed.
    """
    if not program.opcode(row).endswith("-done"):
        return -1
    for _ in range(_DEEPEST):
        operands = program.operand_rows(row)
        if not operands:
            return -1
        row = operands[0]
        opcode = program.opcode(row)
        if not opcode.endswith("-update"):
            return row if opcode.endswith(("-start", "send", "recv")) else -1
    return -1


def started_by(program: Module, row: int, ends: tuple[str, ...] = ("-done", "-update")) -> int:
    """The row of the start that a done or an update belongs to; other instructions unchanged."""
    for _ in range(_DEEPEST):  # a chain of updates
        if not program.opcode(row).endswith(ends):
            break
        operands = program.operand_rows(row)
        if not operands:
            break
        row = operands[0]
    return row


def awaited_in(text: str) -> str:
    """The operand that an instruction completes according to its text, "" if it completes none."""
    _, opcode, operands = split_text(text)
    match = _OPERAND.search(operands) if opcode.endswith("-done") else None
    return match[1] if match else ""
