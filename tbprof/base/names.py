"""Names that recorders give to planes, lines, stats and events, each with its source.

Source, unless stated otherwise: xla/tsl/profiler/utils/xplane_schema.h.
"""

from __future__ import annotations

HOST_PLANE = "/host:CPU"
METADATA_PLANE = "/host:metadata"
ENVIRONMENT_PLANE = "Task Environment"
GPU_PREFIX = "/device:GPU:"
TPU_PREFIX = "/device:TPU:"

XLA_OPS_LINE = "XLA Ops"
SPARSE_CORE_OPS_LINE = "Sparse Core Ops"
STEPS_LINE = "Steps"
SPARSE_CORE_STEPS_LINE = "Sparse Core Steps"
ASYNC_OPS_LINE = "Async XLA Ops"
# The program's own annotations on a core: `barrier-cores` is its wait for the other cores.
XLA_TRACE_LINE = "XLA TraceMe"
CORE_BARRIER = "barrier-cores"
# Its events are points of counters: power, load.
COUNTERS_LINE = "_counters_"

# Lines that post-processing has added, recognised by the low 32 bits of their id.
DERIVED_FIRST = 0xDEADBEEF
DERIVED_LAST = DERIVED_FIRST + 389

# Op of a GPU event: the outermost annotation. Files of 2020 call it "level 0", and the whole
# annotation stack "annotation" (observed).
TF_OP = "tf_op"
LEVEL_0 = "level 0"
ANNOTATION = "annotation"
HLO_OP = "hlo_op"
HLO_MODULE = "hlo_module"
# The framework op of the innermost instruction. Source: xla/service/gpu/runtime/annotation.cc.
HLO_NAME = "name"
PROGRAM_ID = "program_id"
SYMBOL_ID = "symbol_id"
HLO_PROTO = "Hlo Proto"
EQUATION = "equation"
KERNEL_DETAILS = "kernel_details"
IS_EAGER = "is_eager"
IS_FUNCTION = "is_func"
GROUP_ID = "group_id"
STAGE_ID = "_ipl_stage_id"
STAGE_CATEGORY = "_ipl_stage_cat"

DEVICE_OFFSET = "device_offset_ps"
DEVICE_DURATION = "device_duration_ps"
SELF_DURATION = "self_duration_ps"
HLO_CATEGORY = "hlo_category"
FLOPS = "flops"
MODEL_FLOPS = "model_flops"
BYTES_ACCESSED = "bytes_accessed"
MEMORY_BREAKDOWN = "memory_access_breakdown"

DEVICE_VENDOR = "device_vendor"
GPU_NAME = "gpu_device_name"
COMPUTE_MAJOR = "compute_cap_major"
COMPUTE_MINOR = "compute_cap_minor"

EAGER_EXECUTE = "EagerExecute"
JITTED = "PjitFunction("  # and the name of the function
# XLA on CPU marks the end of an asynchronous thunk with a second event with this prefix (observed).
THUNK_END = "end: "
# Runs instructions of a program that XLA compiled for CPUs, or goes on to run them.
RUNS_PROGRAM = "ThunkExecutor::Execute"
# JAX waits for an array and copies it: `float(x)`, `x.item()` and `numpy.asarray(x)`, with and
# without Python frames. Source: jax/_src/array.py, ArrayImpl._value.
READS_ARRAY = "np.asarray(jax.Array)"

# The details of a copy: `size:112 dest:4 async:0`.
MEMCPY_DETAILS = "memcpy_details"
# Names of the kinds of call of a tf.function; how often it has been traced, including that call.
TF_FUNCTION_CALL = "tf_function_call"
TRACING_COUNT = "tracing_count"
EAGER_OP = "eager_op"
# Frames of the Python tracer: `$file.py:12 function`, `$module function`.
PYTHON_FRAME = "$"
MEMORY_ALLOCATION = "MemoryAllocation"
MEMORY_DEALLOCATION = "MemoryDeallocation"

# Steps. Source: xla/tsl/profiler/utils/group_events.cc, preprocess_xplane.cc, and observed.
ROOT = "_r"  # the level of an event that begins a step
ASYNC = "_a"  # the event is asynchronous: neither inside nor around its thread's other events
PRODUCER_TYPE = "_pt"
PRODUCER_ID = "_p"
CONSUMER_TYPE = "_ct"
CONSUMER_ID = "_c"
CONSUMER_PROCESS = "_pid"
PROCESS_ID = "process_id"
CORRELATION_ID = "correlation_id"
# CUDA graphs: the graph and the node of a kernel; the start of the names that XLA gives to what it
# launches as a graph, a thunk or a computation. Source: OpenXLA, command_buffer_scheduling.cc.
GRAPH_ID = "cuda_graph_id"
GRAPH_NODE_ID = "cuda_graph_node_id"
COMMAND_BUFFER = "command_buffer"
DEVICE_ID = "device_id"
STEP_NAME = "step_name"
STEP_NUMBER = "step_num"
ITERATION = "iter_num"
GRAPH_TYPE = "graph_type"
# The execution of a function or graph, or an iterator of tf.data.
EXECUTION_ID = "id"
RUN_ID = "run_id"
REPLICA_ID = "replica_id"
QUEUE_ID = "queue_id"
QUEUE_ADDRESS = "queue_addr"
REQUEST_ID = "request_id"
DEVICE_ORDINAL = "device_ordinal"
CORE_TYPE = "core_type"

XLA_MODULES_LINE = "XLA Modules"
SPARSE_CORE_MODULES_LINE = "Sparse Core Modules"
OP_LINES = (XLA_OPS_LINE, SPARSE_CORE_OPS_LINE)
STEP_LINES = (STEPS_LINE, SPARSE_CORE_STEPS_LINE)
MODULE_LINES = (XLA_MODULES_LINE, SPARSE_CORE_MODULES_LINE)

# Executions that count as a step each if nothing marks steps.
IMPLICIT_ROOTS = frozenset(("FunctionRun", "SessionRun", "RunGraph"))
EXECUTOR = "ExecutorState::Process"
ROOT_LEVELS = {
    "TraceContext": 1,
    "BatchingSessionRun": 1,
    "ProcessBatch": 2,
    "OrbaxServing::ProcessBatch": 2,
}
ITERATOR_NEXT = frozenset(
    ("IteratorGetNextOp::DoCompute", "IteratorGetNextAsOptionalOp::DoCompute")
)
# Runs of the functions that a tf.data pipeline has captured.
CAPTURED_FUNCTIONS = frozenset(
    f"InstantiatedCapturedFunction::{how}"
    for how in ("Run", "RunWithBorrowedArgs", "RunInstantiated", "RunAsync")
)
ASYNC_FUNCTION = "InstantiatedCapturedFunction::RunAsync"
TPU_EXECUTE = "TpuExecuteOp"
ENQUEUE_REQUEST = "EnqueueRequestLocked"
REQUESTS = frozenset((
    "RunProgramRequest", "HostCallbackRequest", "TransferH2DRequest",
    "TransferPreprocessedH2DRequest", "TransferD2HRequest", "OnDeviceSendRequest",
    "OnDeviceRecvRequest", "OnDeviceSendRecvLocalRequest", "CustomWait",
    "OnDeviceSendRequestMulti", "OnDeviceRecvRequestMulti", "PjrtAsyncWait",
))  # fmt: skip
ENQUEUE_PROGRAM = "DoEnqueueProgram"
COMPLETE_CALLBACKS = "CompleteCallbacks"
# Events without duration: a function is handed to a thread pool, and runs there.
POOL_CONTEXT = 15
POOL_RECORD = "ThreadpoolListener::Record"
POOL_START = "ThreadpoolListener::StartRegion"
POOL_STOP = "ThreadpoolListener::StopRegion"
