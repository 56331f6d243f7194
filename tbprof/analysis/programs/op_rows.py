"""The rows of `ProgramOps` of one device under construction."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from tbprof.analysis.costs.cost import Cost
from tbprof.analysis.devices.tensor_cores import CoreUse
from tbprof.analysis.programs.instruction_facts import InstructionFacts
from tbprof.analysis.programs.program_ops import UNKNOWN, ProgramOps
from tbprof.analysis.programs.program_ops_merging import arrange_kernels
from tbprof.analysis.vocabulary.op_names import CONTROL
from tbprof.base.records import NamedTuple
from tbprof.base.values import as_counts

_MASK = 2**64 - 1
_MAIN_MEMORY = 0


class ProgramName(NamedTuple):
    """A program: its id, its name and the hash of its instructions; "" if unknown."""

    id: str = ""
    name: str = ""
    digest: str = ""


def id_text(program_id: int) -> str:
    """The low 64 bits of a program's id as a decimal text; "" for -1 (none)."""
    return "" if program_id == -1 else str(program_id & _MASK)


class InstructionWork(NamedTuple):
    """The work of all executions of a row, as columns of `ProgramOps`; -1 if unknown."""

    flops: int = UNKNOWN
    model_flops: int = UNKNOWN
    transcendentals: int = UNKNOWN
    bytes_accessed: int = UNKNOWN
    hbm_bytes: int = UNKNOWN
    cmem_read_bytes: int = UNKNOWN
    cmem_written_bytes: int = UNKNOWN
    vmem_read_bytes: int = UNKNOWN
    vmem_written_bytes: int = UNKNOWN
    is_computed: bool = False


NO_WORK = InstructionWork(*(0,) * 9)
# The last fields of computed work, by position, which is faster: the traffic of other memories is
# unknown.
_OF_COMPUTED = (*(UNKNOWN,) * 4, True)


def computed_work(cost: Cost | None, executions: int) -> InstructionWork:
    """The work computed from the shapes of a program, unknown unless all of the cost is known."""
    if cost is None or not cost.is_known:
        return InstructionWork()
    flops = cost.all_flops * executions
    main = cost.read[_MAIN_MEMORY] + cost.written[_MAIN_MEMORY]
    return InstructionWork(
        flops, flops, cost.transcendentals * executions, cost.bytes * executions,
        main * executions, *_OF_COMPUTED,
    )  # fmt: skip


class Times(NamedTuple):
    """Counts and times of a row, as columns of `ProgramOps`; without a span, it is the total."""

    occurrences: int
    kernels: int
    total_ps: int
    self_ps: int
    span_ps: int | None = None
    dma_stall_ps: int = UNKNOWN


# (name, occurrences, total time) of a kernel.
KernelTimes = tuple[str, int, int]


class OpRows:
    """Collects the rows of one or several devices."""

    def __init__(self) -> None:
        self._rows: list[tuple[Any, ...]] = []
        self._kernels: list[tuple[int, str, int, int]] = []
        self._stacks: dict[str, int] = {}

    def add(
        self,
        program: ProgramName,
        name: str,
        facts: InstructionFacts,
        times: Times,
        work: InstructionWork,
        kernels: Sequence[KernelTimes] = (),
        core: str = "",
        core_use: CoreUse = CoreUse.UNKNOWN,
    ) -> None:
        """Adds a row."""
        has_inner = facts.opcode in CONTROL or times.self_ps < times.total_ps
        stack = self._stacks.setdefault(facts.stack, len(self._stacks)) if facts.stack else -1
        span_ps = times.total_ps if times.span_ps is None else times.span_ps
        row = len(self._rows)
        self._rows.append(
            (*program, name, core, stack, has_inner, core_use, span_ps,
             *_facts_of(facts), *_times_of(times), *work)
        )  # fmt: skip
        self._kernels += [(row, *kernel) for kernel in kernels]

    def table(self, **of_host: Any) -> ProgramOps:
        """The rows in the order in which they were added, with the fields of the host."""
        row, name, occurrences, total = zip(*self._kernels, strict=True) if self._kernels else _NONE
        kernels = arrange_kernels(
            len(self._rows), np.array(row, np.int64), name, as_counts(occurrences), as_counts(total)
        )
        values = zip(*self._rows, strict=True) if self._rows else ((),) * len(_FILLED)
        columns = dict(zip(_FILLED, values, strict=True))
        return ProgramOps(
            **{key: _column(columns[key], kind) for key, kind in _COLUMNS.items()},
            first_kernel=kernels.first,
            kernel_name=kernels.name,
            kernel_occurrences=kernels.occurrences,
            kernel_total_ps=kernels.total_ps,
            stacks=list(self._stacks),
            **of_host,
        )


def _column(values: tuple[Any, ...], kind: str) -> Any:
    if kind == "list[str]":
        return list(values)
    return np.array(values, bool) if "bool" in kind else as_counts(values)


_NONE: tuple[tuple[()], ...] = ((), (), (), ())
_FACTS = (
    "opcode", "category", "deduplicated_name", "scope", "source", "dtype", "result", "operands",
    "replica_groups", "product_dtype", "product_size", "product_passes", "tiling",
    "tile_waste_ppm", "move", "is_of_argument", "is_entry", "is_product",
)  # fmt: skip
_TIMES = ("occurrences", "kernels", "total_ps", "self_ps", "dma_stall_ps")
_facts_of, _times_of = attrgetter(*_FACTS), attrgetter(*_TIMES)
# The columns of an added row.
_FILLED = (
    "program_id", "program", "digest", "name", "core", "stack", "has_inner", "core_use", "span_ps",
    *_FACTS, *_TIMES, *InstructionWork._fields,
)  # fmt: skip
_OF_ROWS = tuple(ProgramOps.__annotations__)
_COLUMNS = {
    name: ProgramOps.__annotations__[name] for name in _OF_ROWS[: _OF_ROWS.index("first_kernel")]
}
