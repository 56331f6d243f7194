"""The order in which the instructions of a program run."""

from typing import Any

from tbprof._pb import message

# Calls may only go this deep; deeper ones are damaged.
_DEEPEST = 64


def rank_instructions(blob: bytes) -> dict[tuple[str, str], int]:
    """When instructions first run, by the names of their computation and themselves.

    Computations that an instruction calls run before it ends, so they come before the instruction
    does. Without a schedule, instructions are in the order of the file. The HloProto must not be
    damaged.
    """
    module = message("xla.HloProto").FromString(blob).hlo_module
    computations = {part.id: part for part in module.computations}
    sequences = module.schedule.sequences
    ranks: dict[tuple[str, str], int] = {}
    visited: set[int] = set()

    def visit(number: int, depth: int) -> None:
        computation = computations.get(number)
        if computation is None or number in visited or depth > _DEEPEST:
            return
        visited.add(number)
        for instruction in _in_sequence(computation, sequences):
            for called in instruction.called_computation_ids:
                visit(called, depth + 1)
            ranks.setdefault((computation.name, instruction.name), len(ranks))

    visit(module.entry_computation_id, 0)
    return ranks


def _in_sequence(computation: Any, sequences: Any) -> list[Any]:
    """The instructions of a computation as they run."""
    if computation.id not in sequences:
        return list(computation.instructions)
    by_id = {part.id: part for part in computation.instructions}
    ids = sequences[computation.id].instruction_ids
    return [by_id[number] for number in ids if number in by_id]
