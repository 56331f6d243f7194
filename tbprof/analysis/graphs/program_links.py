"""The instructions of a program by name, by id and by computation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from tbprof.analysis.hlo.module import Computation, Module


class ProgramLinks:
    """The instructions of a program by row, in the order of the file; computations likewise.

    `module` has their operands and calls. -1 means none.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self._index = module.index
        self._computation = module.index.computation.data

    @property
    def rows(self) -> int:
        """The number of instructions."""
        return int(self._index.instructions.id.size)

    def part(self, computation: int) -> Computation:
        """The computation."""
        return Computation(self.module, computation)

    def find(self, name: str) -> int:
        """The row of the instruction with that name."""
        return self._index.find(name)

    def row_of(self, id_: int) -> int:
        """The row of the instruction with that id."""
        return self._index.ids.row(id_)

    def computation_of(self, row: int) -> int:
        """The computation that an instruction is in."""
        return self._computation[row]

    def callers_of(self, computation: int) -> Sequence[int]:
        """The instructions that call a computation, in order."""
        calls = np.flatnonzero(self._index.callee == computation)
        rows = np.searchsorted(self._index.instructions.called, calls, side="right") - 1
        return list(dict.fromkeys(rows.tolist()))

    @property
    def entry(self) -> int:
        """The computation that the program begins with."""
        return self._index.computation_ids.row(self._index.entry_id)

    @cached_property
    def names(self) -> list[str]:
        """The names of all instructions."""
        return [self._index.text(*place) for place in self._index.instructions.name.T.tolist()]

    @cached_property
    def computation_names(self) -> list[str]:
        """The names of all computations."""
        return [part.name for part in self.module.computations()]
