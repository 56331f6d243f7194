"""Rates of computation and traffic of instructions, and the peaks that bound them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.bounds.causes import LINKS
from tbprof.analysis.devices.peaks import HBM, Peaks
from tbprof.analysis.gpu.kernels import Kernels
from tbprof.analysis.hlo.host_copies import is_host_copy
from tbprof.analysis.programs.program_ops import ProgramOps
from tbprof.analysis.vocabulary.collectives import is_collective_kernel, is_collective_op
from tbprof.base.records import dataclass
from tbprof.base.values import known, ratio

Values = NDArray[np.float64]

GIBI = 2**30 / 1e9
# The columns of `ProgramOps` with the bytes of each memory in `Peaks`; if an op uses the same share
# of two, the earlier one bounds it.
_MEMORIES = {
    HBM: "hbm_bytes",
    "CMEM read": "cmem_read_bytes",
    "CMEM write": "cmem_written_bytes",
    "VMEM read": "vmem_read_bytes",
    "VMEM write": "vmem_written_bytes",
}
COMPUTE = "Compute"
UNBOUND = "Unknown"
_BY_LINK = ("", *LINKS)
# The names that scripts use.
_BOUNDS = {
    HBM: HBM, "CMEM read": "CMEM Read", "CMEM write": "CMEM Write", "VMEM read": "VMEM Read",
    "VMEM write": "VMEM Write",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class OpWork:
    """The work of rows [n] and the time that it took; NaN if unknown.

    The rows are instructions, or sums over several. `span_ps` is the time that the work took.
    `flop_ps` is the time that the operations take at the peak of their element types, NaN without a
    peak, and `roof` the entry of `Peaks.dtype` with that peak, "" for none. `link` is the entry of
    `LINKS`, counted from 1, that a copy or an exchange waits for, or that takes most of a row's
    time; 0 for others.
    """

    span_ps: Values
    flops: Values
    model_flops: Values
    bytes: Values
    by_memory: Mapping[str, Values]
    flop_ps: Values
    roof: list[str]
    link: NDArray[np.int64]

    def select(self, rows: NDArray[np.int64]) -> OpWork:
        """The work of these rows, in this order."""
        return OpWork(
            self.span_ps[rows], self.flops[rows], self.model_flops[rows], self.bytes[rows],
            {name: values[rows] for name, values in self.by_memory.items()}, self.flop_ps[rows],
            [self.roof[row] for row in rows.tolist()], self.link[rows],
        )  # fmt: skip


def work_of(ops: ProgramOps, peaks: Peaks) -> OpWork:
    """The work of the instructions of a table.

    TPUs record operations as if all types had the rate of 16-bit floats, so these are compared with
    that peak, others with the peak of their own type.
    """
    recorded = peaks.roof_of("", is_product=True)
    rows = zip(ops.dtype, ops.is_product.tolist(), ops.is_computed.tolist(), strict=True)
    is_tpu = ops.device_type == "TPU"
    roof = [
        recorded if is_tpu and not is_computed else peaks.roof_of(dtype, is_product=is_product)
        for dtype, is_product, is_computed in rows
    ]
    flops = known(ops.flops)
    return OpWork(
        ops.span_ps.astype(np.float64),
        flops,
        known(ops.model_flops),
        known(ops.bytes_accessed),
        {memory: known(getattr(ops, column)) for memory, column in _MEMORIES.items()},
        _flop_ps(flops, roof, peaks),
        roof,
        _links(ops),
    )


def _links(ops: ProgramOps) -> NDArray[np.int64]:
    """[n] the links that instructions wait for, as in `OpWork.link`."""
    shapes = map("".join, zip(ops.result, ops.operands, strict=True))
    copies = [is_host_copy(*texts) for texts in zip(ops.opcode, shapes, strict=True)]
    kinds = list(zip(ops.opcode, ops.category, strict=True))
    is_exchange = {kind: any(map(is_collective_op, kind)) for kind in set(kinds)}
    exchanges = [is_exchange[kind] for kind in kinds]
    return np.select([np.array(copies, bool), np.array(exchanges, bool)], [1, 2], 0)


def work_of_kernels(kernels: Kernels, peaks: Peaks) -> OpWork:
    """The work of GPU kernels: that of instructions that launch only one kernel."""
    rows = zip(kernels.dtype, kernels.is_product.tolist(), strict=True)
    roof = [peaks.roof_of(dtype, is_product=is_product) for dtype, is_product in rows]
    flops = known(kernels.flops)
    return OpWork(
        kernels.total_ps.astype(np.float64), flops, flops, known(kernels.bytes),
        {HBM: known(kernels.hbm_bytes)}, _flop_ps(flops, roof, peaks), roof,
        np.where([is_collective_kernel(name) for name in kernels.name], 2, 0),
    )  # fmt: skip


def _flop_ps(flops: Values, roof: Sequence[str], peaks: Peaks) -> Values:
    """The time that operations take at their peaks, in ps."""
    peak_of = {name: peaks.flop_peak(name) for name in set(roof)}
    # 10^9 operations per second are one in 1,000 ps.
    return flops / np.array([peak_of[name] for name in roof], np.float64) * 1e3


def sum_work(
    work: OpWork,
    group: NDArray[np.int64],
    spans_ps: Values,
    is_summed: NDArray[np.bool_],
    own_ps: NDArray[np.int64],
) -> OpWork:
    """The work of groups of rows: `group` [n] has the group of each row, -1 for none.

    `spans_ps` [groups] is the time of each group, `own_ps` [n] the self time of each row. Unknown
    values of rows count as 0 in sums; a sum without any known value is NaN.
    """
    count = spans_ps.size
    own = np.where(is_summed, group, -1)
    linked_ps = np.array(
        [
            np.bincount(group[is_here], own_ps[is_here], count)
            for is_here in ((work.link == number) & (group >= 0) for number in (1, 2))
        ]
    )

    def summed(values: Values) -> Values:
        known = (own >= 0) & np.isfinite(values)
        total = np.bincount(own[known], values[known], count)
        has = np.bincount(own[known], minlength=count) > 0
        return np.where(has, total, np.nan)

    return OpWork(
        spans_ps, summed(work.flops), summed(work.model_flops), summed(work.bytes),
        {name: summed(values) for name, values in work.by_memory.items()}, summed(work.flop_ps),
        [""] * count, longest_link(linked_ps, spans_ps),
    )  # fmt: skip


def longest_link(linked_ps: Values, span_ps: Values) -> NDArray[np.int64]:
    """[n] the link that takes most of the time, 0 if all links together take at most half of it.

    `linked_ps` [links, n] is the time of each.
    """
    most = linked_ps.argmax(axis=0) + 1
    return np.where(2 * linked_ps.sum(axis=0) > span_ps, most, 0).astype(np.int64)


@dataclass(frozen=True, slots=True)
class OpRates:
    """Rates [n] of work over its time, NaN if unknown.

    Rates are in 10^9 operations and bytes per second, intensities in operations per byte; shares of
    peaks may exceed 1. `flop_share` is relative to the peak of the element types, `memory_share` to
    that of each memory. `bound_by` is the resource with the largest share: "Compute", "HBM" etc.,
    "Unknown" if no share is known, or one of `LINKS`, whose shares are unknown. `efficiency` is the
    largest share; `bounding_intensity` is relative to the bytes of the bounding memory, or of the
    busiest one if compute is the bound.
    """

    gflops: Values
    model_gflops: Values
    gbytes: Values
    intensity: Values
    memory_gbytes: Mapping[str, Values]
    memory_intensity: Mapping[str, Values]
    flop_share: Values
    memory_share: Mapping[str, Values]
    bound_by: list[str]
    efficiency: Values
    most_memory_share: Values
    bounding_intensity: Values

    @property
    def roof_gflops(self) -> Values:
        """[n] the most that a row could compute per second at its intensity.

        NaN for rows above their roof: caches served some of the bytes, or the peak is implausible.
        """
        return np.where(self.efficiency <= 1, ratio(self.gflops, self.efficiency), np.nan)


def rates_of(work: OpWork, peaks: Peaks) -> OpRates:
    """The rates and bounds of rows against the peaks of one device."""
    span_ns = work.span_ps / 1e3
    gbytes = {name: ratio(values, span_ns) for name, values in work.by_memory.items()}
    share = {
        name: values / peaks.memory_peak(name) if peaks.memory_peak(name) > 0 else values * np.nan
        for name, values in gbytes.items()
    }
    flop_share = ratio(work.flop_ps, work.span_ps)
    most, bound = _bounds({COMPUTE: flop_share, **share})
    most_memory, busiest = _bounds(share)
    intensities = {name: ratio(work.flops, values) for name, values in work.by_memory.items()}
    most = np.where(work.link > 0, np.nan, most)
    links = work.link.tolist()
    bound = [_BY_LINK[link] or peak for link, peak in zip(links, bound, strict=True)]
    bounding = np.full(span_ns.size, np.nan)
    pairs = zip(bound, busiest, strict=True)
    memories = [memory if memory in share else second for memory, second in pairs]
    for name, values in intensities.items():
        is_here = np.array([memory == name for memory in memories], bool)
        bounding[is_here] = values[is_here]
    return OpRates(
        ratio(work.flops, span_ns),
        ratio(work.model_flops, span_ns),
        ratio(work.bytes, span_ns),
        ratio(work.flops, work.bytes),
        gbytes,
        intensities,
        flop_share,
        share,
        [_BOUNDS.get(name, name) for name in bound],
        most,
        most_memory,
        bounding,
    )


def _bounds(shares: Mapping[str, Values]) -> tuple[Values, list[str]]:
    """(the largest share, its name) [n], the first of equals; NaN and "Unknown" without a share.

    A row that is known to do nothing has the share 0, and the name "Unknown".
    """
    names = list(shares)
    table = np.array([shares[name] for name in names])
    filled = np.where(np.isnan(table), -1.0, table)
    row = filled.argmax(axis=0)
    most = filled.max(axis=0)
    largest = zip(row.tolist(), most.tolist(), strict=True)
    bound = [names[index] if top > 0 else UNBOUND for index, top in largest]
    return np.where(most >= 0, most, np.nan), bound


def above_roof(rates: OpRates, is_computed: NDArray[np.bool_]) -> list[str]:
    """[n] why a row is above its roof, "" if it is not."""
    return above_peaks(rates.flop_share, rates.most_memory_share, is_computed)


def above_peaks(
    flop_share: Values, memory_share: Values, is_computed: NDArray[np.bool_]
) -> list[str]:
    """[n] why a row did more than the peaks of its device allow, "" if it did not."""
    reasons = np.select(
        [flop_share > 1, (memory_share > 1) & is_computed, memory_share > 1],
        [
            "more operations than the peak allows: the peak is implausible",
            "more bytes than the memory can move: caches served some of them",
            "more bytes than the memory can move: the peak is implausible",
        ],
        "",
    )
    out: list[str] = reasons.tolist()
    return out


def of_texts(texts: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
    """(the number of each text [n], the distinct texts in the order in which they appear)."""
    number: dict[str, int] = {}
    rows = [number.setdefault(text, len(number)) for text in texts]
    return np.array(rows, np.int64), list(number)
