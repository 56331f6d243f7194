"""The tiles of kernels that multiply matrices, by their names."""

import pytest

from tbprof.analysis.vocabulary.kernel_tiles import tile_of


@pytest.mark.parametrize(
    ("kernel", "tile"),
    [
        ("volta_h884gemm_64x128_ldg8_nn", (64, 128)),
        ("ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn", (128, 256)),
        ("void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_bf16_256x128_32x3_tn_align8>(…)",
         (256, 128)),
        ("sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x64x32_stage4_warpsize2x2x1",
         (128, 64)),
        ("nvjet_tst_192x128_64x5_2x1_v_bz_coopA_TNT", (192, 128)),
        ("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x240x64_MI16x16x1_CMS_SN", (256, 240)),
        ("ampere_sgemm_32x32_sliced1x4_nn", (32, 32)),
        # Other numbers are no tiles.
        ("gemm_fusion_dot_6", None),
        ("sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc", None),
        ("gemv2T_kernel_val<int, int, float, float, float, 128, 16, 4, 4>", None),
        ("ampere_sgemm_00x32_nn", None),
        ("loop_add_fusion", None),
        ("", None),
    ],
)  # fmt: skip
def test_kernels_name_their_tiles(kernel, tile):
    assert tile_of(kernel) == tile
