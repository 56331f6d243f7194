"""330 drawn programs cost what the compiler says, where it is right."""

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tbprof._pb import message
from tbprof.analysis.costs.cost import Cost
from tbprof.analysis.costs.program_costs import ProgramCosts
from tbprof.analysis.hlo.module import Module

pytestmark = pytest.mark.slow

PROGRAMS, SEED = 330, "1"
TUPLE, POINTER = 13, 8

# A kind of program, its HloProto, our cost of it, and the compiler's.
Compared = tuple[str, Any, Cost, dict[str, float]]


@pytest.fixture(scope="module")
def compared(compiled: Callable[..., list[str]]) -> list[Compared]:
    lines = compiled("cost_programs.py", str(PROGRAMS), SEED)
    return [_compare(json.loads(line)) for line in lines]


def _compare(line: dict[str, Any]) -> Compared:
    proto = message("xla.HloProto")()
    proto.hlo_module.ParseFromString(base64.b64decode(line["module"]))
    for part in _instructions(proto):
        if part.opcode == "while":  # the compiler counts one iteration of each loop
            part.ClearField("backend_config")
    cost = ProgramCosts(Module(proto.SerializeToString())).total()
    return line["kind"], proto, cost, line["cost"]


def _instructions(proto: Any) -> Iterator[Any]:
    for computation in proto.hlo_module.computations:
        yield from computation.instructions


def near(ours: int, theirs: float) -> bool:
    """The compiler counts in 24 bits."""
    return abs(ours - theirs) <= 1e-6 * max(theirs, 1)


def test_operations_are_those_of_the_compiler(compared: list[Compared]):
    assert len(compared) == PROGRAMS
    wrong = [
        (row, kind)
        for row, (kind, _, cost, theirs) in enumerate(compared)
        if not near(cost.all_flops, theirs.get("flops", 0))
        or not near(cost.transcendentals, theirs.get("transcendentals", 0))
    ]
    assert not wrong
    assert sum(cost.all_flops > 0 for _, _, cost, _ in compared) > PROGRAMS / 2


def test_bytes_are_those_of_the_compiler_where_it_reads_as_we_do(compared: list[Compared]):
    """It counts tables of pointers for tuples, and in fusions what it need not read: see below."""
    plain = [row for row in compared if not _reads_more(row[1])]
    wrong = [
        kind for kind, proto, cost, theirs in plain
        if not near(cost.bytes + _tables(proto), theirs.get("bytes accessed", 0))
    ]  # fmt: skip
    assert not wrong
    assert len(plain) > PROGRAMS / 3


def test_the_compiler_never_reads_less(compared: list[Compared]):
    """In fusions it counts all that is gathered from, and arrays again for each broadcast."""
    others = [row for row in compared if _reads_more(row[1])]
    assert all(cost.bytes <= theirs["bytes accessed"] for _, _, cost, theirs in others)
    assert {"gather", "mixture"} <= {kind for kind, *_ in others}


def _reads_more(proto: Any) -> bool:
    """Whether the compiler may count more than what is read, or branches, whose sums differ."""
    return any(
        part.opcode == "conditional" or (computation.is_fusion_computation and _is_partial(part))
        for computation in proto.hlo_module.computations
        for part in computation.instructions
    ) or any(map(_has_shared_array, proto.hlo_module.computations))


def _is_partial(part: Any) -> bool:
    return part.opcode in ("gather", "reshape", "bitcast")


def _has_shared_array(computation: Any) -> bool:
    """Whether several instructions of a fusion take one parameter."""
    users = Counter(id_ for part in computation.instructions for id_ in set(part.operand_ids))
    return bool(computation.is_fusion_computation) and any(
        part.opcode == "parameter" and users[part.id] > 1 for part in computation.instructions
    )


def _tables(proto: Any) -> int:
    """The bytes of tuples themselves: of what builds, returns or takes one outside of fusions."""
    shapes = {part.id: part.shape for part in _instructions(proto)}
    inside = {
        id_
        for part in _instructions(proto)
        if part.opcode not in ("while", "conditional", "call")
        for id_ in part.called_computation_ids
    }
    total = 0
    for computation in proto.hlo_module.computations:
        for part in () if computation.id in inside else computation.instructions:
            if part.opcode in ("get-tuple-element", "parameter", "while", "fusion", "call"):
                continue
            arrays = [part.shape]
            if part.opcode != "tuple":
                arrays += [shapes[id_] for id_ in part.operand_ids]
            total += sum(
                POINTER * len(shape.tuple_shapes) for shape in arrays if shape.element_type == TUPLE
            )
    return total
