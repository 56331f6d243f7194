"""Which instructions of a program launched the kernels of its CUDA graphs.

A kernel that XLA generates has the name of its instruction; instructions that compute the same
share the kernel of the first of them. Kernels of libraries have other names: they belong to the
instructions between those of the kernels before and after them. Source: OpenXLA, thunk_emitter.cc,
kernel_reuse_cache.cc; observed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from tbprof.base.lazy import regex

if TYPE_CHECKING:  # most traces have no graphs, or no programs
    from tbprof.analysis.hlo.module import Module

# Instructions that launch nothing.
_IDLE = frozenset(
    {
        "add-dependency", "after-all", "async-done", "async-update", "bitcast", "constant",
        "copy-done", "get-tuple-element", "opt-barrier", "parameter", "partition-id", "replica-id",
        "tuple",
    }
)  # fmt: skip
# Instructions whose kernels XLA does not generate, or which have none of their own.
_NOT_GENERATED = frozenset({"call", "conditional", "custom-call", "while"})
# What the names of kernels cannot contain. Source: OpenXLA, llvm_util.cc.
_NOT_IN_NAMES = regex(r"[^a-zA-Z0-9_$]")
# Some instructions begin with a memset, which nothing names.
_MEMSET = "Memset"


class InstructionOrder:
    """The instructions of a program that launch work, in the order in which they run.

    `buffers` are the graphs of each command buffer, each as the names of its kernels: a command
    buffer that changes is recorded as several graphs. `outside` are instructions that ran outside
    of graphs.
    """

    def __init__(
        self, module: Module, buffers: Iterable[Sequence[Sequence[str]]], outside: Iterable[str]
    ) -> None:
        self._module = module
        self._rows = list(_rows_in_order(module))
        self._name = [_kernel_name(module.name_of(row)) if row >= 0 else "" for row in self._rows]
        same = Counter(self._name)
        self._named = {
            name: position for position, name in enumerate(self._name) if name and same[name] == 1
        }
        self._taken = {self._named.get(_kernel_name(instruction), -1) for instruction in outside}
        # The first of several instructions with one kernel may be in another command buffer.
        in_buffers = Counter(
            kernel for graphs in buffers for kernel in {kernel for run in graphs for kernel in run}
        )
        self._own = {
            kernel: position
            for kernel, position in self._named.items()
            if in_buffers[kernel] == 1 and position not in self._taken
        }
        self._taken.update(self._own.values())

    def place(self, kernels: Sequence[str]) -> list[str]:
        """The instruction of each kernel of a graph in the order in which they ran, "" if unknown.

        Kernels whose instruction does not follow from their names belong to those between the
        instructions of the kernels beside them: to the only one, or each of several kernels to one
        of as many. Before that, kernels of XLA are assigned in the same way to the instructions for
        which it generates code.
        """
        places = [-1] * len(kernels)
        _place_first(kernels, places, range(len(kernels)), self._own)
        for between, free in self._gaps(places):
            _place_first(
                kernels, places, between, {self._name[position]: position for position in free}
            )
        for between, free in self._gaps(places):
            of_xla = [index for index in between if kernels[index] in self._named]
            generated = [position for position in free if self._is_generated(position)]
            _place_each(places, of_xla, generated)
        for between, free in self._gaps(places):
            known = [index for index in between if not kernels[index].startswith(_MEMSET)]
            _place_each(places, known, free * len(known) if len(free) == 1 else free)
        return [self._module.name_of(self._rows[place]) if place >= 0 else "" for place in places]

    def _gaps(self, places: Sequence[int]) -> list[tuple[range, list[int]]]:
        """(kernels without an instruction, positions of the instructions that they can belong to).

        Empty if kernels ran in another order than their instructions: side by side.
        """
        named = [index for index, place in enumerate(places) if place >= 0]
        known = [places[index] for index in named]
        if not known or any(low >= high for low, high in pairwise(known)):
            return []
        ends = [self._first_free(known[0]), *known, self._last_free(known[-1])]
        gaps = zip(pairwise([-1, *named, len(places)]), pairwise(ends), strict=True)
        return [
            (range(before + 1, after), list(range(low + 1, high)))
            for (before, after), (low, high) in gaps
            if all(map(self._is_free, range(low + 1, high)))
        ]

    def _first_free(self, position: int) -> int:
        """The last position before a graph's first known one that is not free."""
        return position - 1 - len([*takewhile(self._is_free, range(position - 1, -1, -1))])

    def _last_free(self, position: int) -> int:
        """The first position after a graph's last known one that is not free."""
        after = range(position + 1, len(self._rows))
        return position + 1 + len([*takewhile(self._is_free, after)])

    def _is_generated(self, position: int) -> bool:
        return self._module.opcode(self._rows[position]) not in _NOT_GENERATED

    def _is_free(self, position: int) -> bool:
        return self._rows[position] >= 0 and position not in self._taken


def _place_first(
    kernels: Sequence[str],
    places: list[int],
    indices: Sequence[int],
    positions: Mapping[str, int],
) -> None:
    """Gives the first kernel of each name, of those with `indices`, the position of that name."""
    for kernel, index in {kernels[index]: index for index in reversed(indices)}.items():
        if kernel in positions:
            places[index] = positions[kernel]


def _place_each(places: list[int], indices: Sequence[int], positions: Sequence[int]) -> None:
    """Gives each kernel one of the positions if there are equally many."""
    if len(indices) == len(positions):
        for index, position in zip(indices, positions, strict=True):
            places[index] = position


def _kernel_name(instruction: str) -> str:
    """The name that XLA gives the kernel of an instruction."""
    return _NOT_IN_NAMES.sub("_", instruction)


def _rows_in_order(module: Module) -> Iterator[int]:
    """The rows of instructions that launch work, computation after computation, each with -1.

    In place of the start of an asynchronous instruction, that instruction.
    """
    starts = module.index.rows_of(frozenset({"async-start"})).tolist()
    wrapped = {start: module.called_rows(start)[:1] for start in starts}
    inside = {computation for called in wrapped.values() for computation in called}
    runs = set(module.scheduled_rows().tolist())
    for computation in module.computations():
        if computation.row in inside:
            continue
        for row in module.rows_in_order(computation.row):
            if row in runs and module.opcode(row) not in _IDLE:
                yield next(map(module.root_row, wrapped.get(row, ())), row)
        yield -1
