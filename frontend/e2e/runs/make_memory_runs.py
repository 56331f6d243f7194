"""Runs with memory events for the browser tests, see make_steps_run.py."""

from random import Random

from traces import listed
from traces.memory.allocators import Tensor, memory_trace

HOSTILE = "<img src=x onerror=window.hacked=1>"
FLOAT, HALF = 1, 19
MIB = 2**20
GIB = 2**30
# Pairs of an allocation and its deallocation; a timeline draws 2,000 points.
PAIRS = 6000
US = 1_000_000


def memory_hosts() -> dict[str, bytes]:
    """Two hosts: on the first a model whose activations fill the device, and an op that leaks.

    Every step keeps one more tensor of "log/Concat": a to e.
    """
    step = Tensor(2 * GIB, "model/dense/MatMul", "output", HALF, "[1024,1048576]")
    more = Tensor(GIB, HOSTILE, "temp", FLOAT, "[256,1048576]")
    leak = Tensor(256 * MIB, "log/Concat", "output", FLOAT, "[64,1048576]")
    pinned = Tensor(MIB, "", "", 0, "", owner="gpu_host_bfc")
    first = memory_trace(
        """
        main  |..p..x.ya..Y.X....x.yb..Y.X....x.yc..Y.X....x.yd..Y.X....x.ye..Y.X..P
        steps |...0000000000...1111111111...2222222222...3333333333...4444444444.....
        """,
        before={"GPU_0_bfc": 11 * GIB},
        capacity=16 * GIB,
        x=step,
        y=more,
        a=leak,
        b=leak,
        c=leak,
        d=leak,
        e=leak,
        p=pinned,
    )
    second = memory_trace(
        "main |...x...X...x...X.", capacity=16 * GIB, x=Tensor(GIB, "model/dense/MatMul")
    )
    return {"worker-0": first, "worker-1": second}


def many_events() -> bytes:
    """A device that fills and empties 6,000 times within 60 ms, in steps of 10 ms."""
    random = Random(7)  # noqa: S311 - sizes of a drawing
    events = []
    for pair in range(PAIRS):
        size = random.randrange(64, 1024) * MIB
        heap = 4 * GIB + size
        for is_allocation in (True, False):
            in_use = heap if is_allocation else 4 * GIB
            at = pair * 10 + (0 if is_allocation else 6)
            stats: dict[str, str | int | float] = {
                "allocator_name": "GPU_0_bfc",
                "bytes_reserved": 0,
                "bytes_allocated": in_use,
                "bytes_available": 8 * GIB - in_use,
                "fragmentation": 0.1 + 0.3 * random.random(),
                "requested_bytes": size,
                "allocation_bytes": size,
                "addr": 4096,
                "group_id": at // 10_000,
            }
            if is_allocation:
                stats |= {"tf_op": f"layer_{pair % 40}/MatMul", "data_type": HALF}
            name = "MemoryAllocation" if is_allocation else "MemoryDeallocation"
            events.append((name, at * US, 0, stats))
    return listed({"/host:CPU": {"main": events}})
