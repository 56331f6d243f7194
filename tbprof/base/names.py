"""Names that recorders give to planes, lines, stats and events, each with its source.

Source, where nothing else is said: xla/tsl/profiler/utils/xplane_schema.h.
"""

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

# Lines that a post-processing step has added, recognised by the low 32 bits of their id.
DERIVED_FIRST = 0xDEADBEEF
DERIVED_LAST = DERIVED_FIRST + 389

# Op of a GPU event: the outermost annotation. Files of 2020 spell it "level 0", the whole
# annotation stack being "annotation" (observed).
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
# XLA on CPU marks the end of an asynchronous thunk by a second event of this prefix (observed).
THUNK_END = "end: "
