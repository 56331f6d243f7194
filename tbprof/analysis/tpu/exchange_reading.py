"""Reads the instructions of compiled programs that exchange data between TPU cores."""

from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.hlo.hlo_shapes import padding_of, read_shape
from tbprof.analysis.hlo.host_channels import is_exchange
from tbprof.analysis.hlo.module import Module
from tbprof.analysis.tpu.exchanges import ExchangeRole
from tbprof.analysis.vocabulary.collectives import is_collective_op
from tbprof.base.records import NamedTuple

# Longer lists of devices are ignored.
_MOST_DEVICES = 65_536
_MOST_DEPTH = 8


class ExchangeInstruction(NamedTuple):
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


class ExchangeReader:
    """Finds the instruction of an event type."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        self._dones: dict[int, dict[int, str]] = {}

    def read(
        self, text: str, category: str, program: int
    ) -> tuple[ExchangeInstruction, str] | None:
        """(the exchange, the name of the instruction of this type), None for other work."""
        name = text.partition(" = ")[0].strip().removeprefix("%")
        if not (is_collective_op(name) or _may_exchange(category)):
            return None  # avoids parsing the program
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
        instruction = ExchangeInstruction(
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
        """The name of the instruction that completes another one, "" if there is none."""
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
    """The instruction that starts what an update or a done belongs to; others are unchanged."""
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
    """The bytes that one device sends, or receives if it only receives; -1 if unknown."""
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
    """The groups that an IotaReplicaGroupListProto describes, none if it is invalid."""
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
