"""The tile sizes of matrix multiplication kernels, by kernel name.

Sources: naming of cuBLAS, CUTLASS, cuDNN (xmma), cuBLASLt (nvjet), and Tensile (hipBLASLt).
"""

from __future__ import annotations

import functools

from tbprof.base.lazy import regex

_TILE = regex(
    # ampere_bf16_s16816gemm_bf16_128x256_ldg8_…, cutlass_80_tensorop_s16816gemm_bf16_128x256_32x3_…
    r"gemm(?:_[a-z]{1,8}[0-9]{0,2}){0,4}_([0-9]{2,3})x([0-9]{2,3})(?![0-9])"
    # sm80_xmma_gemm_…_tilesize128x128x32_…
    r"|_tilesize([0-9]{2,3})x([0-9]{2,3})x"
    # nvjet_tst_128x256_64x4_…
    r"|\bnvjet_[a-z]{1,8}_([0-9]{2,3})x([0-9]{2,3})_"
    # Cijk_…_MT256x256x64_…
    r"|_MT([0-9]{2,3})x([0-9]{2,3})x"
)


@functools.lru_cache(maxsize=4096)
def tile_of(kernel: str) -> tuple[int, int] | None:
    """The two sizes of a kernel's tiles, rows and columns in either order; None if unknown."""
    match = _TILE.search(kernel[:4096])
    if match is None:
        return None
    first, second = (int(size) for size in match.groups() if size)
    return (first, second) if first and second else None
