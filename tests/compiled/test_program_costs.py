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
def lines(compiled: Callable[..., list[str]]) -> list[dict[str, Any]]:
    return list(map(json.loads, compiled("cost_programs.py", str(PROGRAMS), SEED)))


@pytest.fixture(scope="module")
def compared(lines: list[dict[str, Any]]) -> list[Compared]:
    """The programs as they were compiled."""
    return [_compare(line["kind"], line["module"], line["cost"]) for line in lines]


@pytest.fixture(scope="module")
def written(lines: list[dict[str, Any]]) -> list[Compared]:
    """The programs as they were written, before anything is fused or made simpler."""
    return [_compare(line["kind"], line["written"], line["written_cost"]) for line in lines]


def _compare(kind: str, module: str, theirs: dict[str, float]) -> Compared:
    proto = message("xla.HloProto")()
    proto.hlo_module.ParseFromString(base64.b64decode(module))
    for part in _instructions(proto):
        if part.opcode == "while":  # the compiler counts one iteration of each loop
            part.ClearField("backend_config")
    cost = ProgramCosts(Module(proto.SerializeToString())).total()
    return kind, proto, cost, theirs


def _instructions(proto: Any) -> Iterator[Any]:
    for computation in proto.hlo_module.computations:
        yield from computation.instructions


def near(ours: int, theirs: float) -> bool:
    """The compiler counts in 24 bits."""
    return abs(ours - theirs) <= 1e-6 * max(theirs, 1)


PRICED = {
    "dot", "convolution", "reduce", "reduce-window", "select-and-scatter", "gather", "scatter",
    "slice", "dynamic-slice", "dynamic-update-slice", "concatenate", "pad", "while", "conditional",
    "call", "sort", "fft", "transpose", "broadcast", "convert", "tanh", "exponential",
}  # fmt: skip


def test_the_programs_have_all_that_is_priced(compared: list[Compared], written: list[Compared]):
    parts = [part for _, proto, *_ in written for part in _instructions(proto)]
    assert {part.opcode for part in parts} >= PRICED
    dots = [part.dot_dimension_numbers for part in parts if part.opcode == "dot"]
    counts = [(dot.lhs_batch_dimensions, dot.lhs_contracting_dimensions) for dot in dots]
    numbers = {(batch, summed) for batch in range(3) for summed in range(3)}
    assert numbers <= {(len(batch), len(summed)) for batch, summed in counts}
    windows = [part for part in parts if part.opcode == "convolution"]
    sides = [side for part in windows for side in part.window.dimensions]
    for name in ("stride", "window_dilation", "base_dilation"):
        assert any(getattr(side, name) > 1 for side in sides)
    assert any(side.padding_low != side.padding_high for side in sides)
    assert {1, 2, 4} <= {part.feature_group_count for part in windows}
    assert {1, 2} <= {part.batch_group_count for part in windows}
    made = {part.opcode for _, proto, *_ in compared for part in _instructions(proto)}
    assert {"fusion", "dot", "convolution", "while", "gather", "scatter"} <= made


def test_operations_are_those_of_the_compiler(compared: list[Compared], written: list[Compared]):
    assert len(compared) == len(written) == PROGRAMS
    wrong = [
        (row, kind)
        for row, (kind, _, cost, theirs) in enumerate([*compared, *written])
        if not near(cost.all_flops, theirs.get("flops", 0))
        or not near(cost.transcendentals, theirs.get("transcendentals", 0))
    ]
    assert not wrong
    assert sum(cost.all_flops > 0 for _, _, cost, _ in compared) > PROGRAMS / 2


def test_bytes_of_programs_as_written_are_those_of_the_compiler(written: list[Compared]):
    """Where nothing is fused, it reads as we do; it counts most tables of pointers for tuples."""
    wrong = [
        kind
        for kind, proto, cost, theirs in written
        if not any(
            near(cost.bytes + tables, theirs.get("bytes accessed", 0))
            for tables in (_tables(proto), 0)
        )
    ]
    assert not wrong


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
