"""Findings about the memory of devices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tbprof.advice.evidence import Evidence, Rule
from tbprof.advice.finding import Finding, graded
from tbprof.advice.guides import MEMORY_GUIDE
from tbprof.advice.memory_limits import (
    ALLOCATE_ALIKE,
    FRAGMENTED,
    FULL,
    IN_USE,
    fragmented_title,
    full_title,
    largest_chunk,
)
from tbprof.advice.pages import MEMORY
from tbprof.advice.sentences import size


def near_capacity(evidence: Evidence) -> Iterator[Finding]:
    """The device whose memory is fullest."""
    memory = evidence.memory
    used = memory_use(evidence)
    if not used.size or np.isnan(used).all():
        return
    worst = int(np.nanargmax(used))
    grade = graded(float(used[worst]), *FULL)
    if grade is None:
        return
    page = MEMORY.choosing(memory_id=memory.name[worst])
    yield Finding(
        id="memory_near_capacity",
        **grade,
        title=full_title(memory.name[worst], float(used[worst])),
        detail=(
            f"{size(int(memory.peak_bytes[worst]))} of {size(int(memory.capacity_bytes[worst]))}: "
            "if it needs slightly more, the program runs out of memory."
        ),
        action=(
            "Check which tensors are alive at the peak. Mixed precision halves activations, "
            f"recomputing them ({'jax.checkpoint' if evidence.is_jax else 'tf.recompute_grad'}) "
            "saves most of them, and a smaller batch always "
            f"helps.{_where_it_fails(evidence, worst)}"
        ),
        evidence=page,
        guide=MEMORY_GUIDE,
    )


def fragmentation(evidence: Evidence) -> Iterator[Finding]:
    """The device whose free memory is most fragmented."""
    memory = evidence.memory
    used = memory_use(evidence)
    scattered = np.where(used >= IN_USE, 100 * memory.fragmentation, np.nan)
    if not scattered.size or np.isnan(scattered).all():
        return
    worst = int(np.nanargmax(scattered))
    grade = graded(float(scattered[worst]), *FRAGMENTED, severities=("low", "moderate"))
    if grade is None:
        return
    free = int(memory.capacity_bytes[worst] - memory.peak_bytes[worst])
    largest = free * (1 - float(scattered[worst]) / 100)
    page = MEMORY.choosing(memory_id=memory.name[worst])
    yield Finding(
        id="memory_fragmentation",
        **grade,
        title=fragmented_title(memory.name[worst], float(scattered[worst])),
        detail=largest_chunk(f"{size(free)} of free memory at the peak", size(largest)),
        action=f"{ALLOCATE_ALIKE}{_other_allocator(evidence, worst)}",
        evidence=page,
        guide=MEMORY_GUIDE,
    )


def _where_it_fails(evidence: Evidence, allocator: int) -> str:
    """How to find out what exhausts the memory, and how to avoid failures from fragmentation."""
    if evidence.is_jax:
        return " jax.profiler.save_device_memory_profile saves a profile of the live buffers."
    if evidence.platform != "GPU":
        return ""
    scattered = 100 * float(evidence.memory.fragmentation[allocator]) >= FRAGMENTED[0]
    return (
        " If the program runs out of memory, RunOptions(report_tensor_allocations_upon_oom=True) "
        f"lists the live tensors.{_other_allocator(evidence, allocator) if scattered else ''}"
    )


def _other_allocator(evidence: Evidence, allocator: int) -> str:
    """A sentence on the allocator of NVIDIA's driver; "" if TensorFlow cannot use it here."""
    is_bfc = evidence.memory.name[allocator].lower().endswith("bfc")
    if evidence.platform != "GPU" or evidence.is_amd or evidence.is_jax or not is_bfc:
        return ""
    return " TF_GPU_ALLOCATOR=cuda_malloc_async fragments less."


def free_memory_sentence(evidence: Evidence) -> str:
    """A sentence on the memory that is free at the peak of the fullest device, "" if unknown."""
    memory = evidence.memory
    used = memory_use(evidence)
    if not used.size or np.isnan(used).all():
        return ""
    fullest = int(np.nanargmax(used))
    free = int(memory.capacity_bytes[fullest] - memory.peak_bytes[fullest])
    return f" The fullest device has {size(free)} free at its peak." if free > 0 else ""


def memory_use(evidence: Evidence) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """[allocators] the percentage in use at the peak, NaN for host allocators and if unknown."""
    memory = evidence.memory
    capacity = np.where(
        memory.is_device & (memory.capacity_bytes > 0), memory.capacity_bytes, np.nan
    )
    return np.asarray(100 * memory.peak_bytes / capacity, np.float64)


MEMORY_RULES: tuple[Rule, ...] = (near_capacity, fragmentation)
