"""Traces of allocators, drawn as text: a small letter is allocated, its capital is freed.

One column is 1 µs, an event an instant. A row is a thread; digits in the row `steps` are the step
that events of their column belong to:

    memory_trace('''
        main  |a..b.A.
        pool  |..c...C
        steps |0000111
    ''', a=Tensor(100, "model/a"), b=Tensor(50), c=Tensor(8, owner="gpu_host_bfc"))

What an allocator has in use is counted from `before` on, of `capacity` bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tbprof._pb import message

US = 1_000_000  # ps
CAPACITY = 1000
GPU = "GPU_0_bfc"


@dataclass(frozen=True)
class Tensor:
    """What a letter stands for; `dtype` is a number, as recorders write it."""

    bytes: int
    op: str = ""
    region: str = ""
    dtype: int = 0
    shape: str = ""
    requested: int | None = None
    owner: str | int = GPU
    address: int = 0


def memory_trace(
    drawing: str,
    *,
    before: Mapping[str | int, int] | None = None,
    capacity: int = CAPACITY,
    stack: int = 0,
    fragmentation: float = 0.25,
    line_start_ns: Mapping[str, int] | None = None,
    lifetime: Mapping[str, int] | None = None,
    **tensors: Tensor,
) -> bytes:
    """A serialized XSpace with the events of `drawing`.

    `before` is what owners have in use already, `lifetime` by letter replaces the most in use so
    far that its event states.
    """
    space = message("tensorflow.profiler.XSpace")()
    plane = space.planes.add(name="/host:CPU")
    for number, name in enumerate(("MemoryAllocation", "MemoryDeallocation"), start=1):
        plane.event_metadata[number].id = number
        plane.event_metadata[number].name = name
    rows = [row.partition("|") for row in drawing.splitlines() if row.strip()]
    lines = {label.strip(): cells for label, _, cells in rows}
    steps = lines.pop("steps", "")
    in_use = dict(before or {})
    most = dict(in_use)
    events = []
    for number, (label, cells) in enumerate(lines.items(), start=1):
        start_ns = (line_start_ns or {}).get(label, 0)
        line = plane.lines.add(id=number, name=label, timestamp_ns=start_ns)
        for at, letter in enumerate(cells):
            if letter.isalpha():
                events.append((start_ns + at * 1000, at, letter, line))
    # Counters follow the time of day; events stay with their lines.
    for _, at, letter, line in sorted(events, key=lambda event: event[0]):
        tensor = tensors[letter.lower()]
        is_allocation = letter.islower()
        change = tensor.bytes if is_allocation else -tensor.bytes
        heap = in_use[tensor.owner] = in_use.get(tensor.owner, 0) + change
        most[tensor.owner] = max(most.get(tensor.owner, 0), heap)
        event = line.events.add(metadata_id=1 if is_allocation else 2, offset_ps=at * US)
        stats: dict[str, str | int | float] = {
            "index_on_host" if isinstance(tensor.owner, int) else "allocator_name": tensor.owner,
            "bytes_reserved": stack,
            "bytes_allocated": heap,
            "bytes_available": capacity - heap - stack,
            "fragmentation": fragmentation,
            "peak_bytes_in_use": (lifetime or {}).get(letter, most[tensor.owner]),
            "requested_bytes": tensor.bytes if tensor.requested is None else tensor.requested,
            "allocation_bytes": tensor.bytes,
            "addr": tensor.address or 4096 * ord(letter.lower()),
        }
        if is_allocation:
            stats |= {"tf_op": tensor.op, "region_type": tensor.region, "shape": tensor.shape}
            stats["data_type"] = tensor.dtype
        if at < len(steps) and steps[at].isdigit():
            stats["group_id"] = int(steps[at])
        add_stats(plane, event, {name: value for name, value in stats.items() if value != ""})
    return bytes(space.SerializeToString())


def add_stats(plane: object, event: object, stats: Mapping[str, str | int | float]) -> None:
    """Writes stats of an event, as recorders do."""
    metadata = plane.stat_metadata  # type: ignore[attr-defined]
    numbers = {entry.name: number for number, entry in metadata.items()}
    for name, value in stats.items():
        if name not in numbers:
            numbers[name] = number = len(numbers) + 1
            metadata[number].id = number
            metadata[number].name = name
        stat = event.stats.add(metadata_id=numbers[name])  # type: ignore[attr-defined]
        match value:
            case str():
                stat.str_value = value
            case int():
                stat.int64_value = value
            case float():
                stat.double_value = value
