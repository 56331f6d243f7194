"""HLO instructions: opcode and tensors, looking into fusions and asynchronous pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tbprof.analysis.hlo.awaited import started_by
from tbprof.analysis.hlo.host_channels import HANDLER
from tbprof.analysis.hlo_messages.message_fields import number_in, text_in
from tbprof.analysis.vocabulary.dtypes import Tensor
from tbprof.base.lazy import regex
from tbprof.base.records import NamedTuple

if TYPE_CHECKING:
    from tbprof.analysis.hlo.module import Module

# Library calls that multiply matrices or convolve.
_PRODUCT_CALL = regex(r"gemm|matmul|conv|fmha|dot", re.IGNORECASE)
_PRODUCTS = frozenset({"dot", "convolution", "ragged-dot", "scaled-dot"})
# Fields of HloInstructionProto. Source: hlo.proto.
_FUSION_KIND, _TARGET, _IS_HOST_TRANSFER = 11, 28, 47
_PARTS_OF_ASYNC = ("async-done", "async-update")
_CALLERS = ("fusion", "async-start", "async-update", "async-done", "call")


class Instruction(NamedTuple):
    """An HLO instruction: its opcode, operands and results.

    `products` are the operands of the matrix products and convolutions in it or in its fusion.
    `wrapped` is the opcode inside an asynchronous start, update or done. `handler` serves the
    host's end of a transfer, and `op` is the framework op; "" if unknown. `is_in_host` says that an
    operand or a result is in host memory.
    """

    opcode: str
    target: str
    operands: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    products: tuple[Tensor, ...]
    wrapped: str
    is_host_transfer: bool
    is_in_host: bool = False
    handler: str = ""
    op: str = ""


class Fusion(NamedTuple):
    """A fusion: how it is emitted ("kLoop"), and `products` as in `Instruction`."""

    kind: str
    products: tuple[Tensor, ...]


def read_instruction(module: Module, row: int) -> Instruction:
    """The instruction of a module's row."""
    opcode = module.opcode(row)
    fields = module.fields(row)
    start = started_by(module, row, _PARTS_OF_ASYNC)
    root = _root(module, start)
    returned = module.shapes.tensors(row)
    taken = [module.shapes.tensors(operand) for operand in module.operand_rows(row)]
    return Instruction(
        opcode,
        text_in(fields, _TARGET),
        tuple(tensor for operand in taken for tensor in operand.tensors),
        returned.tensors,
        tuple(_products(module, start)),
        module.opcode(root) if root >= 0 and opcode.startswith("async-") else "",
        bool(number_in(fields, _IS_HOST_TRANSFER)),
        any(part.is_in_host for part in (returned, *taken)),
        _handler(module, row) if module.has_handlers else "",
        module.metadata_of(row).op_name,
    )


def read_fusion(module: Module, row: int) -> Fusion | None:
    """The fusion of a module's row, None for other instructions."""
    if module.opcode(row) != "fusion":
        return None
    return Fusion(fusion_kind(module, row), tuple(_products(module, row)))


def fusion_kind(module: Module, row: int) -> str:
    """How a fusion is emitted, "" if unknown."""
    return text_in(module.fields(row), _FUSION_KIND)


def multiplies(module: Module, row: int) -> bool:
    """Whether an instruction is or contains a product of matrices, or a convolution."""
    return next(_products(module, started_by(module, row, _PARTS_OF_ASYNC)), None) is not None


def _handler(module: Module, row: int) -> str:
    """The handler of a transfer, as stated by the instruction or by the one that it completes."""
    for part in (row, *module.operand_rows(row)):
        attributes = module.message(part).frontend_attributes.map
        if HANDLER in attributes:
            return str(attributes[HANDLER])
    return ""


def _root(module: Module, row: int) -> int:
    """The root of the first computation that an instruction calls, -1 if there is none."""
    called = module.called_rows(row) if module.opcode(row) in _CALLERS else []
    return module.root_row(called[0]) if called else -1


def _products(module: Module, row: int) -> Iterator[Tensor]:
    """The operands of the products in an instruction."""
    opcode = module.opcode(row)
    if opcode in _PRODUCTS or (
        opcode == "custom-call" and _PRODUCT_CALL.search(module.message(row).custom_call_target)
    ):
        yield from _operands(module, row)
    elif opcode in _CALLERS:
        has_product = module.computations_with(_PRODUCTS)
        for computation in module.called_rows(row):
            for part in module.rows_in(computation) if has_product[computation] else ():
                if module.opcode(part) in _PRODUCTS:
                    yield from _operands(module, part)


def _operands(module: Module, row: int) -> Iterator[Tensor]:
    for operand in module.operand_rows(row):
        yield from module.shapes.tensors(operand).tensors
