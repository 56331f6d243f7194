"""The rows of the roofline: instructions of one group, whole programs, and all of them together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.bounds.op_work import OpWork, Values, of_texts, sum_work, work_of
from tbprof.analysis.devices.peaks import Peaks
from tbprof.analysis.programs.program_ops import NOT_IN_HLO, SPARSE_CORE, ProgramOps
from tbprof.base.records import dataclass
from tbprof.base.values import known
from tbprof.tools.programs.op_texts import cost_notes, sources_as_html

PROGRAM = "Program"
_FEEDS = ("infeed", "outfeed")


@dataclass(frozen=True, slots=True)
class RooflineRows:
    """Rows [n] of one group, such as a step: its programs together first, then what ran in it.

    The first row, `rank` 0, has no self time: it contains the others. Times in ps; `whole_ps` is
    the devices' time in the group, idle time included. `stalled_ps` [n] is how long ops waited for
    transfers, NaN if not recorded. `unknown_ps` [n] is the part of the time in instructions whose
    operations are not known, and `cost_note` why; "" where they are.
    """

    name: list[str]
    category: list[str]
    program_id: list[str]
    program: list[str]
    dtype: list[str]
    source: list[str]
    source_html: list[str]
    cost_note: list[str]
    rank: NDArray[np.int64]
    occurrences: NDArray[np.int64]
    total_ps: Values
    self_ps: Values
    stalled_ps: Values
    unknown_ps: Values
    is_computed: NDArray[np.bool_]
    work: OpWork
    whole_ps: float
    devices: int

    def __len__(self) -> int:
        return len(self.name)


def is_feed(ops: ProgramOps) -> NDArray[np.bool_]:
    """[n] whether an op is an infeed or an outfeed."""
    kinds = zip(ops.category, ops.opcode, strict=True)
    return np.array([any(kind in _FEEDS for kind in pair) for pair in kinds], bool)


def is_of_device(ops: ProgramOps) -> NDArray[np.bool_]:
    """[n] whether a row is a part of the devices' time; SparseCores work beside TensorCores."""
    return np.array([core != SPARSE_CORE or not ops.devices for core in ops.core], bool)


def op_rows(ops: ProgramOps, peaks: Peaks, *, has_feeds: bool) -> RooflineRows:
    """The instructions that ran on the devices, by self time; ties in the order of name, program.

    `has_feeds` includes infeeds and outfeeds.
    """
    shown = _shown(ops, has_feeds=has_feeds)
    work = work_of(ops, peaks)
    whole, all_work = _whole(ops, work, shown)
    rows = _ranked(ops, shown)
    is_unknown = np.isnan(work.flops)
    taken = rows.tolist()
    notes, sources = cost_notes(ops), sources_as_html(ops)
    unknown = np.where(is_unknown, ops.self_ps, 0).astype(np.float64)
    return RooflineRows(
        [PROGRAM, *(ops.name[row] for row in taken)],
        [PROGRAM, *(ops.category[row] for row in taken)],
        ["0", *(ops.program_id[row] for row in taken)],
        ["", *(ops.program[row] for row in taken)],
        ["", *(ops.dtype[row] for row in taken)],
        ["", *(ops.source[row] for row in taken)],
        ["", *(sources[row] for row in taken)],
        ["", *(notes[row] for row in taken)],
        np.arange(rows.size + 1),
        np.append(1, ops.occurrences[rows]),
        np.append(whole, ops.total_ps[rows]),
        np.append(np.nan, ops.self_ps[rows]),
        np.append(np.nan, known(ops.dma_stall_ps[rows])),
        np.append(unknown[shown].sum(), unknown[rows]),
        np.append(ops.is_computed[shown].any(), ops.is_computed[rows]),
        _chain(all_work, work.select(rows)),
        whole,
        ops.devices,
    )


def program_rows(ops: ProgramOps, peaks: Peaks, *, has_feeds: bool) -> RooflineRows:
    """The same for whole programs, by the time of their instructions."""
    shown = _shown(ops, has_feeds=has_feeds)
    work = work_of(ops, peaks)
    whole, all_work = _whole(ops, work, shown)
    labels = [
        f"{program or 'main'}({id_})" if id_ else NOT_IN_HLO
        for program, id_ in zip(ops.program, ops.program_id, strict=True)
    ]
    group, names = of_texts(labels)
    group = np.where(shown, group, -1)
    own = np.where(group >= 0, ops.self_ps, 0).astype(np.float64)
    unknown = np.where(np.isnan(work.flops), own, 0)
    spans = np.bincount(group[shown], own[shown], len(names)).astype(np.float64)
    sums = sum_work(work, group, spans, ~ops.has_inner, ops.self_ps)
    order = np.array(sorted(range(len(names)), key=lambda row: (-spans[row], names[row])), np.int64)
    order = order[np.bincount(group[shown], minlength=len(names))[order] > 0]
    first = {int(number): row for row, number in reversed(list(enumerate(group.tolist())))}
    heads = [first[index] for index in order.tolist()]
    computed = np.bincount(group[shown], ops.is_computed[shown], len(names)) > 0
    ran = _executions(ops, group, len(names))
    count = order.size
    return RooflineRows(
        [PROGRAM, *(names[index] for index in order.tolist())],
        [PROGRAM] * (count + 1),
        ["0", *(ops.program_id[row] for row in heads)],
        ["", *(ops.program[row] for row in heads)],
        [""] * (count + 1),
        [""] * (count + 1),
        [""] * (count + 1),
        [""] * (count + 1),
        np.arange(count + 1),
        np.append(1, ran[order]),
        np.append(whole, spans[order]),
        np.append(np.nan, spans[order]),
        np.full(count + 1, np.nan),
        np.append(unknown.sum(), np.bincount(group[shown], unknown[shown], len(names))[order]),
        np.append(computed.any(), computed[order]),
        _chain(all_work, sums.select(order)),
        whole,
        ops.devices,
    )


def _executions(ops: ProgramOps, group: NDArray[np.int64], programs: int) -> NDArray[np.int64]:
    """How often each program ran: as often as what is outside of its loops, where that is known."""
    known, most = np.zeros((2, programs), np.int64)
    entry = ops.is_entry & (group >= 0)
    np.maximum.at(known, group[entry], ops.occurrences[entry])
    np.maximum.at(most, group[group >= 0], ops.occurrences[group >= 0])
    return np.where(known > 0, known, most)


def _shown(ops: ProgramOps, *, has_feeds: bool) -> NDArray[np.bool_]:
    """[n] the rows of a group: those that ran on devices."""
    shown = is_of_device(ops) & (ops.occurrences > 0)
    return shown if has_feeds else shown & ~is_feed(ops)


def _whole(ops: ProgramOps, work: OpWork, shown: NDArray[np.bool_]) -> tuple[float, OpWork]:
    """(the devices' time, of ops that are not shown none; the work in it)."""
    whole = float(ops.self_ps[shown].sum()) + ops.idle_ps
    group = np.where(shown, 0, -1)
    return whole, sum_work(work, group, np.array([whole]), ~ops.has_inner, ops.self_ps)


def _ranked(ops: ProgramOps, shown: NDArray[np.bool_]) -> NDArray[np.int64]:
    own_ps = ops.self_ps.tolist()
    rows = sorted(
        np.flatnonzero(shown).tolist(),
        key=lambda row: (-own_ps[row], ops.name[row], ops.program_id[row]),
    )
    return np.array(rows, np.int64)


def _chain(first: OpWork, others: OpWork) -> OpWork:
    """The rows of one, then those of the other."""

    def both(name: str) -> Values:
        return np.concatenate([getattr(first, name), getattr(others, name)])

    return OpWork(
        both("span_ps"), both("flops"), both("model_flops"), both("bytes"),
        {
            name: np.concatenate([values, others.by_memory[name]])
            for name, values in first.by_memory.items()
        },
        both("flop_ps"), [*first.roof, *others.roof],
        np.concatenate([first.link, others.link]),
    )  # fmt: skip
