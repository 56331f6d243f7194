"""The tools in menu order: what each needs, and the messages if it has nothing to show."""

from __future__ import annotations

from tbprof.base import names
from tbprof.tools.model.tool import Tool

_RECORD_AGAIN = "record again: the profiler was stopped before it wrote anything"
_NO_PROGRAMS = (
    "the trace has no compiled programs (HLO): XLA compiled nothing in it, or the recorder left "
    "the programs out"
)
_RECORD_PROGRAMS = (
    "record a program of JAX or PyTorch/XLA, or of TensorFlow with tf.function(jit_compile=True), "
    "and leave enable_hlo_proto on"
)
_NO_INSTRUCTIONS = (
    "the trace has no instruction of a compiled program: XLA compiled nothing that ran, or the "
    "recorder did not name what ran"
)
_RUN_PROGRAMS = (
    "run a jitted function of JAX, PyTorch/XLA or TensorFlow (jit_compile=True) while recording"
)

# To add a tool, add one module here, one folder in the frontend, and one entry: see
# examples/adding_a_tool.md. Their modules are imported when they build something.
TOOLS: tuple[Tool, ...] = (
    Tool(
        name="overview_page",
        label="Overview",
        short="Overview",
        content="names",
        absent_hint=_RECORD_AGAIN,
        empty="the trace has no steps, no ops and no device events",
        empty_hint="either nothing ran while it was recorded, or the recorder was set to leave "
        "events out (host_tracer_level 0)",
        params=("marker", "steps"),
        is_list=True,
    ),
    Tool(
        name="input_pipeline_analyzer",
        label="Input pipeline analyzer",
        short="Input",
        content="names",
        absent_hint=_RECORD_AGAIN,
        empty="the trace marks no steps, nothing in it repeats like steps, and it has no input ops",
        empty_hint="record a few steps with host tracing on, and mark them: "
        "tf.profiler.experimental.Trace('train', step_num=n, _r=1) or "
        "jax.profiler.StepTraceAnnotation('train', step_num=n)",
        params=("marker", "steps"),
        is_list=True,
    ),
    Tool(
        name="tf_data_bottleneck_analysis",
        label="tf.data bottleneck analysis",
        short="tf.data",
        planes=(names.HOST_PLANE,),
        content="iterators",
        absent="the trace has no host threads, where tf.data runs",
        absent_hint="record with host_tracer_level 1 or more, and the host among the workers",
        empty="the trace has no tf.data events: no input pipeline worked while it was recorded, or "
        "the program does not use tf.data",
        empty_hint="record a few steps that request batches, with host_tracer_level 2; in a JAX "
        "program, record with tf.profiler.experimental.Profile(logdir) around the same "
        "steps: jax.profiler does not record TensorFlow's threads",
        params=("graph_host", "input_pipeline", "rank"),
        usual=(("rank", "worst"),),
        is_list=True,
    ),
    Tool(
        name="framework_op_stats",
        label="Op stats",
        short="Op stats",
        also=("TensorFlow stats",),
        aliases=("tensorflow_stats",),
        content="names",
        empty="the trace has no ops, no calls of compiled functions and no annotations",
        empty_hint="either none of these ran while it was recorded, or the recorder was set to "
        "leave it out (host_tracer_level 0)",
        is_list=True,
    ),
    Tool(
        name="op_profile",
        label="Programs",
        short="Programs",
        also=("Op profile",),
        content="instructions",
        empty="the trace has no instruction of a compiled program that ran",
        empty_hint="XLA programs are recorded on GPUs and TPUs, and of JAX on CPUs, too "
        "(host_tracer_level 2); for other ops, see the op stats",
        params=("group_by", "rows", "row"),
    ),
    Tool(
        name="hlo_stats",
        label="HLO op stats",
        short="HLO ops",
        content="instructions",
        empty=_NO_INSTRUCTIONS,
        empty_hint=f"{_RUN_PROGRAMS}; see the op stats for ops that XLA does not compile",
        is_in_batches=True,
        is_detail=True,
    ),
    Tool(
        name="roofline_model",
        label="Roofline",
        short="Roofline",
        content="instructions",
        empty=_NO_INSTRUCTIONS,
        empty_hint=f"{_RUN_PROGRAMS}; see the kernel stats for what ran on a GPU",
        params=("per", "feeds"),
        usual=(("per", "op"), ("feeds", "1")),
        is_in_batches=True,
        is_detail=True,
        is_list=True,
        is_sparing=True,
    ),
    Tool(
        name="memory_viewer",
        label="Program memory",
        short="Program memory",
        content="programs",
        absent_hint=_RECORD_AGAIN,
        empty=_NO_PROGRAMS,
        empty_hint=_RECORD_PROGRAMS,
        params=(
            "module_name",
            "program_id",
            "memory_space",
            "program_host",
            "instant",
            "from_event",
            "to_event",
        ),
        is_detail=True,
    ),
    Tool(
        name="graph_viewer",
        label="Graph viewer",
        short="Graph",
        also=("HLO",),
        content="programs",
        absent_hint=_RECORD_AGAIN,
        empty=_NO_PROGRAMS,
        empty_hint=_RECORD_PROGRAMS,
        params=(
            "program_id",
            "module_name",
            "node_name",
            "type",
            "format",
            "graph_width",
            "merge_fusion",
            "show_metadata",
            "opened",
            "search",
            "first_line",
            "program_host",
        ),
        is_detail=True,
        is_chosen=True,
    ),
    Tool(
        name="kernel_stats",
        label="GPU kernel stats",
        short="Kernels",
        planes=(names.GPU_PREFIX,),
        content="kernels",
        absent="the trace has no GPU; kernels are recorded only on NVIDIA and AMD GPUs",
        absent_hint="for TPUs and CPUs, see the op stats",
        empty="the trace has GPUs, but no kernels that ran on them",
        empty_hint="either the GPUs ran nothing while the trace was recorded, or the recorder "
        "could not use CUPTI (ROCm: rocprofiler): another profiler may have held the "
        "GPU, or the driver restricts its counters to administrators "
        "(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES in the program's log)",
    ),
    Tool(
        name="memory_profile",
        label="Memory profile",
        short="Memory",
        planes=(names.HOST_PLANE,),
        content="allocations",
        absent="the trace has no host: allocations are recorded on host threads",
        absent_hint="record with the host tracer on: host_tracer_level of 1 or more",
        empty="no allocation was recorded",
        empty_hint="allocators of TensorFlow, and of JAX on GPUs and TPUs, record their "
        "allocations while the host tracer is on (host_tracer_level 2, the default): run some "
        "steps while recording; for JAX on a CPU, jax.profiler.device_memory_profile() shows the "
        "memory that arrays use",
        params=("memory_id", "at_ps", "from_ps", "to_ps"),
    ),
    Tool(
        name="pod_viewer",
        label="Pod viewer",
        short="Pod",
        absent_hint=_RECORD_AGAIN,
        empty="nothing in the trace shows where steps begin and end",
        empty_hint="mark the steps: tf.profiler.experimental.Trace('train', step_num=n, _r=1) "
        "around each step, or jax.profiler.StepTraceAnnotation('train', step_num=n) in JAX",
        params=("marker", "step", "steps"),
        rests_on_steps=True,
    ),
    Tool(
        name="trace_viewer",
        label="Trace viewer",
        short="Trace",
        aliases=("trace_viewer@",),
        absent_hint="record again: the file is empty",
        empty="the trace has no events",
        empty_hint=(
            "the program may have been idle while it was profiled: profile it while it works, for "
            "longer than one step"
        ),
        params=("start_time_ms", "end_time_ms", "derived", "max_gb"),
        is_streamed=True,
    ),
)
