"""The shapes of a program's instructions, each different one read once."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from tbprof._pb import message
from tbprof.analysis.hlo.hlo_shapes import Shape, read_shape
from tbprof.analysis.hlo.host_copies import HOST_SPACE
from tbprof.analysis.hlo.program_index import ProgramIndex
from tbprof.analysis.vocabulary.dtypes import Tensor

_TUPLE = 13  # PrimitiveType.TUPLE
_DEEPEST = 16
_T = TypeVar("_T")


class Returned(NamedTuple):
    """What an instruction returns: arrays as they lie in memory, and the size of all of them."""

    shapes: tuple[Shape, ...]
    bytes: int


class Tensors(NamedTuple):
    """What an instruction returns: tensors, tokens among them; whether one is in host memory."""

    tensors: tuple[Tensor, ...]
    is_in_host: bool


class ProgramShapes:
    """What the instructions of a program return, by row; `read` is how a row's message is read."""

    def __init__(self, index: ProgramIndex, read: Callable[[int], Any]) -> None:
        self._texts = index.shapes
        self._read = read
        self._returned: dict[int, Returned] = {}
        self._tensors: dict[int, Tensors] = {}
        self._numbers = index.instructions.shape.data

    def number(self, row: int) -> int:
        """What instructions that return the same share, -1 if that is not known."""
        return self._numbers[row]

    def of(self, row: int) -> Returned:
        """What an instruction returns."""
        found = self._returned.get(self._numbers[row])
        return found or self._add(row, self._returned, _read_returned)

    def tensors(self, row: int) -> Tensors:
        """The same as tensors."""
        found = self._tensors.get(self._numbers[row])
        return found or self._add(row, self._tensors, _read_tensors)

    def proto(self, row: int) -> Any:
        """The same as a ShapeProto."""
        number = self._numbers[row]
        return self._read(row).shape if number < 0 else self._parse(self._texts[number])

    def _add(self, row: int, known: dict[int, _T], read: Callable[[Any], _T]) -> _T:
        found, number = read(self.proto(row)), self._numbers[row]
        if number >= 0:
            known[number] = found
        return found

    @cached_property
    def _parse(self) -> Callable[[bytes], Any]:
        """Parses a ShapeProto; of a damaged one, as in the message of an instruction, nothing."""
        from google.protobuf.message import DecodeError

        kind = message("xla.ShapeProto")

        def parse(content: bytes) -> Any:
            proto = kind()
            try:
                proto.ParseFromString(content)
            except DecodeError:
                proto.Clear()
            return proto

        return parse


def _read_returned(proto: Any) -> Returned:
    shapes = tuple(read_shape(proto))
    return Returned(shapes, sum(shape.bytes for shape in shapes))


def _read_tensors(proto: Any) -> Tensors:
    return Tensors(tuple(_tensors(proto)), _is_in_host(proto))


def _is_in_host(shape: Any, depth: int = 0) -> bool:
    """Whether an array of a shape lies in host memory."""
    if shape.element_type == _TUPLE:
        parts = shape.tuple_shapes if depth < _DEEPEST else ()
        return any(_is_in_host(part, depth + 1) for part in parts)
    return bool(shape.layout.memory_space == HOST_SPACE)


def _tensors(shape: Any, depth: int = 0) -> Iterator[Tensor]:
    """The arrays of a shape, including those in its tuples."""
    if shape.element_type == _TUPLE:
        for part in shape.tuple_shapes if depth < _DEEPEST else ():
            yield from _tensors(part, depth + 1)
        return
    elements = 1
    for size in shape.dimensions:
        elements = min(elements * max(size, 0), 2**62)
    words = type(shape).DESCRIPTOR.fields_by_name["element_type"].enum_type.values_by_number
    word = words.get(shape.element_type)
    yield Tensor(word.name.lower() if word is not None else "", elements)
