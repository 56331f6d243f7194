"""What host events do by their names: names that recorders were seen to write."""

from collections.abc import Callable

import pytest
from helpers.promises.growth import is_linear
from traces import drawn_space

from tbprof.analysis.host import runtime_names
from tbprof.analysis.host.host_roles import Role, classify_host_names, host_types
from tbprof.analysis.vocabulary.phases import Phase

P, R = Phase, Role
# (name, without a device, with one)
NAMES = [
    # Python frames, instants, partners
    ("$train.py:30 train_step", R.FRAME, R.FRAME),
    ("$builtins isinstance", R.FRAME, R.FRAME),
    ("$<frozen abc>:117 __instancecheck__", R.FRAME, R.FRAME),
    ("end: dot.1", R.FRAME, R.FRAME),
    ("ThreadpoolListener::Record", R.FRAME, R.FRAME),
    ("MemoryAllocation", R.FRAME, R.FRAME),
    # waits
    ("$time sleep", R.WAIT, R.WAIT),
    ("$threading.py:589 wait", R.WAIT, R.WAIT),
    ("$queue.py:154 get", R.WAIT, R.WAIT),
    ("$<unknown> acquire", R.WAIT, R.WAIT),
    ("$array.py:631 block_until_ready", R.WAIT, R.WAIT),
    ("$array.py:631 _value", R.WAIT, R.WAIT),
    ("$api.py:2479 block_until_ready", R.WAIT, R.WAIT),
    ("$api.py:2490 try_to_block", R.WAIT, R.WAIT),
    ("$posix waitpid", R.WAIT, R.WAIT),
    ("$train.py:3 wait", R.FRAME, R.FRAME),
    ("NumDims WaitReady", R.WAIT, R.WAIT),
    # the runtime's memory
    ("Build buffer allocations", R.UPKEEP, R.UPKEEP),
    ("DeferredTpuAllocator::Allocate", R.UPKEEP, R.UPKEEP),
    ("tpu::System::AllocateAndFillTupleIndexTable=>Done", R.UPKEEP, R.UPKEEP),
    ("AllocateOutputBuffersWithInputReuse", R.UPKEEP, R.UPKEEP),
    ("PythonRefManager::CollectGarbage", R.UPKEEP, R.UPKEEP),
    ("CommonPjRtBuffer::Await", R.WAIT, R.WAIT),
    ("Wait for donation holds", R.WAIT, R.WAIT),
    ("ThunkExecutor::Execute (wait for completion)", R.WAIT, R.WAIT),
    ("BlockUntilReady", R.WAIT, R.WAIT),
    ("BlockHostUntilDone", R.WAIT, R.WAIT),
    ("Acquire semaphore", R.WAIT, R.WAIT),
    ("WaitForNotification", R.WAIT, R.WAIT),
    ("cuStreamSynchronize", R.WAIT, R.WAIT),
    ("cuCtxSynchronize", R.WAIT, R.WAIT),
    ("cuEventSynchronize", R.WAIT, R.WAIT),
    ("cudaDeviceSynchronize", R.WAIT, R.WAIT),
    ("hipStreamSynchronize", R.WAIT, R.WAIT),
    # input
    ("IteratorGetNextOp::DoCompute", P.INPUT, P.INPUT),
    ("IteratorGetNextAsOptionalOp::DoCompute", P.INPUT, P.INPUT),
    ("IteratorGetNext:IteratorGetNext", P.INPUT, P.INPUT),
    ("while/cond/IteratorGetNextAsOptional:IteratorGetNextAsOptional", P.INPUT, P.INPUT),
    ("MultiDeviceIteratorGetNextFromShard:MultiDeviceIteratorGetNextFromShard", P.INPUT, P.INPUT),
    ("EagerLocalExecute: IteratorGetNext", P.INPUT, P.INPUT),
    ("Iterator::Root::Prefetch", P.INPUT, P.INPUT),
    ("PrefetchConsume", P.INPUT, P.INPUT),
    ("a/InfeedEnqueueTuple:InfeedEnqueueTuple", P.INPUT, P.INPUT),
    ("MemcpyH2D", P.INPUT, P.INPUT),
    ("MEMCPYHtoD", P.INPUT, P.INPUT),
    ("cuMemcpyHtoDAsync_v2", P.INPUT, P.INPUT),
    ("DevicePut", P.INPUT, P.INPUT),
    ("DevicePutWithSharding", P.INPUT, P.INPUT),
    ("batched_device_put", P.INPUT, P.INPUT),
    ("batched_copy_array_to_devices_with_sharding", P.INPUT, P.INPUT),
    ("shard_args", P.INPUT, P.INPUT),
    ("TfrtTpuClient::BufferFromHostBuffer::TfrtTpuBuffer", P.INPUT, P.INPUT),
    ("tpu::System::TransferToDevice=>IssueEvent", P.INPUT, P.INPUT),
    ("$dataloader.py:701 __next__", P.INPUT, P.INPUT),
    # output
    ("MemcpyD2H", P.OUTPUT, P.OUTPUT),
    ("tpu::System::TransferFromDevice", P.OUTPUT, P.OUTPUT),
    ("PjRtStreamExecutorBuffer::ToLiteral", P.OUTPUT, P.OUTPUT),
    ("ArrayImpl.copy_to_host_async", P.OUTPUT, P.OUTPUT),
    ("x/OutfeedDequeue:OutfeedDequeue", P.OUTPUT, P.OUTPUT),
    ("EagerLocalExecute: WriteSummary", P.OUTPUT, P.OUTPUT),
    ("save/SaveV2:SaveV2", P.OUTPUT, P.OUTPUT),
    ("np.asarray(jax.Array)", R.WRAPPER, P.OUTPUT),
    # work ahead
    ("PrefetchProduce", R.BACKGROUND, R.BACKGROUND),
    ("InstantiatedCapturedFunction::RunAsync", R.BACKGROUND, R.BACKGROUND),
    # compilation
    ("backend_compile_and_load", P.COMPILATION, P.COMPILATION),
    ("lower_sharding_computation", P.COMPILATION, P.COMPILATION),
    ("trace_to_jaxpr_dynamic", P.COMPILATION, P.COMPILATION),
    ("PjRtCpuClient::Compile", P.COMPILATION, P.COMPILATION),
    ("TfrtTpuCompiler::Compile", P.COMPILATION, P.COMPILATION),
    ("CpuCompiler::RunBackend", P.COMPILATION, P.COMPILATION),
    ("JitCompiler::Compile", P.COMPILATION, P.COMPILATION),
    ("XlaCompilationCache::Compile", P.COMPILATION, P.COMPILATION),
    ("XlaCompile", P.COMPILATION, P.COMPILATION),
    ("HLO passes through layout assignment (jit_train_step)", P.COMPILATION, P.COMPILATION),
    ("HloPassPipeline(fusion)", P.COMPILATION, P.COMPILATION),
    ("XLA::TPU run hlo passes", P.COMPILATION, P.COMPILATION),
    ("ConvertVectorToLLVMPass", P.COMPILATION, P.COMPILATION),
    ("TaskDispatcher::dispatch", P.COMPILATION, P.COMPILATION),
    ("tf.function-graph_building", P.COMPILATION, P.COMPILATION),
    # launching
    ("cuLaunchKernel", R.ACTIVITY, P.KERNEL_LAUNCH),
    ("cudaLaunchKernel", R.ACTIVITY, P.KERNEL_LAUNCH),
    ("hipLaunchKernel", R.ACTIVITY, P.KERNEL_LAUNCH),
    ("cuGraphLaunch", R.ACTIVITY, P.KERNEL_LAUNCH),
    ("PjitFunction(train_step)", R.WRAPPER, P.KERNEL_LAUNCH),
    ("CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice", R.WRAPPER, P.KERNEL_LAUNCH),
    ("Scheduled TfrtTpuLoadedExecutable::Execute", R.WRAPPER, P.KERNEL_LAUNCH),
    ("TfrtCpuExecutable::Execute", R.WRAPPER, P.KERNEL_LAUNCH),
    ("DoEnqueueProgram", R.WRAPPER, P.KERNEL_LAUNCH),
    ("TpuExecuteOp", R.WRAPPER, P.KERNEL_LAUNCH),
    ("ThunkExecutor::Execute", P.HOST_COMPUTE, P.KERNEL_LAUNCH),
    ("ExecutorState::Process", P.HOST_COMPUTE, R.LAUNCHER),
    ("EagerKernelExecute", R.LAUNCHER, R.LAUNCHER),
    # ops and the host's collectives
    ("sequential_1/dense_1/Relu:_MklNativeFusedMatMul", P.HOST_COMPUTE, P.HOST_COMPUTE),
    ("PyFunc:PyFunc", P.HOST_COMPUTE, P.HOST_COMPUTE),
    ("jit(f)/jit(main)/dot_general:dot_general", P.HOST_COMPUTE, P.HOST_COMPUTE),
    ("allreduce/CollectiveReduce:CollectiveReduce", P.COLLECTIVES, P.HOST_COMPUTE),
    # wrappers and what nobody knows
    ("FunctionRun", R.WRAPPER, R.WRAPPER),
    ("EagerExecute", R.WRAPPER, R.WRAPPER),
    ("EagerLocalExecute: __inference_train_step_1410", R.WRAPPER, R.WRAPPER),
    ("TFE_Py_FastPathExecute_C", R.WRAPPER, R.WRAPPER),
    ("train", R.WRAPPER, R.WRAPPER),
    ("make batch", R.ACTIVITY, R.ACTIVITY),
    ("training data", R.ACTIVITY, R.ACTIVITY),
    ("epoch:one", R.ACTIVITY, R.ACTIVITY),
    ("", R.ACTIVITY, R.ACTIVITY),
]


def test_names_say_what_is_done():
    names = [name for name, _, _ in NAMES]
    found = zip(
        names,
        classify_host_names(names, has_device=False).tolist(),
        classify_host_names(names, has_device=True).tolist(),
        strict=True,
    )
    assert list(found) == NAMES


def test_hostile_names_take_no_time():
    parts = ("a:", "::", "w", "a/", "$", " ", "\n", "XLA ", "Wait", "a:A")

    def classifying(times: int) -> Callable[[], object]:
        hostile = [part * times for part in parts]
        return lambda: classify_host_names(hostile, has_device=True)

    assert is_linear(classifying, 100_000)


def roles(drawing: str, *, has_device: bool, wrappers=(), **more) -> dict[str, int]:
    plane = drawn_space({"/host:CPU": drawing}, **more).planes[0]
    types = host_types(plane.events(), has_device=has_device, wrappers=wrappers)
    texts = plane.strings.take(plane.types.name.tolist())
    return dict(zip(texts, types.role.tolist(), strict=False))


def test_what_launched_a_kernel_is_a_launch_whatever_its_name():
    stats = {"k": {"correlation_id": 7}, "m": {"correlation_id": 8}}
    drawing = "thread |kkk.mm.u"
    names = {"k": "void add<float>()", "m": "MemcpyH2D"}
    expected = {"void add<float>()": P.KERNEL_LAUNCH, "MemcpyH2D": P.INPUT, "u": R.ACTIVITY}
    assert roles(drawing, has_device=True, names=names, stats=stats) == expected
    expected["void add<float>()"] = R.ACTIVITY
    assert roles(drawing, has_device=False, names=names, stats=stats) == expected


def test_what_ran_instructions_of_a_program_computes():
    stats = {letter: {"hlo_op": "x"} for letter in "daei"}
    names = {"d": "dot.1", "a": "all-reduce.3", "e": "end: dot.1", "i": "infeed.2"}
    assert roles("thread |ddaaei.u", has_device=False, names=names, stats=stats) == {
        "dot.1": P.HOST_COMPUTE, "all-reduce.3": P.COLLECTIVES, "end: dot.1": R.FRAME,
        "infeed.2": P.INPUT, "u": R.ACTIVITY,
    }  # fmt: skip


def test_what_runs_a_program_counts_on_any_thread():
    plane = drawn_space({"/host:CPU": "t |aab"}, names={"a": "ThunkExecutor::Execute"}).planes[0]
    types = host_types(plane.events(), has_device=False)
    texts = plane.strings.take(plane.types.name.tolist())
    assert [text for text, runs in zip(texts, types.is_hlo[:-1], strict=True) if runs] == [
        "ThunkExecutor::Execute"
    ]


def test_marks_of_steps_functions_and_chosen_markers_only_wrap():
    stats = {"s": {"step_num": 1}, "r": {"_r": 1}, "f": {"tf_function_call": "concrete"}}
    found = roles("t |srfcu", has_device=False, wrappers=["c"], stats=stats)
    assert found == {**dict.fromkeys("srfc", R.WRAPPER), "u": R.ACTIVITY}


def test_an_op_is_work_even_where_it_marks_steps():
    names = {"m": "dense/MatMul:MatMul", "i": "IteratorGetNext:IteratorGetNext"}
    found = roles("t |mmiic", has_device=False, wrappers=[*names.values(), "c"], names=names)
    assert found == {names["m"]: P.HOST_COMPUTE, names["i"]: P.INPUT, "c": R.WRAPPER}


def test_single_ops_are_those_of_frameworks_and_of_programs():
    names = {"m": "dense/MatMul:MatMul", "d": "dot.1", "x": "ThunkExecutor::Execute",
             "e": "ExecutorState::Process", "i": "IteratorGetNext:IteratorGetNext"}  # fmt: skip
    stats = {letter: {"hlo_op": "x"} for letter in "dx"}
    plane = drawn_space({"/host:CPU": "t |mdxeiu"}, names=names, stats=stats).planes[0]
    types = host_types(plane.events(), has_device=False)
    texts = plane.strings.take(plane.types.name.tolist())
    is_op = [text for text, one in zip(texts, types.is_op[:-1], strict=True) if one]
    assert sorted(is_op) == ["dense/MatMul:MatMul", "dot.1"]


def test_stages_of_an_input_pipeline_are_input():
    stats = {"a": {"_ipl_stage_name": "decode"}}
    assert roles("t |aa", has_device=True, stats=stats) == {"a": P.INPUT}


def test_types_of_instants_alone_and_of_nothing_say_nothing():
    assert roles("t |.", has_device=True) == {}


@pytest.mark.parametrize("more", ["", "/", "/x", "/x:Await", "x/", " /::Wait"])
def test_no_pattern_looks_beyond_a_slash(more):
    """What precedes the first one decides, and is looked up once for all ops of a scope."""
    for name, _, _ in NAMES:
        text = name + more
        assert runtime_names.group_of_name(text) == runtime_names._find_group(text)
