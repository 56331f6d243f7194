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

from traces.space_writer import SpaceWriter

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
    space = SpaceWriter()
    plane = space.plane("/host:CPU")
    rows = [row.partition("|") for row in drawing.splitlines() if row.strip()]
    lines = {label.strip(): cells for label, _, cells in rows}
    steps = lines.pop("steps", "")
    in_use = dict(before or {})
    most = dict(in_use)
    events = []
    for label, cells in lines.items():
        start_ns = (line_start_ns or {}).get(label, 0)
        line = plane.line(label, start_ns=start_ns)
        for at, letter in enumerate(cells):
            if letter.isalpha():
                events.append((start_ns * 1000 + at * US, at, letter, line))
    # Counters follow the time of day; events stay with their lines.
    for start_ps, at, letter, line in sorted(events, key=lambda event: event[0]):
        tensor = tensors[letter.lower()]
        is_allocation = letter.islower()
        change = tensor.bytes if is_allocation else -tensor.bytes
        heap = in_use[tensor.owner] = in_use.get(tensor.owner, 0) + change
        most[tensor.owner] = max(most.get(tensor.owner, 0), heap)
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
        known = {name: value for name, value in stats.items() if value != ""}
        kind = "MemoryAllocation" if is_allocation else "MemoryDeallocation"
        plane.event(line, kind, start_ps, 0, known)
    return space.bytes()
