"""The causes of a table's instructions, and the facts that show them."""

from __future__ import annotations

from tbprof.analysis.bounds.causes import Cause
from tbprof.analysis.bounds.op_causes import OpCauses, find_causes
from tbprof.analysis.bounds.op_work import rates_of, work_of
from tbprof.analysis.devices.peaks import HBM, Peaks
from tbprof.analysis.programs.program_ops import ProgramOps
from tbprof.analysis.vocabulary.instruction_roles import Move

_MOVES = {
    Move.TRANSPOSE: "transposes", Move.RESHAPE: "reshapes", Move.LAYOUT: "changes a layout",
}  # fmt: skip


def find_cause_facts(ops: ProgramOps, peaks: Peaks) -> tuple[OpCauses, list[str]]:
    """The causes of instructions, and a text with the fact that shows each; "" without a cause."""
    work = work_of(ops, peaks)
    rates = rates_of(work, peaks)
    causes = find_causes(ops, work, rates, peaks)
    share = rates.memory_share[HBM]
    facts = [""] * len(ops.name)
    for row in causes.cause.nonzero()[0].tolist():
        cause = Cause(int(causes.cause[row]))
        if cause == Cause.MOVE:
            facts[row] = _MOVES[Move(int(ops.move[row]))]
        elif cause == Cause.WIDE_PRODUCT:
            passes = int(ops.product_passes[row])
            often = f" in {passes} passes" if ops.device_type == "TPU" else ""
            facts[row] = f"{ops.product_dtype[row]}{often}"
        elif cause == Cause.SMALL_PRODUCT:
            facts[row] = f"its smallest dimension is {int(ops.product_size[row])}"
        elif cause == Cause.PARTIAL_TILES:
            facts[row] = ops.tiling[row]
        elif cause == Cause.MEMORY:
            facts[row] = f"{100 * float(share[row]):.0f} % of the bandwidth of {HBM}"
    return causes, facts
