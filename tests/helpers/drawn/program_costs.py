"""What instructions of programs made by hand cost."""

from traces.programs import Program

from tbprof.analysis.costs.cost import Cost
from tbprof.analysis.costs.program_costs import ProgramCosts
from tbprof.analysis.hlo.module import Module


def cost_of(program: Program, name: str = "x") -> Cost:
    """The cost of an instruction of a program."""
    found = ProgramCosts(Module(program.bytes())).of(name)
    assert found is not None
    return found


def figures(cost: Cost) -> tuple[int, int, int]:
    """Operations, transcendentals and bytes of a cost that is known."""
    assert cost.is_known
    return cost.all_flops, cost.transcendentals, cost.bytes
