"""Shared by tests of the engine."""

from pathlib import Path

import pytest
from helpers.drawn.small_runs import BROKEN, CPU_TRACE, GPU_TRACE
from traces import write_run

from tbprof.engine.engine import Engine
from tbprof.storage.logdir import Logdir


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    """Runs `cpu`, `gpu` (hosts h0, h1), `mixed` (a host with a GPU, one without) and `broken`."""
    for run, hosts in {
        "cpu": {"h0": CPU_TRACE},
        "gpu": {"h0": GPU_TRACE, "h1": GPU_TRACE},
        "mixed": {"h0": CPU_TRACE, "h1": GPU_TRACE, "h2": BROKEN},
        "broken": {"h0": BROKEN, "h1": BROKEN},
    }.items():
        write_run(tmp_path, hosts, run)
    return tmp_path


@pytest.fixture
def engine(logdir: Path) -> Engine:
    return Engine(Logdir(str(logdir)))
