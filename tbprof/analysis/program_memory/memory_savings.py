"""How much memory of a program could be saved at its peak, at most, and which buffers hold it."""

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.program_memory.live_buffers import LiveBuffers, live_at
from tbprof.analysis.program_memory.program_memory import ProgramMemory
from tbprof.base.records import dataclass

# What these compute costs little to compute again. Source: the ops that XLA's own
# rematerialization and JAX's policies recompute first.
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
    """Upper bounds in bytes, of the memory in use at the peak; buffers [n] largest first.

    `donated_bytes` are results with the shape and the size of a parameter that is not donated, each
    parameter counted once: `donors` are those parameters. `recomputed_bytes` is memory that cheap
    ops filled before the peak and that is needed after it: `recomputed`. `padding_bytes` is padding
    in the layouts of buffers: `padded`. `hole_bytes` is memory that the heap reserves beyond what
    is ever in use at once.
    """

    donated_bytes: int
    donors: NDArray[np.int64]
    recomputed_bytes: int
    recomputed: NDArray[np.int64]
    padding_bytes: int
    padded: NDArray[np.int64]
    hole_bytes: int


def find_savings(memory: ProgramMemory) -> MemorySavings:
    """The savings in the memory space that is shown."""
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
    """What the heap of a memory space reserves beyond its peak; 0 where no trace says its use."""
    if not memory.use.in_use_bytes.size:
        return 0
    traced = np.zeros(memory.allocations.index.size, bool)
    traced[memory.allocation[memory.use.owner]] = True
    reserved = int(memory.allocations.size_bytes[traced].sum())
    return max(reserved - int(memory.use.in_use_bytes.max()), 0)


def _donors(memory: ProgramMemory) -> NDArray[np.int64]:
    """The parameters that a result could take the place of; rows of buffers, largest first.

    Memory of results holds other buffers before; that of a parameter holds it alone.
    """
    allocations = memory.allocations
    is_result = allocations.is_output & ~allocations.is_parameter & ~allocations.is_tuple
    is_given = allocations.is_parameter & ~allocations.is_output
    is_whole = memory.size_bytes == allocations.size_bytes[memory.allocation]
    results: dict[tuple[int, int], list[int]] = {}
    for row in np.flatnonzero(is_result[memory.allocation] & is_whole).tolist():
        results.setdefault(_form(memory, row), []).append(int(memory.allocation[row]))
    rows = np.flatnonzero(is_given[memory.allocation] & is_whole & (memory.facts.shape > 0))
    found, taken = [], set()
    for row in rows[np.argsort(-memory.size_bytes[rows], kind="stable")].tolist():
        free = (place for place in results.get(_form(memory, row), ()) if place not in taken)
        place = next(free, None)
        if place is not None:
            taken.add(place)
            found.append(row)
    return np.array(found, np.int64)


def _form(memory: ProgramMemory, row: int) -> tuple[int, int]:
    """The shape and the size of a buffer."""
    return int(memory.facts.shape[row]), int(memory.size_bytes[row])


def _is_recomputable(memory: ProgramMemory, live: LiveBuffers, peak: int) -> NDArray[np.bool_]:
    """[n] whether cheap ops made a buffer before the peak, and others need it after."""
    facts = memory.facts
    is_cheap = np.array([text in _CHEAP for text in facts.texts], bool)[facts.opcode]
    is_loop = np.array([text == _CHEAP_FUSION for text in facts.texts], bool)[facts.fusion_kind]
    made = (live.start >= 0) & (live.start < peak) & (live.end > peak + 1)
    is_found: NDArray[np.bool_] = made & (is_cheap | is_loop)[live.buffer]
    return is_found


def _largest_first(is_chosen: NDArray[np.bool_], bytes_: NDArray[np.int64]) -> NDArray[np.int64]:
    rows = np.flatnonzero(is_chosen)
    return rows[np.argsort(-bytes_[rows], kind="stable")]
