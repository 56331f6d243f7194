"""Every page that the sample traces have something for: a tool and a trace."""

import pytest

from tbprof.tools import TOOLS

TRACES = ("tensorflow_cpu_training", "jax_cpu_training", "gpu_trace", "tpu_trace")
# What those traces hold nothing of.
NOTHING = {
    ("kernel_stats", "tensorflow_cpu_training"),
    ("kernel_stats", "jax_cpu_training"),
    ("kernel_stats", "tpu_trace"),
    ("hlo_stats", "tensorflow_cpu_training"),
    ("hlo_stats", "gpu_trace"),
    ("roofline_model", "tensorflow_cpu_training"),
    ("roofline_model", "gpu_trace"),
    ("tf_data_bottleneck_analysis", "jax_cpu_training"),
    ("tf_data_bottleneck_analysis", "tpu_trace"),
    ("memory_profile", "jax_cpu_training"),
    ("memory_viewer", "tensorflow_cpu_training"),
    ("memory_viewer", "gpu_trace"),
    ("graph_viewer", "tensorflow_cpu_training"),
    ("graph_viewer", "gpu_trace"),
    ("op_profile", "tensorflow_cpu_training"),
    ("op_profile", "gpu_trace"),
}
# The others are every event of a trace: tests/timeline/export/test_chrome.py.
TABLE_TOOLS = {tool.name: tool for tool in TOOLS if not tool.is_streamed}
every_page = pytest.mark.parametrize(
    ("tool", "trace"),
    [
        pytest.param(tool, trace, id=f"{trace}-{name}")
        for name, tool in TABLE_TOOLS.items()
        for trace in TRACES
        if (name, trace) not in NOTHING
    ],
)
