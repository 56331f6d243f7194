"""Reads the instructions of compiled programs that exchange data between TPU cores."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

import numpy as np

from tbprof.analysis.hlo.awaited import started_by
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.hlo.hlo_shapes import padding_of
from tbprof.analysis.hlo.host_channels import is_exchange
from tbprof.analysis.hlo.module import Module
from tbprof.analysis.hlo_messages.device_groups import DeviceGroups, IotaGroups, read_device_groups
from tbprof.analysis.hlo_messages.message_fields import number_in
from tbprof.analysis.tpu.exchanges import ExchangeRole
from tbprof.analysis.vocabulary.collectives import is_collective_op
from tbprof.base.records import NamedTuple

# Fields of HloInstructionProto. Source: hlo.proto.
_CHANNEL, _IS_HOST_TRANSFER = 26, 47
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
        row = module.index.find(name) if module is not None else -1
        if module is None or row < 0 or _is_of_host(module, row):
            return None
        begin = started_by(module, row)
        inner = _exchange_in(module, begin)
        if inner < 0 or _is_of_host(module, begin):
            return None
        opcode, of_begin = module.opcode(inner).removesuffix("-start"), module.opcode(begin)
        is_split = of_begin in ("send", "recv") or of_begin.endswith("-start")
        fields = module.fields(inner)
        groups = read_device_groups(fields)
        instruction = ExchangeInstruction(
            module.name_of(begin),
            self._done(program, module, begin) if is_split else "",
            opcode,
            _listed(_groups(groups)),
            _listed((pair.source, pair.target) for pair in groups.source_target_pairs),
            program,
            _role(opcode),
            max(number_in(module.fields(begin), _CHANNEL) or number_in(fields, _CHANNEL), 0),
            _bytes(module, begin, opcode),
        )
        return instruction, name

    def _done(self, program: int, module: Module, begin: int) -> str:
        """The name of the instruction that completes another one, "" if there is none."""
        if program not in self._dones:
            self._dones[program] = {
                started_by(module, row): module.name_of(row)
                for row in module.scheduled_rows().tolist()
                if module.opcode(row).endswith("-done")
            }
        return self._dones[program].get(begin, "")


def _may_exchange(category: str) -> bool:
    return is_collective_op(category) or is_exchange(category) or category.startswith("async")


def _is_of_host(module: Module, row: int) -> bool:
    """Whether an instruction exchanges data with the host."""
    return bool(number_in(module.fields(row), _IS_HOST_TRANSFER))


def _exchange_in(module: Module, row: int, depth: int = 0) -> int:
    """The instruction that exchanges data: itself, or the first one in its fusion or async op.

    -1 if there is none.
    """
    opcode = module.opcode(row)
    if opcode in ("send", "recv"):
        return row
    if opcode in ("fusion", "async-start"):
        for computation in module.called_rows(row) if depth < _MOST_DEPTH else ():
            for part in module.rows_in(computation):
                exchange = _exchange_in(module, part, depth + 1)
                if exchange >= 0:
                    return exchange
        return -1
    is_part = opcode.endswith(("-done", "-update"))
    return row if is_collective_op(opcode) and not is_part else -1


def _role(opcode: str) -> ExchangeRole:
    if opcode == "send":
        return ExchangeRole.SEND
    if opcode == "recv":
        return ExchangeRole.RECV
    return ExchangeRole.PERMUTE if opcode == "collective-permute" else ExchangeRole.GROUPS


def _bytes(module: Module, begin: int, opcode: str) -> int:
    """The bytes that one device sends, or receives if it only receives; -1 if unknown."""
    if opcode == "recv":
        shapes = list(module.shapes.of(begin).shapes[:1])
    else:
        operands = module.operand_rows(begin)
        # Operands after the data of a send or a permutation describe the transfer.
        has_one_operand = opcode in ("send", "collective-permute")
        shapes = [
            shape
            for operand in (operands[:1] if has_one_operand else operands)
            for shape in module.shapes.of(operand).shapes
        ]
    size = padding_of(shapes).bytes if shapes else -1
    return size if 0 <= size < 2**62 else -1


def _groups(collective: DeviceGroups) -> Iterable[Iterable[int]]:
    """The groups of devices that exchange data, none if the program does not list them."""
    listed = collective.replica_groups or collective.collective_device_list.replica_groups
    if listed:
        return [group.replica_ids for group in listed]
    iota = collective.iota_collective_device_list
    if not iota.num_replica_groups:
        iota = collective.collective_device_list.iota_replica_group_list
    return _iota(iota)


def _iota(iota: IotaGroups) -> Iterable[Iterable[int]]:
    """The groups that dimensions describe, none if they are invalid."""
    groups, size = iota.num_replica_groups, iota.num_devices_per_group
    dimensions, order = list(iota.iota_reshape_dims), list(iota.iota_transpose_perm)
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
