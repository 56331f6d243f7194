"""The costs of the instructions of a program."""

from __future__ import annotations

from collections.abc import Iterator

from tbprof.analysis.costs.alike import Alike
from tbprof.analysis.costs.cost import NOTHING, UNKNOWN, Cost, add_costs, most_of_each
from tbprof.analysis.costs.custom_calls import custom_call
from tbprof.analysis.costs.fusions import fusion_traffic
from tbprof.analysis.costs.operations import Arrays, operations
from tbprof.analysis.costs.traffic import NOTHING_MOVED, traffic
from tbprof.analysis.hlo.module import Module
from tbprof.base.lazy import regex

# The greatest depth of calls; deeper files are damaged.
_DEEPEST = 64
_CALLERS = frozenset({"async-start", "call", "conditional", "fusion", "while"})
_TRIPS = regex(r'"known_trip_count"\s*:\s*\{\s*"n"\s*:\s*"?([0-9]{1,18})')


class ProgramCosts:
    """The cost of each instruction of a module for one execution, computed when requested.

    A loop costs as much as all of its iterations; if their number is unknown, at least one
    iteration. A conditional costs at most the maximum of each figure over its branches.
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        self._costs: dict[int, Cost] = {}
        self._works: dict[int, Cost] = {}
        self._sums: dict[tuple[int, bool], Cost] = {}
        # Most instructions of a fusion only say where data is.
        self._is_still = [opcode in NOTHING_MOVED for opcode in module.index.opcodes]
        self._opcode = module.index.instructions.opcode.data
        # Costs shared by equal instructions.
        self._alike = Alike(module)
        self._shared: dict[tuple[int, bool], Cost] = {}

    def of(self, name: str) -> Cost | None:
        """The cost of the instruction with that name, None if there is none."""
        row = self._module.index.find(name)
        return None if row < 0 else self.of_row(row)

    def of_row(self, row: int) -> Cost:
        """The cost of an instruction of the module's index."""
        return self._cost(row, 0)

    def work_of_row(self, row: int) -> Cost:
        """The same without traffic, which takes less time."""
        return self._work(row, 0)

    def total(self) -> Cost:
        """The cost of the program: of the instructions of its entry computation."""
        entry = self._module.entry()
        return UNKNOWN if entry is None else self._sum(entry.row, 0, is_work=False)

    def _sum(self, computation: int, depth: int, *, is_work: bool) -> Cost:
        """The cost of a computation, or of its operations alone."""
        key = (computation, is_work)
        known = self._sums.get(key)
        if known is None:
            # Set first, since in a damaged file a computation may call itself.
            self._sums[key] = UNKNOWN
            of = self._work if is_work else self._cost
            is_still, opcode = self._is_still, self._opcode
            rows = self._module.rows_in(computation)
            costs = [of(row, depth + 1) for row in rows if not is_still[opcode[row]]]
            known = add_costs(costs, is_work=is_work)
            self._sums[key] = known
        return known

    def _cost(self, row: int, depth: int) -> Cost:
        known = self._costs.get(row)
        if known is None:
            known = UNKNOWN if depth > _DEEPEST else self._compute(row, depth)
            self._costs[row] = known
        return known

    def _work(self, row: int, depth: int) -> Cost:
        """The operations of an instruction that a fusion or a reduction calls."""
        known = self._works.get(row)
        if known is None:
            if depth > _DEEPEST:
                known = UNKNOWN
            elif self._module.opcode(row) == "fusion":
                known = add_costs(self._called(row, depth, is_work=True), is_work=True)
            else:
                known = self._compute(row, depth, is_work=True)
            self._works[row] = known
        return known

    def _compute(self, row: int, depth: int, *, is_work: bool = False) -> Cost:
        module = self._module
        opcode = module.opcode(row)
        if opcode in NOTHING_MOVED:
            return NOTHING
        number = self._alike.instruction[row]
        known = self._shared.get((number, is_work))
        if known is None:
            if opcode in _CALLERS:
                known = self._compute_caller(row, opcode, depth, is_work=is_work)
            else:
                known = self._compute_one(row, depth, is_work=is_work)
            if number >= 0:
                self._shared[number, is_work] = known
        return known

    def _compute_caller(self, row: int, opcode: str, depth: int, *, is_work: bool) -> Cost:
        if opcode == "fusion":
            return self._work(row, depth).moving(*fusion_traffic(self._module, row))
        called = self._called(row, depth, is_work=is_work)
        if opcode == "conditional":
            return most_of_each(called)
        iteration = add_costs(called)
        if opcode != "while":
            return iteration
        configuration = bytes(self._module.message(row).backend_config)
        trips = _TRIPS.search(configuration.decode("utf-8", "replace"))
        return iteration.times(int(trips[1])) if trips else iteration._replace(is_known=False)

    def _compute_one(self, row: int, depth: int, *, is_work: bool) -> Cost:
        arrays = Arrays(self._module, row, list(self._called(row, depth, is_work=True)))
        if arrays.opcode == "custom-call":
            return custom_call(arrays)
        work = operations(arrays)
        return work if is_work else work.moving(*traffic(arrays))

    def _called(self, row: int, depth: int, *, is_work: bool) -> Iterator[Cost]:
        called = self._module.called_rows(row)
        if len(called) < self._module.calls(row):
            yield UNKNOWN  # the file lacks some of them
        for computation in called:
            yield self._sum(self._alike.computation[computation], depth, is_work=is_work)
