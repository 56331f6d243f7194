"""Every trace at hand, for promises that hold whatever is in it.

A trace is a run of the project's own `examples/logdir` or of `tests/data/gpu_jax`, or a fixture of
`conftest.py` that names a file. Add those that tests record or receive to `TRACES`; traces that
tests draw are checked where they are opened (`finding_promises.py`).
"""

import functools
from collections.abc import Callable
from pathlib import Path

import pytest

from tbprof.advice.summaries import Summaries
from tbprof.engine.engine import Engine
from tbprof.engine.requests import find_tool
from tbprof.storage.logdir import Logdir

RECORDED = ("tensorflow_cpu_training", "tensorflow_input_bound", "jax_cpu_training")
SHARED = ("gpu_trace", "amd_trace", "tpu_trace")
GPU_RUNS = (
    "training", "training_without_graphs", "products", "reading", "prefetching", "unfinished"
)  # fmt: skip
GPU_LOGDIR = Path(__file__).resolve().parents[1] / "data" / "gpu_jax"
TRACES = (*RECORDED, *GPU_RUNS, *SHARED)
every_trace = pytest.mark.parametrize("trace", TRACES)


def opened(trace: str, request: pytest.FixtureRequest) -> tuple[Engine, str]:
    """An engine on the logdir of one of TRACES, which knows what tests before have asked, and the
    run."""
    return _opened(trace, request, _known)


def opened_anew(trace: str, request: pytest.FixtureRequest) -> tuple[Engine, str]:
    """The same, with an engine that has not been asked anything."""
    return _opened(trace, request, _new)


def _opened(
    trace: str, request: pytest.FixtureRequest, open_logdir: Callable[[str], Engine]
) -> tuple[Engine, str]:
    if trace in RECORDED:
        return open_logdir(str(request.getfixturevalue("sample_logdir"))), trace
    if trace in GPU_RUNS:
        return open_logdir(str(GPU_LOGDIR)), trace
    engine = open_logdir(str(request.getfixturevalue(trace)))
    return engine, engine.runs()[0]


def _new(logdir: str) -> Engine:
    return Engine(Logdir(logdir))


_known = functools.cache(_new)


def summaries_of(trace: str, request: pytest.FixtureRequest) -> Summaries:
    """What the overview is made of."""
    engine, run = opened(trace, request)
    overview = find_tool("overview_page")
    parts = {name: engine.part(run, name) for name in overview.parts}
    return Summaries(tuple(engine.hosts(run, overview.name)), parts, {})
