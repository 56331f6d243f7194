"""The costs of the instructions of a program."""

from collections.abc import Iterator
from typing import Any

from tbprof.analysis.costs.cost import UNKNOWN, Cost, add_costs, most_of_each
from tbprof.analysis.costs.custom_calls import custom_call
from tbprof.analysis.costs.fusions import fusion_traffic
from tbprof.analysis.costs.operations import Arrays, operations
from tbprof.analysis.costs.traffic import traffic
from tbprof.analysis.hlo.hlo import Module
from tbprof.analysis.hlo.hlo_shapes import read_shape
from tbprof.base.lazy import regex

# Computations that call each other; deeper ones are damaged.
_DEEPEST = 64
_TRIPS = regex(r'"known_trip_count"\s*:\s*\{\s*"n"\s*:\s*"?([0-9]{1,18})')


class ProgramCosts:
    """The cost of each instruction of a module for one execution, computed when requested.

    A loop costs as much as all of its iterations. If their number is unknown, it costs at least
    one of them; a branch costs at most the most of each figure.
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        self._instructions: dict[int, Cost] = {}
        self._computations: dict[int, Cost] = {}

    def of(self, name: str) -> Cost | None:
        """The cost of the instruction with that name, None if there is none."""
        proto = self._module.find(name)
        return None if proto is None else self._cost(proto, 0)

    def total(self) -> Cost:
        """The cost of the program: of the instructions of its entry computation."""
        entry = self._module.entry()
        return UNKNOWN if entry is None else self._sum(entry, 0)

    def _sum(self, computation: Any, depth: int) -> Cost:
        known = self._computations.get(computation.id)
        if known is None:
            # Until it is known: a damaged file may have computations that call themselves.
            self._computations[computation.id] = UNKNOWN
            known = add_costs(self._cost(part, depth + 1) for part in computation.instructions)
            self._computations[computation.id] = known
        return known

    def _cost(self, proto: Any, depth: int) -> Cost:
        known = self._instructions.get(proto.id)
        if known is None:
            known = UNKNOWN if depth > _DEEPEST else self._compute(proto, depth)
            self._instructions[proto.id] = known
        return known

    def _compute(self, proto: Any, depth: int) -> Cost:
        opcode = proto.opcode
        if opcode == "fusion":
            work = add_costs(self._called(proto, depth)).work()
            moved = fusion_traffic(self._module, proto)
            return work._replace(read=moved.read, written=moved.written)
        if opcode in ("call", "async-start"):
            return add_costs(self._called(proto, depth))
        if opcode == "conditional":
            return most_of_each(self._called(proto, depth))
        if opcode == "while":
            one = add_costs(self._called(proto, depth))
            trips = _TRIPS.search(bytes(proto.backend_config).decode("utf-8", "replace"))
            return one.times(int(trips[1])) if trips else one._replace(is_known=False)
        arrays = Arrays(
            proto,
            [tuple(read_shape(operand.shape)) for operand in self._module.operands_of(proto)],
            tuple(read_shape(proto.shape)),
            list(self._called(proto, depth)),
        )
        if opcode == "custom-call":
            return custom_call(arrays)
        moved = traffic(arrays)
        return operations(arrays)._replace(read=moved.read, written=moved.written)

    def _called(self, proto: Any, depth: int) -> Iterator[Cost]:
        called = self._module.called_by(proto)
        if len(called) < len(proto.called_computation_ids):
            yield UNKNOWN  # the file does not hold them all
        for computation in called:
            yield self._sum(computation, depth)
