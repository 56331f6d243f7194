"""The matrix product or convolution in an instruction or its fusion."""

from __future__ import annotations

import math
from typing import Any

from tbprof.analysis.costs.custom_calls import is_library_product
from tbprof.analysis.costs.program_costs import ProgramCosts
from tbprof.analysis.hlo.hlo_roles import PRODUCTS, rows_inside
from tbprof.analysis.hlo.hlo_shapes import Shape
from tbprof.analysis.hlo.module import Module
from tbprof.base.records import NamedTuple

_MATRIX_PRODUCTS = ("dot", "scaled-dot")
# By PrecisionConfig.Precision. Source: JAX, lax.Precision ("bf16_3x", "bf16_6x").
_PASSES = {0: 1, 1: 3, 2: 6}
# By PrecisionConfig.Algorithm, for those with known passes: ALG_DOT_BF16_BF16_F32_X3 etc.
_PASSES_OF_ALGORITHM = {5: 1, 6: 1, 7: 3, 8: 6, 13: 9}


class MatrixProduct(NamedTuple):
    """The product with the most operations.

    `dtype` is the element type of its operands, "" without a product. `size` is the smallest of the
    three dimensions of a matrix product, without batch dimensions; `rows` and `columns` are those
    of its result; -1 for convolutions and if unknown. `passes` is the number of 16-bit products
    that the program requests of a TPU: usually 1, or 3 or 6 for more precision; 0 if unknown.
    """

    dtype: str = ""
    size: int = -1
    passes: int = 0
    rows: int = -1
    columns: int = -1


def product_in(module: Module, row: int, costs: ProgramCosts) -> MatrixProduct:
    """The product in the instruction of a row, or in its fusion."""
    rows = [part for part in rows_inside(module, row) if _is_product(module, part)]
    if not rows:
        return MatrixProduct()
    most = max(rows, key=lambda part: costs.work_of_row(part).all_flops)
    operands = [module.shapes.of(operand).shapes for operand in module.operand_rows(most)]
    if len(operands) < 2 or not (operands[0] and operands[1]):
        return MatrixProduct()
    left, right = operands[0][0], operands[1][0]
    proto = module.message(most)
    config = proto.precision_config
    passes = _PASSES_OF_ALGORITHM.get(config.algorithm, 0)
    if not config.algorithm:
        precisions = config.operand_precision
        passes = max((_PASSES.get(precision, 0) for precision in precisions), default=1)
    if module.opcode(most) == "custom-call":
        results = module.shapes.of(most).shapes
        sizes, passes = _library_sizes(left, right, results), 0
    else:
        sizes = _sizes(proto, left, right) if proto.opcode in _MATRIX_PRODUCTS else None
    height, width, summed = sizes or (-1, -1, -1)
    return MatrixProduct(left.dtype, min(height, width, summed), passes, height, width)


def _is_product(module: Module, row: int) -> bool:
    opcode = module.opcode(row)
    if opcode == "custom-call":
        return is_library_product(module.message(row).custom_call_target)
    return opcode in PRODUCTS


def _sizes(proto: Any, left: Shape, right: Shape) -> tuple[int, int, int] | None:
    """(rows, columns, contracted size) of a product, None if the program is damaged."""
    numbers = proto.dot_dimension_numbers
    summed = set(numbers.lhs_contracting_dimensions)
    apart = summed | set(numbers.lhs_batch_dimensions)
    others = {*numbers.rhs_contracting_dimensions, *numbers.rhs_batch_dimensions}
    if not (apart <= set(range(len(left.sizes))) and others <= set(range(len(right.sizes)))):
        return None
    return (
        math.prod(size for axis, size in enumerate(left.sizes) if axis not in apart),
        math.prod(size for axis, size in enumerate(right.sizes) if axis not in others),
        math.prod(left.sizes[axis] for axis in summed),
    )


def _library_sizes(
    left: Shape, right: Shape, results: tuple[Shape, ...]
) -> tuple[int, int, int] | None:
    """(rows, columns, contracted size) of a library's product of two matrices: m k × k n = m n."""
    if not results or not len(left.sizes) == len(right.sizes) == len(results[0].sizes) == 2:
        return None
    returned = results[0].elements
    summed = math.isqrt(left.elements * right.elements // returned) if returned else 0
    if not summed or left.elements % summed or right.elements % summed:
        return None
    return left.elements // summed, right.elements // summed, summed


class Tiling(NamedTuple):
    """How a kernel's tiles cover the result of a product: as text, and the waste in ppm."""

    text: str = ""
    waste_ppm: int = 0


def tiling_of(rows: int, columns: int, tile: tuple[int, int] | None) -> Tiling:
    """The tiling with the orientation of tiles that wastes less, empty without a tile."""
    if tile is None or rows <= 0 or columns <= 0:
        return Tiling()
    covered = {
        (height, width): -(-rows // height) * height * -(-columns // width) * width
        for height, width in (tile, tile[::-1])
    }
    height, width = min(covered, key=covered.__getitem__)
    waste = 1 - rows * columns / covered[height, width]
    return Tiling(f"{rows} × {columns} in tiles of {height} × {width}", round(1e6 * waste))
