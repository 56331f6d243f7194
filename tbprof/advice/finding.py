"""What a finding is, and the words that findings share."""

import math
from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlencode

from tbprof.advice.gain import Gain
from tbprof.base.records import dataclass

Severity = Literal["high", "moderate", "low", "good"]
SEVERITIES: tuple[Severity, ...] = ("high", "moderate", "low", "good")


@dataclass(frozen=True, slots=True)
class Guide:
    """A text to read on."""

    title: str
    url: str


# The guide that the profiler's users know, and the texts that it leads to.
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
CALLBACKS_GUIDE = Guide(
    "JAX: external callbacks", "https://docs.jax.dev/en/latest/external-callbacks.html"
)
MULTISLICE_GUIDE = Guide(
    "Cloud TPU Multislice", "https://cloud.google.com/tpu/docs/multislice-introduction"
)
PROFILER_GUIDE = Guide("Profile a training loop", f"{_TENSORFLOW}guide/profiler")


@dataclass(frozen=True, slots=True)
class Page:
    """A page of ours: a tool, its name, and what the address adds to show a part of it."""

    tool: str
    label: str
    query: str = ""

    def showing(self, **filters: str) -> "Page":
        """The page with its table filtered: `f.<column>=<text>`."""
        return Page(
            self.tool, self.label, urlencode({f"f.{name}": text for name, text in filters.items()})
        )

    def choosing(self, **choices: str | int) -> "Page":
        """The page with something of it chosen, as its address says it."""
        return Page(self.tool, self.label, urlencode(choices))

    def marking(self, events: str = "", place: Mapping[str, str] | None = None) -> "Page":
        """The trace viewer with the events marked that a search for `events` finds.

        A text in slashes is a regular expression. `place` is what it opens on, as of `worst_row`.
        """
        is_regex = len(events) > 2 and events.startswith("/") and events.endswith("/")
        wanted = {"q": events[1:-1], "regex": "1"} if is_regex else {"q": events} if events else {}
        return Page(self.tool, self.label, urlencode({**wanted, **(place or {})}))


OVERVIEW = Page("overview_page", "Overview")
INPUT_PIPELINE = Page("input_pipeline_analyzer", "Input pipeline")
TF_DATA = Page("tf_data_bottleneck_analysis", "tf.data bottleneck analysis")
OPS = Page("framework_op_stats", "TensorFlow stats")
KERNELS = Page("kernel_stats", "GPU kernel stats")
MEMORY = Page("memory_profile", "Memory profile")
TRACE = Page("trace_viewer", "Trace viewer")
POD = Page("pod_viewer", "Pod viewer")


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim with its number, why it holds, what to do about it and what that would bring.

    `value` reached `threshold`, both in `unit`. `gain` never exceeds the time that the finding is
    about, nor what findings before it leave of that, see `Evidence.gain_of`. `evidence` is the page
    that shows it, `next_page` the one to go on with.
    """

    id: str
    severity: Severity
    title: str
    detail: str
    value: float
    unit: str
    threshold: float
    gain: Gain
    action: str
    next_page: Page
    evidence: Page
    guide: Guide

    @property
    def gain_ms(self) -> float | None:
        """The gain in ms of a step, None where it is not known."""
        return self.gain.ms

    @property
    def gain_ratio(self) -> float | None:
        """The gain as a part of the step, None where it is not known."""
        return self.gain.ratio


def graded(value: float, moderate: float, high: float = math.inf) -> tuple[Severity, float] | None:
    """(severity, the threshold that was reached), None below both or where nothing is known."""
    if math.isnan(value) or value < moderate:
        return None
    return ("high", high) if value >= high else ("moderate", moderate)


def milliseconds(value: float) -> str:
    """A duration for a sentence: three significant digits, in ms or what fits better."""
    if value < 0.9995:
        return f"{value * 1000:.3g} µs"
    if value < 999.5:
        return f"{value:.3g} ms"
    return f"{value / 1000:.3g} s" if value < 999_500 else f"{value / 1000:.0f} s"


def percent(value: float) -> str:
    """A percentage for a sentence."""
    return f"{value:.1f} %"


def size(count: float) -> str:
    """A number of bytes for a sentence."""
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024 or unit == "TiB":
            break
        count /= 1024
    # Pages round 15.25 up, as Python would not; such sizes are common.
    return f"{count:.0f} {unit}" if unit == "bytes" else f"{count * (1 + 1e-12):.3g} {unit}"


def shortened(name: str, most: int = 80) -> str:
    """A name from the trace for a sentence: one line, the middle left out of long ones."""
    line = " ".join(name.split())
    if len(line) <= most:
        return line
    half = (most - 1) // 2
    return f"{line[:half]}…{line[-half:]}"
