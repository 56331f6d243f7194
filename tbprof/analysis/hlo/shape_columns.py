"""The arrays of shapes: columns over ShapeProtos, which need no protobuf and few objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo_shapes import TUPLE, Layout, Shape, array_of, type_word
from tbprof.analysis.hlo.host_copies import HOST_SPACE
from tbprof.analysis.hlo_messages.messages import Messages
from tbprof.analysis.vocabulary.dtypes import Tensor

# Fields of ShapeProto, LayoutProto and TileProto. Source: xla_data.proto.
_TYPE, _SIZES, _PARTS, _LAYOUT = 2, 3, 4, 5
_MINOR_TO_MAJOR, _TILES, _WIDTH, _SPACE = 1, 6, 7, 8
_TILE_SIZES = 1
_MOST_ELEMENTS = 2**62


class ShapeColumns:
    """The arrays of ShapeProtos. Raises DamagedMessage."""

    def __init__(self, protos: Sequence[bytes]) -> None:
        shapes = Messages.of(protos)
        owner, parts = shapes.parts(_PARTS)
        self._parts = (len(shapes) + _firsts(owner, len(shapes))).data
        # The rows of the parts follow those of the shapes.
        arrays = shapes.and_those(parts)
        self._type = arrays.numbers(_TYPE)[0].data
        owner, sizes = arrays.lists(_SIZES)
        self._sizes, self._first_size = sizes.data, _firsts(owner, len(arrays)).data
        texts = arrays.texts(_LAYOUT)
        distinct = [*dict.fromkeys(texts)]
        layouts = dict(zip(distinct, _layouts(Messages.of(distinct)), strict=True))
        self._layout = [layouts[text] for text in texts]

    def is_tuple(self, row: int) -> bool:
        """Whether a shape is a tuple."""
        return bool(self._type[row] == TUPLE)

    def read(self, row: int) -> tuple[Shape, ...] | None:
        """The arrays in a shape as `read_shape` yields them, None for tuples in a tuple."""
        parts = self._parts_of(row)
        if parts is None:
            return None
        return tuple([array for part in parts if (array := self._array(part)) is not None])

    def tensors(self, row: int) -> tuple[tuple[Tensor, ...], bool] | None:
        """(tensors and tokens in a shape, is one in host memory); None for tuples in a tuple."""
        parts = self._parts_of(row)
        if parts is None:
            return None
        tensors = [tensor_of(self._type[part], self._sizes_of(part)) for part in parts]
        return tuple(tensors), any(self._layout[part][2] == HOST_SPACE for part in parts)

    def _parts_of(self, row: int) -> Sequence[int] | None:
        """The rows of the arrays and tokens in a shape."""
        if not self.is_tuple(row):
            return (row,)
        parts = range(self._parts[row], self._parts[row + 1])
        return None if any(map(self.is_tuple, parts)) else parts

    def _array(self, row: int) -> Shape | None:
        return array_of(self._type[row], tuple(self._sizes_of(row)), self._layout[row])

    def _sizes_of(self, row: int) -> memoryview:
        return self._sizes[self._first_size[row] : self._first_size[row + 1]]


def tensor_of(element_type: int, sizes: Iterable[int]) -> Tensor:
    """An array or token as a tensor; negative sizes are unknown, and count as 0."""
    elements = 1
    for size in sizes:
        elements = min(elements * max(size, 0), _MOST_ELEMENTS)
    return Tensor(type_word(element_type), elements)


def _layouts(layouts: Messages) -> Iterator[Layout]:
    """LayoutProtos as `read_layout` returns them."""
    orders = _grouped(*layouts.lists(_MINOR_TO_MAJOR), len(layouts))
    owner, tiles = layouts.parts(_TILES)
    sizes = [*_grouped(*tiles.lists(_TILE_SIZES), len(tiles))]
    firsts = _firsts(owner, len(layouts)).tolist()
    spaces, widths = layouts.numbers(_SPACE, _WIDTH).tolist()
    for order, (first, last), space, width in zip(
        orders, pairwise(firsts), spaces, widths, strict=True
    ):
        yield order, tuple([tile for tile in sizes[first:last] if tile]), space, width


def _grouped(
    owner: NDArray[np.int32], value: NDArray[np.int64], owners: int
) -> Iterator[tuple[int, ...]]:
    """[owners] the values of each owner."""
    values = value.tolist()
    return (tuple(values[begin:end]) for begin, end in pairwise(_firsts(owner, owners).tolist()))


def _firsts(owner: NDArray[np.int32], owners: int) -> NDArray[np.int64]:
    """[owners + 1] the first row that belongs to each owner."""
    return np.searchsorted(owner, np.arange(owners + 1))
