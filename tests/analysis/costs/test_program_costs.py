"""Costs of loops, branches and calls, and of whole programs."""

import pytest
from helpers.drawn.program_costs import cost_of, figures
from traces.programs import Program

from tbprof.analysis.costs.program_costs import ProgramCosts
from tbprof.analysis.hlo.module import Module


def loop(config: str) -> Program:
    made = Program()
    made.add("p", "parameter", "f32[10]")
    made.add("i", "parameter", "f32[10]", within="body")
    made.add("n", "negate", "f32[10]", "i", within="body")
    made.add("j", "parameter", "f32[10]", within="condition")
    made.add("c", "compare", "pred[]", "j", "j", within="condition")
    proto = made.add("x", "while", "f32[10]", "p", calls="body")
    proto.called_computation_ids.append(made.computation("condition").id)
    proto.backend_config = config.encode()
    return made


def test_a_loop_costs_all_of_its_iterations():
    made = loop('{"known_trip_count":{"n":"7"},"other":1}')
    assert figures(cost_of(made)) == (7 * (10 + 1), 0, 7 * (80 + 81))


def test_a_loop_of_unknown_length_costs_at_least_one_iteration():
    cost = cost_of(loop("{}"))
    assert (cost.all_flops, cost.is_known) == (11, False)


def test_of_branches_the_most_of_each_figure_counts():
    made = Program()
    made.add("p", "parameter", "f32[8,8]")
    for within, opcode in (("a", "exponential"), ("b", "add")):
        made.add(f"q{within}", "parameter", "f32[8,8]", within=within)
        made.add(f"r{within}", opcode, "f32[8,8]", f"q{within}", within=within)
    proto = made.add("x", "conditional", "f32[8,8]", "p", calls="a")
    proto.called_computation_ids.append(made.computation("b").id)
    assert figures(cost_of(made)) == (64, 64, 512)


@pytest.mark.parametrize("opcode", ["call", "async-start"])
def test_a_call_costs_what_it_calls(opcode):
    made = Program()
    made.add("p", "parameter", "f32[8]")
    made.add("q", "parameter", "f32[8]", within="f")
    made.add("n", "negate", "f32[8]", "q", within="f")
    made.add("x", opcode, "f32[8]", "p", calls="f")
    assert figures(cost_of(made)) == (8, 0, 64)


def test_a_program_costs_what_its_entry_does():
    made = loop('{"known_trip_count":{"n":"3"}}')
    made.add("y", "negate", "f32[10]", "x")
    costs = ProgramCosts(Module(made.bytes()))
    assert figures(costs.total()) == (3 * 11 + 10, 0, 3 * 161 + 80)


# Damage.


def test_computations_that_call_each_other_are_unknown():
    made = Program()
    made.add("p", "parameter", "f32[8]", within="a")
    made.add("c", "call", "f32[8]", "p", calls="b", within="a")
    made.add("d", "call", "f32[8]", "p", calls="a", within="b")
    made.add("x", "call", "f32[8]", calls="a")
    assert not cost_of(made).is_known


def test_deep_calls_end():
    made = Program()
    made.add("n0", "negate", "f32[8]", within="c0")
    for depth in range(1, 3000):
        made.add(f"n{depth}", "call", "f32[8]", calls=f"c{depth - 1}", within=f"c{depth}")
    made.add("x", "call", "f32[8]", calls="c2999")
    assert not cost_of(made).is_known


def test_an_unknown_instruction_has_no_cost_and_an_empty_program_is_unknown():
    costs = ProgramCosts(Module(b""))
    assert costs.of("x") is None
    assert not costs.total().is_known
