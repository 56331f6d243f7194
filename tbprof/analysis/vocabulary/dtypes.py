"""Element types by name, and the precision of work on tensors of given shapes."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base.lazy import regex
from tbprof.base.records import NamedTuple


class Tensor(NamedTuple):
    """The element type of an array, as HLO or TensorFlow names it, and its number of elements."""

    dtype: str
    elements: int


_FLOATS: dict[Phase, str] = {
    Phase.COMPUTE_64: "f64 c128 double float64 fp64 complex128",
    Phase.COMPUTE_32: "f32 c64 float float32 fp32 complex64",
    Phase.COMPUTE_16: "f16 bf16 half float16 fp16 bfloat16",
    Phase.COMPUTE_8: (
        "f8e5m2 f8e4m3 f8e4m3fn f8e4m3b11fnuz f8e5m2fnuz f8e4m3fnuz f8e3m4 f8e8m0fnu f4e2m1fn "
        "float8_e5m2 float8_e4m3fn float8_e4m3fnuz float8_e4m3b11fnuz float8_e5m2fnuz "
        "float4_e2m1fn"
    ),
}
_INTEGERS: dict[Phase, str] = {
    Phase.COMPUTE_64: "s64 u64 int64 uint64",
    Phase.COMPUTE_32: "s32 u32 int32 uint32 qint32",
    Phase.COMPUTE_16: "s16 u16 int16 uint16 qint16 quint16",
    Phase.COMPUTE_8: (
        "pred s8 u8 s4 u4 s2 u2 s1 u1 bool int8 uint8 int4 uint4 int2 uint2 qint8 quint8"
    ),
}
FLOATS = {word: phase for phase, words in _FLOATS.items() for word in words.split()}
INTEGERS = {word: phase for phase, words in _INTEGERS.items() for word in words.split()}

# `half[4,384]` of TensorFlow, `bf16[4,<=384]{1,0:T(8,128)}` of HLO.
_TENSOR = regex(r"(?<![A-Za-z0-9_.%])([a-z][a-z0-9_]{1,24}?)(?:_ref)?\[([0-9,?<=\s-]{0,400})\]")
_SIZE = regex(r"[0-9]{1,18}")


@functools.lru_cache(maxsize=8192)
def parse_tensors(text: str) -> tuple[Tensor, ...]:
    """The tensors in a text, in its order; unknown element types are ignored.

        "(half[4,384];float[])"              (half, 1536), (float, 1)
        "%a = bf16[8,2]{1,0} negate(...)"    (bf16, 16)

    Unknown sizes count as 1.
    """
    tensors = []
    for match in _TENSOR.finditer(text):
        if match[1] not in FLOATS and match[1] not in INTEGERS:
            continue
        elements = 1
        for size in _SIZE.findall(match[2]):
            elements = min(elements * int(size), 2**62)
        tensors.append(Tensor(match[1], elements))
    return tuple(tensors)


def widest_share(tensors: Iterable[Tensor], words: dict[str, Phase]) -> Phase | None:
    """The precision of most elements among the types in `words`, None if there are none.

    Of precisions with equally many elements, the widest.
    """
    elements: dict[Phase, int] = {}
    for tensor in tensors:
        phase = words.get(tensor.dtype)
        if phase is not None:
            elements[phase] = elements.get(phase, 0) + tensor.elements
    # A lower phase is a wider type.
    return max(elements, key=lambda phase: (elements[phase], -phase), default=None)
