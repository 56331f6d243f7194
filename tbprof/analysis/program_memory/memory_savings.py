"""Upper bounds of the memory that a program could save at its peak, and the buffers involved."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.program_memory.live_buffers import LiveBuffers, live_at
from tbprof.analysis.program_memory.program_memory import ProgramMemory
from tbprof.base.records import dataclass

# Ops that are cheap to recompute. Source: the ops that XLA's own rematerialization and JAX's
# policies recompute first.
_CHEAP = frozenset(
    {
        "abs", "add", "and", "broadcast", "ceil", "clamp", "compare", "concatenate", "constant",
        "convert", "copy", "divide", "exponential", "floor", "iota", "log", "maximum", "minimum",
        "multiply", "negate", "not", "or", "pad", "power", "reshape", "rsqrt", "select", "slice",
        "sqrt", "subtract", "tanh", "transpose", "xor",
    }
)  # fmt: skip
_CHEAP_FUSION = "kLoop"


@dataclass(frozen=True, slots=True)
class MemorySavings:
    """Upper bounds of savings in bytes at the peak; buffers [n] are ordered by size, largest first.

    `donated_bytes` is the size of parameters that are not donated and have the shape and the size
    of a result; `donors` are these parameters. `recomputed_bytes` is memory that cheap ops filled
    before the peak and that is needed after it, in the buffers `recomputed`. `padding_bytes` is
    padding in the layouts of the buffers `padded`. `hole_bytes` is memory that the heap reserves
    beyond the most that is ever in use at once.
    """

    donated_bytes: int
    donors: NDArray[np.int64]
    recomputed_bytes: int
    recomputed: NDArray[np.int64]
    padding_bytes: int
    padded: NDArray[np.int64]
    hole_bytes: int


def find_savings(memory: ProgramMemory) -> MemorySavings:
    """The possible savings in the memory space of `memory`."""
    peak = memory.use.peak
    live = live_at(memory, peak)
    donors = _donors(memory)
    recomputed = _largest_first(_is_recomputable(memory, live, peak), live.size_bytes)
    padding = live.size_bytes - live.unpadded_bytes
    padded = _largest_first(padding > 0, padding)
    return MemorySavings(
        int(memory.size_bytes[donors].sum()),
        donors,
        int(live.size_bytes[recomputed].sum()),
        live.buffer[recomputed],
        int(padding.sum()),
        live.buffer[padded],
        hole_bytes(memory),
    )


def hole_bytes(memory: ProgramMemory) -> int:
    """The bytes that the heap of a memory space reserves beyond its peak, 0 without heap events."""
    if not memory.use.in_use_bytes.size:
        return 0
    traced = np.zeros(memory.allocations.index.size, bool)
    traced[memory.allocation[memory.use.owner]] = True
    reserved = int(memory.allocations.size_bytes[traced].sum())
    return max(reserved - int(memory.use.in_use_bytes.max()), 0)


def _donors(memory: ProgramMemory) -> NDArray[np.int64]:
    """The parameters whose memory a result could reuse; rows of buffers, largest first.

    The memory of a result may contain other buffers earlier; that of a parameter contains it alone.
    """
    allocations = memory.allocations
    is_result = allocations.is_output & ~allocations.is_parameter & ~allocations.is_tuple
    is_given = allocations.is_parameter & ~allocations.is_output
    is_whole = memory.size_bytes == allocations.size_bytes[memory.allocation]
    results: dict[tuple[int, int], list[int]] = {}
    for row in np.flatnonzero(is_result[memory.allocation] & is_whole).tolist():
        results.setdefault(_form(memory, row), []).append(int(memory.allocation[row]))
    rows = np.flatnonzero(is_given[memory.allocation] & is_whole & (memory.facts.shape > 0))
    donors, taken = [], set()
    for row in rows[np.argsort(-memory.size_bytes[rows], kind="stable")].tolist():
        free = (place for place in results.get(_form(memory, row), ()) if place not in taken)
        place = next(free, None)
        if place is not None:
            taken.add(place)
            donors.append(row)
    return np.array(donors, np.int64)


def _form(memory: ProgramMemory, row: int) -> tuple[int, int]:
    """The shape and the size of a buffer."""
    return int(memory.facts.shape[row]), int(memory.size_bytes[row])


def _is_recomputable(memory: ProgramMemory, live: LiveBuffers, peak: int) -> NDArray[np.bool_]:
    """[n] whether a cheap op wrote a buffer before the peak, and it is needed after the peak."""
    facts = memory.facts
    is_cheap = np.array([text in _CHEAP for text in facts.texts], bool)[facts.opcode]
    is_loop = np.array([text == _CHEAP_FUSION for text in facts.texts], bool)[facts.fusion_kind]
    made = (live.start >= 0) & (live.start < peak) & (live.end > peak + 1)
    is_found: NDArray[np.bool_] = made & (is_cheap | is_loop)[live.buffer]
    return is_found


def _largest_first(is_chosen: NDArray[np.bool_], bytes_: NDArray[np.int64]) -> NDArray[np.int64]:
    rows = np.flatnonzero(is_chosen)
    return rows[np.argsort(-bytes_[rows], kind="stable")]
