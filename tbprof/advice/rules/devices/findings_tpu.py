"""Findings about the ops of TPU cores, following the performance notes of Cloud TPU."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.bottlenecks import HIGH, MODERATE
from tbprof.advice.evidence import ON_CORES, Evidence, Rule
from tbprof.advice.finding import Finding, graded
from tbprof.advice.guides import TPU_GUIDE, TPU_OPS_GUIDE, Guide
from tbprof.advice.pages import OPS, Page
from tbprof.advice.sentences import percent, shortened
from tbprof.analysis.tpu.tpu_ops import TpuOps
from tbprof.analysis.vocabulary.instruction_roles import Move, Reduction
from tbprof.analysis.vocabulary.tpu_op_names import Random
from tbprof.base.lazy import regex
from tbprof.base.texts import few

# Percentages of the time of all ops, inclusive; a rule counts only ops that take `NOTABLE` percent
# or more.
SHARE = (MODERATE, HIGH)
NOTABLE = 1.0
# The share of padding from which an op counts as padded.
PADDED = 0.1
# How many ops a finding names, and how many its link shows.
_NAMED, _LINKED = 3, 8
_MOST_PATTERN = 480
# ".12" or ".3.1" at the end, read backwards, which takes linear time.
_NUMBER_BACKWARDS = regex(r"(?:\d+\.)+")
_ON_HOST = (
    " With heavy padding, it may help to flatten arrays on the host and reshape them on the "
    "device: less data is transferred, and peak memory is lower."
)
_MOVES = {
    Move.TRANSPOSE: "transposes",
    Move.RESHAPE: "reshapes",
    Move.LAYOUT: "layout changes",
    Move.SLICE: "slices and concatenations",
    Move.SPACE: "moves between space and batch or depth",
}


def padding(evidence: Evidence, ops: TpuOps) -> Iterator[Finding]:
    """Ops that compute and store much padding; ops that move data have their own finding."""
    wasted = ops.wasted
    is_padded = (wasted >= PADDED) & (ops.move == Move.NONE)
    yield from _finding(
        evidence,
        ops,
        "tpu_padding",
        is_padded,
        "Padding takes {share} of the TPU's op time",
        "A TPU stores arrays in tiles: the innermost dimension is padded to a multiple of 128, the "
        "next one to a multiple of 8, and padding is read, computed and written as well. Most of "
        "this time is in {ops}.",
        "Choose a batch size per core and feature sizes that are multiples of 128, or at least of "
        f"8: sizes just above a multiple waste the most.{_batch_rule(ops, is_padded)}",
        TPU_GUIDE,
        lost_ps=np.asarray(ops.self_ps * np.nan_to_num(wasted), np.float64),
    )


def _batch_rule(ops: TpuOps, is_padded: NDArray[np.bool_]) -> str:
    """A sentence on the batch size for programs that pad convolutions, "" for others."""
    kinds = zip(ops.category, ops.opcode, strict=True)
    is_convolution = np.array([any("convolution" in name for name in kind) for kind in kinds], bool)
    if not (is_padded & is_convolution & (ops.self_ps > 0)).any():
        return ""
    return (
        " If the most common batch size of the convolutions is 64 or more, XLA pads the batch "
        "to 128 and features to 8, else the other way round (reversed for gradients of kernels)."
    )


def padded_moves(evidence: Evidence, ops: TpuOps) -> Iterator[Finding]:
    """Ops that only move data, including padding."""
    is_space = ops.move == Move.SPACE
    is_padded = (ops.move != Move.NONE) & (ops.wasted >= PADDED)
    kinds = [
        f"{name} {percent(_percent(ops, ops.self_ps[is_padded & (ops.move == move)].sum()))}"
        for move, name in _MOVES.items()
        if ops.self_ps[is_padded & (ops.move == move)].any()
    ]
    others = _percent(ops, ops.self_ps[(ops.move != Move.NONE) & ~is_padded & ~is_space].sum())
    further = f" Moving data with little padding takes {percent(others)}." if others else ""
    yield from _finding(
        evidence,
        ops,
        "tpu_padded_moves",
        is_padded | is_space,
        "Moving padded data takes {share} of the TPU's op time",
        f"{_listed(kinds)}Data that moves within a padded dimension, or from a padded one to "
        f"another, has to be rearranged. Most of it is in {{ops}}.{further}",
        "Keep one order of dimensions throughout the model. Transposes are free next to a "
        "matrix product, and next to a convolution if they swap batch and features (for kernels, "
        "input and output features). Reshape, slice and concatenate along dimensions that are "
        "not padded."
        f"{_ON_HOST if (ops.self_ps[is_padded & (ops.move == Move.RESHAPE)] > 0).any() else ''}",
    )


def unfused_batch_norm(evidence: Evidence, ops: TpuOps) -> Iterator[Finding]:
    """TensorFlow's batch normalization as separate reductions and elementwise ops."""
    yield from _finding(
        evidence,
        ops,
        "tpu_batch_norm",
        ops.is_batch_norm,
        "Batch normalization that is not fused takes {share} of the TPU's op time",
        "It runs as separate reductions and elementwise ops: {ops}. XLA compiles the fused op to "
        "much less work.",
        "Use the fused op: tf.compat.v1.nn.fused_batch_norm rather than "
        "tf.nn.batch_normalization, or layers with fused=True. It requires four dimensions, and "
        "the last or the second one as the axis.",
    )


def pool_gradient(evidence: Evidence, ops: TpuOps) -> Iterator[Finding]:
    """Gradients of max pooling."""
    yield from _finding(
        evidence,
        ops,
        "tpu_max_pool_gradient",
        ops.is_pool_gradient,
        "Gradients of max pooling take {share} of the TPU's op time",
        "They have to find the maxima again, and scatter the gradient to their positions: {ops}.",
        "Try average pooling, whose gradient is cheaper, or convolutions with strides, if the "
        "model's accuracy allows it.",
    )


def reductions(evidence: Evidence, ops: TpuOps) -> Iterator[Finding]:
    """Reductions that could share one pass over an array, and multiplications after them."""
    kinds = [
        f"{percent(share)} in {clause}"
        for kind, clause in (
            (Reduction.CHAINED, "reductions that wait for a sum over an array of the same shape"),
            (Reduction.BESIDE, "reductions of an array that another reduction also reads"),
            (Reduction.SCALED, "multiplications of sums"),
        )
        if (share := _percent(ops, ops.self_ps[ops.reduction == kind].sum())) > 0
    ]
    yield from _finding(
        evidence,
        ops,
        "tpu_reductions",
        ops.reduction != Reduction.NONE,
        "Reductions that could be fused take {share} of the TPU's op time",
        f"{_listed(kinds)}Reductions of equal shapes can run in one pass, and elementwise ops fuse "
        "into what a reduction reads, not into what it returns. Most of it is in {ops}.",
        "Do not let reductions wait for each other (the variance as the mean of squares minus "
        "the square of the mean, where its precision suffices), and multiply before a sum "
        "rather than after it.",
    )


def random_numbers(evidence: Evidence, ops: TpuOps) -> Iterator[Finding]:
    """Random numbers of costly distributions."""
    normal = _percent(ops, ops.self_ps[ops.random == Random.NORMAL].sum())
    further = f" Normal distributions, slightly slower than uniform ones, take {percent(normal)}."
    is_costly = ops.random == Random.COSTLY
    generator = (
        " The generator matters, too: jax_default_prng_impl='rbg' is faster on TPUs than threefry."
        if bool(ops.is_jax[is_costly].any())
        else ""
    )
    yield from _finding(
        evidence,
        ops,
        "tpu_random",
        is_costly,
        "Costly random distributions take {share} of the TPU's op time",
        "Categorical, multinomial and gamma numbers take much longer to draw than uniform ones: "
        f"{{ops}}.{further if normal else ''}",
        "Draw uniform or Bernoulli numbers where they suffice, or draw on the host ahead of the "
        f"step.{generator}",
    )


def _finding(
    evidence: Evidence,
    ops: TpuOps,
    name: str,
    is_counted: NDArray[np.bool_],
    title: str,
    detail: str,
    action: str,
    guide: Guide = TPU_OPS_GUIDE,
    lost_ps: NDArray[np.float64] | None = None,
) -> Iterator[Finding]:
    """The finding of a rule, if its share of op time reaches the threshold.

    In texts, `{share}` becomes that share, `{ops}` the worst ops. `is_counted` [n] marks the ops
    that the rule counts, `lost_ps` [n] is the time that each could save, by default all of it.
    """
    if lost_ps is None:
        lost_ps = ops.self_ps.astype(np.float64)
    total_ps = float(ops.self_ps.sum())
    rows = np.flatnonzero(is_counted & (ops.self_ps * 100 >= NOTABLE * total_ps) & (lost_ps > 0))
    share = _percent(ops, float(lost_ps[rows].sum()))
    grade = graded(share, *SHARE)
    if not rows.size or grade is None:
        return
    worst = rows[np.argsort(-lost_ps[rows], kind="stable")]
    more = f" and {rows.size - _NAMED} more" if rows.size > _NAMED else ""
    listed = "; ".join(_describe_op(ops, row) for row in worst[:_NAMED].tolist())
    # The cores are busy for a part of each step, which limits the gain.
    gain = evidence.gain_of_work(share / 100 * evidence.share(*ON_CORES))
    assumed = (
        " Where the trace does not state the tile size, that of the TPU's registers is assumed."
        if ops.is_assumed[rows].any()
        else ""
    )
    yield Finding(
        id=name,
        **grade,
        title=title.replace("{share}", percent(share)),
        detail=detail.replace("{ops}", listed + more) + assumed,
        gain=gain,
        action=action,
        next_page=OPS,
        evidence=showing_ops([ops.op[row] for row in worst.tolist()]),
        guide=guide,
    )


def _describe_op(ops: TpuOps, row: int) -> str:
    """An op for a sentence: its name, its share of op time, its padding."""
    about = [percent(_percent(ops, ops.self_ps[row]))]
    wasted = float(ops.wasted[row])
    if wasted >= PADDED:
        about.append(f"{percent(100 * wasted)} padding, {shortened(ops.padding[row])}")
    event_name = ops.name[row]
    name = shortened(event_name, 40) if event_name == ops.op[row] else (
        f"{shortened(ops.op[row], 60)} as {shortened(event_name, 40)}"
    )  # fmt: skip
    return f"{name} ({', '.join(about)})"


def grouped(names: list[str]) -> str:
    """Ops for a sentence, combined by kind: "3 copy-done ops, fusion.7", at most three kinds.

    Names of one kind differ only in the number at the end.
    """
    kinds: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        kinds.setdefault(_without_number(name), []).append(name)
    texts = [
        shortened(of_kind[0], 40)
        if len(of_kind) == 1
        else f"{len(of_kind)} {shortened(kind, 40)} ops"
        for kind, of_kind in kinds.items()
    ]
    return few(texts, _NAMED)


def _without_number(name: str) -> str:
    match = _NUMBER_BACKWARDS.match(name[::-1])
    return name[: -match.end()] if match else name


def _percent(ops: TpuOps, ps: float) -> float:
    """A time as a percentage of the time of all ops, 0 without any."""
    total_ps = float(ops.self_ps.sum())
    return 100 * float(ps) / total_ps if total_ps > 0 else 0.0


def _listed(kinds: list[str]) -> str:
    return f"{', '.join(kinds)[:1].upper()}{', '.join(kinds)[1:]}. " if kinds else ""


def showing_ops(names: list[str]) -> Page:
    """The table of ops, filtered to as many of these names as a link can hold."""
    distinct = list(dict.fromkeys(names))[:_LINKED]
    if len(distinct) == 1:
        return OPS.showing(operation=f"={distinct[0]}")
    pattern = ""
    for name in distinct:
        longer = f"{pattern}|{_escaped(name)}" if pattern else _escaped(name)
        if len(longer) > _MOST_PATTERN:
            break
        pattern = longer
    if not pattern:
        return OPS.showing(operation=f"={distinct[0]}")
    return OPS.showing(operation=f"/^({pattern})$/")


def _escaped(name: str) -> str:
    """A name, escaped for a regular expression of the browser."""
    return re.sub(r"([\\^$.|?*+()\[\]{}/])", r"\\\1", name)


def _of_cores(rule: Callable[[Evidence, TpuOps], Iterator[Finding]]) -> Rule:
    """The rule, which finds nothing without ops of TPU cores."""

    def of_evidence(evidence: Evidence) -> Iterator[Finding]:
        return iter(()) if evidence.tpu_ops is None else rule(evidence, evidence.tpu_ops)

    return of_evidence


_OF_CORES = (
    padding, padded_moves, unfused_batch_norm, pool_gradient, reductions, random_numbers,
)  # fmt: skip
TPU_RULES: tuple[Rule, ...] = tuple(map(_of_cores, _OF_CORES))
