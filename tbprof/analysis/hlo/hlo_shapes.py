"""HLO shapes in device memory: their tiles and their padding."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tbprof.analysis.hlo.host_copies import HOST_SPACE
from tbprof.base.lazy import regex
from tbprof.base.records import NamedTuple

# The types of elements by number. Source: xla_data.proto, PrimitiveType.
_WORDS = (
    "primitive_type_invalid", "pred", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "f16",
    "f32", "f64", "tuple", "opaque_type", "c64", "bf16", "token", "c128", "f8e5m2", "f8e4m3fn",
    "s4", "u4", "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz", "s2", "u2", "f8e4m3", "f8e3m4", "s1",
    "u1", "f4e2m1fn", "f8e8m0fnu", "buffer", "f6e3m2fn", "f6e2m3fn",
)  # fmt: skip
TUPLE = _WORDS.index("tuple")
_MOST_DIMENSIONS = 64
_MOST_TEXT = 400
# `f32[5,<=1024,256]{2,1,0:T(8,128)(2,1)S(1)}`; the layout may be missing.
_SHAPE = regex(
    r"(?<![A-Za-z0-9_.%])([a-z][a-z0-9]{1,15})\[([0-9,?<=\s-]{0,400})\](?:\{([^{}]{0,200})\})?"
)
_TILES = regex(r"T((?:\([0-9,*]{1,60}\))+)")
_TILE = regex(r"\(([0-9,*]+)\)")
_SPACE = regex(r"S\(([0-9]{1,9})\)")
_WIDTH = regex(r"E\(([0-9]{1,4})\)")
_SIZE = regex(r"[0-9]{1,18}")
_BITS = regex(r"[a-z]+([0-9]{1,3})")
_OPCODE = regex(r"(?<=[\s})\]])([a-z][a-z0-9\-]*)\(")
_ATTRIBUTES = regex(r"\)(?:, [a-z_]+=|\Z)")
# In a tile: this dimension is joined with the next minor one. Source: xla/layout.h.
_JOINED = -(2**63)


# The fields of a Shape that its layout states: minor_to_major, tiles, space, width.
Layout = tuple[tuple[int, ...], tuple[tuple[int, ...], ...], int, int]


class Shape(NamedTuple):
    """An array: its type, sizes, order of dimensions and tiles.

    `minor_to_major` lists the dimensions, the fastest-varying one first. `tiles` are applied in
    order. `width` is the size of an element in bits, 0 for that of the type.
    """

    dtype: str
    sizes: tuple[int, ...]
    minor_to_major: tuple[int, ...] = ()
    tiles: tuple[tuple[int, ...], ...] = ()
    space: int = 0
    width: int = 0

    @property
    def order(self) -> tuple[int, ...]:
        """The dimensions, major first; in their own order if the layout does not state one."""
        default = tuple(range(len(self.sizes)))
        return (
            self.minor_to_major[::-1] if sorted(self.minor_to_major) == list(default) else default
        )

    @property
    def is_assumed(self) -> bool:
        """Whether the tiles are those of a TPU's registers because the layout states none.

        Arrays in host memory without tiles are not tiled.
        """
        return not self.tiles and self.space != HOST_SPACE

    @property
    def elements(self) -> int:
        """The number of elements; a dynamic dimension counts with its bound."""
        return math.prod(self.sizes)

    @property
    def padded(self) -> tuple[int, ...]:
        """The sizes that the first tile pads the dimensions to, in the order of `sizes`."""
        tile = self._tiles()[:1]
        out = list(self.sizes)
        for size, dimension in zip(reversed(tile[0] if tile else ()), self.order[::-1],
                                   strict=False):  # fmt: skip
            if size > 0:
                out[dimension] = -(-out[dimension] // size) * size
        return tuple(out)

    @property
    def padded_elements(self) -> int:
        """The number of elements including padding."""
        sizes = [self.sizes[dimension] for dimension in self.order]
        for tile in self._tiles():
            sizes = [1] * (len(tile) - len(sizes)) + sizes
            cut = len(sizes) - len(tile)
            counts, inner, joined = [], [], 1
            for size, step in zip(sizes[cut:], tile, strict=True):
                joined *= size
                if step > 0:
                    counts.append(-(-joined // step))
                    inner.append(step)
                    joined = 1
            sizes = [*sizes[:cut], *counts, *inner, *([joined] if joined != 1 else [])]
        return math.prod(sizes)

    @property
    def bits(self) -> int:
        """The bits of an element in memory; whole bytes unless the layout says otherwise."""
        return self.width or _bits(self.dtype)

    @property
    def bytes(self) -> int:
        """The bytes of its elements, without padding."""
        return -(-self.elements * self.bits // 8)

    @property
    def text(self) -> str:
        """The shape as HLO text, without the layout."""
        return f"{self.dtype}[{','.join(map(str, self.sizes))}]"

    @property
    def layout(self) -> str:
        """The layout as HLO text, "" if none is stated."""
        return _layout_text(self.minor_to_major, self.tiles, self.space)

    def _tiles(self) -> tuple[tuple[int, ...], ...]:
        return _native_tiles(self) if self.is_assumed else self.tiles


@functools.lru_cache(maxsize=256)
def _layout_text(
    minor_to_major: tuple[int, ...], tiles: tuple[tuple[int, ...], ...], space: int
) -> str:
    tiling = "".join(
        f"({','.join('*' if size < 0 else str(size) for size in tile)})" for tile in tiles
    )
    place = f"S({space})" if space else ""
    after = f":{f'T{tiling}' if tiling else ''}{place}" if tiling or place else ""
    order = ",".join(map(str, minor_to_major))
    return f"{{{order}{after}}}" if order or after else ""


def _native_tiles(shape: Shape) -> tuple[tuple[int, ...], ...]:
    """8 rows of 128 32-bit words; narrower types pack several rows into one (16 rows of 16 bit)."""
    if not shape.sizes:
        return ()
    if len(shape.sizes) == 1:
        return ((128,),)
    return ((8 * max(1, 32 // max(shape.bits, 8)), 128),)


@functools.lru_cache(maxsize=256)
def _bits(dtype: str) -> int:
    if dtype == "pred":
        return 8
    if dtype.startswith("c"):
        return {"c64": 64, "c128": 128}.get(dtype, 32)
    match = _BITS.match(dtype)
    return max(8, int(match[1])) if match else 32


class Padding(NamedTuple):
    """The bytes of an op's arrays without and with padding, and the array that wastes the most."""

    bytes: int
    padded_bytes: int
    worst: Shape | None
    is_assumed: bool

    @property
    def wasted(self) -> float:
        """The share of the bytes that is padding, NaN without bytes."""
        return 1 - self.bytes / self.padded_bytes if self.padded_bytes > 0 else math.nan


def padding_of(shapes: Iterable[Shape]) -> Padding:
    """The total padding of an op's operands and results."""
    held_bytes = padded_bytes = most_wasted = 0
    worst = None
    is_assumed = False
    for shape in shapes:
        bytes_, padded = shape.bytes, _padded_bytes(shape)
        held_bytes += bytes_
        padded_bytes += padded
        is_assumed |= shape.is_assumed and padded > bytes_
        if padded - bytes_ > most_wasted:
            most_wasted, worst = padded - bytes_, shape
    return Padding(held_bytes, padded_bytes, worst, is_assumed)


@functools.lru_cache(maxsize=16384)
def _padded_bytes(shape: Shape) -> int:
    """The bytes that an array occupies; cached, as programs have few shapes."""
    return -(-shape.padded_elements * shape.bits // 8)


def shapes_text(shapes: Sequence[Shape]) -> str:
    """Shapes with their layouts, as many as a table can show."""
    out: list[str] = []
    size = 0
    for shape in shapes:
        if size > _MOST_TEXT:
            return ", ".join([*out, "…"])
        out.append(_shape_text(shape))
        size += len(out[-1])
    return ", ".join(out)


@functools.lru_cache(2**14)
def _shape_text(shape: Shape) -> str:
    return shape.text + shape.layout


def largest_dtype(shapes: Sequence[Shape]) -> str:
    """The type of the largest array, "" without arrays."""
    largest = max(shapes, key=lambda shape: shape.elements, default=None)
    return "" if largest is None else largest.dtype


def read_shape(proto: Any, depth: int = 0) -> Iterator[Shape]:
    """The arrays of a ShapeProto, including those inside of tuples, but not tokens."""
    if proto.element_type == TUPLE:
        for part in proto.tuple_shapes if depth < 16 else ():
            yield from read_shape(part, depth + 1)
        return
    array = array_of(proto.element_type, tuple(proto.dimensions), read_layout(proto.layout))
    if array is not None:
        yield array


def array_of(element_type: int, sizes: tuple[int, ...], layout: Layout) -> Shape | None:
    """An array; None for what is none, such as a token, and for unknown sizes."""
    word = type_word(element_type)
    # Negative sizes are unbounded dimensions, whose real size is unknown.
    if not _is_array(word) or len(sizes) > _MOST_DIMENSIONS or (sizes and min(sizes) < 0):
        return None
    return Shape(word, sizes, *layout)


def read_layout(proto: Any) -> Layout:
    """The layout of an array as a LayoutProto states it."""
    tiles = proto.tiles
    return (
        tuple(proto.minor_to_major),
        tuple([tuple(tile.dimensions) for tile in tiles if tile.dimensions]) if tiles else (),
        proto.memory_space,
        proto.element_size_in_bits,
    )


def type_word(element_type: int) -> str:
    """The name of a PrimitiveType, "" if unknown."""
    return _WORDS[element_type] if 0 <= element_type < len(_WORDS) else ""


def parse_shapes(text: str) -> tuple[Shape, ...]:
    """The arrays in an HLO text, in its order.

    "(f32[8,100]{1,0:T(8,128)S(5)}, u32[])": Shape("f32", (8, 100), (1, 0), ((8, 128),), 5),
    Shape("u32", ())
    """
    shapes = []
    for match in _SHAPE.finditer(text):
        parts = [part for part in match[2].split(",") if part.strip()]
        sizes = [_SIZE.search(part) for part in parts]
        dimensions = tuple(int(size[0]) for size in sizes if size is not None)
        if (
            not _is_array(match[1])
            or len(dimensions) < len(parts)
            or len(dimensions) > _MOST_DIMENSIONS
        ):
            continue
        order, _, rest = (match[3] or "").partition(":")
        tiles = _TILES.search(rest)
        space, width = _SPACE.search(rest), _WIDTH.search(rest)
        shapes.append(
            Shape(
                match[1],
                dimensions,
                tuple(int(number) for number in _SIZE.findall(order)),
                tuple(map(_tile, _TILE.findall(tiles[1]))) if tiles else (),
                int(space[1]) if space else 0,
                int(width[1]) if width else 0,
            )
        )
    return tuple(shapes)


def split_text(text: str) -> tuple[str, str, str]:
    """(result, opcode, operands) of an instruction's text, "" for missing parts.

    "%a = f32[8]{0} negate(f32[8]{0} %b), metadata={...}"    ("f32[8]{0}", "negate", "f32[8]{0} %b")
    """
    _, equals, definition = text.partition(" = ")
    opcode = _OPCODE.search(definition) if equals else None
    if opcode is None:
        return definition, "", ""
    end = _ATTRIBUTES.search(definition, opcode.end())
    return (
        definition[: opcode.start()],
        opcode[1],
        definition[opcode.end() : end.start() if end else None],
    )


def _tile(text: str) -> tuple[int, ...]:
    parts = (part for part in text.split(",") if part)
    return tuple(int(part[:18]) if part.isdigit() else _JOINED for part in parts)


@functools.lru_cache(maxsize=256)
def _is_array(word: str) -> bool:
    return (
        word == "pred" or re.fullmatch(r"(?:[sufc]|bf)[0-9]{1,3}(?:e[0-9a-z]+)?", word) is not None
    )
