"""The distribution of arrays and collectives over devices, as HLO text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tbprof.analysis.hlo_text.hlo_shape_text import numbered

_MOST_NESTED = 16


def replica_groups(proto: Any) -> str:
    """The devices of a collective: "{{0,1},{2,3}}" or "[2,2]<=[4]"."""
    devices = proto.collective_device_list
    for iota in (proto.iota_collective_device_list, devices.iota_replica_group_list):
        if iota.num_replica_groups:
            shape = f"[{iota.num_replica_groups},{iota.num_devices_per_group}]"
            return shape + iota_text(iota.iota_reshape_dims, iota.iota_transpose_perm)
    groups = devices.replica_groups or proto.replica_groups
    return f"{{{','.join(numbers(group.replica_ids) for group in groups)}}}"


def iota_text(sizes: Sequence[int], order: Sequence[int]) -> str:
    """0, 1, 2, ... as an array of these sizes, and its transposition: "<=[2,4]T(1,0)"."""
    transposed = f"T({','.join(map(str, order))})" if list(order) != sorted(order) else ""
    return f"<=[{','.join(map(str, sizes))}]{transposed}"


def sharding_text(sharding: Any, depth: int = 0) -> str:
    """The sharding of an array over devices: "{devices=[2,1]<=[2]}"."""
    word = word_of(sharding, "type")
    if word == "TUPLE":
        parts = sharding.tuple_shardings if depth < _MOST_NESTED else ()
        return f"{{{numbered([sharding_text(part, depth + 1) for part in parts])}}}"
    group = ""
    if sharding.is_shard_group:
        group = f" shard_{word_of(sharding, 'shard_group_type').lower()} {sharding.shard_group_id}"
    if word == "MAXIMAL":
        device = next(iter(sharding.tile_assignment_devices), 0)
        return f"{{maximal device={device}{group}}}"
    if word != "OTHER":
        return f"{{{word.lower()}{group}}}"
    tiles = f"devices=[{','.join(map(str, sharding.tile_assignment_dimensions))}]"
    if sharding.iota_reshape_dims:
        tiles += iota_text(sharding.iota_reshape_dims, sharding.iota_transpose_perm)
    else:
        tiles += ",".join(map(str, sharding.tile_assignment_devices))
    if sharding.replicate_on_last_tile_dim:
        tiles += " last_tile_dim_replicate"
    if sharding.last_tile_dims:
        names = (word_of(sharding, "type", value).lower() for value in sharding.last_tile_dims)
        tiles += f" last_tile_dims={{{', '.join(names)}}}"
    return f"{{{tiles}{group}}}"


def numbers(values: Iterable[int]) -> str:
    """Numbers in braces: "{0,1}"."""
    return f"{{{','.join(map(str, values))}}}"


def word_of(message: Any, field: str, value: int | None = None) -> str:
    """The name of an enum value of a message's field, or its number if the name is unknown.

    The value is that of the field if none is given.
    """
    value = getattr(message, field) if value is None else value
    words = type(message).DESCRIPTOR.fields_by_name[field].enum_type.values_by_number
    return words[value].name if value in words else str(value)
