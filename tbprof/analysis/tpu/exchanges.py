"""How TPU cores exchange data: the instructions that do so, and their runs."""

from collections.abc import Iterable, Iterator
from enum import IntEnum
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.devices.device_clock import find_core_ops
from tbprof.analysis.hlo.hlo import Module, Programs
from tbprof.analysis.hlo.hlo_shapes import padding_of, read_shape
from tbprof.analysis.hlo.host_channels import is_exchange
from tbprof.analysis.vocabulary.collectives import is_collective_op
from tbprof.analysis.vocabulary.lines import tensor_core_planes
from tbprof.base import names
from tbprof.base.records import dataclass
from tbprof.base.values import unique
from tbprof.events.space import Plane, Space

# Longer lists of devices are ignored.
_MOST_DEVICES = 65_536
_MOST_DEPTH = 8


class ExchangeRole(IntEnum):
    """What an instruction does in an exchange."""

    GROUPS = 0  # a collective of groups of devices
    PERMUTE = 1  # sends and receives
    SEND = 2
    RECV = 3


@dataclass(frozen=True, slots=True)
class Exchanges:
    """The exchanges of a host's TensorCores: instructions [k], and their runs [n] on `cores`.

    `name` and `opcode` are those of the instruction; for an asynchronous one those of its start,
    and `done` names its end ("" for others). `program` is the id of the compiled program. `channel`
    is 0 without a channel, `bytes` is what one device gives, -1 if unknown. `groups` ("0,1;2,3")
    and `pairs` (source and target: "0,1;1,0") number devices as the program does, "" if the program
    lists none.

    A run is one of instruction `kind` on `core`: it begins at `start_ps`, its end begins at
    `done_ps` and is over at `end_ps`, both -1 if missing from the trace. An instruction that is not
    split ends where it begins.
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


class _Instruction(NamedTuple):
    """An instruction [k] of `Exchanges`."""

    name: str
    done: str
    opcode: str
    groups: str
    pairs: str
    program: int
    role: int
    channel: int
    bytes: int


# (core, kind, start, begin of the end, end) of runs.
_RunColumns = tuple[NDArray[np.int64], ...]


def find_exchanges(space: Space, programs: Programs) -> Exchanges:
    """The exchanges in the compiled programs of a host that ran."""
    planes = tensor_core_planes(space)
    reader = _ExchangeReader(programs)
    kinds: dict[_Instruction, int] = {}
    runs = [_runs(plane, core, reader, kinds) for core, plane in enumerate(planes)]
    columns = list(map(np.concatenate, zip(*runs, strict=True))) or [np.empty(0, np.int64)] * 5
    core, kind, start, done, end = columns
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
    plane: Plane, core: int, reader: "_ExchangeReader", kinds: dict[_Instruction, int]
) -> _RunColumns:
    """The runs on one core, by kind; new instructions are added to `kinds`."""
    ops = find_core_ops(plane, names.XLA_OPS_LINE)
    events = ops.events
    used = events.used_types(plane.types.name.size)
    stats = plane.types.stats([names.PROGRAM_ID, names.HLO_CATEGORY])
    program = stats[names.PROGRAM_ID].integers(-1)
    category = stats[names.HLO_CATEGORY].texts()
    texts = plane.strings.take(plane.types.name[used].tolist())
    # The kind of each type [t], and whether it is an end; the last row is for no type.
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
    if not rows.size:
        return (np.empty(0, np.int64),) * 5
    start, end = ops.begin, ops.end
    pieces = []
    done_of = [row.done for row in kinds]
    for kind_ in unique(kind[rows]).tolist():
        own_rows = rows[kind[rows] == kind_]
        own_rows = own_rows[np.argsort(start[own_rows], kind="stable")]
        begins, dones = own_rows[~ends[own_rows]], own_rows[ends[own_rows]]
        pieces.append((kind_, *_paired(start, end, begins, dones if done_of[kind_] else begins)))
    return (
        np.full(sum(piece[1].size for piece in pieces), core, np.int64),
        np.concatenate([np.full(piece[1].size, piece[0], np.int64) for piece in pieces]),
        *(np.concatenate([piece[column] for piece in pieces]) for column in (1, 2, 3)),
    )


def _paired(
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    begins: NDArray[np.int64],
    dones: NDArray[np.int64],
) -> tuple[NDArray[np.int64], ...]:
    """(start, begin of the end, end) of runs: each lasts until the next end, if it has one.

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


class _ExchangeReader:
    """Finds the instruction of an event type."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        self._dones: dict[int, dict[int, str]] = {}

    def read(self, text: str, category: str, program: int) -> tuple[_Instruction, str] | None:
        """(the exchange, the name of its part that the type is), None for other work."""
        name = text.partition(" = ")[0].strip().removeprefix("%")
        if not (is_collective_op(name) or _may_exchange(category)):
            return None  # programs are parsed only if necessary
        module = self._programs.module(program, "")
        proto = module.find(name) if module is not None else None
        if module is None or proto is None or proto.is_host_transfer:
            return None
        begin = _begin(module, proto)
        inner = _exchange_in(module, begin)
        if inner is None or begin.is_host_transfer:
            return None
        opcode = inner.opcode.removesuffix("-start")
        is_split = begin.opcode in ("send", "recv") or begin.opcode.endswith("-start")
        instruction = _Instruction(
            begin.name,
            self._done(program, module, begin) if is_split else "",
            opcode,
            _listed(_groups(inner)),
            _listed((pair.source, pair.target) for pair in inner.source_target_pairs),
            program,
            _role(opcode),
            max(begin.channel_id or inner.channel_id, 0),
            _bytes(module, begin, opcode),
        )
        return instruction, name

    def _done(self, program: int, module: Module, begin: Any) -> str:
        """The name of the instruction that ends another one, "" if there is none."""
        if program not in self._dones:
            self._dones[program] = {
                _begin(module, proto).id: str(proto.name)
                for proto in module.scheduled()
                if proto.opcode.endswith("-done")
            }
        return self._dones[program].get(begin.id, "")


def _may_exchange(category: str) -> bool:
    return is_collective_op(category) or is_exchange(category) or category.startswith("async")


def _begin(module: Module, proto: Any) -> Any:
    """The instruction that began what another one updates or ends; others as they are."""
    for _ in range(64):  # a chain of updates
        if not proto.opcode.endswith(("-done", "-update")):
            break
        operands = module.operands_of(proto)
        if not operands:
            break
        proto = operands[0]
    return proto


def _exchange_in(module: Module, proto: Any, depth: int = 0) -> Any | None:
    """The instruction that exchanges data: itself, or the first one in its fusion or async op."""
    if proto.opcode in ("send", "recv"):
        return proto
    if proto.opcode in ("fusion", "async-start"):
        for computation in module.called_by(proto) if depth < _MOST_DEPTH else ():
            for part in computation.instructions:
                exchange = _exchange_in(module, part, depth + 1)
                if exchange is not None:
                    return exchange
        return None
    is_part = proto.opcode.endswith(("-done", "-update"))
    return proto if is_collective_op(proto.opcode) and not is_part else None


def _role(opcode: str) -> ExchangeRole:
    if opcode == "send":
        return ExchangeRole.SEND
    if opcode == "recv":
        return ExchangeRole.RECV
    return ExchangeRole.PERMUTE if opcode == "collective-permute" else ExchangeRole.GROUPS


def _bytes(module: Module, begin: Any, opcode: str) -> int:
    """What one device gives to the exchange, or receives if it only receives; -1 if unknown."""
    if opcode == "recv":
        shapes = list(read_shape(begin.shape))[:1]
    else:
        operands = module.operands_of(begin)
        # Operands after the data of a send or a permutation describe the transfer.
        has_one_operand = opcode in ("send", "collective-permute")
        shapes = [
            shape
            for operand in (operands[:1] if has_one_operand else operands)
            for shape in read_shape(operand.shape)
        ]
    size = padding_of(shapes).bytes if shapes else -1
    return size if 0 <= size < 2**62 else -1


def _groups(proto: Any) -> Iterable[Iterable[int]]:
    """The groups of devices that exchange data, none if the program does not list them."""
    listed = proto.replica_groups or proto.collective_device_list.replica_groups
    if listed:
        return [group.replica_ids for group in listed]
    iota = proto.iota_collective_device_list
    if not iota.num_replica_groups:
        iota = proto.collective_device_list.iota_replica_group_list
    return _iota(iota)


def _iota(proto: Any) -> Iterable[Iterable[int]]:
    """The groups that an IotaReplicaGroupListProto stands for, none if it is invalid."""
    groups, size = proto.num_replica_groups, proto.num_devices_per_group
    dimensions, order = list(proto.iota_reshape_dims), list(proto.iota_transpose_perm)
    order = order or list(range(len(dimensions)))
    if (
        min(groups, size, *dimensions, _MOST_DEVICES) <= 0
        or groups * size > _MOST_DEVICES
        or prod(dimensions) != groups * size
        or sorted(order) != list(range(len(dimensions)))
        or len(dimensions) > 32
    ):
        return []
    devices = np.arange(groups * size).reshape(dimensions).transpose(order)
    return [list(map(int, row)) for row in devices.reshape(groups, size)]


def _listed(groups: Iterable[Iterable[int]]) -> str:
    """The groups as text ("0,1;2,3"), "" if there are too many."""
    numbers = [list(group) for group in groups]
    if sum(map(len, numbers)) > _MOST_DEVICES:
        return ""
    return ";".join(",".join(map(str, group)) for group in numbers)


def listed(text: str) -> Iterator[list[int]]:
    """The numbers in a text of `groups` or `pairs`."""
    for group in text.split(";") if text else ():
        yield [int(number) for number in group.split(",") if number]
