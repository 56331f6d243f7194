"""The result shapes of a program's instructions; each distinct one is read once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, TypeVar

from tbprof._pb import message
from tbprof.analysis.hlo.hlo_shapes import TUPLE, Shape, read_shape
from tbprof.analysis.hlo.host_copies import HOST_SPACE
from tbprof.analysis.hlo.shape_columns import ShapeColumns, tensor_of
from tbprof.analysis.hlo_messages.message_fields import Blob, DamagedMessage
from tbprof.analysis.hlo_messages.program_index import ProgramIndex
from tbprof.analysis.vocabulary.dtypes import Tensor
from tbprof.base.records import NamedTuple

_DEEPEST = 16
_MOST_ELEMENTS = 2**62
_T = TypeVar("_T")


class Returned(NamedTuple):
    """The arrays that an instruction returns, with layouts, and their total size in bytes.

    `is_array` is false for tuples, and for what is no array, such as a token.
    """

    shapes: tuple[Shape, ...]
    bytes: int
    is_array: bool


class Tensors(NamedTuple):
    """The tensors (and tokens) that an instruction returns, and whether one is in host memory."""

    tensors: tuple[Tensor, ...]
    is_in_host: bool


class ProgramShapes:
    """The results of a program's instructions, by row."""

    def __init__(self, index: ProgramIndex) -> None:
        self._index = index
        self._texts = index.shapes
        self._returned: dict[int, Returned] = {}
        self._tensors: dict[int, Tensors] = {}
        self._numbers = index.instructions.shape.data

    def number(self, row: int) -> int:
        """A number that instructions with equal result shapes share, -1 if unknown."""
        return self._numbers[row]

    def of(self, row: int) -> Returned:
        """The arrays that an instruction returns."""
        returned = self._returned.get(self._numbers[row])
        return returned or self._add(row, self._returned, self._read_returned)

    def tensors(self, row: int) -> Tensors:
        """The tensors that an instruction returns."""
        tensors = self._tensors.get(self._numbers[row])
        if tensors is not None:
            return tensors
        returned = self.of(row)
        if not returned.is_array or self._numbers[row] < 0:
            return self._add(row, self._tensors, self._read_tensors)
        [shape] = returned.shapes
        tensor = Tensor(shape.dtype, min(shape.elements, _MOST_ELEMENTS))
        tensors = self._tensors[self._numbers[row]] = Tensors((tensor,), shape.space == HOST_SPACE)
        return tensors

    def proto(self, row: int) -> Any:
        """The result shape of an instruction as a ShapeProto."""
        number = self._numbers[row]
        if number >= 0:
            return self._parse("xla.ShapeProto", self._texts[number])
        begin, end = self._index.instructions.message[:, row].tolist()
        return self._parse("xla.HloInstructionProto", self._index.blob[begin:end]).shape

    def _add(self, row: int, known: dict[int, _T], read: Callable[[int], _T]) -> _T:
        value, number = read(row), self._numbers[row]
        if number >= 0:
            known[number] = value
        return value

    def _read_returned(self, row: int) -> Returned:
        number, columns = self._numbers[row], self._columns
        shapes = columns.read(number) if columns is not None and number >= 0 else None
        if columns is not None and shapes is not None:
            return _returned(shapes, is_tuple=columns.is_tuple(number))
        proto = self.proto(row)
        return _returned(tuple(read_shape(proto)), is_tuple=proto.element_type == TUPLE)

    def _read_tensors(self, row: int) -> Tensors:
        number, columns = self._numbers[row], self._columns
        tensors = columns.tensors(number) if columns is not None and number >= 0 else None
        if tensors is not None:
            return Tensors(*tensors)
        proto = self.proto(row)
        return Tensors(tuple(_tensors(proto)), _is_in_host(proto))

    @cached_property
    def _columns(self) -> ShapeColumns | None:
        """Columns of the shapes, None if one is damaged."""
        try:
            return ShapeColumns(self._texts)
        except DamagedMessage:
            return None

    @cached_property
    def _parse(self) -> Callable[[str, Blob], Any]:
        """Parses a message; a damaged one is empty, as in the message of an instruction."""
        from google.protobuf.message import DecodeError

        def parse(name: str, content: Blob) -> Any:
            proto = message(name)()
            try:
                proto.ParseFromString(content)
            except DecodeError:
                proto.Clear()
            return proto

        return parse


def _returned(shapes: tuple[Shape, ...], *, is_tuple: bool) -> Returned:
    size = sum([shape.bytes for shape in shapes])
    return Returned(shapes, size, len(shapes) == 1 and not is_tuple)


def _is_in_host(shape: Any, depth: int = 0) -> bool:
    """Whether any array of a shape is in host memory."""
    if shape.element_type == TUPLE:
        parts = shape.tuple_shapes if depth < _DEEPEST else ()
        return any(_is_in_host(part, depth + 1) for part in parts)
    return bool(shape.layout.memory_space == HOST_SPACE)


def _tensors(shape: Any, depth: int = 0) -> Iterator[Tensor]:
    """The arrays of a shape, including those in its tuples."""
    if shape.element_type == TUPLE:
        for part in shape.tuple_shapes if depth < _DEEPEST else ():
            yield from _tensors(part, depth + 1)
        return
    yield tensor_of(shape.element_type, shape.dimensions)
