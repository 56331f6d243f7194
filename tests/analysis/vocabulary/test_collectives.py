"""Which kernels and ops exchange data between devices."""

import pytest

from tbprof.analysis.vocabulary.collectives import is_collective_kernel, is_collective_op

KERNELS = [
    "ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevComm*, unsigned long, ncclWork*)",
    "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)",
    "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
    "ncclAllReduceRingLLKernel_sum_f32(ncclColl)",
    "ncclSendRecvKernel_copy_i8(ncclDevComm*)",
    "ncclSymDevKernel_AllGather_LL(ncclSymDevArgs)",
    "void ncclKernel_main<1>(…)",
    "NCCL_AllReduce",
    "rccl_main_kernel(ncclDevComm*)",
    "mscclKernel_Sum_half_Simple_false(ncclDevComm*)",
    "void mscclpp::allreduce7<__half>(…)",
    "void nvshmemi_collective_kernel<1>(…)",
    "nvshmemx_barrier_all_on_stream_kernel",
    "void stream_executor::gpu::AllReduceKernelImpl<float, 2>(…)",
    "void xla::gpu::RaggedAllToAllKernelImpl<long>(…)",
    "void tensorrt_llm::kernels::oneShotAllReduceKernel<__half, 8, true>(…)",
    "void tensorrt_llm::kernels::twoShotAllReduceKernel<__nv_bfloat16, 4>(…)",
    "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(…)",
    "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<1>(…)",
    "void multimem_all_reduce_kernel<c10::BFloat16>(…)",
    "void userbuffers_fp16_sum_inplace_gpu_rw<8>(…)",
    "void deep_ep::internode_ll::dispatch<true, false, 7168>(…)",
    "deep_ep::intranode::combine<__nv_bfloat16, 8>(…)",
    "_Z40ncclDevKernel_AllReduce_Sum_bf16_RING_LL24ncclDevKernelArgsStorageILm4096EE",
    "_ZN7deep_ep9intranode8dispatchILi8EEEvv",
]

OTHERS = [
    "void softmax<cub::BlockAllReduce<float, 128>>(…)",
    "void oneflow::cuda::WarpAllReduceSoftmax<float>(…)",
    "warp_all_reduce_norm(float*)",
    "void cub::DeviceReduceKernel<float>(…)",
    "input_reduce_fusion_3",
    "volta_sgemm_128x64_nn",
    "void f<ncclStub>(…)",
    "sincclear(float*)",
    "deep_epsilon(float*)",
    "",
]


@pytest.mark.parametrize("kernel", KERNELS)
def test_communication_kernels(kernel):
    assert is_collective_kernel(kernel)


@pytest.mark.parametrize("kernel", OTHERS)
def test_other_kernels(kernel):
    assert not is_collective_kernel(kernel)


@pytest.mark.parametrize(
    "text",
    [
        "all-reduce", "all-reduce fusion", "all-reduce-start", "all-reduce-done.12", "all-gather",
        "all-gather fusion", "all-reduce-scatter fusion", "reduce-scatter", "reduce-scatter.3",
        "all-to-all", "ragged-all-to-all", "collective-permute-start", "collective-permute-done",
        "collective-broadcast", "ALL-REDUCE", "all_gather_start", "wrapped_reduce_scatter",
    ],
)  # fmt: skip
def test_collective_ops(text):
    assert is_collective_op(text)


@pytest.mark.parametrize(
    "text",
    ["", "reduce", "fusion", "copy-start", "send", "async-collective-fusion", "all", "gather"],
)
def test_other_ops(text):
    assert not is_collective_op(text)
