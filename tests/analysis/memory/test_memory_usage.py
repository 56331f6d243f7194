"""Peaks, counts, what was in use at an instant, samples, and growth from step to step."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traces.memory.memory_changes import US, Change, give, memory_space, take

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.memory.memory import Memory, find_memory
from tbprof.analysis.memory.memory_breakdown import Age, Breakdown, break_down
from tbprof.analysis.memory.memory_growth import find_leaks, use_by_step
from tbprof.analysis.memory.memory_samples import sample_events
from tbprof.analysis.memory.memory_usage import (
    alive_after,
    allocator_rows,
    event_at,
    in_use,
    summarize,
)
from tbprof.analysis.steps.step_finding import find_steps
from tbprof.xplane.reader import read_space


def memory_of(*changes: Change) -> Memory:
    space = memory_space(list(changes))
    return find_memory(space, Programs(space), find_steps(space, Programs(space)))


def rows(memory: Memory, breakdown: Breakdown) -> list[tuple[Any, ...]]:
    """(op, bytes, requested, occurrences, age, step, since in µs) of each row."""
    return [
        (
            memory.texts[op] if op >= 0 else "",
            int(breakdown.allocated_bytes[at]),
            int(breakdown.requested_bytes[at]),
            int(breakdown.occurrences[at]),
            Age(breakdown.age[at]).name,
            int(breakdown.step[at]),
            int(breakdown.since_ps[at]) // US if breakdown.since_ps[at] >= 0 else -1,
        )
        for at, op in enumerate(breakdown.op.tolist())
    ]


def test_the_peak_is_the_first_of_equals_of_stack_and_heap():
    summary = summarize(
        memory_of(
            take(1, 1, heap=50, stack=10, free=40, more={"peak_bytes_in_use": 70}),
            take(2, 2, heap=60, stack=0, free=30, more={"peak_bytes_in_use": 60}),
            give(3, 2, heap=20, stack=0, free=90),
            give(4, 9),
            take(5, 1, heap=4, stack=1),
            take(6, None, owner="cpu"),
        )
    )
    assert summary.peak_event.tolist() == [0, 5]
    assert summary.peak_bytes.tolist() == [60, 1]
    assert summary.lifetime_bytes.tolist() == [70, 1]
    assert summary.capacity_bytes.tolist() == [110, -1]
    assert summary.end_bytes.tolist() == [5, 1]
    assert summary.allocations.tolist() == [3, 1]
    assert summary.deallocations.tolist() == [2, 0]
    assert summary.unmatched_frees.tolist() == [1, 0]
    assert summary.reused_addresses.tolist() == [1, 0]
    assert summary.addressless.tolist() == [0, 1]


def test_the_lifetime_peak_is_at_least_that_of_the_trace():
    # Recorders leave reserved stacks out of it.
    summary = summarize(memory_of(take(1, 1, heap=5, stack=100, more={"peak_bytes_in_use": 7})))
    assert summary.lifetime_bytes.tolist() == [105]


def test_nothing_has_no_peaks():
    assert summarize(memory_of()).peak_event.tolist() == []


def test_what_is_alive_after_an_event_and_at_an_instant():
    memory = memory_of(take(1, 1), take(3, 2), give(3, 1), take(3, None), take(5, 2))
    assert [alive_after(memory, 0, event).tolist() for event in range(-1, 5)] == [
        [], [0], [0, 1], [1], [1], [4],
    ]  # fmt: skip
    at = [event_at(memory, 0, time) for time in (0, 1 * US, 3 * US - 1, 3 * US, 4 * US, 9 * US)]
    assert at == [-1, 0, 0, 3, 3, 4]


def test_a_breakdown_names_what_is_in_use_and_since_when():
    memory = memory_of(
        take(1, 1, 100, requested=90, op="weights", heap=1100, stack=30, group=0),
        take(2, 2, 50, requested=40, op="a", heap=1150, stack=30, group=1),
        take(3, 3, 50, requested=50, op="a", heap=1200, stack=30, group=1),
        take(4, 4, 5, requested=5, op="b", heap=1205, stack=30, group=1),
        give(5, 4, heap=1200, stack=30, group=1),
        take(6, 5, None, op="sizeless", heap=1200, stack=30, group=1),
    )
    breakdown = break_down(memory, 0, 5)
    assert (breakdown.at_ps, breakdown.in_use_bytes, breakdown.excess_bytes) == (6 * US, 1230, 0)
    assert rows(memory, breakdown) == [
        ("", 1000, 1000, 1, "BEFORE", -1, -1),
        ("weights", 100, 90, 1, "EARLIER", 0, 1),
        ("a", 100, 90, 2, "STEP", 1, 2),
        ("", 30, 30, 1, "STACK", -1, -1),
        ("sizeless", -1, -1, 1, "STEP", 1, 6),
    ]
    # While b was there.
    assert ("b", 5, 5, 1, "STEP", 1, 4) in rows(memory, break_down(memory, 0, 3))
    assert rows(memory, break_down(memory, 0, -1)) == []
    assert break_down(memory, 0, -1).in_use_bytes == -1


def test_rows_join_what_agrees_in_op_region_type_shape_and_step():
    kinds = [("a", "x", 1, "[1]"), ("a", "x", 1, "[1]"), ("b", "x", 1, "[1]"),
             ("a", "y", 1, "[1]"), ("a", "x", 3, "[1]"), ("a", "x", 1, "[2]")]  # fmt: skip
    memory = memory_of(*(
        take(at, at + 1, op=op, more={"region_type": region, "data_type": dtype, "shape": shape})
        for at, (op, region, dtype, shape) in enumerate(kinds)
    ))  # fmt: skip
    assert break_down(memory, 0, 5).occurrences.tolist() == [2, 1, 1, 1, 1]


def test_between_steps_what_was_allocated_since_the_last_one_is_the_instants_own():
    memory = memory_of(
        take(1, 1, group=0), take(2, 2, group=0), take(5, 3, op="late"), take(0, 4, op="early")
    )
    ages = {row[0]: row[4] for row in rows(memory, break_down(memory, 0, 3))}
    assert ages == {"early": "EARLIER", "": "EARLIER", "late": "STEP"}
    # Before the first step, and without any.
    assert rows(memory, break_down(memory, 0, 0))[0][4] == "STEP"
    alone = memory_of(take(1, 1))
    assert rows(alone, break_down(alone, 0, 0))[0][4] == "STEP"


def test_more_alive_than_in_use_is_said():
    memory = memory_of(take(1, 1, 100, heap=100, op="a"), take(2, 2, 10, heap=10))
    breakdown = break_down(memory, 0, 1)
    assert (breakdown.in_use_bytes, breakdown.excess_bytes) == (10, 100)
    assert breakdown.allocated_bytes.tolist() == [100, 10]


def test_an_unknown_heap_leaves_the_rest_unknown():
    memory = memory_of(take(1, 1, 5, heap=7, op="a"), take(2, 2, 1, heap=None))
    breakdown = break_down(memory, 0, 1)
    assert breakdown.in_use_bytes == -1
    assert breakdown.allocated_bytes.tolist() == [5, 1]


def test_few_events_are_drawn_as_they_are():
    memory = memory_of(*(take(index, index + 1, heap=index) for index in range(10)))
    assert sample_events(memory, 0, 0, 9 * US, 10).tolist() == list(range(10))
    assert sample_events(memory, 0, 3 * US, 5 * US, 10).tolist() == [3, 4, 5]
    assert sample_events(memory, 0, 50 * US, 60 * US, 10).tolist() == []
    assert sample_events(memory, 0, 6 * US, 5 * US, 10).tolist() == []


def test_of_many_the_extremes_of_each_bucket_are_kept():
    #         bucket 0            bucket 1
    heaps = [5, 9, 9, 1, 5, 5, 5, 8, 2, 2, 6, 7]
    memory = memory_of(*(take(at, at + 1, heap=heap) for at, heap in enumerate(heaps)))
    assert sample_events(memory, 0, 0, 20 * US, 6).tolist() == [0, 1, 3, 7, 8, 11]


def test_steps_tell_their_peaks_their_ends_and_what_they_leave():
    memory = memory_of(
        take(1, 1, 10, heap=110, group=0), take(2, 2, 10, heap=120, group=0),
        give(3, 2, heap=110, group=0),
        take(5, 3, 7, heap=117, group=1, owner="GPU_0_bfc"), give(6, 9, heap=90, group=1),
        take(7, 1, 3, group=2, owner="cpu", heap=3),
        take(9, 4, 1, heap=91, group=3), take(9, 5, 2, heap=93, group=3),
    )  # fmt: skip
    assert [memory.step_label[memory.steps_of(at)] for at in (0, 1)] == [["0", "1", "2", "3"]] * 2
    usage = use_by_step(memory, 0)
    assert usage.peak_bytes.tolist() == [120, 117, 90, 93]
    assert usage.end_bytes.tolist() == [110, 90, 90, 93]
    assert usage.kept_bytes.tolist() == [10, 7, 0, 3]
    host = use_by_step(memory, 1)
    assert host.peak_bytes.tolist() == [-1, -1, 3, 3]
    assert host.end_bytes.tolist() == [-1, -1, 3, 3]
    assert host.kept_bytes.tolist() == [0, 0, 3, 0]


def test_without_steps_nothing_is_told_by_step():
    memory = memory_of(take(1, 1))
    assert use_by_step(memory, 0).peak_bytes.tolist() == []
    assert find_leaks(memory, 0).op.tolist() == []


def loop(steps: int, *, leaks: int, every: int = 1) -> list[Change]:
    """Steps of 10 µs: weights once, a tensor that is freed, `leaks` that are not, every so many."""
    changes = [take(0, 1, 500, op="weights", group=0)]
    for step in range(steps):
        at = 10 * step
        changes += [take(at + 1, 2, 50, op="activation", group=step), give(at + 8, 2, group=step)]
        if step % every == 0:
            changes += [
                take(at + 2 + leak, 100 + 10 * step + leak, 4, op="leak", group=step)
                for leak in range(leaks)
            ]
    return changes


def test_a_leak_is_what_most_steps_leave_behind():
    memory = memory_of(*loop(6, leaks=3))
    leaks = find_leaks(memory, 0)
    assert [memory.texts[row] for row in leaks.op] == ["leak"]
    assert leaks.bytes_per_step.tolist() == [12]
    assert leaks.occurrences_per_step.tolist() == [3]
    # The first makes what is kept, the last may still be at work.
    assert leaks.steps.tolist() == [4]


@pytest.mark.parametrize(
    ("steps", "leaks", "every"), [(6, 0, 1), (4, 1, 1), (20, 1, 3)], ids=["none", "few", "rare"]
)
def test_what_few_steps_leave_behind_is_no_leak(steps: int, leaks: int, every: int):
    assert find_leaks(memory_of(*loop(steps, leaks=leaks, every=every)), 0).op.tolist() == []


def test_the_v100_trace_is_broken_down_as_the_reference_does(gpu_trace: Path):
    space = read_space(gpu_trace)
    memory = find_memory(space, Programs(space), find_steps(space, Programs(space)))
    summary = summarize(memory)
    row = memory.name.index("GPU_6_bfc")
    assert summary.peak_bytes[row] == 6_210_111_488
    assert summary.capacity_bytes[row] == 15_477_102_400
    assert (summary.allocations[row], summary.deallocations[row]) == (761, 208)
    # The reference takes the last of equals, and leaves out when the threads' lines start.
    theirs = event_at(memory, row, 2_586_981_600_000 + 237_916_000)
    assert summary.peak_event[row] < theirs
    assert memory.heap_bytes[theirs] == 6_210_111_488
    peak = break_down(memory, row, int(summary.peak_event[row]))
    assert peak.in_use_bytes == peak.allocated_bytes.sum() == 6_210_111_488
    assert Age(peak.age[0]) is Age.BEFORE
    assert peak.allocated_bytes[:2].tolist() == [4_013_337_088, 62_509_056]
    assert memory.texts[peak.op[1]].endswith("/word_embeddings/GatherV2/Cast")
    columns = (peak.region[1], peak.dtype[1], peak.shape[1])
    assert [memory.texts[text] for text in columns] == ["output", "half", "[30522,1024]"]
    # The maximum, not what the last event in the file says.
    assert summary.lifetime_bytes[memory.name.index("GPU_4_bfc")] == 6_208_853_760
    assert summary.unmatched_frees.tolist() == [0, 0, 0, 11]


# Random sequences beside plain Python.

CHANGES = st.lists(
    st.builds(
        Change,
        at=st.integers(0, 12),
        is_allocation=st.booleans(),
        owner=st.sampled_from(["GPU_0_bfc", "GPU_0_bfc", "cpu"]),
        address=st.sampled_from([None, 1, 1, 2, 3, 4]),
        size=st.sampled_from([None, 0, 1, 5, 7, 2**63]),
        requested=st.sampled_from([None, 3]),
        heap=st.sampled_from([0, 3, 50, 2**41]),
        stack=st.sampled_from([None, 0, 4]),
        free=st.sampled_from([None, 9]),
        op=st.sampled_from([None, "a", "b"]),
        group=st.sampled_from([None, 5, 6, 9]),
    ),
    max_size=30,
)


def alive(memory: Memory, allocator: int, event: int) -> list[int]:
    """The allocations that a walk finds alive after an event."""
    held: dict[int, int] = {}
    for row in range(memory.first_event[allocator], event + 1):
        address = int(memory.address[row])
        held.pop(address, None)
        if memory.is_allocation[row] and address:
            held[address] = row
    return sorted(held.values())


def own_bytes(memory: Memory, row: int) -> int:
    sizes = (int(memory.allocated_bytes[row]), int(memory.requested_bytes[row]))
    return next((size for size in sizes if size >= 0), -1)


@given(CHANGES)
@settings(max_examples=50, deadline=None)
def test_what_is_alive_and_in_use_is_that_of_a_walk(changes: list[Change]):
    memory = memory_of(*changes)
    for allocator in range(len(memory.name)):
        for event in range(*memory.first_event[allocator : allocator + 2].tolist()):
            live = alive(memory, allocator, event)
            assert alive_after(memory, allocator, event).tolist() == live
            breakdown = break_down(memory, allocator, event)
            used = max(int(memory.stack_bytes[event]), 0) + max(int(memory.heap_bytes[event]), 0)
            assert breakdown.in_use_bytes == used
            known = np.maximum(breakdown.allocated_bytes, 0).sum()
            assert known == used + breakdown.excess_bytes
            mine = [row for row in rows(memory, breakdown) if row[4] in ("STEP", "EARLIER")]
            expected: Counter[tuple[object, ...]] = Counter()
            sizes: Counter[tuple[object, ...]] = Counter()
            for row in live:
                key = (memory.texts[memory.op[row]] if memory.op[row] >= 0 else "",
                       int(memory.step[row]))  # fmt: skip
                expected[key] += 1
                sizes[key] += max(own_bytes(memory, row), 0)
            # Between steps, those of no step are of two ages.
            joined: Counter[tuple[object, ...]] = Counter()
            total: Counter[tuple[object, ...]] = Counter()
            for op, size, _, occurrences, _, step, _ in mine:
                joined[op, step] += occurrences
                total[op, step] += max(size, 0)
            assert joined == expected
            assert total == sizes


@given(CHANGES, st.integers(0, 13), st.integers(0, 13), st.integers(4, 12))
@settings(max_examples=50, deadline=None)
def test_samples_keep_extremes_and_ends(changes: list[Change], begin: int, end: int, points: int):
    memory = memory_of(*changes)
    for allocator in range(len(memory.name)):
        mine = allocator_rows(memory, allocator)
        used = dict(zip(range(mine.start, mine.stop), in_use(memory, mine).tolist(), strict=True))
        inside = [row for row in used if begin * US <= memory.time_ps[row] <= end * US]
        found = sample_events(memory, allocator, begin * US, end * US, points).tolist()
        assert len(found) <= points
        assert found == sorted(set(found))
        assert set(found) <= set(inside)
        if len(inside) <= points:
            assert found == inside
        else:
            assert {inside[0], inside[-1]} <= set(found)
            values = [used[row] for row in inside]
            assert max(used[row] for row in found) == max(values)
            assert min(used[row] for row in found) == min(values)


@given(CHANGES)
@settings(max_examples=50, deadline=None)
def test_steps_and_peaks_are_those_of_a_walk(changes: list[Change]):
    memory = memory_of(*changes)
    summary = summarize(memory)
    for allocator in range(len(memory.name)):
        mine = allocator_rows(memory, allocator)
        used = in_use(memory, mine).tolist()
        time = memory.time_ps[mine].tolist()
        assert summary.peak_bytes[allocator] == max(used)
        assert summary.peak_event[allocator] == mine.start + used.index(max(used))
        assert summary.end_bytes[allocator] == used[-1]
        by_step = use_by_step(memory, allocator)
        own = memory.steps_of(allocator)
        begins, ends = memory.step_begin_ps[own].tolist(), memory.step_end_ps[own].tolist()
        last = len(begins) - 1
        for step, (begin, end) in enumerate(zip(begins, ends, strict=True)):
            before = [bytes_ for at, bytes_ in zip(time, used, strict=True) if at < begin]
            during = [
                bytes_
                for at, bytes_ in zip(time, used, strict=True)
                if begin <= at < end or (step == last and at == end)
            ]
            assert by_step.peak_bytes[step] == max([*before[-1:], *during], default=-1)
            assert by_step.end_bytes[step] == [-1, *before, *during][-1]
        left = alive(memory, allocator, mine.stop - 1)
        kept = Counter[int]()
        for row in left:
            kept[int(memory.step[row])] += max(own_bytes(memory, row), 0)
        assert by_step.kept_bytes.tolist() == [kept[step] for step in range(last + 1)]
