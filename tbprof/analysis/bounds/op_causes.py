"""Finds what limits instructions, where the trace proves it, and the time that it costs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.bounds.causes import CAUSE_NAMES, LINKS, Cause
from tbprof.analysis.bounds.op_work import COMPUTE, OpRates, OpWork, Values
from tbprof.analysis.devices.peaks import HBM, Peaks
from tbprof.analysis.devices.tensor_cores import CoreUse
from tbprof.analysis.hlo.hlo_shapes import Shape, padding_of, parse_shapes
from tbprof.analysis.programs.instruction_facts import COMMAND_BUFFER
from tbprof.analysis.programs.program_ops import SPARSE_CORE, ProgramOps
from tbprof.analysis.vocabulary.instruction_roles import Move
from tbprof.analysis.vocabulary.tpu_op_names import SPACE_TYPES
from tbprof.base.records import NamedTuple
from tbprof.base.values import is_in

# From this share of a peak on, an instruction is bound by it: memory as well as compute.
BUSY = 0.5
# On TPUs, moves of arrays with at least this share of padding have their own findings.
PADDED = 0.1
_USUAL = "f16"
_WIDE = ("f32", "f64")
# Types that types with half the bits may replace.
_HALVED = (*_WIDE, "c64", "c128", "s64", "u64")
# Partial tiles are a cause from this share of tiles outside of a product's arrays on.
_OUTSIDE = 0.1
_MOVES = (Move.TRANSPOSE, Move.RESHAPE, Move.LAYOUT)
# Accessed bytes are those of the whole arrays if they differ by at most this share.
_ALIKE = 0.01


class OpCauses(NamedTuple):
    """`Cause` [n] of each instruction, and the part [n] of its self time that could be saved (ps).

    The latter is an upper bound, 0 if it is unknown.
    """

    cause: NDArray[np.int64]
    saved_ps: NDArray[np.int64]

    @property
    def names(self) -> list[str]:
        """[n] the causes in words, "" for none."""
        return [CAUSE_NAMES[Cause(cause)] for cause in self.cause.tolist()]


def find_causes(ops: ProgramOps, work: OpWork, rates: OpRates, peaks: Peaks) -> OpCauses:
    """The causes of instructions whose work is known, from their rates against a device's peaks.

    - A 32-bit product on a TPU takes several passes of its matrix units; on a GPU, it is compared
      with a lower peak. At most the time beyond that at the 16-bit peak, or for half of the bytes,
      can be saved, and no more than the difference in speed of the two types. Products on a GPU's
      ordinary cores have another finding.
    - An instruction that uses at least half of the memory bandwidth, and less of its compute peak,
      waits for memory. The reason is the shape of a matrix product if each element is used in too
      few operations for the peak: with more of them, it would take the time of the operations
      alone. For other instructions, half the bits per number would save half of the traffic in
      32-bit floats and 64-bit numbers. If caches served bytes, the reason is unknown.
    - A matrix product that uses at least half of the peak may waste a part of it: kernels multiply
      whole tiles, parts of which lie outside of the arrays.
    """
    own = ops.self_ps.astype(np.float64)
    is_wide, wide_ps = _wide_products(ops, work, peaks)
    is_known = _can_tell(ops, rates)
    share, flop_share = rates.memory_share[HBM], np.nan_to_num(rates.flop_share)
    is_bound = np.array([bound == HBM for bound in rates.bound_by], np.bool_)
    waits = is_known & is_bound & (share >= BUSY) & (share <= 1)
    is_small = waits & ops.is_product & _is_short(ops, work, peaks)
    tests = {
        Cause.COMMAND_BUFFER: (_is_graph(ops), np.zeros(own.size)),
        Cause.MOVE: (is_known & _moves(ops), own),
        Cause.WIDE_PRODUCT: (is_known & is_wide, wide_ps),
        Cause.SMALL_PRODUCT: (is_small, own * (1 - flop_share)),
        Cause.MEMORY: (waits, own * _wide_shares(ops, waits) / 2),
        Cause.PARTIAL_TILES: (
            is_known & _is_partial(ops, rates),
            own * ops.tile_waste_ppm / 1e6,
        ),
    }
    cause = np.zeros(own.size, np.int64)
    saved = np.zeros(own.size)
    for candidate, (applies, saved_ps) in tests.items():
        is_new = applies & (cause == Cause.NONE)
        cause[is_new] = candidate
        saved[is_new] = saved_ps[is_new]
    return OpCauses(cause, np.rint(np.clip(saved, 0, own)).astype(np.int64))


def _can_tell(ops: ProgramOps, rates: OpRates) -> NDArray[np.bool_]:
    """[n] whether an instruction's time is only its own work on a device."""
    is_beside = np.array([core == SPARSE_CORE for core in ops.core], np.bool_)
    is_linked = np.array([bound in LINKS for bound in rates.bound_by], np.bool_)
    is_own = (ops.span_ps == ops.total_ps) & ~ops.has_inner & (ops.self_ps > 0)
    return np.asarray(is_own & ~is_beside & ~is_linked, np.bool_)


def _is_graph(ops: ProgramOps) -> NDArray[np.bool_]:
    """[n] whether an instruction, or an event without one, is a CUDA graph."""
    is_graph = np.array([category == COMMAND_BUFFER for category in ops.category], np.bool_)
    return np.asarray(is_graph & any(ops.program_id) & (ops.self_ps > 0), np.bool_)


def _moves(ops: ProgramOps) -> NDArray[np.bool_]:
    """[n] whether an instruction only rearranges data; on TPUs, without much padding."""
    is_move = is_in(ops.move, _MOVES)
    if ops.device_type == "TPU":
        for row in np.flatnonzero(is_move).tolist():
            padding = padding_of(_arrays(ops, row))
            is_space = ops.scope[row].rpartition(":")[2] in SPACE_TYPES
            is_move[row] = padding.wasted < PADDED and not is_space
    return is_move


def _wide_products(ops: ProgramOps, work: OpWork, peaks: Peaks) -> tuple[NDArray[np.bool_], Values]:
    """(whether 16-bit products would be faster than the 32-bit ones, the savings in ps)."""
    narrow = peaks.flop_peak(_USUAL)
    own_ps = ops.self_ps.astype(np.float64)
    slower = np.ones(own_ps.size)
    if ops.device_type == "TPU":
        is_wide = np.array([dtype == "f32" for dtype in ops.product_dtype], np.bool_)
        slower = np.maximum(ops.product_passes, 1).astype(np.float64)
    else:
        is_wide = np.array([dtype in _WIDE for dtype in ops.product_dtype], np.bool_)
        is_wide &= ops.core_use != CoreUse.NO
        gflops = {roof: peaks.flop_peak(roof) for roof in set(work.roof)}
        slower = narrow / np.array([gflops[roof] for roof in work.roof], np.float64)
    with np.errstate(invalid="ignore"):
        # 10^9 operations and bytes per second are one in 1,000 ps.
        least_ps = np.fmax(
            work.model_flops / narrow * 1e3,
            work.by_memory[HBM] / 2 / peaks.hbm_gbytes * 1e3,
        )
        saved_ps = np.fmin(own_ps - least_ps, own_ps * (1 - 1 / slower))
        is_known = np.isfinite(work.model_flops) & np.isfinite(slower)
        applies = is_wide & is_known & (saved_ps > 0)
        return applies, np.nan_to_num(saved_ps)


def _is_short(ops: ProgramOps, work: OpWork, peaks: Peaks) -> NDArray[np.bool_]:
    """[n] whether the shape of a matrix product prevents it from reaching its compute peak.

    m k and k n elements are read and m n written for 2 m n k operations: less than two operations
    per element times the smallest of the three.
    """
    width = {dtype: Shape(dtype, ()).bits / 8 for dtype in set(ops.product_dtype)}
    bytes_ = np.array([width[dtype] for dtype in ops.product_dtype], np.float64)
    needed = {roof: peaks.flop_peak(roof) / peaks.hbm_gbytes for roof in set(work.roof)}
    ridge = np.array([needed[roof] for roof in work.roof], np.float64)
    return np.asarray((ops.product_size > 0) & (2 * ops.product_size / bytes_ < ridge), np.bool_)


def _is_partial(ops: ProgramOps, rates: OpRates) -> NDArray[np.bool_]:
    """[n] whether a compute-bound kernel computes much outside of its arrays."""
    is_bound = np.array([bound == COMPUTE for bound in rates.bound_by], np.bool_)
    outside = ops.tile_waste_ppm / 1e6
    is_busy = rates.flop_share >= BUSY * (1 - outside)
    return is_bound & is_busy & (rates.flop_share <= 1) & (outside >= _OUTSIDE)


def _wide_shares(ops: ProgramOps, wanted: NDArray[np.bool_]) -> Values:
    """[n] the share of the arrays' bytes that is in 32-bit floats or 64-bit numbers.

    It is 0 if the instruction does not access its arrays entirely, or if not all are known.
    """
    out = np.zeros(len(ops.name))
    for row in np.flatnonzero(wanted).tolist():
        shapes = _arrays(ops, row)
        total = sum(shape.bytes for shape in shapes)
        accessed = int(ops.bytes_accessed[row]) / max(int(ops.occurrences[row]), 1)
        if total > 0 and abs(accessed - total) <= _ALIKE * total:
            wide = sum(shape.bytes for shape in shapes if shape.dtype in _HALVED)
            out[row] = wide / total
    return out


def _arrays(ops: ProgramOps, row: int) -> tuple[Shape, ...]:
    """The arrays of an instruction, () if its text was shortened."""
    text = f"{ops.result[row]} {ops.operands[row]}"
    return () if "…" in text else parse_shapes(text)
