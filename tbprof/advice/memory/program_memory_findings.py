"""How a compiled program could use less memory at its peak: upper bounds, each with its reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.finding import Finding
from tbprof.advice.sentences import shortened, size
from tbprof.analysis.program_memory.memory_savings import MemorySavings, find_savings
from tbprof.analysis.program_memory.program_memory import ProgramMemory

# Percentage of the peak, ours: a smaller saving is not worth a change to the program.
LEAST_SAVED = 1.0
# From this percentage on, a saving has moderate severity.
LARGE = 10.0
_MOST_NAMED = 3


def find_program_memory_findings(memory: ProgramMemory) -> list[Finding]:
    """The findings on a program in a memory space, the largest first."""
    savings = find_savings(memory)
    findings = [finding for rule in _RULES for finding in rule(memory, savings)]
    return sorted(findings, key=lambda finding: -finding.value)


def _donation(memory: ProgramMemory, savings: MemorySavings) -> Iterator[Finding]:
    """Parameters whose memory results could reuse."""
    count = savings.donors.size
    it_is = "1 parameter of the program has", "is"
    they_are = f"{count:,} parameters of the program have", "are"
    have, are = it_is if count == 1 else they_are
    yield from _finding(
        memory,
        "donation",
        savings.donated_bytes,
        "Donating parameters could free",
        f"{have} the shape and layout of a result, and {are} not donated, "
        "so both are in memory at the same time. The largest: "
        f"{_largest(memory, savings.donors, memory.size_bytes)}. How much is freed depends on the "
        "caller, which can donate only what it does not need afterwards.",
        "Donate the arguments that the call replaces: jax.jit(step, donate_argnums=...).",
    )


def _recomputation(memory: ProgramMemory, savings: MemorySavings) -> Iterator[Finding]:
    """Buffers that cheap ops filled long before their results are needed."""
    yield from _finding(
        memory,
        "recomputation",
        savings.recomputed_bytes,
        "Recomputing cheap results could free",
        "Elementwise and other cheap ops filled these buffers before the peak, and their contents "
        "are needed after it. The largest: "
        f"{_largest(memory, savings.recomputed, memory.size_bytes)}. The saving may be smaller, "
        "since the inputs of recomputed ops must be kept instead.",
        "Recompute these results instead of keeping them: put jax.checkpoint (jax.remat) around "
        "their layers, with a policy that saves only matrix products.",
    )


def _padding(memory: ProgramMemory, savings: MemorySavings) -> Iterator[Finding]:
    """Memory that tiled layouts add to the elements of arrays."""
    padding = memory.size_bytes - memory.facts.unpadded_bytes
    yield from _finding(
        memory,
        "padding",
        savings.padding_bytes,
        "Shapes that need no padding could free",
        "Layouts round dimensions up to whole tiles. Most padding is in: "
        f"{_largest(memory, savings.padded, padding)}.",
        "Make the two dimensions that vary fastest multiples of the tile (8 x 128 for 32 bit), or "
        "combine small dimensions.",
    )


def _holes(memory: ProgramMemory, savings: MemorySavings) -> Iterator[Finding]:
    """Memory that the heap reserves beyond the most that is ever in use at once."""
    yield from _finding(
        memory,
        "holes",
        savings.hole_bytes,
        "A denser arrangement could free",
        "The compiler reserves this much more memory for temporary arrays than is ever in use at "
        "once: arrays of different sizes and lifetimes leave gaps between them.",
        "Use fewer different sizes of large arrays, which leaves smaller gaps. Newer versions of "
        "the compiler may pack arrays more densely.",
    )


def _finding(
    memory: ProgramMemory, id_: str, saved: int, title: str, detail: str, action: str
) -> Iterator[Finding]:
    """A finding if it could save at least `LEAST_SAVED` percent of the peak."""
    share = saved / memory.peak_bytes if memory.peak_bytes > 0 else 0.0
    if 100 * share >= LEAST_SAVED:
        yield Finding(
            id=id_,
            severity="moderate" if 100 * share >= LARGE else "low",
            title=f"{title} at most {size(saved)}",
            detail=detail,
            action=action,
            value=saved,
            unit="bytes",
            share=share,
        )


def _largest(memory: ProgramMemory, rows: NDArray[np.int64], bytes_: NDArray[np.int64]) -> str:
    """The names and sizes of the first buffers, for a sentence."""
    facts = memory.facts
    named = [
        f"{shortened(facts.texts[facts.instruction[row]])} ({size(int(bytes_[row]))})"
        for row in rows[:_MOST_NAMED].tolist()
    ]
    more = rows.size - len(named)
    return ", ".join(named) + (f" and {more:,} more" if more else "")


_RULES: tuple[Callable[[ProgramMemory, MemorySavings], Iterator[Finding]], ...] = (
    _donation,
    _recomputation,
    _padding,
    _holes,
)
