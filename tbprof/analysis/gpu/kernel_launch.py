"""Launch configurations of kernels: grids, blocks, registers and shared memory."""

from __future__ import annotations

import functools
import math

from tbprof.base.records import dataclass
from tbprof.base.texts import whole_number

_UINT32 = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Launch:
    """The launch configuration of a kernel; sizes in bytes, None if not recorded."""

    registers: int | None = None
    shared_bytes: int | None = None
    block: tuple[int, int, int] = (1, 1, 1)
    grid: tuple[int, int, int] = (1, 1, 1)
    occupancy_pct: float | None = None

    @property
    def shape(self) -> str:
        """The grid, block, registers and shared bytes: "8,1,1/256,1,1/32/0", unknown ones empty."""
        sizes = [",".join(map(str, size)) for size in (self.grid, self.block)]
        known = ["" if size is None else str(size) for size in (self.registers, self.shared_bytes)]
        return "/".join([*sizes, *known])


@functools.lru_cache(maxsize=8192)
def parse_launch(details: str) -> Launch:
    """The launch in a `kernel_details` text: `key:value` tokens separated by white space.

        "regs:38 shm:0 grid:160,1,1 block:1024,1,1"                  recorders of 2020
        "regs:32 static_shared:0 dynamic_shared:512 grid:8,1,1 block:256,1,1 occ_pct:100"
        "grid:8,1,1 block:256,1,1 private_mem:0 group_mem:512 occ_pct:0"    AMD

    AMD's recorder writes an occupancy of 0 for "not computed". Unknown and malformed tokens are
    ignored, as are sizes that do not fit 32 bits.
    """
    registers: int | None = None
    shared: dict[str, int] = {}
    block = grid = (1, 1, 1)
    occupancy: float | None = None
    for token in details.split():
        key, _, value = token.partition(":")
        if key == "regs":
            registers = _size(value)
        elif key in ("shm", "static_shared", "dynamic_shared", "group_mem"):
            size = _size(value)
            if size is not None:
                shared[key] = size
        elif key == "block":
            block = _dimensions(value) or block
        elif key == "grid":
            grid = _dimensions(value) or grid
        elif key == "occ_pct":
            occupancy = _percentage(value)
    if occupancy == 0 and "group_mem" in shared:
        occupancy = None
    return Launch(registers, sum(shared.values()) if shared else None, block, grid, occupancy)


def _size(text: str) -> int | None:
    value = whole_number(text, 10)
    return value if value is not None and value <= _UINT32 else None


def _dimensions(text: str) -> tuple[int, int, int] | None:
    sizes = [_size(part) for part in text.split(",", 3)[:3]]
    known_sizes = [size for size in sizes if size is not None]
    if len(known_sizes) != len(sizes):
        return None
    x, y, z = (*known_sizes, 1, 1)[:3]
    return x, y, z


def _percentage(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
