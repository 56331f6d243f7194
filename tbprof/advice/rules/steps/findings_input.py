"""Findings about input: steps that wait for it, and copies from the host to GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.bottlenecks import HIGHLY_INPUT_BOUND, OVERHEAD, WAITING
from tbprof.advice.evidence import Evidence, Rule, covered_elsewhere
from tbprof.advice.finding import Finding, graded
from tbprof.advice.guides import DATA_GUIDE, GPU_GUIDE, Guide
from tbprof.advice.input.input_cause import InputCause
from tbprof.advice.input.input_waits import waits_in_trace
from tbprof.advice.pages import INPUT_PIPELINE, OPS, TF_DATA, TRACE, Page
from tbprof.advice.sentences import milliseconds, percent, size
from tbprof.analysis.gpu.gpu_facts import GpuFacts
from tbprof.analysis.steps.steps import copies_most
from tbprof.analysis.vocabulary.phases import Phase

# The start of a copy takes about 10 µs, in which 16 lanes of PCIe 4 move that many bytes.
_SMALL_COPY = 2**18
# Steps send many copies from this number on.
_MANY_COPIES = 8
# The time of copies of fewer bytes is that of starting them, so that their rate means nothing.
_LEAST_RATED = 2**10


def input_bound(evidence: Evidence) -> Iterator[Finding]:
    """Steps that wait for their input, with the cause if the trace shows it."""
    share = evidence.share(Phase.INPUT)
    gain = evidence.gain_of(share, Phase.INPUT)
    grade = graded(gain.own, *WAITING, value=share)
    if grade is None:
        return
    cause = evidence.input_cause
    waits = milliseconds(evidence.means.mean_ms(Phase.INPUT))
    step = milliseconds(evidence.step_ms)
    subject = "program spends" if evidence.platform == "CPU" else "devices spend"
    yield Finding(
        id="input_bound",
        **grade,
        title=_title(evidence, share),
        detail=(
            (
                f"Of an average step of {step}, it takes {waits}."
                if is_transfer(evidence)
                else f"Of an average step of {step}, the {subject} {waits} waiting for data."
            )
            + (f" {cause.sentence}" if cause is not None else "")
            + _copied(evidence)
            + covered_elsewhere(evidence, gain)
        ),
        gain=gain,
        action=(cause.action if cause is not None else _LOOK) + _in_few_copies(evidence),
        next_page=_next_page(cause),
        evidence=waits_in_trace(evidence.job, evidence.means, cause),
        guide=DATA_GUIDE if cause is None else Guide("TensorFlow guide", cause.guide.url),
    )


def is_transfer(evidence: Evidence) -> bool:
    """Whether what counts as input is data sent to devices.

    TPU cores wait for their infeed, whatever hosts send meanwhile.
    """
    cause = evidence.input_cause
    return cause is not None and cause.kind == "transfer" and evidence.platform != "TPU"


def _in_few_copies(evidence: Evidence) -> str:
    """Advice to combine copies, if each step sends many small ones; else ""."""
    gpus = evidence.gpus
    is_input = _is_kind(gpus, _TO_DEVICE)
    count = int(gpus.copies[is_input].sum())
    is_many = count >= _MANY_COPIES * max(len(evidence.job.label), 1)
    return _FEW_COPIES if is_many and is_transfer(evidence) and _are_small(gpus) else ""


def _copied(evidence: Evidence) -> str:
    """A sentence on the copies that make up the input time, "" if it is something else."""
    copies = copies_in_words(evidence.gpus)
    if copies and is_transfer(evidence):
        return f" {copies}{_REST if copies_take_little(evidence, Phase.INPUT) else ''}"
    is_copied = copies and copies_most(evidence.job.parts)
    return f" GPUs copy data from the host for most of that time: {copies}" if is_copied else ""


_REST = (
    " They take a small part of that time: in the rest, the host prepares and starts the copies, "
    "or waits until it can."
)


def copies_take_little(evidence: Evidence, phase: Literal[Phase.INPUT, Phase.OUTPUT]) -> bool:
    """Whether copies from or to the host take less than half of the time of input or output."""
    gpus = evidence.gpus
    kind = _TO_DEVICE if phase == Phase.INPUT else TO_HOST
    is_kind = _is_kind(gpus, kind)
    copying_ps = int(gpus.copying_ps[is_kind].sum())
    phase_ps = int(evidence.job.phase_ps[:, phase].sum())
    return bool(is_kind.any()) and 2 * copying_ps < phase_ps


def _title(evidence: Evidence, share: float) -> str:
    if is_transfer(evidence):
        return f"{percent(share)} of step time goes to sending data to devices"
    cause = evidence.input_cause
    # The same on all pages, whatever part of it other findings cover.
    how_much = "highly" if share >= HIGHLY_INPUT_BOUND else "moderately"
    above_all = f", mostly for {cause.type}" if cause is not None and cause.is_most else ""
    return (
        f"The program is {how_much} input-bound: {percent(share)} of step time is spent waiting "
        f"for input{above_all}"
    )


_LOOK = "Check on the input page which stage takes longest."


def _next_page(cause: InputCause | None) -> Page:
    return TF_DATA if cause is not None and cause.kind in ("stage", "pipeline") else INPUT_PIPELINE


def copies_to_device(evidence: Evidence) -> Iterator[Finding]:
    """GPUs that spend much of their time on copies from the host."""
    gpus = evidence.gpus
    is_input = _is_kind(gpus, _TO_DEVICE)
    window = float(gpus.window_ps.sum())
    if window <= 0 or not is_input.any():
        return
    share = 100 * float(gpus.copying_ps[is_input].sum()) / window
    grade = graded(share, *WAITING)
    if grade is None:
        return
    # Hidden copies cost nothing: the gain is limited to the time that steps wait for input.
    gain = evidence.gain_of(share, Phase.INPUT)
    if gain.shared and _copied(evidence):
        return  # the finding on input covers these copies
    is_hidden = 2 * evidence.share(Phase.INPUT) < share
    grade["severity"] = "moderate" if gain.own >= OVERHEAD[0] and not is_hidden else "low"
    rest = " Steps wait only briefly for that." if is_hidden else covered_elsewhere(evidence, gain)
    yield Finding(
        id="copies_to_device",
        **grade,
        title=f"Copies from the host take {percent(share)} of GPU time",
        detail=f"{copies_in_words(gpus)}{rest}",
        gain=gain,
        action=(
            "Most of it already overlaps with computation. Send less: the types in which the data "
            "is stored, and only what changes between steps."
            if is_hidden
            else "Copy ahead of the step (prefetch to the device), in the type that the model uses."
        )
        + _copy_advice(gpus),
        next_page=TRACE.marking("/^memcpyh(2|to)d/", evidence.worst_step_in(Phase.INPUT)),
        evidence=OPS.showing(type="MemcpyHToD"),
        guide=GPU_GUIDE,
    )


_TO_DEVICE, TO_HOST = "MemcpyHToD", "MemcpyDToH"


def _is_kind(gpus: GpuFacts, kind: str) -> NDArray[np.bool_]:
    """[n] whether copies are of a kind."""
    return np.array([other == kind for other in gpus.copy_kind], np.bool_)


def average_bytes(gpus: GpuFacts, kind: str) -> float:
    """The average size of copies whose sizes are known, NaN without any."""
    rows = _is_kind(gpus, kind) & (gpus.copy_bytes >= 0)
    count = int(gpus.copies[rows].sum())
    return float(gpus.copy_bytes[rows].sum()) / count if count else float("nan")


def copies_in_words(gpus: GpuFacts, kind: str = _TO_DEVICE) -> str:
    """A sentence on the number, size and rate of copies from the host to GPUs; "" without any.

    With `TO_HOST`, of those to the host.
    """
    is_kind = _is_kind(gpus, kind)
    if not is_kind.any():
        return ""
    count = int(gpus.copies[is_kind].sum())
    moved_ps = float(gpus.copy_ps[is_kind].sum())
    sizes = gpus.copy_bytes[is_kind]
    known_sizes = sizes[sizes >= 0]
    of_size = f" of {size(average_bytes(gpus, kind))} on average" if known_sizes.size else ""
    has_rate = known_sizes.sum() >= _LEAST_RATED * count
    rate = f", {known_sizes.sum() / moved_ps * 1e3:.3g} GB/s" if has_rate else ""
    pageable = int(gpus.pageable[is_kind].sum())
    uses = "read" if kind == _TO_DEVICE else "write"
    from_pageable = (
        f" {pageable:,} of them {uses} memory that is not pinned, which the driver copies twice."
        if pageable
        else ""
    )
    took = f", {milliseconds(moved_ps / 1e9)} in total"
    return f"{count:,} {'copy' if count == 1 else 'copies'}{of_size}{rate}{took}.{from_pageable}"


def _copy_advice(gpus: GpuFacts) -> str:
    """Sentences on how to make copies to GPUs faster, "" if they are large and pinned."""
    is_input = _is_kind(gpus, _TO_DEVICE)
    advice = _FEW_COPIES if _are_small(gpus) else ""
    return advice + (" Copy from pinned memory." if gpus.pageable[is_input].any() else "")


_FEW_COPIES = " Make a few large copies rather than many small ones."


def _are_small(gpus: GpuFacts) -> bool:
    """Whether starting the copies from the host takes longer than copying."""
    is_input = _is_kind(gpus, _TO_DEVICE)
    sizes, copies = gpus.copy_bytes[is_input], gpus.copies[is_input]
    is_known = sizes >= 0
    return bool(sizes[is_known].sum() < _SMALL_COPY * copies[is_known].sum())


INPUT_RULES: tuple[Rule, ...] = (input_bound, copies_to_device)
