"""Exchanges of data between TPU cores: their instructions and their runs."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.devices.device_clock import find_core_ops
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.vocabulary.lines import tensor_core_planes
from tbprof.base import names
from tbprof.base.lazy import Later
from tbprof.base.records import dataclass
from tbprof.base.values import join_columns, unique
from tbprof.events.space import Plane, Space

if TYPE_CHECKING:
    from tbprof.analysis.tpu.exchange_reading import ExchangeInstruction, ExchangeReader

# Imported only for traces of TPUs, since it reads programs.
_exchange_reader = Later("tbprof.analysis.tpu.exchange_reading.ExchangeReader")


class ExchangeRole(IntEnum):
    """The role of an instruction in an exchange."""

    GROUPS = 0  # a collective of groups of devices
    PERMUTE = 1  # sends and receives
    SEND = 2
    RECV = 3


@dataclass(frozen=True, slots=True)
class Exchanges:
    """The exchanges of a host's TensorCores: instructions [k], and their runs [n] on `cores`.

    `name` and `opcode` are those of the instruction, or of the start of an asynchronous one, whose
    done instruction is `done` ("" for others). `program` is the id of the compiled program.
    `channel` is 0 if there is none, `bytes` is the size that one device sends, -1 if unknown.
    `groups` ("0,1;2,3") and `pairs` (source and target: "0,1;1,0") number devices as the program
    does, "" if it lists none.

    A run of instruction `kind` on `core` begins at `start_ps`; its done instruction runs from
    `done_ps` to `end_ps`, both -1 if it is not in the trace. For an instruction that is not split,
    that is the instruction itself.
    """

    cores: list[str]
    name: list[str]
    done: list[str]
    opcode: list[str]
    groups: list[str]
    pairs: list[str]
    program: NDArray[np.int64]
    role: NDArray[np.int8]
    channel: NDArray[np.int64]
    bytes: NDArray[np.int64]
    core: NDArray[np.int32]
    kind: NDArray[np.int32]
    start_ps: NDArray[np.int64]
    done_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]


# (core, kind, start, start of the done instruction, its end) of runs.
_RunColumns = tuple[NDArray[np.int64], ...]


def find_exchanges(space: Space, programs: Programs) -> Exchanges:
    """The exchanges of the compiled programs that ran on a host."""
    planes = tensor_core_planes(space)
    kinds: dict[ExchangeInstruction, int] = {}
    runs = []
    if planes:
        reader = _exchange_reader(programs)
        runs = [_runs(plane, core, reader, kinds) for core, plane in enumerate(planes)]
    core, kind, start, done, end = join_columns(runs, 5)
    rows = list(kinds)
    return Exchanges(
        [plane.name.removeprefix("/device:") for plane in planes],
        [row.name for row in rows],
        [row.done for row in rows],
        [row.opcode for row in rows],
        [row.groups for row in rows],
        [row.pairs for row in rows],
        np.array([row.program for row in rows], np.int64),
        np.array([row.role for row in rows], np.int8),
        np.array([row.channel for row in rows], np.int64),
        np.array([row.bytes for row in rows], np.int64),
        core.astype(np.int32),
        kind.astype(np.int32),
        start,
        done,
        end,
    )


def _runs(
    plane: Plane, core: int, reader: ExchangeReader, kinds: dict[ExchangeInstruction, int]
) -> _RunColumns:
    """The runs on one core, by kind; new instructions are added to `kinds`."""
    ops = find_core_ops(plane, names.XLA_OPS_LINE)
    events = ops.events
    used = events.used_types(plane.types.name.size)
    stats = plane.types.stats([names.PROGRAM_ID, names.HLO_CATEGORY])
    program = stats[names.PROGRAM_ID].integers(-1)
    category = stats[names.HLO_CATEGORY].texts()
    texts = plane.strings.take(plane.types.name[used].tolist())
    # The kind of each type [t], and whether it is a done instruction; the last row is for no type.
    kind_of = np.full(plane.types.name.size + 1, -1, np.int64)
    is_end = np.zeros(kind_of.size, bool)
    for row, text in zip(np.asarray(used).tolist(), texts, strict=True):
        exchange = reader.read(text, plane.strings[int(category[row])], int(program[row]))
        if exchange is not None:
            instruction, name = exchange
            kind_of[row] = kinds.setdefault(instruction, len(kinds))
            is_end[row] = name == instruction.done
    kind, ends = events.by_type(kind_of), events.by_type(is_end)
    rows = np.flatnonzero(kind >= 0)
    start, end = ops.begin, ops.end
    pieces: list[tuple[NDArray[np.int64], ...]] = []
    done_of = [row.done for row in kinds]
    for kind_ in unique(kind[rows]).tolist():
        own_rows = rows[kind[rows] == kind_]
        own_rows = own_rows[np.argsort(start[own_rows], kind="stable")]
        begins, dones = own_rows[~ends[own_rows]], own_rows[ends[own_rows]]
        own_kind = np.full(begins.size, kind_)
        pieces.append((own_kind, *_paired(start, end, begins, dones if done_of[kind_] else begins)))
    kind, *times = join_columns(pieces, 4)
    return (np.full(kind.size, core), kind, *times)


def _paired(
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    begins: NDArray[np.int64],
    dones: NDArray[np.int64],
) -> tuple[NDArray[np.int64], ...]:
    """(start, start of the done, its end) of runs: each one ends with the next done, if any.

    begins |a..b..c      b has no end in the trace

    dones  |.a....c
    """
    index = np.searchsorted(start[dones], start[begins])
    following = np.append(start[begins][1:], np.iinfo(np.int64).max)
    done_row = np.append(dones, 0)[index]
    is_found = (index < dones.size) & (start[done_row] < following)
    return (
        start[begins],
        np.where(is_found, start[done_row], -1),
        np.where(is_found, end[done_row], -1),
    )


def numbers_in(text: str) -> Iterator[list[int]]:
    """The device numbers in a text of `groups` or `pairs`, group by group."""
    for group in text.split(";") if text else ():
        yield [int(number) for number in group.split(",") if number]
