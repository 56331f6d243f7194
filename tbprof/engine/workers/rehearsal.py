"""A small trace that is analyzed before the first real one.

Python, NumPy and tbprof initialize some things once per process, and Python specializes code that
has run. Without a rehearsal, the first trace takes a third longer than the second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tbprof._pb import message
from tbprof.analysis.hlo.hlo import Programs
from tbprof.engine.parts import PARTS
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.reader import space_in

_STEPS, _STEP_US = 16, 1000
_OP: Mapping[str, str | int] = {"hlo_op": "fusion.1", "hlo_module": "jit_train", "program_id": 7}
_SHAPE = "f32[64,64]{1,0}"
_KERNEL: Mapping[str, str | int] = {
    "correlation_id": 1,
    "tf_op": "train/dense/MatMul:MatMul",
    "kernel_details": "regs:32 grid:8,1,1 block:64,1,1 occ_pct:50",
}
_COPY = {"memcpy_details": "kind_src:pageable kind_dst:device size:64 dest:0 async:1"}
_FUSION = f"%fusion.1 = {_SHAPE} fusion({_SHAPE} %p.1), kind=kLoop"
_COSTS: Mapping[str, str | int] = {
    "hlo_category": "loop fusion",
    "flops": 100,
    "bytes_accessed": 64,
}
_ALLOCATED: Mapping[str, str | int] = {"bytes_allocated": 64, "allocator_name": "GPU_0_bfc"}
# What happens in each step: (plane, line, event, from, to in µs, stats).
_EVENTS: tuple[tuple[str, str, str, int, int, Mapping[str, str | int]], ...] = (
    ("/host:CPU", "python", "train", 0, 990, {"_r": 1}),
    ("/host:CPU", "python", "$loader.py:1 __next__", 10, 90, {}),
    ("/host:CPU", "python", "PjitFunction(train)", 100, 300, {}),
    ("/host:CPU", "python", "cuLaunchKernel", 120, 150, {"correlation_id": 1}),
    ("/host:CPU", "pool", "Iterator::Prefetch::Map", 0, 80, {"id": 2, "parent_id": 1}),
    ("/host:CPU", "pool", "Conv2D:Conv2D", 100, 200, {"is_eager": 0}),
    ("/host:CPU", "pool", "MemoryAllocation", 110, 111, _ALLOCATED),
    ("/device:GPU:0", "Stream #1(Compute)", "volta_sgemm_nn", 300, 700, {**_OP, **_KERNEL}),
    ("/device:GPU:0", "Stream #2(MemcpyH2D)", "MemcpyH2D", 200, 260, _COPY),
    ("/device:TPU:0", "Steps", "1", 0, 900, {}),
    ("/device:TPU:0", "XLA Modules", "jit_train(7)", 100, 900, {"run_id": 1}),
    ("/device:TPU:0", "XLA Ops", _FUSION, 100, 800, {**_OP, **_COSTS}),
)


def rehearse(wait: Callable[[], None]) -> dict[str, Any]:
    """All parts of a small trace by name; waits before each."""
    space = space_in(Buffer(_trace(), "rehearsal"))
    programs = Programs(space)
    parts: dict[str, Any] = {}
    for name, kind in PARTS.items():
        wait()
        needed = [parts[other] for other in (*kind.needs, *kind.uses)]
        parts[name] = kind.compute(space, programs, *needed, *("" for _ in kind.params))
    return parts


def _trace() -> bytes:
    """A host, a GPU and a TPU that train."""
    space = message("tensorflow.profiler.XSpace")()
    planes: dict[str, Any] = {}
    lines: dict[str, Any] = {}
    for step in range(_STEPS):
        for plane_name, line_name, name, begin_us, end_us, stats in _EVENTS:
            plane = planes.get(plane_name) or planes.setdefault(
                plane_name, space.planes.add(name=plane_name)
            )
            line = lines.get(line_name) or lines.setdefault(
                line_name, plane.lines.add(id=len(lines), name=line_name)
            )
            event = line.events.add(
                metadata_id=_number(plane.event_metadata, name),
                offset_ps=(step * _STEP_US + begin_us) * 1_000_000,
                duration_ps=(end_us - begin_us) * 1_000_000,
            )
            for stat, value in {"step_num": step, "group_id": step, **stats}.items():
                written = event.stats.add(metadata_id=_number(plane.stat_metadata, stat))
                if isinstance(value, int):
                    written.int64_value = value
                else:
                    written.str_value = value
    content: bytes = space.SerializeToString()
    return content


def _number(entries: Any, name: str) -> int:
    """The number of a name among the metadata of a plane."""
    for number, entry in entries.items():
        if entry.name == name:
            return int(number)
    number = len(entries) + 1
    entries[number].id, entries[number].name = number, name
    return number
