"""Computations that do the same are costed once, and no others."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from helpers.drawn.program_costs import cost_of
from kernels.interpreted import checked_kernels
from traces.programs import Program

from tbprof.analysis.costs.alike import Alike
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
    alike = Alike(Module(program.bytes()))
    return program, list(alike.computation[1:3])


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
    assert list(Alike(Module(program.bytes())).computation) == [0, 1, 1]
    assert not cost_of(program, "x.f").is_known


COMPUTATIONS = ("main", "one", "two", "three", "four", "five")


def random_program(random: Random) -> tuple[Program, list[list[Any]]]:
    """Small computations that call earlier ones, and what decides about each instruction."""
    program = Program()
    contents: list[list[Any]] = []
    for computation in COMPUTATIONS:
        content: list[Any] = []
        shapes = [random.choice(("f32[8,8]", "f32[4,4]")) for _ in range(random.choice((1, 1, 2)))]
        for place, shape in enumerate(shapes):
            opcode = random.choice(("add", "dot", "call") if contents else ("add", "dot"))
            operands = random.choices(range(place), k=2) if place else []
            callee = random.randrange(len(contents)) if opcode == "call" else None
            one = program.add(
                f"{computation}.{place}", opcode, shape,
                *(f"{computation}.{operand}" for operand in operands),
                within=computation, calls="" if callee is None else COMPUTATIONS[callee],
            )  # fmt: skip
            axis = random.choice((0, 1)) if opcode == "dot" else 0
            one.dot_dimension_numbers.lhs_contracting_dimensions.extend([axis] * (opcode == "dot"))
            inside = () if callee is None else contents[callee]
            taken = [(operand, shapes[operand]) for operand in operands]
            content.append((opcode, shape, taken, axis, inside))
        contents.append(content)
    return program, contents


def check_alike(seed: int) -> None:
    program, contents = random_program(Random(seed))
    alike = Alike(Module(program.bytes()))
    assert list(alike.computation) == [contents.index(content) for content in contents]
    instructions = [
        (opcode, shape, [array for _, array in taken], axis, inside)
        for content in contents
        for opcode, shape, taken, axis, inside in content
    ]
    numbers = list(alike.instruction)
    assert [numbers.index(number) for number in numbers] == [
        instructions.index(instruction) for instruction in instructions
    ]


@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_equal_is_alike_and_nothing_else(seed: int):
    check_alike(seed)


def test_kernels_do_what_their_sources_say_of_equal_instructions():
    with checked_kernels() as calls:
        check_alike(1)
    assert {"xplane.equal_texts.number_ranges", "programs.message_columns.copy_fields"} <= set(
        calls
    )
