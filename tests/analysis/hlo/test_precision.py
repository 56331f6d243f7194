"""In which precision kernels and ops compute: by names as recorders write them, and by shapes."""

from hypothesis import given
from hypothesis import strategies as st

from tbprof.analysis.hlo.instruction import Instruction
from tbprof.analysis.hlo.precision import hlo_precision, kernel_precision
from tbprof.analysis.vocabulary.dtypes import FLOATS, INTEGERS, Tensor, parse_tensors, widest_share
from tbprof.analysis.vocabulary.kernel_types import name_types
from tbprof.analysis.vocabulary.phases import COMPUTE, Phase

BITS = {
    "64": Phase.COMPUTE_64,
    "32": Phase.COMPUTE_32,
    "tf32": Phase.COMPUTE_TF32,
    "16": Phase.COMPUTE_16,
    "8": Phase.COMPUTE_8,
    "?": Phase.COMPUTE_UNKNOWN,
}

CUBLAS = [
    ("volta_sgemm_128x64_nn", "32"),
    ("ampere_sgemm_32x128_tn", "32"),
    ("ampere_dgemm_64x64_nn", "64"),
    ("volta_cgemm_64x32_tn", "32"),
    ("volta_zgemm_32x32_nn", "64"),
    ("volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", "16"),
    ("volta_h884gemm_256x64_ldg8_nn", "16"),
    ("turing_h1688gemm_256x128_nn", "16"),
    ("turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_stages_32x1_tn", "16"),
    # On Ada too, where a bare s1688 would multiply TF32.
    ("ampere_fp16_s1688gemm_fp16_128x128_ldg8_f2f_stages_32x1_nn", "16"),
    ("ampere_fp16_s16816gemm_fp16_64x64_ldg8_f2f_stages_64x5_tn", "16"),
    ("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", "16"),
    ("ampere_h16816gemm_128x64_ldg8_stages_64x4_nn", "16"),
    ("ampere_int8_i16832gemm_int8_256x128_ldg16_relu_mods_stages_64x3_nt", "8"),
    ("turing_int32_i8816gemm_int8_128x128_ldg16_nt", "8"),
    ("maxwell_fp16_sgemm_fp16_128x64_nn", "16"),
    ("sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x16_stage4_warpsize2x2x1", "tf32"),
    ("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma", "32"),
    ("sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_stage3", "16"),
    ("sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x128_warpgroupsize1x1x1", "8"),
    ("sm90_xmma_gemm_f64f64_f64f64_f64_nn_n_tilesize64x64x16", "64"),
    (
        "void gemv2T_kernel_val<int, int, __half, __half, __half, float, 128, 16, 4, 4, false>(…)",
        "16",
    ),
    ("void gemmSN_NN_kernel<float, 256, 4, 2, 8, 4, 4, false>(cublasGemmSmallNParams<…>)", "32"),
    ("void gemv2N_kernel<int, int, double, double, double, double, 128, 4>(cublasGemvP…)", "64"),
    # cuBLASLt: letters of A and B, compute, output.
    ("nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NTT", "16"),
    ("nvjet_tst_192x192_64x4_2x1_v_bz_coopA_TNT", "16"),
    ("nvjet_sm100_tst_64x32_64x16_2x1_2cta_h_bz_TNT", "16"),
    ("nvjet_qqtst_128x256_128x6_2x2_2cta_h_bz_Avec32UE8M0_Bvec32UE8M0_TNT", "8"),
    ("nvjet_sss_tf32_128x256_TNT", "tf32"),
    ("nvjet_ddd_64x64_16x4_TNN", "64"),
]

CUTLASS = [
    ("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x256_16x3_nn_align4>(…)", "tf32"),
    ("cutlass_80_tensorop_s1688tf32gemm_256x128_16x3_nt_align4", "tf32"),
    ("cutlass_80_tensorop_s1688bf16gemm_128x128_16x3_nt_align4", "16"),
    ("cutlass_75_tensorop_s1688gemm_f16_256x128_nt_align8", "16"),
    ("cutlass_75_tensorop_s1688gemm_256x128_nt_align8", "16"),
    ("void cutlass::Kernel<cutlass_80_tensorop_f16_s16816gemm_f16_256x128_32x3>(…)", "16"),
    ("cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8", "16"),
    ("cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1", "64"),
    ("cutlass_80_tensorop_i16832gemm_s8_256x128_64x3_tn_align16", "8"),
    ("cutlass_80_simt_sgemm_128x64_8x5_nn_align1", "32"),
    ("cutlass_80_simt_dgemm_128x64_8x4_nn_align1", "64"),
    ("cutlass_tensorop_s16816fprop_optimized_f16_256x128_64x3_nhwc_align8", "16"),
    ("cutlass_89_tensorop_s16832gemm_e4m3_128x128_64x3_tn_align16", "8"),
    ("cutlass_89_tensorop_s16832gemm_128x128_64x3_tn_align16", "8"),
    ("cutlass_80_tensorop_s16832spgemm_128x128_64x3_tn_align8", "16"),
    ("cutlass3x_sm90_tensorop_s64x256x16gemm_f16_f16_f32_void_f16_128x256x64_2x1x1_0_tnn", "16"),
    ("cutlass3x_sm90_tensorop_s64x128x8gemm_128x128x32_1x1x1_0_tnn_align4", "tf32"),
    ("cutlass3x_sm90_tensorop_gemm_e4m3_e4m3_f32_bf16_bf16_128x128x64_2x1x1_0_tnt", "8"),
    ("cutlass3x_sm90_tensorop_gemm_s8_s8_s32_s8_s8_128x128x128_2x1x1_0_tnn_align16", "8"),
    ("cutlass3x_sm100_tensorop_s256x256x32gemm_f8_f8_f32_f16_f16", "8"),
    (
        "void cutlass::device_kernel<flash::FlashAttnFwdSm90<2, cutlass::bfloat16_t, float>>(…)",
        "16",
    ),
    ("void cutlass::device_kernel<f<cutlass::float_e4m3_t, cutlass::bfloat16_t, float>>(…)", "8"),
]

CUDNN = [
    ("volta_scudnn_128x64_relu_interior_nn_v1", "32"),
    ("volta_fp16_s884cudnn_fp16_256x128_ldg8_relu_f2f_exp_interior_nhwc_tn_v1", "16"),
    ("volta_hcudnn_128x128_relu_interior_nn_v1", "16"),
    ("turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_small_nhwc_tn_v1", "16"),
    ("_5x_cudnn_volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", "32"),
    ("sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize256x64x32_st…", "16"),
    ("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x32x32", "tf32"),
    ("sm80_xmma_fprop_implicit_gemm_interleaved_i8i8_i8i32_f32_nchw_vect_c_32kcrs_vect_c", "8"),
    ("cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_7_64x128x64", "16"),
    ("void cudnn::cnn::wgrad2d_c1_k1_nhwc_kernel<__half, float, float, float, 3, …>(…)", "16"),
    ("void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(…)", "32"),
    ("void implicit_convolve_sgemm<__half, __half, 1024, 5, 5, 3, 3, 3, 1, true>(…)", "16"),
]

ATTENTION = [
    ("fmha_cutlassF_f16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel…)", "16"),
    ("fmha_cutlassF_bf16_aligned_64x128_rf_sm80", "16"),
    ("fmha_cutlassF_f32_aligned_64x64_rf_sm75", "32"),
    (
        "void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, cutlass::half_t>>(…)",
        "16",
    ),
    ("void pytorch_flash::flash_bwd_convert_dq_kernel<F<128, cutlass::bfloat16_t>>(…)", "16"),
    ("aiter::fmha_bwd_hd64_bf16_causal_a16_rtz_recompile", "16"),
    ("bmm_Bfloat16_E2m1E2m1_Fp32_bA16_bB16_t128x8x512", "8"),
    ("bmm_E4m3_E4m3E4m3_Fp32_t128x8x128_s6_et64x8_m64x8x32", "8"),
    ("void fpA_intB_gemm<__half, unsigned char, cutlass::half_t, uint8_t>(…)", "16"),
]

AMD = [
    ("Cijk_Ailk_Bljk_SB_MT64x64x16_MI32x32x2x1_SE_1LDSB0_APM1", "32"),
    ("Cijk_Ailk_Bljk_S_MX_B_Bias_HA_S_SAV_UserArgs_MT256x128x32_MI32x32x1", "tf32"),
    ("Cijk_Ailk_Bljk_DB_MT64x32x8_MI16x16x4x1_SN", "64"),
    ("Cijk_Alik_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN_1LDSB0", "16"),
    ("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_CMS_SN_LDSB0", "16"),
    ("Cijk_Alik_Bljk_F8F8S_BH_UserArgs_MT256x256x256_MI16x16x1_SN", "8"),
    ("Custom_Cijk_Alik_Bljk_F8B8BS_BH_Bias_HA_S_SAB_SAV_UserArgs_shortname1", "8"),
    ("Cijk_Alik_Bljk_I8II_BH_MT128x128x64_MI32x32x16x1", "8"),
    ("void ck::kernel_gemm_xdl_cshuffle_v1<ck::GridwiseGemm<_Float16, _Float16, float>>(…)", "16"),
    ("void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm<unsigned short, float>>(…)", "16"),
    ("igemm_fwd_gtcx_nhwc_fp16_bx0_ex0_bt128x128x32_wt32x32x8_ws1x1_wr2x2", "16"),
    ("miopenSp3AsmConv_v30_3_1_gfx9_fp32_f2x3_stride1", "32"),
    ("naive_conv_fwd_nchw_float_double_float", "32"),
]

OTHERS = [
    ("void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssignOp<…", "?"),
    ("FillPhiloxRandomKernelLaunch<UniformDistribution<PhiloxRandom, Eigen::half> >(…)", "16"),
    ("void tensorflow::BiasNCHWKernel<Eigen::bfloat16>(int, Eigen::bfloat16 const*)", "16"),
    ("void tensorflow::functor::ApplyAdamKernel<double>(int, double*, double*)", "64"),
    ("void softmax_warp_forward<c10::Half, c10::Half, float, 8, false, false>(…)", "16"),
    ("void at::native::vectorized_elementwise_kernel<4, AddFunctor<c10::BFloat16>>(…)", "16"),
    ("void at::native::reduce_kernel<512, 1, ReduceOp<float, MeanOps<float>, unsigned int>>", "32"),
    ("void transformer_engine::cast_transpose_kernel<__nv_fp8_e4m3, __nv_bfloat16, float>", "8"),
    ("void cub::DeviceRadixSortOnesweepKernel<int64_t, int>(…)", "64"),
    ("void quantize_s8<int8_t>(int)", "8"),
    ("triton_poi_fused_add_0", "?"),
    ("loop_multiply_fusion", "?"),
    ("void regular_fft<256u, EPT<16u>, 32u, (padding_t)1, double2>(…)", "64"),
    ("", "?"),
    # Words that only look like types.
    ("void ResizeBilinear<HalfPixelScaler, float>(float const*)", "32"),
    ("void resize_half_pixel_centers<float>(…)", "32"),
    ("rotate_half_kernel(float*)", "32"),
    ("void on_behalf_of_floating_point8(int)", "?"),
    ("void double_buffered_copy<int>(int)", "?"),
    ("void gamma_beta<__half, unsigned char>(…)", "16"),
    ("fusion_sm80_s32", "32"),
]  # fmt: skip

MANGLED = [
    ("_Z15LayerNormKernelI6__halffEvPKT_PT0_", "16"),
    ("_Z15LayerNormKernelIfEvPKT_", "32"),
    ("_Z15LayerNormKernelIdLi4EEvPKT_", "64"),
    ("_Z6kernelIDF16_EvPT_", "16"),
    ("_Z6kernelIDhEvPT_", "16"),
    ("_Z6kernelI13__nv_bfloat16fEvPT_", "16"),
    ("_ZN2at6native13reduce_kernelILi512EN3c104HalfEfEEvT0_", "16"),
    ("_ZN10tensorflow7functor4FillIN5Eigen4halfEEEvPT_", "16"),
    ("_Z4copyILi4EEvPKcPc", "?"),
    ("_Z", "?"),
    ("_Z99999999999f", "?"),  # hostile: no name is that long
    ("_Z", "?"),
    ("_ZDF16", "?"),
]


PRODUCTS = CUBLAS + CUTLASS + CUDNN + ATTENTION + AMD
NO_PRODUCTS = OTHERS + MANGLED


def test_the_precision_that_a_kernels_name_tells():
    kernels = PRODUCTS + NO_PRODUCTS
    found = [(kernel, kernel_precision(kernel)) for kernel, _ in kernels]
    assert found == [(kernel, BITS[bits]) for kernel, bits in kernels]


def test_products_are_known_by_their_names():
    assert [kernel for kernel, _ in PRODUCTS if not name_types(kernel).is_product] == []
    assert [kernel for kernel, _ in NO_PRODUCTS if name_types(kernel).is_product] == []


def test_an_instruction_that_two_generations_share_goes_by_the_device():
    kernel = "cutlass_tensorop_s1688gemm_128x128_16x5_nt_align4"
    found = [kernel_precision(kernel, compute_capability=version) for version in (75, 80, 90, -1)]
    unknown = Phase.COMPUTE_UNKNOWN
    assert found == [Phase.COMPUTE_16, Phase.COMPUTE_TF32, Phase.COMPUTE_TF32, unknown]


def instruction(operands=(), results=(), products=(), opcode="fusion") -> Instruction:
    read, made, multiplied = (
        parse_tensors(" ".join(part)) for part in (operands, results, products)
    )
    return Instruction(opcode, "", read, made, multiplied, "", is_host_transfer=False)


def test_a_products_name_comes_before_the_types_of_its_op():
    """Float tensors are multiplied as TF32 where the kernel says so."""
    tf32 = "cutlass_80_tensorop_s1688gemm_128x256_16x3_nn_align4"
    assert kernel_precision(tf32, None, "(float[8,8];float[8,8])") == Phase.COMPUTE_TF32
    dot = instruction(products=["f32[8,8]", "f32[8,8]"])
    assert kernel_precision(tf32, dot) == Phase.COMPUTE_TF32


def test_the_operands_of_a_fusions_product_are_its_precision():
    dot = instruction(["f32[1024,1024]", "s8[4]"], ["f32[4096,4096]"], ["bf16[8,8]", "bf16[8,8]"])
    assert kernel_precision("gemm_fusion_dot_12", dot) == Phase.COMPUTE_16
    quantized = instruction(["s8[8,8]", "s8[8,8]"], ["f32[8,8]"], ["s8[8,8]", "s8[8,8]"])
    assert kernel_precision("gemm_fusion_dot_13", quantized) == Phase.COMPUTE_8


def test_most_elements_decide_and_of_equally_many_the_wider():
    adam = instruction(["bf16[100]", "f32[100]", "f32[100]"], ["f32[100]", "f32[100]"])
    norm = instruction(["bf16[4,100]", "f32[100]"], ["bf16[4,100]"])
    convert = instruction(["bf16[100]"], ["f32[100]"])
    found = [kernel_precision("loop_fusion", one) for one in (adam, norm, convert)]
    assert found == [Phase.COMPUTE_32, Phase.COMPUTE_16, Phase.COMPUTE_32]


def test_shapes_tell_where_no_program_does():
    assert kernel_precision("k", None, "(half[4,384,1024];half[])") == Phase.COMPUTE_16
    assert kernel_precision("k", None, "(bfloat16[2];float[2,2];int64[9,9])") == Phase.COMPUTE_32
    assert kernel_precision("k<float>", None, "(half[8])") == Phase.COMPUTE_16


def test_floating_point_counts_before_integers_wherever_it_is_found():
    """The input of a random generator is the shape of its result."""
    kernel = "FillPhiloxRandomKernelLaunch<Uniform<PhiloxRandom, Eigen::half>>"
    assert kernel_precision(kernel, None, "(int32[3])") == Phase.COMPUTE_16
    assert kernel_precision("gather", None, "(int32[3];bool[1])") == Phase.COMPUTE_32
    assert kernel_precision("compare", None, "(bool[30];int32[1])") == Phase.COMPUTE_8
    assert kernel_precision("k", instruction(["s64[4]"], ["pred[4]"])) == Phase.COMPUTE_64


def test_texts_that_state_no_types_tell_nothing():
    for shapes in (
        "",
        "()",
        "(string[];resource[])",
        "half",
        "half[",
        "[4]",
        "xhalf[4]",
        "(f99[1])",
    ):
        assert kernel_precision("k", None, shapes) == Phase.COMPUTE_UNKNOWN
    assert parse_tensors("(half[?,384];float_ref[2])") == (Tensor("half", 384), Tensor("float", 2))
    assert parse_tensors(f"f32[{'9' * 18},{'9' * 18}]") == (Tensor("f32", 2**62),)


HLO = "%f = bf16[8,2]{1,0:T(8,128)} fusion(f32[8,8]{1,0} %a, pred[8]{0} %b), kind=kLoop, calls=%c"


def test_an_hlo_op_by_its_text():
    assert parse_tensors(HLO) == (Tensor("bf16", 16), Tensor("f32", 64), Tensor("pred", 8))
    assert hlo_precision(None, HLO, is_product=False) == Phase.COMPUTE_32
    product = "%c = f32[64,64]{1,0} convolution(bf16[8,64] %a, bf16[8,64] %b), dim_labels=bf_io"
    assert hlo_precision(None, product, is_product=True) == Phase.COMPUTE_16
    assert hlo_precision(None, product, is_product=False) == Phase.COMPUTE_32
    two = "%c = (f32[64]{0}, u32[]) fusion(bf16[8,8] %a, bf16[8,8] %b), kind=kOutput"
    assert hlo_precision(None, two, is_product=True) == Phase.COMPUTE_16
    alone = "fusion.1 = f32[64]"
    assert hlo_precision(None, alone, is_product=True) == Phase.COMPUTE_32
    assert hlo_precision(None, "", is_product=True) == Phase.COMPUTE_UNKNOWN
    int8 = "%c = s32[8,8] convolution(s8[8,8] %a, s8[8,8] %b)"
    assert hlo_precision(None, int8, is_product=True) == Phase.COMPUTE_8


def test_an_hlo_op_by_its_program_before_its_text():
    dot = instruction(products=["f8e4m3fn[8]", "f8e4m3fn[8]"])
    assert hlo_precision(dot, HLO, is_product=True) == Phase.COMPUTE_8
    assert hlo_precision(instruction(), HLO, is_product=False) == Phase.COMPUTE_32


def test_no_elements_at_all_still_have_a_type():
    assert widest_share([Tensor("f16", 0)], FLOATS) == Phase.COMPUTE_16
    assert widest_share([], FLOATS) is None
    assert widest_share([Tensor("s8", 1)], FLOATS) is None
    assert not FLOATS.keys() & INTEGERS.keys()


@given(st.text(alphabet="abdefhikloruzDFIKLPSTZ_0123456789:<>,() ", max_size=80), st.booleans())
def test_any_name_has_a_precision(text, is_mangled):
    assert kernel_precision(("_Z" if is_mangled else "") + text) in COMPUTE
