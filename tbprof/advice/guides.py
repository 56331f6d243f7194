"""The guides that findings link to."""

from __future__ import annotations

from tbprof.base.records import dataclass


@dataclass(frozen=True, slots=True)
class Guide:
    """A text for further reading."""

    title: str
    url: str

    def section(self, anchor: str) -> Guide:
        """A link to a section of this guide."""
        return Guide("Guide", f"{self.url}#{anchor}")


NO_GUIDE = Guide("", "")
# The guides that users of the TensorFlow profiler know, and pages that they link to.
_TENSORFLOW = "https://www.tensorflow.org/"
DATA_GUIDE = Guide(
    "Better performance with the tf.data API", f"{_TENSORFLOW}guide/data_performance"
)
DATA_ANALYSIS_GUIDE = Guide(
    "Analyze tf.data performance", f"{_TENSORFLOW}guide/data_performance_analysis"
)
GPU_GUIDE = Guide("Optimize GPU performance", f"{_TENSORFLOW}guide/gpu_performance_analysis")
PRECISION_GUIDE = Guide("Mixed precision", f"{_TENSORFLOW}guide/mixed_precision")
XLA_GUIDE = Guide("Compile with XLA", f"{_TENSORFLOW}xla/tutorials/jit_compile")
FUNCTION_GUIDE = Guide(
    "Better performance with tf.function", f"{_TENSORFLOW}guide/function#controlling_retracing"
)
JIT_GUIDE = Guide(
    "JAX: just-in-time compilation", "https://docs.jax.dev/en/latest/jit-compilation.html"
)
MEMORY_GUIDE = Guide(
    "Limit GPU memory growth", f"{_TENSORFLOW}guide/gpu#limiting_gpu_memory_growth"
)
TPU_GUIDE = Guide(
    "Cloud TPU performance guide", "https://cloud.google.com/tpu/docs/performance-guide"
)
TPU_OPS_GUIDE = Guide(
    "Cloud TPU: performance notes on ops",
    "https://cloud.google.com/tpu/docs/tensorflow-performance-guide",
)
OFFLOADING_GUIDE = Guide(
    "JAX memories and host offloading",
    "https://docs.jax.dev/en/latest/notebooks/host-offloading.html",
)
COMMAND_BUFFER_GUIDE = Guide(
    "JAX: GPU performance tips", "https://docs.jax.dev/en/latest/gpu_performance_tips.html"
)
CHECKPOINT_GUIDE = Guide(
    "JAX: gradient checkpointing",
    "https://docs.jax.dev/en/latest/gradient-checkpointing.html",
)
CALLBACKS_GUIDE = Guide(
    "JAX: external callbacks", "https://docs.jax.dev/en/latest/external-callbacks.html"
)
MULTISLICE_GUIDE = Guide(
    "Cloud TPU Multislice", "https://cloud.google.com/tpu/docs/multislice-introduction"
)
PROFILER_GUIDE = Guide("Profile a training loop", f"{_TENSORFLOW}guide/profiler")

# Sections of the guides of tf.data, and its API.
_API = f"{_TENSORFLOW}api_docs/python/tf/data/"
PREFETCHING = DATA_GUIDE.section("prefetching")
PARALLEL_READING = DATA_GUIDE.section("parallelizing_data_extraction")
PARALLEL_MAPPING = DATA_GUIDE.section("parallelizing_data_transformation")
CACHING = DATA_GUIDE.section("caching")
VECTORIZING = DATA_GUIDE.section("vectorizing_mapping")
MEMORY_FOOTPRINT = DATA_GUIDE.section("reducing_memory_footprint")
SOURCES = DATA_ANALYSIS_GUIDE.section("source_datasets")
TRANSFORMATIONS = DATA_ANALYSIS_GUIDE.section("transformation_datasets")
CPU_BOUND = DATA_ANALYSIS_GUIDE.section("3_are_you_reaching_high_cpu_utilization")
SERVICE = Guide("Guide", f"{_API}experimental/service")
OPTIONS = Guide("Guide", f"{_API}Options")
THREADING = Guide("Guide", f"{_API}ThreadingOptions")
OPTIMIZATIONS = Guide("Guide", f"{_API}experimental/OptimizationOptions")
DATASET = Guide("Guide", f"{_API}Dataset")
DALI = Guide("Guide", "https://docs.nvidia.com/deeplearning/dali/user-guide/docs/index.html")
TF_DATA_GUIDE = Guide("tf.data: build input pipelines", f"{_TENSORFLOW}guide/data")
PREFETCH_TO_DEVICE = Guide(
    "tf.data.experimental.prefetch_to_device", f"{_API}experimental/prefetch_to_device"
)
GRAIN = Guide("Grain", "https://google-grain.readthedocs.io/")
DEVICE_PUT = Guide(
    "jax.device_put", "https://docs.jax.dev/en/latest/_autosummary/jax.device_put.html"
)
