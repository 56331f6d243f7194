"""Which kernels use Tensor Cores (AMD: Matrix Cores), and which ops could.

Kernel names are the evidence: no recorder counts the instructions. Sources: naming of cuBLAS,
cuDNN, CUTLASS, Triton and rocBLAS kernels; the patterns of NVIDIA libraries up to Ampere are those
that TensorFlow's profiler has used since 2020 (kernel_stats_utils.cc).
"""

import functools
import re

# Substrings of NVIDIA kernels. The first block is TensorFlow's list.
_NVIDIA = re.compile(
    "|".join(
        (
            r"16816|c1688|conv1x1|conv2d_c1_k1|dgrad_1x1_stride_2x2|direct_group",
            r"first_layer_wgrad_kernel|h1688|h884|hmma|i16832|i8816|s884|s1688",
            r"xmma_gemm|xmma_implicit_gemm|xmma_sparse_conv|xmma_sparse_gemm",
            r"xmma_warp_specialized_implicit_gemm",
            # Convolutions named by direction, and CUTLASS names that spell the instruction.
            r"xmma_[a-z]+_implicit_gemm|tensorop|_tensor\d+x\d+x\d+|wmma|i16864|d884|imma|dmma|qmma",
            # Hopper (wgmma), Blackwell (tcgen05, utcmma), cuBLASLt's own kernels since CUDA 12.
            r"wgmma|gmma|tcgen05|utcmma|\bnvjet_|cutlass3x_sm(?:9|10|12)\d|sm(?:90|100|120)a?_xmma",
            # Attention and Triton products, which only exist on Tensor Cores.
            r"fmha_|flash_(?:fwd|bwd)|_sdpa_|gemm_fusion_dot|triton_gemm|dot_fusion",
        )
    )
)
# Kernels of those families that compute on the ordinary cores, as their names say.
_NOT_NVIDIA = re.compile(r"_ffma_|_ffma\b|_simt_|cutlass_\d+_simt|_sgemm_|_dgemm_")
_AMD = re.compile(
    r"mfma|wmma|attn_fwd|bwd_kernel_|gtcx|_MI\d+x\d+x\d+", re.IGNORECASE
)
_AMD_NAMES = ("amd", "radeon", "instinct", "gfx")

_FIRST_TENSOR_CORES = 7  # Volta

_ELIGIBLE_TYPE = re.compile(
    r"_?(?:Fused)?(?:Batch|Sparse)?(?:MatMul|Conv2D|Conv3D)(?:V[23])?"
    r"|Conv[23]DBackprop(?:Filter|Input)(?:V2)?"
    r"|DepthwiseConv2dNative(?:Backprop(?:Filter|Input))?"
    r"|_?FusedConv2DBiasActivation|_FusedMatMulGrad|_?Einsum|CudnnRNN.*|XlaDot(?:V2)?|XlaConv(?:V2)?"
    r"|XlaEinsum|dot_general|conv_general_dilated|ragged_dot(?:_general)?"
)
_ELIGIBLE_NAME = re.compile(
    r"(?:Conv2D|Conv2DBackpropFilter|Conv2DBackpropInput|Conv3D|Conv3DBackprop(?:Filter|Input)V2"
    r"|DepthwiseConv2dNative|DepthwiseConv2dNativeBackprop(?:Filter|Input)|(?:\A|/)MatMul"
    r"|FusedMatMul|/CudnnRNN|XlaDot|XlaDotV2)(?:_\d+)?\Z"
    r"|BatchMatMul|CudnnRNNV|CudnnRNNForward|CudnnRNNBackprop|dot_general|conv_general_dilated"
)


@functools.lru_cache(maxsize=4096)
def uses_tensor_cores(kernel: str, vendor: str, device_name: str, compute_major: int) -> bool:
    """Whether the kernel of this (raw or demangled) name runs Tensor Core instructions.

    `vendor` is the plane's `device_vendor`, "" in files that lack it: then the device's name
    decides, NVIDIA where that says nothing. `compute_major` -1 is unknown; devices before Volta
    have no Tensor Cores, whatever a kernel is called.
    """
    maker = vendor.lower() or device_name.lower()
    if any(name in maker for name in _AMD_NAMES):
        return _AMD.search(kernel) is not None
    if 0 <= compute_major < _FIRST_TENSOR_CORES:
        return False
    return _NVIDIA.search(kernel) is not None and _NOT_NVIDIA.search(kernel) is None


@functools.lru_cache(maxsize=4096)
def is_eligible(op_name: str, op_type: str, equation: str) -> bool:
    """Whether the op could use Tensor Cores: a product or convolution by its type, else its name.

    Numbered names count (`MatMul_1`). An einsum is eligible when it multiplies exactly two
    inputs, which `equation` tells.
    """
    if equation and _is_product(equation):
        return True
    if op_type and _ELIGIBLE_TYPE.fullmatch(op_type):
        return True
    return _ELIGIBLE_NAME.search(op_name) is not None


def _is_product(equation: str) -> bool:
    inputs, arrow, output = equation.partition("->")
    return bool(arrow) and "->" not in output and inputs.count(",") == 1
