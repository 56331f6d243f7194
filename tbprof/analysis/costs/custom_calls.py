"""The costs of library calls that are known: matrix products, convolutions and attention.

The cost of any other call is unknown, not zero.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tbprof.analysis.costs.cost import UNKNOWN, Cost
from tbprof.analysis.costs.operations import Arrays, of_type, product_operations
from tbprof.analysis.costs.traffic import size_of
from tbprof.analysis.costs.windows import convolution_products
from tbprof.analysis.hlo.hlo_shapes import Shape
from tbprof.base.lazy import regex
from tbprof.base.records import NamedTuple

# `"lhs_contracting_dimensions":["1"]` in a backend_config, whose other contents depend on the
# version.
_CONTRACTED = regex(r'"lhs_contracting_dimensions"\s*:\s*\[([^\]]{0,200})\]')
_NUMBERS = regex(r"[0-9]{1,9}")
# `q_max_seqlen = 2048 : i64` of an attribute dictionary.
_ATTRIBUTE = regex(r"([a-z_]{1,64}) = (-?[0-9]{1,12}) : i64")
# [batch, heads, queries, keys] of the scores, the mask of keys for each query, and settings that
# exclude some keys: windows, several sequences in one, pages of keys.
_SCORES = regex(
    r'"intermediate_tensor_shape"\s*:\s*\{[^{}\[\]]{0,200}"dimensions"\s*:\s*\[([^\]]{0,200})\]'
)
_MASK = regex(r'"mask_type"\s*:\s*"([A-Z_]{1,40})"')
_PARTIAL = regex(
    r'"sliding_window_length"\s*:\s*"?[1-9]|"max_seg_per_batch"\s*:\s*"?(?:[2-9]|1[0-9])'
    r'|"is_paged_attention"\s*:\s*true'
)
# Element types of workspaces, which are not results.
_WORKSPACE = ("s8", "u8")

_PRODUCT_TARGET = "__cublas$"
# NVTE_Mask_Type of Transformer Engine: the keys that each query attends to.
_NO_MASK, _CAUSAL, _CAUSAL_BOTTOM_RIGHT = 0, 2, 4
_CUDNN_MASKS = {"NO_MASK": _NO_MASK, "CAUSAL": _CAUSAL}
_TE_SIZES = (
    "input_batch", "attn_heads", "q_max_seqlen", "kv_max_seqlen", "qk_head_dim", "v_head_dim",
)  # fmt: skip


def custom_call(arrays: Arrays) -> Cost:
    """The cost of a custom call, `UNKNOWN` if its target or its configuration is unknown."""
    target = arrays.proto.custom_call_target
    for prefix, count in _BY_TARGET.items():
        if target.startswith(prefix):
            return _counted(arrays, count)
    return UNKNOWN


def is_library_product(target: str) -> bool:
    """Whether a custom call multiplies two matrices with cuBLAS or an equivalent library."""
    return target.startswith(_PRODUCT_TARGET)


def _counted(arrays: Arrays, count: Callable[[Arrays], int | None]) -> Cost:
    try:
        cost = of_type([arrays.operand(0)], count(arrays))
    except (IndexError, ValueError):  # operands or dimensions that the file lacks
        return UNKNOWN
    if not cost.is_known:
        return UNKNOWN
    read = size_of(shape for shapes in arrays.operands for shape in shapes)
    return cost.moving(read, size_of(_returned(arrays.results)))


def _returned(results: Sequence[Shape]) -> Sequence[Shape]:
    """The results without a workspace, which comes last."""
    has_workspace = len(results) > 1 and results[-1].dtype in _WORKSPACE
    return results[:-1] if has_workspace and len(results[-1].sizes) == 1 else results


def _product(arrays: Arrays) -> int | None:
    left, right, returned = arrays.operand(0), arrays.operand(1), arrays.results[0]
    stated = _CONTRACTED.search(_configuration(arrays.proto))
    if stated:
        contracted = [int(number) for number in _NUMBERS.findall(stated[1])]
        return product_operations(left, returned, contracted)
    if not len(left.sizes) == len(right.sizes) == len(returned.sizes) == 2:
        return None  # the sizes do not show which dimensions are contracted
    # m k × k n = m n: the square root of all three is their product.
    return 2 * math.isqrt(left.elements * right.elements * returned.elements)


def _convolution(arrays: Arrays) -> int | None:
    """The operations; a gradient has as many products as its convolution."""
    first, second, returned = arrays.operand(0), arrays.operand(1), arrays.results[0]
    target = arrays.proto.custom_call_target
    parts = (first, second, returned)
    if target.startswith("__cudnn$convBackwardInput"):
        parts = (returned, second, first)
    elif target.startswith("__cudnn$convBackwardFilter"):
        parts = (first, returned, second)
    products = convolution_products(arrays.proto, *parts)
    return None if products is None else 2 * products


class _Attention(NamedTuple):
    """The sizes of an attention; `mask` says which keys each query attends to."""

    batch: int
    heads: int
    queries: int
    keys: int
    of_keys: int
    of_values: int
    mask: int


def _attention(sizes: _Attention | None, *, is_backward: bool) -> int | None:
    """The operations of an attention, None if unknown.

    For each pair of a query and a key, there are products over the dimension of keys and over that
    of values. The forward pass computes scores from keys, and sums of values. The backward pass
    computes scores again, and the gradients of queries, keys, values and scores. The program does
    not contain the sequence lengths that padding masks and windows leave.
    """
    pairs = None if sizes is None else _pairs(sizes.queries, sizes.keys, sizes.mask)
    if sizes is None or pairs is None:
        return None
    of_keys, of_values = (3, 2) if is_backward else (1, 1)
    width = of_keys * sizes.of_keys + of_values * sizes.of_values
    return 2 * sizes.batch * sizes.heads * pairs * width


def _transformer_engine(arrays: Arrays) -> int | None:
    sizes = _stated_sizes(_configuration(arrays.proto))
    is_backward = arrays.proto.custom_call_target.startswith("te_fused_attn_backward")
    return _attention(sizes, is_backward=is_backward)


@functools.lru_cache(64)  # layers of a model repeat
def _stated_sizes(configuration: str) -> _Attention | None:
    """The sizes as stated, None if some are missing, or if windows or segments leave out keys."""
    stated = dict(_ATTRIBUTE.findall(configuration))
    if any(name not in stated for name in (*_TE_SIZES, "mask_type")):
        return None
    windows = (int(stated.get(f"window_size_{side}", -1)) for side in ("left", "right"))
    if max(windows) >= 0 or int(stated.get("max_segments_per_seq", 1)) > 1:
        return None
    return _Attention(*(int(stated[name]) for name in (*_TE_SIZES, "mask_type")))


def _cudnn_attention(arrays: Arrays) -> int | None:
    """The operations of cuDNN's attention as `jax.nn.dot_product_attention` calls it.

    Arrays have the batch dimension first, and the dimension of a head last.
    Source: JAX, fused_attention_stablehlo.py.
    """
    configuration = _configuration(arrays.proto)
    scores, mask = _SCORES.search(configuration), _MASK.search(configuration)
    if scores is None or mask is None or mask[1] not in _CUDNN_MASKS:
        return None
    if _PARTIAL.search(configuration):
        return None
    batch, heads, queries, keys = map(int, _NUMBERS.findall(scores[1]))
    of_keys, of_values = arrays.operand(0).sizes[-1], arrays.operand(2).sizes[-1]
    sizes = _Attention(batch, heads, queries, keys, of_keys, of_values, _CUDNN_MASKS[mask[1]])
    return _attention(sizes, is_backward="Backward" in arrays.proto.custom_call_target)


def _pairs(queries: int, keys: int, mask: int) -> int | None:
    """The number of pairs of a query and a key, None if it depends on the data."""
    if mask == _NO_MASK:
        return queries * keys
    if mask not in (_CAUSAL, _CAUSAL_BOTTOM_RIGHT):
        return None
    # Query i attends to the keys up to i, counted from the start or from the end.
    first = 1 if mask == _CAUSAL else keys - queries + 1
    last = first + queries - 1
    below, above = max(first, 1), min(last, keys)
    rising = (below + above) * (above - below + 1) // 2 if above >= below else 0
    return rising + max(last - max(keys, first - 1), 0) * keys


def _configuration(proto: Any) -> str:
    return bytes(proto.backend_config).decode("utf-8", "replace")


_BY_TARGET: Mapping[str, Callable[[Arrays], int | None]] = {
    _PRODUCT_TARGET: _product,
    "__cudnn$conv": _convolution,
    "__cudnn$fmha": _cudnn_attention,
    "te_fused_attn": _transformer_engine,
}
