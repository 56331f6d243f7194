"""The precision in which a device computes."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from tbprof.analysis.vocabulary.dtypes import FLOATS, INTEGERS, parse_tensors, widest_share
from tbprof.analysis.vocabulary.kernel_types import name_types
from tbprof.analysis.vocabulary.phases import Phase

if TYPE_CHECKING:
    from tbprof.analysis.hlo.instruction import Instruction


def kernel_precision(
    kernel: str,
    instruction: Instruction | None = None,
    shapes: str = "",
    compute_capability: int = -1,
) -> Phase:
    """The precision of a GPU kernel, COMPUTE_UNKNOWN if nothing shows it.

    The first of these decides:

    1. the name of a product (matrix product, convolution, attention): the narrowest type in it,
    since products multiply in that and add in a wider one; TF32 only if the name says so; 2. the
    HLO instruction: the operands of its products, else the floating-point type of most elements of
    its operands and results; 3. `shapes`, the op's inputs as annotated by the recorder, in the same
    way; 4. the narrowest floating-point type in the name of any other kernel; 5. integers, by
    width, in the same order; booleans count as 8 bits.

    16 bit is float16 and bfloat16; 8 bit includes narrower types.
    """
    if instruction is None:
        return _of_texts(kernel, shapes, compute_capability)
    return _of_kernel(kernel, instruction, shapes, compute_capability)


# The GPUs of a host run the same kernels on arrays of the same shapes.
@functools.lru_cache(maxsize=8192)
def _of_texts(kernel: str, shapes: str, compute_capability: int) -> Phase:
    return _of_kernel(kernel, None, shapes, compute_capability)


def _of_kernel(
    kernel: str, instruction: Instruction | None, shapes: str, compute_capability: int
) -> Phase:
    types = name_types(kernel, compute_capability)
    if types.is_product:
        both = [phase for phase in (types.floating, types.integer) if phase is not None]
        if both:
            return max(both)
    stated = parse_tensors(shapes) if shapes else ()
    for words, in_name in ((FLOATS, types.floating), (INTEGERS, types.integer)):
        if instruction is not None:
            phase = _of_instruction(instruction, words)
            if phase is not None:
                return phase
        phase = widest_share(stated, words)
        if phase is None:
            phase = in_name
        if phase is not None:
            return phase
    return Phase.COMPUTE_UNKNOWN


def hlo_precision(instruction: Instruction | None, text: str, *, is_product: bool) -> Phase:
    """The precision of an HLO op, by its program if known, else by its own text.

    The text is that of the instruction (`%f = f32[8]{0} fusion(bf16[8,8]{1,0} %a, ...)`). For
    products, the operands count; for other ops, operands and results, floating-point types first.
    """
    if instruction is not None:
        for words in (FLOATS, INTEGERS):
            phase = _of_instruction(instruction, words)
            if phase is not None:
                return phase
    tensors = parse_tensors(text)
    if is_product:
        _, equals, definition = text.partition(" = ")
        # Operands begin after the opcode: results may be tuples, which have brackets as well.
        operands = parse_tensors(_after_opcode(definition)) if equals else ()
        tensors = operands or tensors
    for words in (FLOATS, INTEGERS):
        phase = widest_share(tensors, words)
        if phase is not None:
            return phase
    return Phase.COMPUTE_UNKNOWN


def _after_opcode(definition: str) -> str:
    """The text after the results of an instruction: `fusion(…)` for `f32[8]{0} fusion(…)`."""
    if not definition.startswith("("):
        return definition.partition(" ")[2]
    depth = 0
    for position, letter in enumerate(definition):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return definition[position + 1 :]
    return ""


def _of_instruction(instruction: Instruction, words: dict[str, Phase]) -> Phase | None:
    if instruction.products:
        phase = widest_share(instruction.products, {**FLOATS, **INTEGERS})
        if phase is not None:
            return phase
    return widest_share((*instruction.operands, *instruction.results), words)
