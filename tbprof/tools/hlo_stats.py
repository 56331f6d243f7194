"""HLO op stats: every instruction of the programs that ran, with its time, rates and bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.summaries import Summaries
from tbprof.analysis.bounds.op_causes import find_causes
from tbprof.analysis.bounds.op_work import GIBI, OpRates, above_roof, rates_of, work_of
from tbprof.analysis.devices.peaks import HBM, Peaks, merge_peaks
from tbprof.analysis.programs.program_ops import NOT_IN_HLO, SPARSE_CORE, ProgramOps
from tbprof.analysis.programs.program_ops_merging import merge_program_ops
from tbprof.base.values import known, ratio
from tbprof.tools.model.datatable import Column, Table, boolean, number, text
from tbprof.tools.programs.op_texts import cost_notes, expressions, scopes, sources_as_html

PARTS = ("program_ops", "peaks")


def build(summaries: Summaries) -> Sequence[Table]:
    """One table, a row per program, instruction and type of core, longest self time first.

    Ties are in the order of name and program. Rows of SparseCores, which run in parallel with
    TensorCores, come last, and have no share of the time. Shares are percentages of the self times
    of all rows and the idle time of devices between them. Device events without an instruction have
    rows, too, unless there are no others.
    """
    ops = merge_program_ops(summaries.take("program_ops", ProgramOps))
    peaks = merge_peaks(summaries.take("peaks", Peaks))
    order = _order(ops)
    work = work_of(ops, peaks)
    rates = rates_of(work, peaks)
    causes = find_causes(ops, work, rates, peaks)
    could_save = np.where(causes.saved_ps > 0, causes.saved_ps / 1e6, np.nan)
    rows = order.tolist()

    def texts(id_: str, label: str, values: Sequence[str]) -> Column:
        return text(id_, label, [values[row] for row in rows])

    def numbers(id_: str, label: str, values: NDArray[np.float64]) -> Column:
        return number(id_, label, values[order])

    occurrences = ops.occurrences.astype(np.float64)
    total_us, self_us = ops.total_ps / 1e6, ops.self_ps / 1e6
    share = _percent(ops)[order]
    remat = [
        ".remat" in name or "rematted_computation" in scope
        for name, scope in zip(ops.name, ops.scope, strict=True)
    ]
    return [
        Table(
            (
                number("rank", "Rank", np.arange(1, order.size + 1)),
                texts("program_id", "Program id", ops.program_id),
                texts("category", "HLO op category", ops.category),
                texts("hlo_op_name", "HLO op name", ops.name),
                texts("hlo_op_expression", "HLO op text", expressions(ops)),
                texts("tf_op_name", "Framework op name", scopes(ops)),
                number("occurrences", "#Occurrences", ops.occurrences[order]),
                numbers("total_time", "Total time (us)", total_us),
                numbers("avg_time", "Avg. time (us)", ratio(total_us, occurrences)),
                numbers("total_self_time", "Total self time (us)", self_us),
                numbers("avg_self_time", "Avg. self time (us)", ratio(self_us, occurrences)),
                number("total_self_time_percent", "Total self time (%)", share),
                number(
                    "cumulative_total_self_time_percent",
                    "Cumulative total self time (%)",
                    np.cumsum(share),
                ),
                numbers(
                    "dma_stall_percent",
                    "%time stalled by DMA",
                    ratio(known(ops.dma_stall_ps), ops.total_ps.astype(np.float64)),
                ),
                numbers("model_flop_rate", "Model GFLOP/s", rates.model_gflops),
                numbers("normalized_flop_rate", "Normalized GFLOP/s", rates.gflops),
                numbers("measured_memory_bw", "Measured memory BW (GiB/s)", rates.gbytes / GIBI),
                *_bandwidths(rates, numbers),
                numbers(
                    "operational_intensity", "Operational intensity (FLOPS/Byte)", rates.intensity
                ),
                texts("bound_by", "Bound by", rates.bound_by),
                texts("hlo_rematerialization", "Rematerialization", _yes_or_no(remat)),
                texts(
                    "outside_compilation",
                    "Outside Compilation",
                    _yes_or_no(["outside_compilation" in scope for scope in ops.scope]),
                ),
                # No known recorder states whether an op was autotuned, or its energy.
                text("autotuned", "Autotuned", ["No"] * order.size),
                texts("source_info", "Source Info", sources_as_html(ops)),
                texts("core_type", "TPU core type", ops.core),
                text("parent_op_name", "Parent op name", [""] * order.size),
                number("vdd_energy", "VDD Energy (J)", np.full(order.size, np.nan)),
                texts("program", "Program", ops.program),
                texts("opcode", "Opcode", ops.opcode),
                texts("dtype", "Element type", ops.dtype),
                texts("source", "Source", ops.source),
                number("kernels", "#Kernels", ops.kernels[order]),
                numbers("span_time", "Time of the work (us)", work.span_ps / 1e6),
                numbers("transcendentals", "Transcendentals", known(ops.transcendentals)),
                numbers("flop_share", "FLOP rate / peak", rates.flop_share),
                numbers("hbm_share", "HBM BW / peak", rates.memory_share[HBM]),
                numbers("efficiency", "Roofline efficiency", rates.efficiency),
                texts("cost_note", "Unknown cost", cost_notes(ops)),
                texts("roof_note", "Above the roof", above_roof(rates, ops.is_computed)),
                texts("replica_groups", "Replica groups", ops.replica_groups),
                boolean("is_computed", "Cost computed from shapes", ops.is_computed[order]),
                texts("cause", "Why slow", causes.names),
                numbers("could_save", "Could save at most (us)", could_save),
            ),
            {"device_type": ops.device_type},
        )
    ]


def _order(ops: ProgramOps) -> NDArray[np.int64]:
    """The rows of TensorCores and other devices, then those of SparseCores, by self time."""
    if all(category == NOT_IN_HLO for category in ops.category):
        return np.zeros(0, np.int64)
    is_beside = _is_sparse_core(ops)
    own_ps = ops.self_ps.tolist()
    ranked = sorted(
        range(len(ops.name)),
        key=lambda row: (is_beside[row], -own_ps[row], ops.name[row], ops.program_id[row]),
    )
    return np.array(ranked, np.int64)


def _is_sparse_core(ops: ProgramOps) -> list[bool]:
    return [core == SPARSE_CORE and ops.devices > 0 for core in ops.core]


def _percent(ops: ProgramOps) -> NDArray[np.float64]:
    """[n] the share of the devices' time, in percent; 0 for SparseCores."""
    own = np.where(np.array(_is_sparse_core(ops), bool), 0, ops.self_ps).astype(np.float64)
    whole = own.sum() + ops.idle_ps
    return 100 * own / whole if whole > 0 else own


def _bandwidths(
    rates: OpRates, numbers: Callable[[str, str, NDArray[np.float64]], Column]
) -> tuple[Column, ...]:
    labels = {
        HBM: ("hbm_bw", "HBM BW (GiB/s)"),
        "CMEM read": ("cmem_read_bw", "CMEM Read BW (GiB/s)"),
        "CMEM write": ("cmem_write_bw", "CMEM Write BW (GiB/s)"),
    }
    return tuple(
        numbers(id_, label, rates.memory_gbytes[memory] / GIBI)
        for memory, (id_, label) in labels.items()
    )


def _yes_or_no(claims: Sequence[bool]) -> list[str]:
    return ["Yes" if claim else "No" for claim in claims]
