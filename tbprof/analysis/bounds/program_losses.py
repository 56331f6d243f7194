"""The device time of a host in instructions that could be faster, by cause."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.bounds.causes import Cause
from tbprof.analysis.devices.peaks import Peaks
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.programs.program_ops import SPARSE_CORE, ProgramOps
from tbprof.base.lazy import Later
from tbprof.base.records import dataclass
from tbprof.base.values import join_columns, unique
from tbprof.events.space import Space

# Imported only for traces with programs, which most traces lack.
_find_cause_facts = Later("tbprof.analysis.bounds.cause_facts.find_cause_facts")
# The number of instructions that are named for each cause, the longest ones.
NAMED = 8


@dataclass(frozen=True, slots=True)
class ProgramLosses:
    """The self time of instructions by cause, in ps, summed over the devices of a host.

    `total_ps` is that of all instructions. `cause` [c] contains each `Cause` once, `time_ps` [c]
    the time of its instructions, `saved_ps` [c] the most of it that could be saved, and
    `argument_ps` [c] the part in instructions that move arguments of programs.

    The longest instructions of each cause have a `name` [m], a cause `of` [m], a time `name_ps`
    [m], and a `fact` [m] that shows the cause, such as "82 % of the bandwidth of HBM".
    """

    total_ps: int
    cause: NDArray[np.int64]
    time_ps: NDArray[np.int64]
    saved_ps: NDArray[np.int64]
    argument_ps: NDArray[np.int64]
    name: list[str]
    of: NDArray[np.int64]
    name_ps: NDArray[np.int64]
    fact: list[str]


_NONE = np.zeros(0, np.int64)
NO_LOSSES = ProgramLosses(0, _NONE, _NONE, _NONE, _NONE, [], _NONE, _NONE, [])


def find_program_losses(
    _space: Space, _programs: Programs, ops: ProgramOps, peaks: Peaks
) -> ProgramLosses:
    """The losses in the instructions of a host, by comparing their rates with the peaks."""
    if not any(ops.program_id):
        return NO_LOSSES
    causes, facts = _find_cause_facts(ops, peaks)
    own_ps = ops.self_ps
    is_of_device = np.array([core != SPARSE_CORE or not ops.devices for core in ops.core], np.bool_)
    argument_ps = np.where(ops.is_of_argument, own_ps, 0)
    rows = zip(causes.cause.tolist(), ops.name, facts, own_ps.tolist(), strict=True)
    times = own_ps, causes.saved_ps, argument_ps
    return _losses(int(own_ps[is_of_device].sum()), causes.cause, times, rows)


def merge_program_losses(parts: Sequence[ProgramLosses]) -> ProgramLosses:
    """The sum over hosts; instructions of equal names and facts are one."""
    columns = ((part.cause, part.time_ps, part.saved_ps, part.argument_ps) for part in parts)
    rows = (
        row
        for part in parts
        for row in zip(part.of.tolist(), part.name, part.fact, part.name_ps.tolist(), strict=True)
    )
    cause, *times = join_columns(columns, 4)
    return _losses(sum(part.total_ps for part in parts), cause, times, rows)


def _losses(
    total_ps: int,
    cause: NDArray[np.int64],
    times: Sequence[NDArray[np.int64]],
    rows: Iterable[tuple[int, str, str, int]],
) -> ProgramLosses:
    """The sums of times by `cause`, and the longest of the rows that `_longest` takes."""
    causes = unique(cause[cause != Cause.NONE])
    is_of_cause = cause == causes[:, np.newaxis]
    time_ps, saved_ps, argument_ps = ((values * is_of_cause).sum(axis=1) for values in times)
    return ProgramLosses(total_ps, causes, time_ps, saved_ps, argument_ps, *_longest(rows))


def _longest(
    rows: Iterable[tuple[int, str, str, int]],
) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64], list[str]]:
    """The name, cause, time and fact of the longest instructions of each cause."""
    time_of: dict[tuple[int, str, str], int] = {}
    for cause, name, fact, time_ps in rows:
        if cause != Cause.NONE:
            time_of[cause, name, fact] = time_of.get((cause, name, fact), 0) + time_ps
    kept: list[tuple[int, str, str, int]] = []
    left: dict[int, int] = {}
    for (cause, name, fact), time_ps in sorted(
        time_of.items(), key=lambda item: (-item[1], item[0])
    ):
        left[cause] = left.get(cause, NAMED) - 1
        if left[cause] >= 0:
            kept.append((cause, name, fact, time_ps))
    return (
        [name for _, name, _, _ in kept],
        np.array([cause for cause, *_ in kept], np.int64),
        np.array([time_ps for *_, time_ps in kept], np.int64),
        [fact for _, _, fact, _ in kept],
    )
