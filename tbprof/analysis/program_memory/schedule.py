"""The order in which the instructions of a program run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.module import Module

# The greatest depth of calls; deeper files are damaged.
_DEEPEST = 64


def rank_instructions(module: Module) -> NDArray[np.int64]:
    """[n] the position at which each instruction first runs, by row; -1 if it is unreachable.

    Computations that an instruction calls come before it, since they run before it ends.
    """
    ranks: dict[int, int] = {}
    visited: set[int] = set()

    def visit(computation: int, depth: int) -> None:
        if computation in visited or depth > _DEEPEST:
            return
        visited.add(computation)
        for row in module.rows_in_order(computation):
            for called in module.called_rows(row):
                visit(called, depth + 1)
            ranks[row] = len(ranks)

    entry = module.entry()
    if entry is not None:
        visit(entry.row, 0)
    rank = np.full(module.index.instructions.id.size, -1, np.int64)
    rank[list(ranks)] = list(ranks.values())
    return rank
