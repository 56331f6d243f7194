"""The elements of HLO constants as text."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tbprof._pb import message
from tbprof.base.records import NamedTuple

# The text of unknown elements: the field is missing, damaged, or of a newer format.
ELIDED = "{...}"
# Texts without large constants show at most this many elements, and no tuples. Source: XLA.
FEW_ELEMENTS = 10
_TUPLE = 13  # PrimitiveType.TUPLE
_MOST_DIMENSIONS = 64
_DEEPEST = 16


class _Float(NamedTuple):
    """A format of small floats: bits of the exponent and of the mantissa, and the bias.

    With `has_infinity`, the largest exponent is that of infinity and NaN, as in IEEE 754; otherwise
    it has finite values.
    """

    exponent: int
    mantissa: int
    bias: int
    has_infinity: bool = False
    is_fnuz: bool = False  # the negative zero is the only NaN
    has_nan: bool = True


_FLOATS = {
    "f8e5m2": _Float(5, 2, 15, has_infinity=True),
    "f8e4m3": _Float(4, 3, 7, has_infinity=True),
    "f8e3m4": _Float(3, 4, 3, has_infinity=True),
    "f8e4m3fn": _Float(4, 3, 7),
    "f8e4m3b11fnuz": _Float(4, 3, 11, is_fnuz=True),
    "f8e4m3fnuz": _Float(4, 3, 8, is_fnuz=True),
    "f8e5m2fnuz": _Float(5, 2, 16, is_fnuz=True),
    "f4e2m1fn": _Float(2, 1, 1, has_nan=False),
    "f6e3m2fn": _Float(3, 2, 3, has_nan=False),
    "f6e2m3fn": _Float(2, 3, 1, has_nan=False),
}
# Integers and booleans: the field, and for bytes the format of an element.
_INTEGERS = {
    "s16": "h", "u16": "H", "s8": "b", "u8": "B", "s4": "b", "u4": "B", "s2": "b", "u2": "B",
    "s1": "b", "u1": "B",
}  # fmt: skip
# The number of digits that distinguish all values of a type.
# Source: std::numeric_limits::max_digits10.
_DIGITS = {"f16": 5, "bf16": 4, "f8e5m2": 2, "f8e5m2fnuz": 2, "f4e2m1fn": 2}


def literal_text(blob: bytes, shape: Any, most: int) -> str:
    """The elements of a constant as HLO writes them, `{...}` if there are more than `most`.

    `blob` is a LiteralProto. Numbers have enough digits to distinguish all values of their type.

        f32[2,3]    { { 1, 2.5, 3e+10 }, { 4, inf, nan } }
    """
    from google.protobuf.message import DecodeError

    literal = message("xla.LiteralProto")()
    try:
        literal.ParseFromString(blob)
    except DecodeError:
        return ELIDED
    return _text(literal, shape, most, 0)


def _text(literal: Any, shape: Any, most: int, depth: int) -> str:
    if shape.element_type == _TUPLE:
        is_odd = len(literal.tuple_literals) != len(shape.tuple_shapes) or depth > _DEEPEST
        if is_odd or most <= FEW_ELEMENTS:
            return ELIDED
        parts = (
            _text(part, part_shape, most, depth + 1)
            for part, part_shape in zip(literal.tuple_literals, shape.tuple_shapes, strict=True)
        )
        return f"( {', '.join(parts)} )"
    sizes = list(shape.dimensions)
    count = 1
    for size in sizes:
        count *= max(size, 0)
        if count > most or len(sizes) > _MOST_DIMENSIONS:
            return ELIDED
    words = type(shape).DESCRIPTOR.fields_by_name["element_type"].enum_type.values_by_number
    word = words.get(shape.element_type)
    elements = None if word is None else _elements(literal, word.name.lower(), count)
    if elements is None:
        return ELIDED
    if word.name == "PRED" and sizes:
        elements = ["1" if element == "true" else "0" for element in elements]
    return next(_nested(elements, sizes)) if sizes else elements[0]


def _nested(elements: Sequence[str], sizes: Sequence[int]) -> Iterator[str]:
    """The texts of the arrays of a size, from the texts of all elements in row-major order."""
    texts = list(elements)
    for axis in range(len(sizes) - 1, -1, -1):
        size = sizes[axis]
        outer = 1
        for other in sizes[:axis]:
            outer *= other
        parts = [", ".join(texts[row * size : (row + 1) * size]) for row in range(outer)]
        # The braces of a one-dimensional array have no inner spaces, those of other arrays do.
        is_flat = len(sizes) == 1
        texts = [f"{{{part}}}" if is_flat or not part else f"{{ {part} }}" for part in parts]
    yield from texts


def _elements(literal: Any, dtype: str, count: int) -> list[str] | None:
    """The texts of the elements, None if the literal has too few."""
    values = _values(literal, dtype)
    if values is None or len(values) < count:
        return None
    write = _writer(dtype)
    return [write(value) for value in values[:count]]


def _values(literal: Any, dtype: str) -> Sequence[Any] | None:
    if dtype == "pred":
        return list(literal.preds)
    if dtype in ("c64", "c128"):
        parts = literal.c64s if dtype == "c64" else literal.c128s
        return list(zip(parts[::2], parts[1::2], strict=False))
    if not hasattr(literal, f"{dtype}s"):
        return None
    held = getattr(literal, f"{dtype}s")
    if not isinstance(held, bytes):
        return list(held)
    if dtype in ("f16", "bf16"):
        return _unpack("e", held) if dtype == "f16" else _bfloats(held)
    if dtype in _INTEGERS:
        width = 1 << int(dtype[1:])
        integers = _unpack(_INTEGERS[dtype], held)
        # Narrow integers take one byte each, whose upper bits are ignored.
        signed = width // 2 if dtype[0] == "s" else 0
        return [(value + signed) % width - signed for value in integers]
    if dtype == "f8e8m0fnu":
        return [float("nan") if byte == 255 else 2.0 ** (byte - 127) for byte in held]
    return [_small(byte, _FLOATS[dtype]) for byte in held] if dtype in _FLOATS else None


def _unpack(code: str, held: bytes) -> Sequence[Any]:
    count = len(held) // struct.calcsize(code)
    return struct.unpack(f"<{count}{code}", held[: count * struct.calcsize(code)])


def _bfloats(held: bytes) -> Sequence[float]:
    """bfloat16 is the upper half of float32."""
    count = len(held) // 2
    halves = struct.unpack(f"<{count}H", held[: 2 * count])
    return struct.unpack(f"<{count}f", struct.pack(f"<{count}I", *(half << 16 for half in halves)))


def _small(byte: int, kind: _Float) -> float:
    """The value of a float of 4 to 8 bits."""
    bits = kind.exponent + kind.mantissa
    sign = -1.0 if byte >> bits & 1 else 1.0
    exponent = byte >> kind.mantissa & (1 << kind.exponent) - 1
    mantissa = byte & (1 << kind.mantissa) - 1
    is_largest = exponent == (1 << kind.exponent) - 1
    if kind.is_fnuz and byte == 1 << bits:
        return float("nan")
    if kind.has_infinity and is_largest:
        return sign * (float("nan") if mantissa else float("inf"))
    is_ones = mantissa == (1 << kind.mantissa) - 1
    if kind.has_nan and not kind.is_fnuz and not kind.has_infinity and is_largest and is_ones:
        return sign * float("nan")
    if exponent == 0:
        return float(sign * mantissa * 2.0 ** (1 - kind.bias - kind.mantissa))
    return float(sign * (1 + mantissa / (1 << kind.mantissa)) * 2.0 ** (exponent - kind.bias))


def _writer(dtype: str) -> Callable[[Any], str]:
    if dtype == "pred":
        return lambda value: "true" if value else "false"
    if dtype in ("c64", "c128"):
        part = _single if dtype == "c64" else _double
        return lambda value: f"({part(value[0])}, {part(value[1])})"
    if dtype[0] in "su":
        return str
    if dtype in ("f32", "f64"):
        return _single if dtype == "f32" else _double
    digits = _DIGITS.get(dtype, 3)
    return lambda value: f"{value:.{digits}g}"


def _single(value: float) -> str:
    """The text with six digits if they suffice, else nine. Source: absl::StrCat."""
    short = f"{value:.6g}"
    return short if struct.pack("f", float(short)) == struct.pack("f", value) else f"{value:.9g}"


def _double(value: float) -> str:
    short = f"{value:.15g}"
    return short if float(short) == value else f"{value:.17g}"
