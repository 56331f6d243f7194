"""What tables of instructions say of each: its text, its source, why its cost is not known."""

from __future__ import annotations

import html

from tbprof.analysis.programs.program_ops import NOT_IN_HLO, UNKNOWN, ProgramOps
from tbprof.analysis.vocabulary.op_names import CONTROL
from tbprof.base.texts import cut

# Texts of thousands of rows: the whole one is in the program, which other routes have.
_MOST_SHAPES = 200
_MOST_FRAMES = 8
_MOST_STACK = 800


def expressions(ops: ProgramOps) -> list[str]:
    """The text of each instruction in short: "%add.1 = f32[8]{0} add(f32[8]{0}, f32[8]{0})"."""
    rows = zip(ops.name, ops.opcode, ops.result, ops.operands, strict=True)
    return [
        f"%{name} = {_in_brackets(_short(result))} {opcode}({_short(operands)})" if opcode else name
        for name, opcode, result, operands in rows
    ]


def scopes(ops: ProgramOps) -> list[str]:
    """The framework op of each row as scripts know it, "name:Type"; JAX's ops have no type."""
    return [
        f"{scope}:" if scope and ":" not in scope.rpartition("/")[2] else scope
        for scope in ops.scope
    ]


def sources_as_html(ops: ProgramOps) -> list[str]:
    """Where each instruction is in the program, as scripts know it: "file:line" with its stack.

    Markup of ours around escaped texts of the trace; "" if unknown.
    """
    stacks = [html.escape(_short_stack(stack)) for stack in ops.stacks]
    return [
        f"<div class='source-info-cell' title='{stacks[stack] if stack >= 0 else ''}'>"
        f"{html.escape(source)}</div>"
        if source
        else ""
        for source, stack in zip(ops.source, ops.stack.tolist(), strict=True)
    ]


def cost_notes(ops: ProgramOps) -> list[str]:
    """Why it is not known what each row computes, "" if it is."""
    unknown = ((ops.flops == UNKNOWN) & (ops.model_flops == UNKNOWN)).tolist()
    rows = zip(unknown, ops.opcode, ops.category, ops.digest, strict=True)
    return [_reason(*row) if is_unknown else "" for is_unknown, *row in rows]


def _reason(opcode: str, category: str, digest: str) -> str:
    if category == NOT_IN_HLO:
        return "it belongs to no instruction of a program in the trace"
    if opcode == "custom-call":
        return "nothing is known of what this custom call computes"
    if opcode in CONTROL:
        return "its parts have rows of their own, and how often they run is not known"
    if not digest:
        return "its program is not in the trace"
    return "its shapes do not say what it computes"


def _in_brackets(shapes: str) -> str:
    return f"({shapes})" if ", " in shapes else shapes


def _short_stack(stack: str) -> str:
    frames = stack.split("\n", _MOST_FRAMES)
    short = "\n".join(frames[:_MOST_FRAMES])
    is_whole = len(frames) <= _MOST_FRAMES and len(short) <= _MOST_STACK
    return short if is_whole else f"{short[:_MOST_STACK]}\n…"


def _short(shapes: str) -> str:
    return cut(shapes, _MOST_SHAPES)
