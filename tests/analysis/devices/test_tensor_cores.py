"""Which kernels run Tensor Core instructions, and which ops could."""

import pytest
from traces.programs import Program

from tbprof.analysis.devices.tensor_cores import CoreUse, core_name, core_use, is_amd, is_eligible
from tbprof.analysis.hlo.instruction import Fusion, read_fusion
from tbprof.analysis.hlo.module import Module
from tbprof.analysis.vocabulary.dtypes import Tensor

YES, NO, UNKNOWN = CoreUse.YES, CoreUse.NO, CoreUse.UNKNOWN

# TensorFlow's list since 2020, each in a name of its library's style.
SINCE_2020 = [
    "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x4_nn",
    "ampere_bf16_s16816gemm_bf16_128x64_ldg8_relu_f2f_tn",
    "volta_fp16_scudnn_fp16_c1688gemm_128x64",
    "volta_cdgemm_c1688_32x64",
    "cudnn_ampere_conv1x1_fprop",
    "void conv2d_c1_k1_nchw_hw_packed_kernel<float>",
    "dgrad_1x1_stride_2x2_kernel",
    "void cudnn::direct_group_conv_kernel",
    "first_layer_wgrad_kernel_sm70",
    "turing_h1688gemm_128x128_ldg8_nn",
    "turing_fp16_h1688cudnn_256x64_ldg8_relu_exp_small_nhwc_tn",
    "volta_h884gemm_64x128_ldg8_nn",
    "volta_fp16_h884cudnn_256x64_ldg8_relu_exp_small_nhwc_tn_v1",
    "sm70_xmma_gemm_f16f16_f16f16_f16_hmma",
    "ampere_int8_i16832gemm_int8_128x128_ldg16_relu_nn",
    "turing_int8_i8816cudnn_int8_256x128_ldg16_relu_small",
    "volta_s884gemm_fp16_64x128_ldg8_f2f_tn",
    "volta_s884gemm_fp16_128x128_ldg8_f2f_nn",
    "turing_s1688gemm_fp16_128x128_ldg8_f2f_nn",
    "turing_fp16_s1688cudnn_fp16_128x128_ldg8_wgrad",
    "sm80_xmma_gemm_bf16bf16_bf16f32_f32_nn_n_tilesize128x128x64",
    "sm80_xmma_implicit_gemm_fprop",
    "sm80_xmma_sparse_conv_fprop",
    "sm80_xmma_sparse_gemm_f16f16",
    "sm90_xmma_warp_specialized_implicit_gemm_fprop",
]
SINCE_HOPPER = [
    "sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_warpgroupsize1x1x1_g1_execute_segment_k_off_kernel",
    "sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc",
    "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT",
    "nvjet_qqtst_128x128_128x6_2x1_v_bz_TNT",
    "cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_void_f16_128x128x64",
    "void cutlass::device_kernel<cutlass3x_sm100_bf16gemm>",
    "void cutlass::Kernel2<cutlass_80_wmma_tensorop_s161616gemm_f16_16x16_128x2_nn_align8>",
    "void cutlass::Kernel2<cutlass_80_tensorop_d884gemm_128x64_16x3_nn_align1>",
    "ampere_int32_imma_16x8x32",
    "sm90_dmma_gemm",
    "wgmma_attention",
    "kernel_tcgen05_mma",
    "utcmma_blackwell_gemm",
    "gemm_fusion_dot_5_0",
    "triton_gemm_dot_36_0",
    "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128>>",
    "void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel",
    "fmha_cutlassF_f16_aligned_64x64_rf_sm80",
    "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7",
    "sm80_xmma_fprop_implicit_gemm_tensor16x8x16",
]
ORDINARY = [
    "volta_sgemm_128x64_nn",
    "ampere_sgemm_64x64_nn",
    "volta_dgemm_64x64_nn",
    "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas",
    "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x128_8x4_nn_align1>",
    "cutlass3x_sm90_simt_sgemm_f32",
    "fmha_cutlassF_f32_notaligned_64x64_rf_sm50",
    "void Eigen::internal::EigenMetaKernel<...>",
    "loop_add_fusion",
    "input_reduce_fusion_3",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
    "void at::native::lgamma_kernel",
    "gamma_minimax_kernel",
    "",
]
AMD_MATRIX = [
    "Cijk_Ailk_Bljk_HHS_BH_MT128x128x16_MI32x32x8x1_SN_1LDSB0",
    "Cijk_Alik_Bljk_mfma_f16",
    "MFMA_gemm",
    "kernel_wmma_f16",
    "attn_fwd",
    "bwd_kernel_dk_dv",
    "gtcx_igemm_fwd",
]


# Composable Kernel's attention as it is recorded, shortened.
CK_TILE = (
    "void ck_tile::kentry<ck_tile::gfx950_t, 1, ck_tile::{}Kernel<ck_tile::Problem<{}, float>>>"
)


def uses(kernels, **device):
    """(kernel, how it uses tensor cores) of each."""
    return [(kernel, core_use(kernel, **device)) for kernel in kernels]


def test_nvidia_names_tell_tensor_cores():
    kernels = SINCE_2020 + SINCE_HOPPER
    expected = [(kernel, YES) for kernel in kernels]
    assert uses(kernels, is_amd=False, compute_major=9) == expected
    assert uses(kernels, is_amd=False) == expected  # the capability is not known


@pytest.mark.parametrize("kernel", ORDINARY)
def test_kernels_on_ordinary_cores_do_not_count(kernel):
    assert core_use(kernel, is_amd=False, compute_major=9) == NO


@pytest.mark.parametrize(
    "kernel",
    [
        "void cutlass::Kernel2<cutlass_80_gemm_128x64>",
        "void my_matmul_kernel<__half>",
        "void conv2d_grouped_direct<__half>",
    ],
)
def test_products_whose_names_do_not_tell_are_unknown(kernel):
    assert core_use(kernel, is_amd=False, compute_major=8) == UNKNOWN
    assert core_use(kernel, is_amd=False, compute_major=6) == NO
    assert core_use(kernel, is_amd=True) == UNKNOWN


def test_gpus_before_volta_have_no_tensor_cores():
    kernels = SINCE_2020 + SINCE_HOPPER
    found = uses(kernels, is_amd=False, compute_major=6)
    assert found == [(kernel, NO) for kernel in kernels]


@pytest.mark.parametrize("kernel", AMD_MATRIX)
def test_amd_names_tell_matrix_cores(kernel):
    assert core_use(kernel, is_amd=True, compute_major=9) == YES


@pytest.mark.parametrize("kernel", ["_MI_", "x_MI16x16", "loop_fusion", "a_fixed_loader"])
def test_other_amd_kernels_do_not_count(kernel):
    assert core_use(kernel, is_amd=True) == NO


@pytest.mark.parametrize(
    ("kernel", "use"),
    [
        (CK_TILE.format("FmhaFwd", "std::bfloat16_t"), YES),
        (CK_TILE.format("FmhaFwdSplitKV", "_Float16, half"), YES),
        (CK_TILE.format("FmhaBwdDQDKDV", "std::bfloat16_t"), YES),
        (CK_TILE.format("FmhaFwd", "float"), UNKNOWN),
        # What prepares and ends the backward pass multiplies no tiles.
        (CK_TILE.format("FmhaBwdOGradDotO", "std::bfloat16_t"), NO),
        (CK_TILE.format("FmhaBwdConvertQGrad", "std::bfloat16_t"), NO),
        ("_ZN5aiter31fmha_fwd_hd128_bf16_causalE", UNKNOWN),
        ("void ck::kernel_gemm_xdl_cshuffle_v1<ck::GridwiseGemm<ushort>>", YES),
        ("Cijk_Ailk_Bljk_SB_MT64x64x16_SN_TT8_8_WG8_8_1", NO),
        ("Cijk_Ailk_Bljk_SB_MT64x64x16_SN", UNKNOWN),
        ("rocblas_gemv_kernel", NO),
        ("gemm_fusion_dot_6.kd", UNKNOWN),
    ],
)
def test_names_of_amd_libraries(kernel, use):
    assert core_use(kernel, is_amd=True) == use


def fusion(kind: str, *dtypes: str) -> Fusion:
    """A fusion that multiplies arrays of these types."""
    return Fusion(kind, tuple(Tensor(dtype, 64) for dtype in dtypes))


@pytest.mark.parametrize("of_amd", [True, False])
@pytest.mark.parametrize(
    ("dtypes", "use"),
    [
        (("bf16", "bf16"), YES),
        (("f16", "s4"), YES),
        (("f8e4m3fn", "f8e4m3fn"), YES),
        (("f32", "f32"), UNKNOWN),
        (("bf16", "f32"), UNKNOWN),
        (("f64", "f64"), UNKNOWN),
    ],
)
def test_products_of_triton_go_by_the_types_in_the_program(of_amd, dtypes, use):
    given = fusion("kCustom", *dtypes)
    assert core_use("gemm_fusion_dot_6.kd", is_amd=of_amd, fusion=given) == use


def test_fusions_that_are_emitted_element_by_element_use_none():
    for kind in ("kLoop", "kInput"):
        given = fusion(kind, "bf16", "bf16")
        assert core_use("loop_reduce_fusion_3", is_amd=True, fusion=given) == NO
        assert core_use("gemm_fusion_dot", is_amd=False, fusion=given) == NO


def test_of_library_calls_the_kernel_counts_and_not_the_call():
    program = Program()
    program.add("p", "parameter", "bf16[8]")
    program.add("call", "custom-call", "bf16[8]", "p").custom_call_target = "attention_matmul"
    module = Module(program.bytes())
    call = read_fusion(module, module.index.find("call"))
    assert core_use("populate_rng_state_kernel", is_amd=True, fusion=call) == NO
    assert core_use(AMD_MATRIX[0], is_amd=True, fusion=call) == YES


def test_who_made_a_gpu():
    assert is_amd("AMD", "")
    assert is_amd("", "AMD Instinct MI300X")
    assert not is_amd("Nvidia", "gfx")
    assert not is_amd("", "")
    assert core_name(is_amd=True) == "Matrix Cores"
    assert core_name(is_amd=False) == "Tensor Cores"


@pytest.mark.parametrize(
    "op_type",
    [
        "MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "_FusedMatMul",
        "_FusedBatchMatMulV2", "Conv2D", "Conv3D", "_FusedConv2D", "FusedConv2DBiasActivation",
        "Conv2DBackpropFilter", "Conv2DBackpropInput", "Conv3DBackpropFilterV2",
        "Conv3DBackpropInputV2", "DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropFilter",
        "DepthwiseConv2dNativeBackpropInput", "Einsum", "CudnnRNN", "CudnnRNNV3",
        "CudnnRNNBackpropV3", "XlaDot", "XlaDotV2", "XlaEinsum", "dot_general", "ragged_dot",
        "conv_general_dilated",
    ],
)  # fmt: skip
def test_products_and_convolutions_are_eligible_by_type(op_type):
    assert is_eligible("any/name", op_type, "")


@pytest.mark.parametrize(
    "op_type",
    ["Add", "Relu", "SparseMatMul", "MatMulish", "CudnnRNNParamsSize", "reduce_sum", "", "Unknown"],
)
def test_other_types_are_not(op_type):
    assert not is_eligible("any/name", op_type, "")


@pytest.mark.parametrize(
    "name",
    [
        "x/Conv2D", "x/Conv2D_1", "x/Conv2DBackpropFilter", "x/Conv2DBackpropInput", "x/Conv3D",
        "x/Conv3DBackpropFilterV2_7", "x/DepthwiseConv2dNative",
        "x/DepthwiseConv2dNativeBackpropFilter", "x/DepthwiseConv2dNativeBackpropInput",
        "a/MatMul", "a/MatMul_1", "MatMul", "MatMul_3", "FusedMatMul", "x/CudnnRNN", "XlaDot",
        "XlaDotV2", "x/BatchMatMulV2/y", "CudnnRNNV3", "CudnnRNNForward", "CudnnRNNBackprop",
        "jit(f)/dot_general", "jit(f)/conv_general_dilated",
    ],
)  # fmt: skip
def test_names_tell_where_types_do_not(name):
    assert is_eligible(name, "", "")


@pytest.mark.parametrize("name", ["a/MyMatMulish", "a/Add", "MatMul/ReadVariableOp", "Conv2D_x"])
def test_other_names_are_not_eligible(name):
    assert not is_eligible(name, "", "")


@pytest.mark.parametrize(
    ("equation", "expected"),
    [
        ("(ij,jk->ik)", True),  # in parentheses, as the recorder writes it
        ("ij,jk->ik", True),
        ("abc,cd->abd", True),
        ("(ii->i)", False),
        ("ij,jk,kl->il", False),
        ("ij,jk", False),
        ("a->b->c,d", False),
    ],
)
def test_an_einsum_is_eligible_when_it_multiplies_two_inputs(equation, expected):
    assert is_eligible("a/Einsum", "Einsum", equation) == expected
    assert is_eligible("a/b", "", equation) == expected


def test_an_equation_takes_nothing_from_other_ops():
    assert is_eligible("a/MatMul", "MatMul", "(ii->i)")
