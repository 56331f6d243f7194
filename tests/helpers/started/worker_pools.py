"""Pools of worker processes."""

import os
import sys

from tbprof.engine.parts import PartKey
from tbprof.engine.workers.starting import (
    Forked,
    Spawned,
)

ops, kernels, outline = PartKey("ops"), PartKey("kernels"), PartKey("outline")


STARTERS = [Spawned, *([Forked] if sys.platform == "linux" else [])]


def path(*folders: str) -> str:
    """For programs that import what this one does."""
    return os.pathsep.join([*folders, *filter(None, sys.path)])


def ignored(_name: str) -> None:
    """Nobody looks at the progress."""


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
