"""Pools of worker processes, and what tests wait for."""

import os
import sys
import time
from collections.abc import Callable

from tbprof.engine.parts import PartKey
from tbprof.engine.workers.starting import (
    Forked,
    Spawned,
)

ops, kernels, outline = PartKey("ops"), PartKey("kernels"), PartKey("outline")


STARTERS = [Spawned, *([Forked] if sys.platform == "linux" else [])]


PATIENCE_S = 60.0


def path(*folders: str) -> str:
    """For programs that import what this one does."""
    return os.pathsep.join([*folders, *filter(None, sys.path)])


def ignored(_name: str) -> None:
    """Nobody looks at the progress."""


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
