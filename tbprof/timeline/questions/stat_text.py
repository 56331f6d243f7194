"""Stats of events for people: labels of keys, units and meanings of values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from tbprof._pb import message
from tbprof.analysis.gpu.kernel_launch import parse_launch
from tbprof.base import names
from tbprof.base.lazy import regex
from tbprof.base.records import dataclass
from tbprof.base.texts import whole_number
from tbprof.events.space import Value

# Longer texts are cut; long keys never fit on a page.
_MOST_TEXT = 100_000
_EXACT = 2**53

# The types of contexts that events produce and consume. Source: tsl/profiler/lib/context_types.h.
_CONTEXTS = (
    "generic", "legacy", "TensorFlow executor", "TFRT executor", "shared batch scheduler", "PjRt",
    "adaptive shared batch scheduler", "TFRT TPU runtime", "TPU embedding engine", "GPU launch",
    "batcher", "TPU stream", "TPU launch", "Pathways executor", "PjRt library call", "thread pool",
    "JAX serving executor", "SparseCore offload",
)  # fmt: skip
_DIRECTIONS = ("", "into the event", "out of the event", "into and out of the event")
# Source: tensorflow/core/framework/types.proto, DataType; references are 100 more.
_DATA_TYPES = (
    "", "float32", "float64", "int32", "uint8", "int16", "int8", "string", "complex64", "int64",
    "bool", "qint8", "quint8", "qint32", "bfloat16", "qint16", "quint16", "uint16", "complex128",
    "float16", "resource", "variant", "uint32", "uint64", "float8_e5m2", "float8_e4m3fn",
)  # fmt: skip
_SPACES = {1: "main memory (HBM)", 2: "on-chip memory"}
_OPERATIONS = {1: "read", 2: "written"}

LABELS = {
    names.CORRELATION_ID: "Correlation id",
    names.KERNEL_DETAILS: "Launch",
    names.MEMCPY_DETAILS: "Copy",
    names.TF_OP: "Op",
    names.LEVEL_0: "Op",
    names.ANNOTATION: "Annotations",
    names.HLO_OP: "HLO instruction",
    names.HLO_MODULE: "HLO module",
    names.HLO_CATEGORY: "HLO category",
    names.PROGRAM_ID: "Program id",
    names.SYMBOL_ID: "Symbol id",
    names.GROUP_ID: "Group",
    names.IS_EAGER: "Eager",
    names.IS_FUNCTION: "Function",
    names.FLOPS: "FLOPs",
    names.MODEL_FLOPS: "FLOPs of the model",
    names.BYTES_ACCESSED: "Bytes accessed",
    names.MEMORY_BREAKDOWN: "Memory accesses",
    names.DEVICE_OFFSET: "Start by the device's clock",
    names.DEVICE_DURATION: "Duration by the device's clock",
    names.SELF_DURATION: "Self time",
    names.STEP_NAME: "Step",
    names.STEP_NUMBER: "Step number",
    names.ITERATION: "Iteration",
    names.EXECUTION_ID: "Id",
    names.RUN_ID: "Run id",
    names.QUEUE_ID: "Queue",
    names.QUEUE_ADDRESS: "Queue address",
    names.REQUEST_ID: "Request id",
    names.DEVICE_ORDINAL: "Device",
    names.CORE_TYPE: "Kind of core",
    names.PRODUCER_TYPE: "Produces: context type",
    names.PRODUCER_ID: "Produces: context id",
    names.CONSUMER_TYPE: "Consumes: context type",
    names.CONSUMER_ID: "Consumes: context id",
    names.CONSUMER_PROCESS: "Consumes: process",
    names.ROOT: "Root level",
    names.ASYNC: "Asynchronous",
    "flow": "Flow",
    "source": "Source",
    "source_stack": "Source stack",
    "_src": "Recorded at",
    "long_name": "Long name",
    "hlo_text": "HLO text",
    "shape_with_layout": "Shape and layout",
    "raw_bytes_accessed": "Bytes accessed, uncorrected",
    "allocator_name": "Allocator",
    "bytes_reserved": "Bytes reserved",
    "bytes_allocated": "Bytes allocated",
    "bytes_available": "Bytes available",
    "peak_bytes_in_use": "Peak of bytes in use",
    "requested_bytes": "Bytes requested",
    "allocation_bytes": "Bytes of the allocation",
    "fragmentation": "Fragmentation",
    "addr": "Address",
    "data_type": "Data type",
    "region_type": "Region",
    "context_id": "Context",
    "device_id": "Device id",
}

_UNITS = {
    **dict.fromkeys((names.FLOPS, names.MODEL_FLOPS), "flops"),
    **dict.fromkeys((names.IS_EAGER, names.IS_FUNCTION, names.ASYNC), "bool"),
    **dict.fromkeys(
        (
            names.CORRELATION_ID, names.PROGRAM_ID, names.SYMBOL_ID, names.GROUP_ID,
            names.EXECUTION_ID, names.RUN_ID, names.QUEUE_ID, names.REQUEST_ID, names.PRODUCER_ID,
            names.CONSUMER_ID, names.CONSUMER_PROCESS, names.DEVICE_ORDINAL, names.STEP_NUMBER,
            names.ITERATION, names.PRODUCER_TYPE, names.CONSUMER_TYPE, names.CORE_TYPE, "flow",
            "data_type", names.ROOT,
        ),
        "id",
    ),
    **dict.fromkeys(("addr", names.QUEUE_ADDRESS), "address"),
    **dict.fromkeys(("element_size", "size"), "bytes"),
    "fragmentation": "ratio",
}  # fmt: skip
_BYTES = regex(r"(?:^|_)bytes(?:_|$)")
_SUFFIXES = {"_ps": "ps", "_ns": "ns", "_us": "us", "_ms": "ms", "_pct": "percent", "_id": "id"}


@dataclass(frozen=True, slots=True)
class ShownStat:
    """One stat, or a part of one; `text` is the meaning of the value, "" if the value is clear.

    `unit` is one of bytes, flops, ps, ns, us, ms, percent, ratio, bool, id, address or "".
    """

    key: str
    label: str
    value: int | float | str
    unit: str = ""
    text: str = ""

    def as_json(self) -> dict[str, Any]:
        """Integers that JSON readers would round, and bytes, are texts."""
        value: int | float | str | None = self.value
        text = self.text
        if isinstance(value, int) and abs(value) > _EXACT:
            value = str(value)
        if isinstance(value, float) and not math.isfinite(value):
            value, text = None, text or str(value)
        if isinstance(value, str) and len(value) > _MOST_TEXT:
            value = f"{value[:_MOST_TEXT]}… ({len(value):,} characters)"
        return {
            "key": self.key, "label": self.label, "value": value, "unit": self.unit, "text": text
        }  # fmt: skip


def read_stats(stats: list[tuple[str, Value]]) -> list[ShownStat]:
    """The stats with labels, units and meanings; stats with several facts are followed by each."""
    shown = []
    for key, value in stats:
        label = LABELS.get(key, key)
        if isinstance(value, bytes):
            shown.append(ShownStat(key, label, f"<{len(value):,} bytes>"))
        else:
            unit = unit_of(key) if isinstance(value, int | float) else ""
            shown.append(ShownStat(key, label, value, unit, _meaning(key, value)))
        shown += _parts(key, value)
    return shown


def unit_of(key: str) -> str:
    """The unit of a key's numbers, "" if unknown."""
    known = _UNITS.get(key)
    if known is not None:
        return known
    if _BYTES.search(key) and not key.endswith("_MB"):
        return "bytes"
    return _SUFFIXES.get(key[-3:]) or _SUFFIXES.get(key[-4:], "")


def _meaning(key: str, value: Value) -> str:
    if not isinstance(value, int):
        return ""
    if key in (names.PRODUCER_TYPE, names.CONSUMER_TYPE):
        return _CONTEXTS[value] if 0 <= value < len(_CONTEXTS) else ""
    if key == "data_type":
        return _DATA_TYPES[value % 100] if 0 <= value % 100 < len(_DATA_TYPES) else ""
    if key == "flow":
        bits = value & (2**64 - 1)
        direction, id_, kind = _DIRECTIONS[bits & 3], bits >> 2 & (2**56 - 1), bits >> 58
        context = f", {_CONTEXTS[kind]}" if 0 < kind < len(_CONTEXTS) else ""
        return f"{id_} {direction}{context}".strip() if direction else ""
    if unit_of(key) == "address":
        return hex(value & (2**64 - 1))
    if unit_of(key) == "bool":
        return "yes" if value else "no"
    return ""


def _parts(key: str, value: Value) -> Iterator[ShownStat]:
    """The facts in a text or a message, one by one."""
    if key == names.KERNEL_DETAILS and isinstance(value, str):
        yield from _launch(value)
    elif key == names.MEMCPY_DETAILS and isinstance(value, str):
        for word in value.split():
            name, _, text = word.partition(":")
            if not name or not text:
                continue
            part = f"{key}.{name}"
            number = whole_number(text, 19)
            if number is not None:
                unit = {"size": "bytes", "async": "bool"}.get(name, "id")
                meaning = ("no", "yes")[text != "0"] if unit == "bool" else ""
                yield ShownStat(part, _COPY.get(name, name), number, unit, meaning)
            else:
                yield ShownStat(part, _COPY.get(name, name), text)
    elif key == names.MEMORY_BREAKDOWN and isinstance(value, bytes):
        yield from _accesses(value)


_COPY: Mapping[str, str] = {
    "size": "Bytes copied",
    "dest": "To device",
    "async": "Asynchronous",
    "kind_src": "From memory",
    "kind_dst": "To memory",
}


def _launch(details: str) -> Iterator[ShownStat]:
    launch = parse_launch(details)
    # With calls of the host, recorders of 2020 wrote uninitialized memory; no launch has a size of
    # 0.
    if min(*launch.grid, *launch.block) < 1:
        return
    key = names.KERNEL_DETAILS
    recorded = dict(token.partition(":")[::2] for token in details.split())
    for name, label, sizes in (("grid", "Grid", launch.grid), ("block", "Block", launch.block)):
        # Missing or implausible values count as 1, only for sums.
        if name in recorded and ",".join(map(str, sizes)).startswith(recorded[name]):
            yield ShownStat(f"{key}.{name}", label, " × ".join(map(str, sizes)))
    if launch.registers is not None:
        yield ShownStat(f"{key}.registers", "Registers per thread", launch.registers)
    if launch.shared_bytes is not None:
        yield ShownStat(f"{key}.shared", "Shared memory", launch.shared_bytes, "bytes")
    if launch.occupancy_pct is not None:
        yield ShownStat(f"{key}.occupancy", "Occupancy", launch.occupancy_pct, "percent")


def _accesses(content: bytes) -> Iterator[ShownStat]:
    """Bytes by memory and direction. Source: op_metrics.proto, MemoryAccessed."""
    from google.protobuf.message import DecodeError

    proto = message("tensorflow.profiler.MemoryAccessBreakdown")()
    try:
        proto.ParseFromString(content)
    except DecodeError:
        return
    for number, access in enumerate(proto.memory_accessed):
        space = _SPACES.get(access.memory_space, f"memory {access.memory_space}")
        done = _OPERATIONS.get(access.operation_type, "accessed")
        label = f"Bytes {done}, {space}"
        yield ShownStat(
            f"{names.MEMORY_BREAKDOWN}.{number}", label, int(access.bytes_accessed), "bytes"
        )
