"""Every page that the sample traces have something for: a tool and a trace."""

from pathlib import Path

import pytest

from tbprof.engine.engine import Engine
from tbprof.storage.logdir import Logdir
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


def opened(trace: str, request: pytest.FixtureRequest) -> tuple[Engine, str]:
    """An engine on the logdir of one of TRACES, and the run."""
    if trace.endswith("_training"):
        return Engine(Logdir(str(request.getfixturevalue("sample_logdir")))), trace
    logdir: Path = request.getfixturevalue(trace)
    engine = Engine(Logdir(str(logdir)))
    return engine, engine.runs()[0]
