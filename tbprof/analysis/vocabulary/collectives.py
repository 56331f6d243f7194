"""Recognizes kernels and HLO ops that are collective communication.

Sources: NCCL, src/device/generate.py (`ncclDevKernel_AllReduce_Sum_f16_RING_LL`, before 2.19
`ncclKernel_…` and `ncclAllReduceRingLLKernel_…`); RCCL; NVSHMEM; MSCCL and MSCCL++; XLA,
all_reduce_kernel.h and ragged_all_to_all_kernel.h; TensorRT-LLM, vLLM and FlashInfer (custom
all-reduce kernels); Transformer Engine (userbuffers); DeepEP; HLO's opcodes.
"""

from __future__ import annotations

import functools
import re

from tbprof.analysis.vocabulary.name_families import remembered
from tbprof.base.lazy import regex

# Libraries that only communicate. Most kernels contain no name of any, and are not searched.
_LIBRARIES = ("nccl", "rccl", "nvshmem", "msccl", "deep_ep", "userbuffers_")
_LIBRARY = regex(
    r"(?:\A|[\s:_0-9])(?:nccl|rccl|nvshmem|msccl|deep_ep(?![a-z])|userbuffers_)", re.IGNORECASE
)
# Kernels that name the collective, in the part of their name before template arguments.
_COLLECTIVES = (
    "allreduce", "allgather", "reducescatter", "alltoall", "all2all", "crossdevicereduce",
    "sendrecv", "collectivepermute", "collectivebroadcast", "multimem",
)  # fmt: skip
_KERNEL = regex(
    r"all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|all2all|cross_device_reduce"
    r"|send_?recv|collective_?(?:permute|broadcast)|multimem_",
    re.IGNORECASE,
)
# Reductions within a block or a warp.
_NO_KERNEL = regex(r"(?:block|warp|thread|group)_?all_?reduce", re.IGNORECASE)
_BRACKET = regex(r"[<(]")
_HLO = (
    "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute",
    "collective-broadcast", "cross-replica-sum",
)  # fmt: skip


@functools.lru_cache(maxsize=8192)
def is_collective_kernel(kernel: str) -> bool:
    """Whether a GPU kernel of this (raw or demangled) name exchanges data between devices."""
    # `void f<…>(…)`: names in brackets belong to types, not to the kernel.
    name = _BRACKET.split(kernel[:4096].replace("(anonymous namespace)::", ""), maxsplit=1)[0]
    words = name.lower()
    if any(map(words.__contains__, _LIBRARIES)) and _LIBRARY.search(name):
        return True
    words = words.replace("_", "")
    if not any(map(words.__contains__, _COLLECTIVES)):
        return False
    return _KERNEL.search(name) is not None and _NO_KERNEL.search(name) is None


@remembered
def is_collective_op(text: str) -> bool:
    """Whether an HLO opcode, category or instruction name belongs to a collective.

    Starts, updates, dones and fusions count: "all-reduce-start.2", "all-gather fusion".
    """
    # Instruction names that were derived from an opcode may have underscores.
    return any(map(text.lower().replace("_", "-").__contains__, _HLO))
