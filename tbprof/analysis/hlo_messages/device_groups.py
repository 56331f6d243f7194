"""The devices that a collective exchanges data among, as its message lists them.

The records have the names that the messages of hlo.proto give their fields.
"""

from __future__ import annotations

from collections.abc import Sequence

from tbprof.analysis.hlo_messages.message_fields import (
    DamagedMessage,
    Fields,
    bytes_in,
    messages_in,
    number_in,
    numbers_in,
    read_fields,
)
from tbprof.base.records import NamedTuple

# Fields of HloInstructionProto.
_GROUPS, _PAIRS, _DEVICE_LIST, _IOTA = 49, 52, 87, 92


class ReplicaGroup(NamedTuple):
    """Devices that exchange data with each other."""

    replica_ids: Sequence[int] = ()


class SourceTarget(NamedTuple):
    """A device that sends, and the one that receives."""

    source: int = 0
    target: int = 0


class IotaGroups(NamedTuple):
    """0, 1, 2, ... as an array, transposed, cut into groups."""

    num_replica_groups: int = 0
    num_devices_per_group: int = 0
    iota_reshape_dims: Sequence[int] = ()
    iota_transpose_perm: Sequence[int] = ()


class DeviceList(NamedTuple):
    """Groups of newer programs, listed or computed."""

    replica_groups: Sequence[ReplicaGroup] = ()
    iota_replica_group_list: IotaGroups = IotaGroups()


class DeviceGroups(NamedTuple):
    """The groups in an instruction, nothing if they are damaged."""

    replica_groups: Sequence[ReplicaGroup] = ()
    source_target_pairs: Sequence[SourceTarget] = ()
    collective_device_list: DeviceList = DeviceList()
    iota_collective_device_list: IotaGroups = IotaGroups()


def read_device_groups(instruction: Fields) -> DeviceGroups:
    """The groups in the fields of an HloInstructionProto."""
    try:
        listed = read_fields(bytes_in(instruction, _DEVICE_LIST))
        pairs = messages_in(instruction, _PAIRS)
        return DeviceGroups(
            _groups(instruction, _GROUPS),
            [SourceTarget(number_in(pair, 1), number_in(pair, 2)) for pair in pairs],
            DeviceList(_groups(listed, 1), _iota(listed, 2)),
            _iota(instruction, _IOTA),
        )
    except DamagedMessage:
        return DeviceGroups()


def _groups(fields: Fields, field: int) -> list[ReplicaGroup]:
    return [ReplicaGroup(numbers_in(group, 1)) for group in messages_in(fields, field)]


def _iota(fields: Fields, field: int) -> IotaGroups:
    iota = read_fields(bytes_in(fields, field))
    return IotaGroups(
        number_in(iota, 1), number_in(iota, 2), numbers_in(iota, 3), numbers_in(iota, 4)
    )
