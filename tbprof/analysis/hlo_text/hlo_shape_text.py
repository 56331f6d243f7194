"""HLO shapes as text, with their layouts."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

from tbprof._pb import message
from tbprof.analysis.hlo.hlo_shapes import type_word

_TUPLE, _BUFFER, _OPAQUE = 13, 34, 14  # PrimitiveType
_DEEPEST = 16
# In a tile: this dimension is joined with the next minor one. Source: xla/layout.h.
_JOINED = -(2**63)
_CACHED, _LARGEST_CACHED = 2**14, 2**10


def shape_text(shape: Any, *, has_layout: bool = True) -> str:
    """A ShapeProto as HLO writes it: "(f32[8,128]{1,0:T(8,128)}, u32[])".

    Every fifth part of a tuple is numbered.
    """
    encoded = shape.SerializeToString()
    if len(encoded) > _LARGEST_CACHED:
        return _text(shape, has_layout, 0)
    return _cached(encoded, has_layout)


@functools.lru_cache(_CACHED)
def _cached(encoded: bytes, has_layout: bool) -> str:
    return _text(message("xla.ShapeProto").FromString(encoded), has_layout, 0)


def numbered(texts: Sequence[str]) -> str:
    """Texts with commas, every fifth with its number: "a, b, c, d, e, /*index=5*/f"."""
    return ", ".join(
        f"/*index={number}*/{text}" if number and number % 5 == 0 else text
        for number, text in enumerate(texts)
    )


def _text(shape: Any, has_layout: bool, depth: int) -> str:
    if depth > _DEEPEST:
        return "..."
    if shape.element_type == _TUPLE:
        parts = [_text(part, has_layout, depth + 1) for part in shape.tuple_shapes]
        return f"({numbered(parts)})"
    if shape.element_type == _BUFFER and shape.tuple_shapes:
        return f"b({_text(shape.tuple_shapes[0], has_layout, depth + 1)})"
    sizes = ",".join(_sizes(shape))
    layout = _layout(shape.layout) if has_layout and shape.HasField("layout") else ""
    return f"{_word(shape.element_type)}[{sizes}]{layout}"


def _sizes(shape: Any) -> Iterator[str]:
    dynamic = shape.is_dynamic_dimension
    for axis, size in enumerate(shape.dimensions):
        if axis < len(dynamic) and dynamic[axis]:
            yield "?" if size < 0 else f"<={size}"
        else:
            yield str(size)


def _word(element_type: int) -> str:
    if element_type == _OPAQUE:
        return "opaque"
    # Types of newer XLA versions have no name here.
    return (type_word(element_type) if element_type else "") or f"type{element_type}"


def _layout(layout: Any) -> str:
    """Source of the order: XLA, Layout::Print."""
    parts = [
        f"T{''.join(f'({_tile(tile.dimensions)})' for tile in layout.tiles)}"
        if layout.tiles else "",
        f"L({layout.tail_padding_alignment_in_elements})"
        if layout.tail_padding_alignment_in_elements > 1 else "",
        f"E({layout.element_size_in_bits})" if layout.element_size_in_bits else "",
        f"S({layout.memory_space})" if layout.memory_space else "",
        f"SC{''.join(map(_split, layout.split_configs))}" if layout.split_configs else "",
    ]  # fmt: skip
    order, after = ",".join(map(str, layout.minor_to_major)), "".join(parts)
    if after:
        return f"{{{order}:{after}}}"
    return f"{{{order}}}" if order else ""


def _tile(sizes: Sequence[int]) -> str:
    return ",".join("*" if size == _JOINED else str(size) for size in sizes)


def _split(config: Any) -> str:
    return f"({config.dimension}:{','.join(map(str, config.split_indices))})"
