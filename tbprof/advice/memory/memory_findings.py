"""Findings about one allocator: which memory to free first, and how its use develops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from tbprof.advice.finding import SEVERITIES, Finding, Severity, graded
from tbprof.advice.memory.memory_facts import (
    ACTIVATIONS,
    BEFORE,
    EARLIER,
    STACK,
    TEMPORARIES,
    UNNAMED,
    WEIGHTS,
    PeakFacts,
    PeakGroup,
)
from tbprof.advice.memory_limits import (
    ALLOCATE_ALIKE,
    FRAGMENTED,
    FULL,
    IN_USE,
    fragmented_title,
    full_title,
    largest_chunk,
)
from tbprof.advice.sentences import owner, percent, size

# Percentages of the bytes in use at the peak, ours: a group below the first is too small to start
# with, one above the second is most of the total.
GROUP = (10.0, 50.0)
# Percentage of the peak that is allocated beyond requested sizes; plain rounding takes less.
ROUNDED = 10.0
# Memory grows if it does so in this share of at least this many steps. The first step does not
# count: it allocates what the program keeps. Growth is urgent if the memory will be full after
# `SOON` more steps.
GROWING_STEPS = 3
GROWING_SHARE = 0.6
SOON = 100

_CALLED: Mapping[str, str] = {
    ACTIVATIONS: "Activations and gradients",
    TEMPORARIES: "Op temporaries",
    WEIGHTS: "Weights, optimizer state and constants",
    EARLIER: "Tensors from earlier steps",
    BEFORE: "Allocated before the recording",
    STACK: "Stack of compiled programs",
    UNNAMED: "Allocations of unknown kind",
}


def find_memory_findings(facts: PeakFacts) -> list[Finding]:
    """The findings about an allocator: how full it is, then the rest, most severe first."""
    findings = [finding for rule in _RULES for finding in rule(facts)]
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return [*_near_capacity(facts), *findings]


def _near_capacity(facts: PeakFacts) -> Iterator[Finding]:
    """How full the memory is at its peak, or how much of it is free."""
    used = facts.used_percent
    if np.isnan(used):
        return
    grade = graded(used, *FULL)
    free_bytes = facts.capacity_bytes - facts.peak_bytes
    detail = (
        f"{size(facts.peak_bytes)} of {size(facts.capacity_bytes)} is in use at the peak, which "
        f"leaves {size(free_bytes)} free."
    )
    share = used / 100
    if grade is None:
        if not facts.is_device:
            return
        yield Finding(
            id="room",
            severity="good",
            title=f"{percent(100 - used)} of the memory of {owner(facts.name)} is free at its peak",
            detail=detail,
            action="There is room for a larger batch, which may use the device more efficiently.",
            value=free_bytes,
            unit="bytes",
            share=1 - share,
        )
        return
    yield Finding(
        id="near_capacity",
        severity=grade["severity"],
        title=full_title(facts.name, used),
        detail=f"{detail} If it needs slightly more, the program runs out of memory.",
        action=(
            "Reduce the largest group below first."
            + (
                " If the program runs out of memory, "
                "RunOptions(report_tensor_allocations_upon_oom=True) lists the live tensors."
                if facts.is_tensorflow and facts.is_device
                else ""
            )
        ),
        value=facts.peak_bytes,
        unit="bytes",
        share=share,
    )


def _groups(facts: PeakFacts) -> Iterator[Finding]:
    """The groups in use at the peak that are worth considering, largest first."""
    if facts.peak_bytes <= 0:
        return
    pressure = graded(facts.used_percent, *FULL)
    groups = sorted(facts.groups, key=lambda group: -group.bytes)
    for rank, group in enumerate(groups):
        share = group.bytes / facts.peak_bytes
        if 100 * share < GROUP[0]:
            break
        severity: Severity = "low"
        if pressure is not None:
            severity = pressure["severity"] if rank == 0 or 100 * share >= GROUP[1] else "moderate"
        yield Finding(
            id=group.kind,
            severity=severity,
            title=f"{_CALLED[group.kind]}: {percent(100 * share)} of the peak",
            detail=_detail(group),
            action=_ACTIONS[group.kind](facts.is_tensorflow),
            value=group.bytes,
            unit="bytes",
            share=share,
        )


def _detail(group: PeakGroup) -> str:
    """What the group consists of."""
    if group.kind == BEFORE:
        return (
            f"{size(group.bytes)} was already in use when the recording began, so the trace does "
            "not show what it is used for; usually it is weights and optimizer state."
        )
    if group.kind == STACK:
        return (
            f"{size(group.bytes)} is reserved for temporaries of compiled programs, including "
            "activations."
        )
    count = "1 allocation" if group.allocations == 1 else f"{group.allocations:,} allocations"
    return f"{size(group.bytes)} in {count}. The largest: {group.largest}."


def _fragmentation(facts: PeakFacts) -> Iterator[Finding]:
    """Free memory in chunks that are too small for a large tensor."""
    if np.isnan(facts.fragmentation) or not facts.used_percent >= IN_USE:
        return
    scattered = 100 * facts.fragmentation
    grade = graded(scattered, *FRAGMENTED, severities=("low", "moderate"))
    if grade is None or facts.free_bytes < 0:
        return
    lost = round(facts.free_bytes * facts.fragmentation)
    yield Finding(
        id="fragmentation",
        severity=grade["severity"],
        title=f"{fragmented_title(facts.name, scattered)} at the peak",
        detail=largest_chunk(
            f"{size(facts.free_bytes)} of free memory", size(facts.free_bytes - lost)
        ),
        action=ALLOCATE_ALIKE + _allocators(facts),
        value=lost,
        unit="bytes",
        share=lost / facts.capacity_bytes,
    )


def _allocators(facts: PeakFacts) -> str:
    """Alternatives to an allocator with fragmented memory."""
    if not facts.is_tensorflow:
        return (
            " In JAX, XLA_PYTHON_CLIENT_ALLOCATOR=platform releases memory immediately (slower), "
            "and XLA_PYTHON_CLIENT_MEM_FRACTION sets how much is reserved at the start."
        )
    is_bfc = facts.is_device and facts.name.lower().endswith("bfc")
    # The trace's memory events do not say whose GPU it is.
    return _ASYNC if is_bfc else ""


_ASYNC = " On an NVIDIA GPU, set TF_GPU_ALLOCATOR=cuda_malloc_async, which fragments less."


def _growth(facts: PeakFacts) -> Iterator[Finding]:
    """Memory in use that grows from step to step.

    The first step does not count, since it allocates what the program keeps, nor does the last,
    which may be incomplete.
    """
    ends = np.array(facts.end_bytes, np.int64)[1:-1]
    growth = np.diff(ends)
    if growth.size < GROWING_STEPS or (ends < 0).any():
        return
    grows = int(ends[-1] - ends[0]) // growth.size
    if grows <= 0 or np.mean(growth > 0) < GROWING_SHARE:
        return
    until = ""
    severity: Severity = "moderate"
    if facts.capacity_bytes > 0:
        steps = max((facts.capacity_bytes - int(ends[-1])) // grows, 0)
        severity = "high" if steps < SOON else severity
        until = f" At this rate, it is full after {steps:,} more steps."
    leaks = f" Growing: {'; '.join(facts.leaks)}." if facts.leaks else ""
    yield Finding(
        id="growth",
        severity=severity,
        title=f"Memory in use on {owner(facts.name)} grows by {size(grows)} every step",
        detail=(
            f"In use at the end of the second step: {size(int(ends[0]))}; of the second-to-last "
            f"of {ends.size + 2}: {size(int(ends[-1]))}.{until}{leaks}"
        ),
        action=(
            "Look for references that Python keeps: tensors appended to a list (for losses, "
            "append float(loss)), tf.functions and jitted functions created in every step, "
            "caches, and summaries that are never written to disk."
        ),
        value=grows,
        unit="bytes",
        share=grows / facts.capacity_bytes if facts.capacity_bytes > 0 else None,
    )


def _rounding(facts: PeakFacts) -> Iterator[Finding]:
    """Memory allocated beyond requested sizes."""
    if facts.requested_bytes <= 0 or facts.peak_bytes <= 0:
        return
    extra = facts.allocated_bytes - facts.requested_bytes
    if 100 * extra < ROUNDED * facts.peak_bytes:
        return
    yield Finding(
        id="rounding",
        severity="low",
        title=f"The peak includes {size(extra)} more than was requested",
        detail=(
            f"{size(facts.requested_bytes)} was requested, and {size(facts.allocated_bytes)} was "
            "allocated: the allocator rounds sizes up, and may use a whole chunk that is larger."
        ),
        action=(
            "Combine many small tensors into a few large ones, and keep sizes constant from step "
            "to step."
        ),
        value=extra,
        unit="bytes",
        share=extra / facts.peak_bytes,
    )


def _missing(facts: PeakFacts) -> Iterator[Finding]:
    """Allocations that seem alive because their deallocations were not recorded."""
    if facts.excess_bytes <= 0:
        return
    yield Finding(
        id="missing_releases",
        severity="low",
        title=f"At the peak, allocations add up to {size(facts.excess_bytes)} more than is in use",
        detail=(
            "Some deallocations are missing from the trace, so rows of the breakdown may already "
            "have been freed. The amount in use is the allocator's own and is correct."
        ),
        action="Choose a point in time closer to the start of the recording.",
        value=facts.excess_bytes,
        unit="bytes",
        share=facts.excess_bytes / facts.peak_bytes if facts.peak_bytes > 0 else None,
    )


def _addressless(facts: PeakFacts) -> Iterator[Finding]:
    """Allocations whose deallocation is unknown."""
    if facts.addressless:
        yield Finding(
            id="no_addresses",
            severity="low",
            title=f"{facts.addressless:,} allocations have no address",
            detail=(
                "It is not known when they are freed, so their memory counts as allocated before "
                "the recording began."
            ),
            action="Record with a newer version of the framework.",
        )


def _unknown(facts: PeakFacts) -> Iterator[Finding]:
    """Bytes in use that are summed from events because the allocator did not record them."""
    if not facts.is_summed:
        return
    yield Finding(
        id="summed",
        severity="low",
        title=f"{owner(facts.name)} did not record how much memory is in use",
        detail=(
            "The page shows the sum of allocations and deallocations since the recording began; "
            "memory that was already in use is missing."
        ),
        action="Record from the program's start to see all of it.",
    )


def _either(tensorflow: str, jax: str) -> Callable[[bool], str]:
    return lambda is_tensorflow: tensorflow if is_tensorflow else jax


_START = (
    "To see what uses it, record from the program's start: start the profiler before the model "
    "is built."
)
_ACTIONS: Mapping[str, Callable[[bool], str]] = {
    ACTIVATIONS: _either(
        "A smaller batch always helps. Mixed precision "
        "(tf.keras.mixed_precision.set_global_policy('mixed_float16')) halves them; "
        "tf.recompute_grad around large blocks recomputes them instead of keeping them.",
        "A smaller batch always helps. bfloat16 halves them; jax.checkpoint around large blocks "
        "recomputes them instead of keeping them.",
    ),
    TEMPORARIES: _either(
        "Compile with XLA (tf.function(jit_compile=True)), which fuses ops and needs fewer of "
        "them; split large ops, or limit cuDNN's workspace: TF_CUDNN_WORKSPACE_LIMIT_IN_MB.",
        "Put more of the step into one jax.jit, which fuses ops, and split the largest ops.",
    ),
    WEIGHTS: _either(
        "Use an optimizer with less state (SGD or Adafactor instead of Adam), spread weights "
        "over devices (DTensor, ParameterServerStrategy), or make the largest tables smaller.",
        "Use an optimizer with less state (Adafactor instead of Adam), shard weights and "
        "optimizer state over devices (NamedSharding), and donate the old ones to the step: "
        "jax.jit(step, donate_argnums=...).",
    ),
    EARLIER: _either(
        "They are still referenced: release what Python still holds from earlier steps (outputs, "
        "losses, tapes; del them before the next step, or convert them with .numpy()).",
        "They are still referenced: release what Python still holds from earlier steps (outputs, "
        "losses, old parameters), and donate buffers: jax.jit(step, donate_argnums=...).",
    ),
    BEFORE: _either(
        f"{_START} Fewer weights, or an optimizer with less state, reduce it.",
        f"{_START} jax.profiler.device_memory_profile() shows what holds it; sharding weights and "
        "donating buffers reduces it.",
    ),
    STACK: _either(
        "A smaller batch and bfloat16 reduce it, and so does recomputing activations "
        "(tf.recompute_grad).",
        "A smaller batch and bfloat16 reduce it, and so do recomputing activations "
        "(jax.checkpoint) and offloading them to the host; donated buffers are reused "
        "(jax.jit(step, donate_argnums=...)).",
    ),
    UNNAMED: _either(
        "The trace does not show what kind they are: try a smaller batch to see whether they are "
        "activations.",
        "JAX does not name its allocations. jax.profiler.device_memory_profile() shows what "
        "holds the memory; arguments that a step replaces can be donated: jax.jit(step, "
        "donate_argnums=...).",
    ),
}
_RULES: tuple[Callable[[PeakFacts], Iterator[Finding]], ...] = (
    _groups,
    _growth,
    _fragmentation,
    _rounding,
    _missing,
    _addressless,
    _unknown,
)
