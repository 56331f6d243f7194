"""Recognizes kernels that use Tensor Cores (AMD: Matrix Cores), and ops that could.

The evidence is kernel names and compiled programs, since no recorder counts the instructions.
Sources: naming of cuBLAS, cuDNN, CUTLASS, Triton, rocBLAS and Composable Kernel; the patterns of
NVIDIA libraries up to Ampere are those that TensorFlow's profiler has used since 2020
(kernel_stats_utils.cc).
"""

from __future__ import annotations

import functools
import re
from enum import IntEnum
from typing import TYPE_CHECKING

from tbprof.analysis.vocabulary.dtypes import FLOATS, INTEGERS
from tbprof.analysis.vocabulary.kernel_types import is_product, name_types
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base.lazy import regex

if TYPE_CHECKING:
    from tbprof.analysis.hlo.instruction import Fusion

# Substrings of NVIDIA kernels: plain substrings are ten times faster than an alternation.
_NVIDIA = (
    # TensorFlow's list.
    "16816", "c1688", "conv1x1", "conv2d_c1_k1", "dgrad_1x1_stride_2x2", "direct_group",
    "first_layer_wgrad_kernel", "h1688", "h884", "hmma", "i16832", "i8816", "s884", "s1688",
    "xmma_gemm", "xmma_implicit_gemm", "xmma_sparse_conv", "xmma_sparse_gemm",
    "xmma_warp_specialized_implicit_gemm",
    # CUTLASS and cuDNN names that spell the instruction, also with integers and doubles.
    "tensorop", "wmma", "i16864", "d884", "d1684", "d1688", "d16816", "imma", "dmma", "qmma",
    # Hopper (wgmma) and Blackwell (tcgen05, utcmma), as Triton, cuDNN and CUTLASS write them.
    "gmma", "tcgen05", "utcmma",
    # Attention and XLA's Triton products, which compute on Tensor Cores.
    "fmha_", "flash_fwd", "flash_bwd", "_sdpa_", "gemm_fusion_dot", "triton_gemm",
)  # fmt: skip
_NVIDIA_PATTERN = regex(
    # cuDNN's convolutions named by direction, and its engines named by tile.
    r"xmma_[a-z]+_implicit_gemm|_tensor\d+x\d+x\d+"
    # cuBLASLt's own kernels since CUDA 12, and CUTLASS 3, which is for Hopper and later.
    r"|\bnvjet_|cutlass3x_sm(?:9|1[0-9])\d|sm(?:90|1[0-9]\d)[af]?_xmma"
)
# Kernels of these families that, by their names, compute on the ordinary cores.
_NOT_NVIDIA = regex(r"_ffma(?:_|\b)|_simt_|_sgemm_|_dgemm_|fmha_\w{0,200}_sm[56]\d")
# Products that compute on the ordinary cores by other names.
_ORDINARY = regex(r"(?<![a-z])[sd]gemm|gemv|[sd]cudnn|_simt_|_ffma(?:_|\b)|fmha_\w{0,200}_sm[56]\d")
_AMD = regex(
    r"mfma|wmma|(?-i:_MI\d+x\d+x\d+)|gtcx"
    # Triton's attention; Composable Kernel's products, whose name for the instructions is XDL.
    r"|attn_fwd|bwd_kernel_|[a-z_]_?xdl(?:ops)?(?![a-z])",
    re.IGNORECASE,
)
# Composable Kernel's attention and products: tiles that are multiplied, with the types in the name.
_CK_PRODUCT = regex(
    r"ck_tile::(?:Fmha(?:Fwd(?:SplitKV|PagedKV)?|BatchPrefill\w*|BwdDQDKDV)|\w*Gemm)Kernel"
    r"|aiter::fmha_(?:fwd|bwd)_hd"
)
# Other attention kernels, and products of other libraries without matrix instructions.
_NOT_AMD = regex(
    r"ck_tile::Fmha\w{0,200}Kernel|(?<![a-z0-9])Cijkl?_\w{0,400}_TT\d+_\d+|gemv|DeviceGemmDl|gemm_dl_"
)
# Products that XLA compiles with Triton: the multiplied types decide whether they use these cores.
_TRITON = regex(r"gemm_fusion_dot|triton_gemm")
_PHASES = {**FLOATS, **INTEGERS}
_NARROW = (Phase.COMPUTE_16, Phase.COMPUTE_8)
# XLA emits these kinds of fusion element by element.
_ELEMENTWISE = ("kLoop", "kInput")
_AMD_NAMES = ("amd", "radeon", "instinct", "gfx")

_FIRST_TENSOR_CORES = 7  # Volta

_EINSUM_TYPE = regex(r"_?Einsum|XlaEinsum(?:V\d)?")
_ELIGIBLE_TYPE = regex(
    r"_?(?:Fused)?(?:Batch)?MatMul(?:V[23])?|_?FusedMatMulGrad"
    r"|Conv|_?(?:Fused)?Conv[23]D|_?FusedConv2DBiasActivation"
    r"|Conv[23]DBackprop(?:Filter|Input)(?:V2)?"
    r"|_?(?:Fused)?DepthwiseConv2dNative|DepthwiseConv2dNativeBackprop(?:Filter|Input)"
    r"|_?Einsum|CudnnRNN(?:Backprop)?(?:V[23])?"
    r"|XlaDot(?:V2)?|XlaConv(?:V2)?|XlaEinsum(?:V\d)?"
    r"|dot_general|conv_general_dilated|ragged_dot(?:_general)?|scaled_(?:dot|matmul)\w*"
    r"|dot_product_attention\w*"
)
# Each eligible name contains one of these; searching for the pattern takes ten times as long.
_ELIGIBLE_WORDS = ("Conv", "MatMul", "Cudnn", "XlaDot", "dot_general", "conv_general")
_ELIGIBLE_NAME = regex(
    r"(?:Conv2D|Conv2DBackpropFilter|Conv2DBackpropInput|Conv3D|Conv3DBackprop(?:Filter|Input)V2"
    r"|DepthwiseConv2dNative|DepthwiseConv2dNativeBackprop(?:Filter|Input)|(?:\A|/)MatMul"
    r"|FusedMatMul|/CudnnRNN|XlaDot|XlaDotV2)(?:_\d+)?\Z"
    r"|BatchMatMul|CudnnRNNV|CudnnRNNForward|CudnnRNNBackprop|dot_general|conv_general_dilated"
)


class CoreUse(IntEnum):
    """Whether a kernel runs instructions of Tensor Cores or Matrix Cores."""

    UNKNOWN = -1
    NO = 0
    YES = 1


def core_use(
    kernel: str,
    *,
    is_amd: bool,
    compute_major: int = -1,
    fusion: Fusion | None = None,
) -> CoreUse:
    """Whether the kernel with this (raw or demangled) name uses Tensor Cores or Matrix Cores.

    `fusion` is the HLO fusion that launched it: one that is emitted element by element does not use
    them, and for one that Triton compiles, the types decide. `compute_major` is NVIDIA's, -1 if
    unknown: devices before Volta have no Tensor Cores, regardless of kernel names.
    """
    if not is_amd and 0 <= compute_major < _FIRST_TENSOR_CORES:
        return CoreUse.NO
    if fusion is not None:
        if fusion.kind in _ELEMENTWISE:
            return CoreUse.NO
        if fusion.products:
            if _TRITON.search(kernel):
                return CoreUse.YES if _is_narrow(fusion) else CoreUse.UNKNOWN
            return CoreUse.YES if _use_by_name(kernel, is_amd) == CoreUse.YES else CoreUse.UNKNOWN
    return _use_by_name(kernel, is_amd)


def _is_narrow(fusion: Fusion) -> bool:
    """Whether all operands of the products in a fusion have at most 16 bits."""
    return all(_PHASES.get(tensor.dtype) in _NARROW for tensor in fusion.products)


@functools.lru_cache(maxsize=8192)
def _use_by_name(kernel: str, is_amd: bool) -> CoreUse:
    if is_amd:
        return _use_on_amd(kernel)
    # `any(generator)` would take three times as long as this loop.
    for part in _NVIDIA:
        if part in kernel:
            return CoreUse.NO if _NOT_NVIDIA.search(kernel) else CoreUse.YES
    if _NVIDIA_PATTERN.search(kernel):
        return CoreUse.NO if _NOT_NVIDIA.search(kernel) else CoreUse.YES
    if _ORDINARY.search(kernel.lower()) or not is_product(kernel):
        return CoreUse.NO
    return CoreUse.UNKNOWN


def _use_on_amd(kernel: str) -> CoreUse:
    if _AMD.search(kernel):
        return CoreUse.YES
    types = name_types(kernel)
    if _CK_PRODUCT.search(kernel):
        return CoreUse.YES if types.floating in _NARROW else CoreUse.UNKNOWN
    if _NOT_AMD.search(kernel) or not types.is_product:
        return CoreUse.NO
    return CoreUse.UNKNOWN


def is_amd(vendor: str, device_name: str) -> bool:
    """Whether a GPU is AMD's, by its vendor or, if that is "", by its name.

    `vendor` is the plane's `device_vendor`, "" in files without it. If the name is not conclusive
    either, the GPU counts as NVIDIA's.
    """
    maker = vendor.lower() or device_name.lower()
    return any(name in maker for name in _AMD_NAMES)


def core_name(*, is_amd: bool) -> str:
    """The name of a GPU's matrix units, in the plural."""
    return "Matrix Cores" if is_amd else "Tensor Cores"


@functools.lru_cache(maxsize=4096)
def is_eligible(op_name: str, op_type: str, equation: str) -> bool:
    """Whether the op could use Tensor Cores: a product or convolution by its type, else its name.

    Numbered names count (`MatMul_1`). An einsum is eligible if it multiplies exactly two inputs
    according to `equation`; without an equation, it is assumed to be a product, since most are.
    """
    if equation:
        if _multiplies(equation):
            return True
        if _EINSUM_TYPE.fullmatch(op_type):
            return False
    if _is_eligible_type(op_type):
        return True
    # `any(generator)` would take three times as long as this loop.
    for word in _ELIGIBLE_WORDS:
        if word in op_name:
            return _ELIGIBLE_NAME.search(op_name) is not None
    return False


@functools.lru_cache(maxsize=4096)
def _is_eligible_type(op_type: str) -> bool:
    return _ELIGIBLE_TYPE.fullmatch(op_type) is not None


def _multiplies(equation: str) -> bool:
    inputs, arrow, output = equation.partition("->")
    return bool(arrow) and "->" not in output and inputs.count(",") == 1
