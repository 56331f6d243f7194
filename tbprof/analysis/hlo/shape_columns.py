"""The arrays of many shapes: columns over ShapeProtos, of which few objects are made."""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from tbprof._pb import message
from tbprof.analysis.hlo.hlo_shapes import Layout, Shape, array_of, read_layout
from tbprof.analysis.hlo.messages import DamagedMessage, Messages

# Fields of ShapeProto. Source: xla_data.proto.
_TYPE, _SIZES, _PARTS, _LAYOUT = 2, 3, 4, 5
_TUPLE = 13  # PrimitiveType.TUPLE


class ShapeColumns:
    """The arrays of ShapeProtos. Raises DamagedMessage."""

    def __init__(self, protos: Sequence[bytes]) -> None:
        content = np.frombuffer(b"".join(protos), np.uint8)
        ends = np.array([*accumulate(map(len, protos), initial=0)], np.int32)
        shapes = Messages(content, ends[:-1], ends[1:])
        owner, parts = shapes.parts(_PARTS)
        self._parts = (len(shapes) + _firsts(owner, len(shapes))).data
        # The rows of the parts follow those of the shapes.
        arrays = Messages(content, np.append(shapes.at, parts.at), np.append(shapes.end, parts.end))
        self._type = arrays.numbers(_TYPE)[0].data
        owner, sizes = arrays.lists(_SIZES)
        self._sizes, self._first_size = sizes.data, _firsts(owner, len(arrays)).data
        texts = arrays.texts(_LAYOUT)
        layouts = {text: _layout(text) for text in set(texts)}
        self._layout = [layouts[text] for text in texts]

    def is_tuple(self, row: int) -> bool:
        """Whether a shape is a tuple."""
        return bool(self._type[row] == _TUPLE)

    def read(self, row: int) -> tuple[Shape, ...] | None:
        """The arrays in a shape as `read_shape` yields them, None for tuples in a tuple."""
        if not self.is_tuple(row):
            array = self._array(row)
            return () if array is None else (array,)
        parts = range(self._parts[row], self._parts[row + 1])
        if any(map(self.is_tuple, parts)):
            return None
        return tuple([array for part in parts if (array := self._array(part)) is not None])

    def _array(self, row: int) -> Shape | None:
        sizes = self._sizes[self._first_size[row] : self._first_size[row + 1]]
        return array_of(self._type[row], tuple(sizes), self._layout[row])


def _firsts(owner: NDArray[np.int32], owners: int) -> NDArray[np.int64]:
    """[owners + 1] the first row that belongs to each owner."""
    return np.searchsorted(owner, np.arange(owners + 1))


def _layout(content: bytes) -> Layout:
    from google.protobuf.message import DecodeError

    try:
        return read_layout(message("xla.LayoutProto").FromString(content))
    except DecodeError as err:
        raise DamagedMessage from err
