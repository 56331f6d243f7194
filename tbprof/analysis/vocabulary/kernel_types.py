"""The element types that a GPU kernel computes in, by its name.

Sources: names of cuBLAS, cuBLASLt and cuDNN kernels as profilers show them; CUTLASS, library.py and
generator.py (names of operations); Tensile, KernelWriter (`Cijk_…`); the Itanium C++ ABI (mangled
names); CUDA and HIP vector types.
"""

from __future__ import annotations

import functools
import re

from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base.lazy import regex
from tbprof.base.records import NamedTuple

_64, _32, _TF32 = Phase.COMPUTE_64, Phase.COMPUTE_32, Phase.COMPUTE_TF32
_16, _8 = Phase.COMPUTE_16, Phase.COMPUTE_8


class NameTypes(NamedTuple):
    """The narrowest types in a kernel's name: floating-point, and integers with a stated width.

    `is_product` marks matrix products, convolutions and attention, whose names state the types that
    they multiply.
    """

    floating: Phase | None
    integer: Phase | None
    is_product: bool


# Complete words in lower case; names are split at everything except letters and digits.
_FLOAT_WORDS = {
    _64: "double double2 double3 double4 fp64 f64 float64 complex128 cudoublecomplex",
    _32: "float float2 float3 float4 fp32 f32 float32 complex64 cucomplex cufloatcomplex",
    _TF32: "tf32 tfloat32 xf32",
    _16: ("half half2 fp16 f16 f16x2 float16 bf16 bf16x2 bfloat16 bfloat162 bhalf w4a16 w8a16"),
    _8: (
        "fp8 f8 bf8 float8 e4m3 e5m2 e3m4 e4m3fn e5m2fn e4m3fnuz e5m2fnuz e4m3b11fnuz w8a8 w4a8 "
        "fp6 e3m2 e2m3 mxfp8 mxfp6 fp4 e2m1 e2m1fn nvfp4 mxfp4"
    ),
}
# Plain `int` and `long` are index types in nearly all templates, so they are ignored.
_INTEGER_WORDS = {
    _64: "int64 uint64 i64 u64",
    _32: "int32 uint32 i32 s32 u32",
    _16: "int16 uint16 i16 s16 u16",
    _8: "int8 uint8 i8 s8 u8 int4 uint4b qint8 quint8",
}
_FLOATS = {word: phase for phase, words in _FLOAT_WORDS.items() for word in words.split()}
_INTEGERS = {word: phase for phase, words in _INTEGER_WORDS.items() for word in words.split()}

_WORD = regex(r"[a-z0-9]+")
# English words that are not types.
_NO_TYPES = regex(
    r"half_(?:pixel|warp|tile|block|step|window|size|dim|rot)\w*|rotate_half|double_buffer\w*"
)
# cuDNN and cuBLASLt write the types of several tensors in one word: `tf32f32`, `e4m3bf16`.
_JOINED = regex(r"(?:tf32|bf16|fp16|fp32|f16|f32|f64|e4m3|e5m2|e2m1|i8|u8|s8|i32|s32)+")
_JOINED_PART = regex(r"tf32|bf16|fp16|fp32|f16|f32|f64|e4m3|e5m2|e2m1|i8|u8|s8|i32|s32")

# BLAS letters: `sgemm`, `hgemm`, `scudnn`.
_BLAS = regex(r"([sdhcz])(?:gemm|gemv|cudnn|trsm|trmm|symm|syrk|hemm|herk)[a-z]*\d*")
_BLAS_LETTER = {"s": _32, "c": _32, "d": _64, "z": _64, "h": _16}
# An instruction of the Tensor Cores: the letter of the accumulator; m, n and k; and CUTLASS's word
# for the type if it differs from the tensors'.
_MMA = regex(
    r"([hsdicz]|gz|gc)(884|1684|1688|16816|16832|16864|8816|8832|168128|161616|32816|83216"
    r"|\d{2,3}x\d{1,3}x\d{1,3})(tf32|bf16|f16|fp16)?(sp)?"
    r"(?:gemm|spgemm|cudnn|conv|fprop|dgrad|wgrad|trmm|symm|rank|syrk|her)?[a-z0-9]*"
)
# The k of sizes that are written without separators, and the type for each k: 256 bits of values.
_DEPTH = {
    "1684": 4, "16816": 16, "161616": 16, "32816": 16, "83216": 16,
    "16832": 32, "16864": 64,
}  # fmt: skip
_DEPTH_TYPE = {4: _TF32, 8: _TF32, 16: _16, 32: _8, 64: _8}
_GENERATION = regex(r"\bsm_?(\d{2,3})|_sm(\d{2,3})|cutlass_(\d{2})_|(volta|turing|ampere|hopper)_")
_GENERATIONS = {"volta": 70, "turing": 75, "ampere": 80, "hopper": 90}
# cuBLASLt since CUDA 12: types of A (and of B if they have 8 bits), compute, and output.
_NVJET = regex(r"\bnvjet_(?:sm\d+_)?([a-z])[a-z]{2,4}_")
_NVJET_LETTER = {
    "d": _64, "z": _64, "s": _32, "c": _32, "h": _16, "t": _16, "q": _8, "r": _8, "o": _8,
}  # fmt: skip
# AMD's Tensile: `Cijk_Ailk_Bljk_HHS_BH_…`: types of A and B, of C, and of the sum.
_TENSILE = regex(
    r"(?<![a-z0-9])cijkl?_a[a-z]+_b[a-z]+_(f8|b8|i8|4xi8|[sdhbcz])\w*?(?:_(mx|xf32)_|_|\Z)"
)
_TENSILE_TYPE = {
    "f8": _8, "b8": _8, "s": _32, "c": _32, "d": _64, "z": _64, "h": _16, "b": _16,
}  # fmt: skip
_PRODUCT = regex(
    r"gemm|gemv|matmul|conv(?!er)|cudnn|fprop|dgrad|wgrad|[hidqwxg_]mma|nvjet|fmha|sdpa|attention"
    r"|flash_?(?:fwd|bwd|attn|mla)|cutlass|tensorop|(?<![a-z0-9])cijkl?_|\bbmm_|contraction"
)
# Low-bit weights that are widened before they are multiplied.
_WEIGHT_ONLY = regex(r"fpa_?intb|marlin|gptq|awq|weight_?only|w[48]a16")

# In mangled names: built-in types, lengths of identifiers, and what is skipped: literals (`Li4E`),
# substitutions (`S1_`, `St`) and template parameters (`T_`).
_MANGLED = regex(r"(DF16_|DF16b|Dh|f|d)|([1-9]\d{0,3})|L[a-z]n?\d*E|S[0-9A-Z]*_|S[abdiost]|T\d*_")
_MANGLED_TYPES = {"DF16_": _16, "DF16b": _16, "Dh": _16, "f": _32, "d": _64}


@functools.lru_cache(maxsize=8192)
def is_product(kernel: str) -> bool:
    """Whether a kernel's name says that it is a matrix product, a convolution or attention."""
    return _PRODUCT.search(_readable(kernel)[0]) is not None


@functools.lru_cache(maxsize=8192)
def name_types(kernel: str, compute_capability: int = -1) -> NameTypes:
    """The types in a raw or demangled kernel name; `compute_capability` such as 80, -1 if unknown.

    "ampere_fp16_s16816gemm_fp16_64x64_ldg8_f2f_nn": 16 bit, a product.

    "void softmax<__half, float>(…)": 16 bit, as wider types accumulate.

    "resize<HalfPixelScaler, float>": 32 bit, as none of its words is `half`.
    """
    lower, builtin = _readable(kernel)
    floats = list(builtin)
    integers: list[Phase] = []
    generation = _find_generation(lower, compute_capability)
    for word in set(_WORD.findall(lower)):
        more_floats, more_integers = _types_in_word(word, generation)
        floats += more_floats
        integers += more_integers
    _read_families(lower, floats, integers)
    if floats and _WEIGHT_ONLY.search(lower):
        integers = []
        floats = [phase for phase in floats if phase != _8] or floats
    return NameTypes(max(floats, default=None), max(integers, default=None), is_product(kernel))


@functools.lru_cache(maxsize=8192)
def _readable(kernel: str) -> tuple[str, list[Phase]]:
    """(the words of a name in lower case, the built-in floating-point types of a mangled one)."""
    text, builtin = kernel[:4096], list[Phase]()
    if text.startswith("_Z"):
        text, builtin = _demangle(text)
    lower = text.lower()
    if "half" in lower or "double_buffer" in lower:
        lower = _NO_TYPES.sub(" ", lower)
    return lower, builtin


# Names of kernels consist of few words.
@functools.lru_cache(maxsize=8192)
def _types_in_word(word: str, generation: int) -> tuple[list[Phase], list[Phase]]:
    """(floating-point types, integer types) that one word names."""
    if word in _FLOATS:
        return [_FLOATS[word]], []
    if word in _INTEGERS:
        return [], [_INTEGERS[word]]
    if _JOINED.fullmatch(word):
        parts = _JOINED_PART.findall(word)
        return (
            [_FLOATS[part] for part in parts if part in _FLOATS],
            [_INTEGERS[part] for part in parts if part in _INTEGERS],
        )
    if blas := _BLAS.fullmatch(word):
        return [_BLAS_LETTER[blas[1]]], []
    mma = _MMA.fullmatch(word)
    phase = _instruction_type(mma, generation) if mma else None
    if mma is None or phase is None:
        return [], []
    return ([], [phase]) if mma[1] == "i" else ([phase], [])


def _instruction_type(mma: re.Match[str], generation: int) -> Phase | None:
    """The type that a Tensor Core instruction multiplies, None if its name does not state it."""
    letter, size, explicit, sparse = mma.groups()
    if explicit:
        return _FLOATS[explicit]
    if letter in ("d", "z", "gz"):
        return _64
    if letter == "i":
        return _8
    if letter == "h" or size == "884":
        return _16
    if size == "1688":
        # 16 bit on Turing; TF32 since Ampere, which multiplies 16 bits with k = 16.
        return None if generation < 0 else _TF32 if generation >= 80 else _16
    depth = int(size.rpartition("x")[2]) if "x" in size else _DEPTH.get(size, 0)
    # A sparse operand has half of the values.
    return _DEPTH_TYPE.get(depth // 2 if sparse else depth)


def _find_generation(lower: str, compute_capability: int) -> int:
    """The generation that a kernel was built for (80: Ampere), else that of the device."""
    match = _GENERATION.search(lower)
    if not match:
        return compute_capability
    number = match[1] or match[2] or match[3]
    return int(number) if number else _GENERATIONS[match[4]]


def _read_families(lower: str, floats: list[Phase], integers: list[Phase]) -> None:
    """Adds types that are single letters in the names of some libraries."""
    nvjet = _NVJET.search(lower) if "nvjet" in lower else None
    if nvjet and nvjet[1] in _NVJET_LETTER:
        floats.append(_NVJET_LETTER[nvjet[1]])
    tensile = _TENSILE.search(lower) if "cijk" in lower else None
    if tensile:
        if tensile[1].endswith("i8"):
            integers.append(_8)
        else:
            floats.append(_TF32 if tensile[2] else _TENSILE_TYPE[tensile[1]])
    if "ck::" in lower and re.search(r"\bushort\b|unsigned short", lower):
        floats.append(_16)  # Composable Kernel's bfloat16


def _demangle(mangled: str) -> tuple[str, list[Phase]]:
    """(its identifiers, the built-in floating-point types) of a mangled C++ name.

    "_Z4normI6__halffEvPKT_"    "norm __half", [32 bit]
    """
    identifiers: list[str] = []
    types: list[Phase] = []
    position = 2
    while position < len(mangled):
        part = _MANGLED.match(mangled, position)
        if part is None:
            position += 1
            continue
        position = part.end()
        if part[1]:
            types.append(_MANGLED_TYPES[part[1]])
        elif part[2]:
            identifiers.append(mangled[position : position + int(part[2])])
            position += int(part[2])
    return " ".join(identifiers), types
