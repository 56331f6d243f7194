"""Memory that is nearly full, or free in pieces."""

import dataclasses
import math

import pytest
from builders.evidence import GPU, LADDER, claim, evidence, finding_of, memory, ops, severities

from tbprof.advice.evidence import Evidence
from tbprof.advice.rules.findings import find_findings


def test_memory_near_capacity():
    def of(peak: int, *, is_device: bool = True) -> Evidence:
        return evidence(memory=memory(("GPU_1_bfc", True, 1, 1000, 0.0),
                                      ("GPU_0_bfc", is_device, peak, 1000, 0.0)))  # fmt: skip

    assert severities("memory_near_capacity", *map(of, (899, 900, 979, 980, 1000))) == LADDER
    finding = claim(of(980), "memory_near_capacity")
    assert finding.title == "The memory of GPU_0_bfc is 98.0 % full at its peak"
    assert finding_of(of(980, is_device=False), "memory_near_capacity") is None


def test_free_memory_in_pieces():
    def of(fragmentation: float, peak: int = 500) -> Evidence:
        return evidence(memory=memory(("GPU_0_bfc", True, peak, 1000, fragmentation)))

    ladder = map(of, (0.49, 0.5, 0.79, 0.8, 0.9))
    assert severities("memory_fragmentation", *ladder) == [
        None,
        "low",
        "low",
        "moderate",
        "moderate",
    ]
    assert finding_of(of(0.9, 499), "memory_fragmentation") is None  # plenty is free
    assert finding_of(of(math.nan), "memory_fragmentation") is None
    assert "The largest chunk of the 500 bytes of free memory at the peak is 100 bytes" in (
        claim(of(0.8), "memory_fragmentation").detail
    )


@pytest.mark.parametrize(
    ("name", "device", "fragmentation", "is_jax", "lists", "other"),
    [
        ("GPU_0_bfc", "GPU", 0.6, False, True, True),
        ("GPU_0_bfc", "GPU", 0.4, False, True, False),  # the free memory is in one piece
        ("GPU_0_bfc", "AMD GPU", 0.6, False, True, False),
        ("gpu_async_0", "GPU", 0.6, False, True, False),
        ("GPU_0_bfc", "GPU", 0.6, True, False, False),
    ],
)
def test_options_near_a_full_memory(name, device, fragmentation, is_jax, lists, other):
    given = evidence(
        memory=memory((name, True, 950, 1000, fragmentation)),
        devices=dataclasses.replace(GPU, type=device),
        ops=ops((True, "jit(f)/add" if is_jax else "model/add", "add", 1, False)),
    )
    full = claim(given, "memory_near_capacity")
    assert ("report_tensor_allocations_upon_oom" in full.action) == lists
    assert ("cuda_malloc_async" in full.action) == other
    pieces = finding_of(given, "memory_fragmentation")
    assert pieces is None or ("cuda_malloc_async" in pieces.action) == other
    half = dataclasses.replace(given, memory=memory((name, True, 500, 1000, fragmentation)))
    assert finding_of(half, "memory_near_capacity") is None


def test_an_allocator_of_no_capacity_says_nothing():
    given = evidence(memory=memory(("GPU_0_bfc", True, 0, 0, math.nan)))
    assert [finding.id for finding in find_findings(given)] == ["no_bottleneck"]
