"""Computations that do the same are costed once, and no others."""

from collections.abc import Callable
from typing import Any

import pytest
from helpers.drawn.program_costs import cost_of
from traces.programs import Program

from tbprof.analysis.costs.alike import AlikeComputations
from tbprof.analysis.hlo.module import Module


def add_layer(program: Program, name: str, shape: str = "f32[8,8]", inner: str = "tanh") -> Any:
    """A fusion of a product and something else; returns the product."""
    inside = f"inside.{name}"
    program.add(f"a.{name}", "parameter", shape, within=inside)
    program.add(f"b.{name}", "parameter", shape, within=inside).parameter_number = 1
    dot = program.add(f"dot.{name}", "dot", shape, f"a.{name}", f"b.{name}", within=inside)
    dot.dot_dimension_numbers.lhs_contracting_dimensions.append(1)
    program.add(f"y.{name}", inner, shape, f"dot.{name}", within=inside)
    program.add(f"x.{name}", "fusion", shape, "p", "p", calls=inside)
    return dot


def layers(change: Callable[[Program], Any]) -> tuple[Program, list[int]]:
    """Two layers, the second made by `change`; the first computation like each one."""
    program = Program()
    program.add("p", "parameter", "f32[8,8]")
    add_layer(program, "one")
    change(program)
    module = Module(program.bytes())
    found = AlikeComputations(module)
    return program, [found.first(row) for row in (1, 2)]


def test_layers_with_other_names_are_alike():
    program, first = layers(lambda program: add_layer(program, "two"))
    assert first == [1, 1]
    assert cost_of(program, "x.one") == cost_of(program, "x.two")


@pytest.mark.parametrize(
    "change",
    [
        lambda program: add_layer(program, "two", shape="f32[4,16]"),
        lambda program: add_layer(program, "two", inner="negate"),
        lambda program: add_layer(program, "two").dot_dimension_numbers.Clear(),
        lambda program: add_layer(program, "two").operand_ids.reverse(),
        lambda program: add_layer(program, "two").operand_ids.append(10**9),
    ],
    ids=["shape", "opcode", "attribute", "operands", "an operand that is missing"],
)
def test_layers_that_differ_are_not_alike(change: Callable[[Program], Any]):
    assert layers(change)[1] == [1, 2]


def test_computations_that_call_each_other_end():
    program = Program()
    for name, other in (("f", "g"), ("g", "f")):
        program.add(f"x.{name}", "call", "f32[2]", calls=other, within=name)
    module = Module(program.bytes())
    found = AlikeComputations(module)
    assert [found.first(row) for row in range(3)] == [0, 1, found.first(2)]
    assert not cost_of(program, "x.f").is_known
