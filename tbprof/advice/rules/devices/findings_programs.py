"""Findings about instructions of compiled programs, one per cause that the program pages show.

An instruction has at most one cause, so no two of these findings count the same time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.bottlenecks import HIGH, MODERATE
from tbprof.advice.evidence import Evidence, Rule
from tbprof.advice.finding import Finding, Grade, graded
from tbprof.advice.gain import UNKNOWN_GAIN
from tbprof.advice.guides import (
    COMMAND_BUFFER_GUIDE,
    GPU_GUIDE,
    NO_GUIDE,
    PRECISION_GUIDE,
    TPU_GUIDE,
    Guide,
)
from tbprof.advice.pages import HLO_STATS, PROGRAMS
from tbprof.advice.sentences import percent, shortened
from tbprof.analysis.bounds.causes import CAUSE_NAMES, Cause

# Percentages of the time of all instructions; ours. Those of products are the same as for kernels.
_MOVING = (MODERATE, HIGH)
_PRODUCTS = (10.0, 40.0)
_WAITING = 30.0
_HIDDEN = (10.0, 30.0)
# Savings from which waiting for memory has moderate severity.
_NOTABLE = 10.0
_NAMED = 3
# Smaller percentages would read 0.0 %.
_SHOWN = 0.05
_GUIDES = {"GPU": GPU_GUIDE, "TPU": TPU_GUIDE, "CPU": NO_GUIDE}


def moved_data(evidence: Evidence) -> Iterator[Finding]:
    """Transposes, reshapes and changes of layouts."""
    share = _share(evidence, Cause.MOVE)
    of_arguments = _percent(evidence, Cause.MOVE, evidence.losses.argument_ps)
    arguments = (
        f" {percent(of_arguments)} rearranges program arguments that nothing else uses: the host "
        "could pass them in the new order."
        if of_arguments >= _SHOWN
        else ""
    )
    yield from _finding(
        evidence,
        Cause.MOVE,
        "moved_data",
        graded(share, *_MOVING),
        f"Instructions that only rearrange data take {percent(share)} of op time",
        "Transposes, reshapes and layout changes compute nothing: {ops}. Fusions that also "
        f"compute are not counted.{arguments}",
        "Keep one order of dimensions throughout the model, the one that its products and "
        "convolutions expect (images: channels last, NHWC), and prepare inputs in that order.",
        _GUIDES[evidence.platform],
    )


_DOUBLE = "f64"


def wide_products(evidence: Evidence) -> Iterator[Finding]:
    """Matrix products of 32-bit numbers, where the device multiplies 16-bit ones faster."""
    share = _share(evidence, Cause.WIDE_PRODUCT)
    how = (
        "The program requests more precision than one pass of 16-bit products provides"
        if evidence.platform == "TPU"
        else "The GPU's peak for them is lower than for 16-bit products"
    )
    is_double = _is_mostly(evidence, Cause.WIDE_PRODUCT, _DOUBLE)
    remedy = (
        "float32 arrays, or narrower ones,"
        if is_double
        else "a lower precision (jax_default_matmul_precision, or that of single products)"
        if evidence.platform == "TPU"
        else "bfloat16 arrays"
        if evidence.is_jax
        else "tf.keras.mixed_precision"
    )
    yield from _finding(
        evidence,
        Cause.WIDE_PRODUCT,
        "wide_products",
        graded(share, *_PRODUCTS),
        f"Products of {64 if is_double else 32}-bit numbers take {percent(share)} of op time",
        f"{how}: {{ops}}. At the 16-bit peak, or with half the bytes where memory is the limit, "
        "they would take {rest} of that time.",
        f"Use {remedy} where the model's accuracy allows it.",
        PRECISION_GUIDE,
    )


def small_products(evidence: Evidence) -> Iterator[Finding]:
    """Matrix products that are memory-bound because a dimension is small."""
    share = _share(evidence, Cause.SMALL_PRODUCT)
    yield from _finding(
        evidence,
        Cause.SMALL_PRODUCT,
        "small_products",
        graded(share, *_PRODUCTS),
        f"Matrix products that are too small for the matrix units take {percent(share)} of op time",
        "They wait for memory, since they use each number that they read in too few operations: "
        "{ops}. The operations alone would take {rest} of that time.",
        "Raise the batch size, or combine small products into larger ones: more rows take hardly "
        "more time until the matrix units are busy. Dimensions that are multiples of 128, or at "
        "least of 8, use the matrix units fully.",
        _GUIDES[evidence.platform],
    )


def partial_tiles(evidence: Evidence) -> Iterator[Finding]:
    """Matrix products on GPUs whose kernels multiply tiles that extend beyond the arrays."""
    share = _share(evidence, Cause.PARTIAL_TILES)
    yield from _finding(
        evidence,
        Cause.PARTIAL_TILES,
        "partial_tiles",
        graded(share, *_PRODUCTS),
        f"Matrix products that do not fill the tiles of their kernels take {percent(share)} of op "
        "time",
        "Their kernels multiply whole tiles, parts of which lie outside of the arrays: {ops}. "
        "With full tiles, they would take {rest} of that time.",
        "Change the batch size, layer widths or number of classes so that they fill the tiles: "
        "slightly smaller dimensions take less time, slightly larger ones the same time. Libraries "
        "choose tiles by the dimensions, so measure the effect.",
        _GUIDES[evidence.platform],
    )


def memory_bound(evidence: Evidence) -> Iterator[Finding]:
    """Other instructions that wait for the device's memory."""
    share = _share(evidence, Cause.MEMORY)
    saved = _percent(evidence, Cause.MEMORY, evidence.losses.saved_ps)
    grade = graded(share, _WAITING)
    if grade is not None and saved < _NOTABLE:
        grade["severity"] = "low"
    halved = (
        " With half the bits per number in arrays of 32-bit floats and of 64-bit numbers, they "
        "would take {rest} of that time."
        if saved > 0
        else " The trace does not show how much of that time could be saved."
    )
    yield from _finding(
        evidence,
        Cause.MEMORY,
        "memory_bound",
        grade,
        f"{percent(share)} of op time is spent waiting for the device's memory",
        "These instructions use at least half of the memory bandwidth, and a smaller part of the "
        f"device's peak compute rate: {{ops}}.{halved}",
        "Move fewer bytes: use narrower types where accuracy allows it (16-bit floats, 32-bit "
        "integers), and do more operations between reading and writing an array (fusion), such as "
        "attention that keeps its scores on the chip.",
        _GUIDES[evidence.platform],
    )


def command_buffers(evidence: Evidence) -> Iterator[Finding]:
    """GPU time in CUDA graphs, which the trace does not attribute to instructions."""
    share = _share(evidence, Cause.COMMAND_BUFFER)
    yield from _finding(
        evidence,
        Cause.COMMAND_BUFFER,
        "command_buffers",
        graded(share, *_HIDDEN, severities=("low", "moderate")),
        f"{percent(share)} of GPU op time is hidden in command buffers (CUDA graphs)",
        "The trace does not show which instructions ran in them: {ops}. Categories, rates and "
        "other findings exclude that time.",
        "Record once with this flag, whose value is empty, so that kernels have the names of their "
        "instructions. Launches may take longer with it, so compare step times without it.",
        COMMAND_BUFFER_GUIDE,
        code="XLA_FLAGS=--xla_gpu_enable_command_buffer=",
    )


def _finding(
    evidence: Evidence,
    cause: Cause,
    id_: str,
    grade: Grade | None,
    title: str,
    detail: str,
    action: str,
    guide: Guide,
    code: str = "",
) -> Iterator[Finding]:
    """The finding on a cause, if its share of the time has a grade.

    In `detail`, `{ops}` becomes the longest instructions, `{rest}` the percentage of their time
    that cannot be saved.
    """
    if grade is None:
        return
    share = _share(evidence, cause)
    saved = _percent(evidence, cause, evidence.losses.saved_ps)
    gain = evidence.gain_of_work(saved / 100 * evidence.share(*evidence.work))
    rest = percent(100 - 100 * saved / share)
    page = HLO_STATS.showing(cause=f"={CAUSE_NAMES[cause]}")
    yield Finding(
        id=id_,
        **grade,
        title=title,
        detail=detail.replace("{rest}", rest).replace("{ops}", _longest(evidence, cause)),
        action=action,
        guide=guide,
        gain=gain if saved > 0 else UNKNOWN_GAIN,
        evidence=page,
        next_page=PROGRAMS,
        code=code,
    )


def _share(evidence: Evidence, cause: Cause) -> float:
    """The percentage of the time of all instructions that those with a cause take."""
    return _percent(evidence, cause, evidence.losses.time_ps)


def _percent(evidence: Evidence, cause: Cause, column: NDArray[np.int64]) -> float:
    losses = evidence.losses
    part = float(column[losses.cause == cause].sum())
    return 100 * part / losses.total_ps if losses.total_ps > 0 else 0.0


def _is_mostly(evidence: Evidence, cause: Cause, fact: str) -> bool:
    """Whether this fact shows the cause for most of the longest instructions' time."""
    losses = evidence.losses
    is_cause = losses.of == cause
    has_fact = is_cause & np.array([other == fact for other in losses.fact], np.bool_)
    return 2 * int(losses.name_ps[has_fact].sum()) > int(losses.name_ps[is_cause].sum())


def _longest(evidence: Evidence, cause: Cause) -> str:
    """The longest instructions for a sentence, each with its time and what shows the cause."""
    losses = evidence.losses
    shares = 100 * losses.name_ps / losses.total_ps
    texts = []
    for row in np.flatnonzero((losses.of == cause) & (shares >= _SHOWN)).tolist()[:_NAMED]:
        fact = f", {losses.fact[row]}" if losses.fact[row] else ""
        texts.append(f"{shortened(losses.name[row], 40)} ({percent(shares[row])}{fact})")
    return "; ".join(texts)


PROGRAM_RULES: tuple[Rule, ...] = (
    wide_products,
    small_products,
    partial_tiles,
    memory_bound,
    moved_data,
    command_buffers,
)
