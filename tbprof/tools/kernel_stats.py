"""GPU kernel stats: every kernel with the op that launched it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.summaries import Summaries
from tbprof.analysis.bounds.op_work import GIBI, above_roof, rates_of, work_of_kernels
from tbprof.analysis.devices.peaks import Peaks, merge_peaks
from tbprof.analysis.devices.tensor_cores import CoreUse, core_name
from tbprof.analysis.gpu.kernels import Kernels, merge_kernels
from tbprof.base.values import known, ratio
from tbprof.tools.model.datatable import Table, boolean, number, text

PARTS = ("kernels", "peaks")

USES = {CoreUse.YES: "yes", CoreUse.NO: "no", CoreUse.UNKNOWN: "unknown"}


def build(summaries: Summaries) -> Sequence[Table]:
    """One table, a row per kernel-op pair and launch configuration, longest total time first.

    Ties are in the order of name, grid, block, registers, shared memory, Tensor Core flags and
    op, so the order of hosts and streams does not matter.
    """
    kernels = merge_kernels(summaries.take("kernels", Kernels))
    order = _order(kernels)
    unit = core_name(is_amd=bool(kernels.is_amd.any())).replace(" Cores", "Core")
    total_us = kernels.total_ps[order] / 1e6
    peaks = merge_peaks(summaries.take("peaks", Peaks))
    rates = rates_of(work_of_kernels(kernels, peaks).select(order), peaks)
    return [
        Table(
            (
                number("rank", "Rank", np.arange(1, order.size + 1)),
                text("kernel_name", "Kernel Name", [kernels.name[row] for row in order]),
                number(
                    "registers_per_thread", "Registers per thread", known(kernels.registers[order])
                ),
                number("shmem_bytes", "Shared Mem bytes", known(kernels.shared_bytes[order])),
                text("block_dim", "Block dim", _dimensions(kernels.block[order])),
                text("grid_dim", "Grid dim", _dimensions(kernels.grid[order])),
                number("occupancy_pct", "Theoretical Occupancy %", kernels.occupancy_pct[order]),
                boolean(
                    "is_op_tensor_core_eligible",
                    f"Op is {unit} eligible",
                    kernels.is_eligible[order],
                ),
                boolean(
                    "is_kernel_using_tensor_core",
                    f"Kernel uses {unit}",
                    kernels.uses_tensor_cores[order],
                ),
                text("op_name", "Op Name", [kernels.op[row] for row in order]),
                number("occurrences", "Occurrences", kernels.occurrences[order]),
                number("total_duration_us", "Total Duration (μs)", total_us),
                number(
                    "avg_duration_us",
                    "Avg Duration (μs)",
                    ratio(total_us, kernels.occurrences[order].astype(np.float64)),
                ),
                number("min_duration_us", "Min Duration (μs)", kernels.least_ps[order] / 1e6),
                number("max_duration_us", "Max Duration (μs)", kernels.most_ps[order] / 1e6),
                text(
                    "tensor_core_use",
                    f"{unit} use",
                    [USES[CoreUse(use)] for use in kernels.core_use[order].tolist()],
                ),
                text("driver_copy", "Copy by the driver", [kernels.copy[row] for row in order]),
                number("measured_flop_rate", "FLOP Rate (GFLOP/s)", rates.gflops),
                number("measured_memory_bw", "Memory BW (GiB/s)", rates.gbytes / GIBI),
                number(
                    "operational_intensity",
                    "Operational Intensity (FLOPs/Byte)",
                    rates.intensity,
                ),
                text("bound_by", "Bound by", rates.bound_by),
                number("efficiency", "Roofline efficiency", rates.efficiency),
                text("roof_note", "Above the roof", above_roof(rates, kernels.is_computed[order])),
            ),
            {"matrix_unit": core_name(is_amd=bool(kernels.is_amd.any()))},
        )
    ]


def _order(kernels: Kernels) -> NDArray[np.int64]:
    rows = range(len(kernels.name))
    ranked = sorted(
        rows,
        key=lambda row: (
            -int(kernels.total_ps[row]),
            kernels.name[row],
            tuple(kernels.grid[row].tolist()),
            tuple(kernels.block[row].tolist()),
            int(kernels.registers[row]),
            int(kernels.shared_bytes[row]),
            int(kernels.core_use[row]) == CoreUse.YES,
            bool(kernels.is_eligible[row]),
            kernels.op[row],
            int(kernels.core_use[row]),
            kernels.copy[row],
            kernels.dtype[row],
            bool(kernels.is_product[row]),
            bool(kernels.is_computed[row]),
        ),
    )
    return np.array(ranked, np.int64)


def _dimensions(sizes: NDArray[np.int64]) -> list[str]:
    return [f"{x},{y},{z}" for x, y, z in sizes.tolist()]
