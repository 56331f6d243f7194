"""What each allocator gave out and got back."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import draw, space_of
from traces.memory_changes import US, Change, give, memory_space, take

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.memory import memory_events
from tbprof.analysis.memory.memory import UNKNOWN_ALLOCATOR, Memory, find_memory, find_partners
from tbprof.analysis.memory.memory_events import MOST_BYTES
from tbprof.analysis.steps.step_finding import find_steps
from tbprof.base.records import field_names
from tbprof.events.space import Space
from tbprof.xplane.reader import read_space

GPU = "GPU_0_bfc"


def memory_of(space: Space) -> Memory:
    """The memory, which is the same whether the steps are known before or not."""
    found = find_memory(space, Programs(space))
    known = find_memory(space, Programs(space), find_steps(space, Programs(space)))
    for name in field_names(Memory):
        np.testing.assert_array_equal(getattr(found, name), getattr(known, name), name)
    return found


def texts(memory: Memory, column: np.ndarray) -> list[str]:
    return [memory.texts[row] if row >= 0 else "" for row in column]


def test_allocations_and_their_releases_with_all_that_is_known_of_them():
    facts = {"region_type": "output", "data_type": 1, "shape": "[4,1]", "peak_bytes_in_use": 90}
    found = memory_of(
        memory_space([
            take(1, 7, 256, requested=200, heap=300, stack=10, free=690, op="model/a",
                 more={**facts, "fragmentation": 0.5}),
            give(3, 7, heap=44, stack=10, free=946, op="", more={"fragmentation": 2.0}),
        ])
    )  # fmt: skip
    assert found.name == [GPU]
    assert found.is_device.tolist() == [True]
    assert found.is_summed.tolist() == [False]
    assert found.first_event.tolist() == [0, 2]
    assert (found.begin_ps, found.end_ps) == (1 * US, 3 * US)
    assert found.time_ps.tolist() == [1 * US, 3 * US]
    assert found.is_allocation.tolist() == [True, False]
    assert found.heap_bytes.tolist() == [300, 44]
    assert found.stack_bytes.tolist() == [10, 10]
    assert found.free_bytes.tolist() == [690, 946]
    assert found.fragmentation[0] == 0.5
    assert np.isnan(found.fragmentation[1])
    assert found.lifetime_bytes.tolist() == [90, -1]
    # A release has what its allocation has.
    assert found.requested_bytes.tolist() == [200, 200]
    assert found.allocated_bytes.tolist() == [256, 256]
    assert found.address.tolist() == [7, 7]
    assert found.partner.tolist() == [1, 0]
    assert texts(found, found.op) == ["model/a"] * 2
    assert texts(found, found.region) == ["output"] * 2
    assert texts(found, found.dtype) == ["float"] * 2
    assert texts(found, found.shape) == ["[4,1]"] * 2
    assert sorted(found.texts) == ["[4,1]", "float", "model/a", "output"]


def test_threads_are_put_in_order_of_time_with_their_own_starts():
    found = memory_of(
        memory_space(
            [take(5, 1, heap=3), give(1, 1, heap=1)],  # out of order, too
            [take(1, 2, heap=2), take(3, 1, heap=4)],
            line_start_ns=[0, 1000],
        )
    )
    assert found.time_ps.tolist() == [1 * US, 2 * US, 4 * US, 5 * US]
    assert found.heap_bytes.tolist() == [1, 2, 4, 3]
    # 1 is released first, then given out twice.
    assert found.partner.tolist() == [-1, -1, 3, -1]


def test_events_of_one_instant_keep_the_order_of_the_file():
    found = memory_of(memory_space([take(1, 1), give(1, 1), take(1, 1)], [give(1, 1)]))
    assert found.is_allocation.tolist() == [True, False, True, False]
    assert found.partner.tolist() == [1, 0, 3, 2]


def test_a_release_without_allocation_has_none():
    found = memory_of(memory_space([give(1, 1), take(2, 1), give(3, 1), give(4, 1)]))
    assert found.partner.tolist() == [-1, 2, 1, -1]


def test_a_second_allocation_at_an_address_ends_the_first():
    found = memory_of(memory_space([take(1, 1, op="a"), take(2, 1, op="b"), give(3, 1)]))
    assert found.partner.tolist() == [1, 2, 1]
    assert texts(found, found.op) == ["a", "b", "b"]


def test_without_an_address_nothing_is_matched():
    found = memory_of(memory_space([take(1, None), give(2, None), take(3, 0), give(4, 0)]))
    assert found.address.tolist() == [0] * 4
    assert found.partner.tolist() == [-1] * 4


def test_addresses_are_each_allocators_own():
    found = memory_of(
        memory_space([take(1, 1), take(2, 1, owner="cpu"), give(3, 1, owner="cpu"), give(4, 1)])
    )
    assert found.name == [GPU, "cpu"]
    assert found.first_event.tolist() == [0, 2, 4]
    assert found.partner.tolist() == [1, 0, 3, 2]


def test_devices_come_first_and_names_in_natural_order():
    owners = ["cpu", 10, "GPU_10_bfc", "gpu_host_bfc", 2, "GPU_2_bfc", None]
    found = memory_of(memory_space([take(1, 1, owner=owner) for owner in owners]))
    devices = ["2", "10", "GPU_2_bfc", "GPU_10_bfc"]
    assert found.name == [*devices, "cpu", "gpu_host_bfc", UNKNOWN_ALLOCATOR]
    assert found.is_device.tolist() == [True] * 4 + [False] * 3


def test_allocators_of_one_name_are_told_apart():
    both = [{"allocator_name": "bfc", "device_ordinal": ordinal} for ordinal in (1, 0, 1)]
    own = [take(at, 1, owner=None, more=more) for at, more in enumerate(both)]
    found = memory_of(
        memory_space(own, [take(9, 1, owner="cpu")],
                     processes={"/host:CPU [77]": [take(1, 1, owner="cpu")]})
    )  # fmt: skip
    assert found.name == ["bfc (0)", "bfc (1)", "cpu", "cpu [77]"]
    assert np.diff(found.first_event).tolist() == [1, 2, 1, 1]


def test_where_no_heap_is_recorded_it_is_summed():
    found = memory_of(
        memory_space([
            give(0, 9, size=1000),  # was in use before, and is not counted
            take(1, 1, 100), take(2, 2, None, requested=10), take(3, 1, 5), give(4, 2),
            take(5, 3, 7, owner="cpu", heap=50), give(6, 3, owner="cpu"),
        ])
    )  # fmt: skip
    assert found.is_summed.tolist() == [True, False]
    # The second one at 1 ends the first.
    assert found.heap_bytes.tolist() == [0, 100, 110, 15, 5, 50, -1]


def test_without_addresses_heaps_are_summed_all_the_same():
    found = memory_of(
        memory_space([
            give(0, None, size=5),  # more than is known of
            take(1, None, 100), take(2, None, 10), give(3, None, size=100), give(4, None),
        ])
    )  # fmt: skip
    assert found.is_summed.tolist() == [True]
    assert found.heap_bytes.tolist() == [0, 100, 110, 10, 10]


def test_sizes_that_are_missing_or_impossible_are_not_zero():
    found = memory_of(
        memory_space([
            take(1, 1, None, heap=0),
            take(2, 2, -5, heap=-5),
            take(3, 2**64 - 1, 2**63, heap=2**64 - 1, free=2**63 - 1),
            take(4, 3, 0, more={"bytes_reserved": 1.5, "fragmentation": float("nan")}),
        ])
    )  # fmt: skip
    assert found.allocated_bytes.tolist() == [-1, -1, min(MOST_BYTES, 2**62 // 4), 0]
    assert found.requested_bytes.tolist() == [-1] * 4
    assert found.heap_bytes.tolist() == [0, -1, MOST_BYTES, -1]
    assert found.free_bytes.tolist() == [-1, -1, MOST_BYTES, -1]
    assert found.stack_bytes.tolist() == [-1] * 4
    assert found.address.tolist() == [1, 2, 2**64 - 1, 3]
    assert np.isnan(found.fragmentation).all()


@pytest.mark.parametrize(
    ("number", "name"),
    [(0, ""), (1, "float"), (3, "int32"), (9, "int64"), (10, "bool"), (14, "bfloat16"),
     (19, "half"), (32, "uint2"), (101, "float_ref"), (33, "type 33"), (-1, "type -1"),
     ("F32", "F32")],
)  # fmt: skip
def test_data_types_by_number(number: int | str, name: str):
    found = memory_of(memory_space([take(1, 1, more={"data_type": number})]))
    assert texts(found, found.dtype) == [name]


def test_steps_are_the_groups_of_the_file():
    found = memory_of(
        memory_space([
            take(0, 1),  # before the first
            take(2, 2, group=40), take(3, 3), take(4, 4, group=40),
            take(5, 5),  # up to the next
            take(7, 6, group=12), take(8, 7, group=40),  # late, on its own
            take(9, 8, group=12), take(11, 9),  # after the last
        ])
    )  # fmt: skip
    assert found.step_label == ["40", "12"]
    assert found.step_begin_ps.tolist() == [2 * US, 7 * US]
    assert found.step_end_ps.tolist() == [7 * US, 9 * US]
    assert found.step.tolist() == [-1, 0, 0, 0, 0, 1, 0, 1, -1]


def test_groups_are_named_as_the_devices_name_their_steps():
    allocation = {"allocator_name": GPU, "addr": 1}
    space = space_of(
        draw(
            {"/host:CPU": "t |a.b", "/device:GPU:0": "Steps |xxyy"},
            names={"a": "MemoryAllocation", "b": "MemoryAllocation"},
            stats={"a": {**allocation, "group_id": 0}, "b": {**allocation, "group_id": 1},
                   "x": {"group_id": 0, "step_name": "train 7"},
                   "y": {"group_id": 1, "step_name": "train 8"}},
        )
    )  # fmt: skip
    assert memory_of(space).step_label == ["train 7", "train 8"]


def test_without_groups_steps_are_those_of_the_program():
    space = space_of(
        draw(
            {"/host:CPU": """
                main |.sssssttttt.
                     |..a....a....
                pool |a...a.......
            """},
            names={"s": "train", "t": "train", "a": "MemoryAllocation"},
            stats={"s": {"step_num": 3, "_r": 1}, "t": {"step_num": 4, "_r": 1},
                   "a": {"allocator_name": GPU}},
        )
    )  # fmt: skip
    found = memory_of(space)
    assert found.step_label == ["train 3", "train 4"]
    assert found.step_begin_ps.tolist() == [1 * US, 6 * US]
    assert found.step.tolist() == [-1, 0, 0, 1]


def apart(*, overlap: bool = False) -> Space:
    """Two GPUs whose steps 7 and 8 lie apart, or overlap; memory of both, the host and a third."""
    later = "Steps |.xxxxyyyy" if overlap else "Steps |............xxxxyyyy"
    rows = {
        "/host:CPU": """
            main |.a..b.........a..b...d
            pool |.c........c...c
        """,
        "/device:GPU:4": "Steps |xxxxyyyy\nStream #1 |kkkk",
        "/device:GPU:6": f"{later}\nStream #1 |............kkkk",
    }
    event = {"addr": 1}
    return space_of(
        draw(
            rows,
            names=dict.fromkeys("abcd", "MemoryAllocation") | {"k": "matmul"},
            stats={
                "a": {**event, "allocator_name": "GPU_4_bfc", "group_id": 0},
                "b": {**event, "allocator_name": "GPU_6_bfc", "group_id": 1},
                "c": {**event, "allocator_name": "gpu_host_bfc"},
                "d": {**event, "allocator_name": "GPU_1_bfc"},
                "x": {"group_id": 0, "step_name": "7"},
                "y": {"group_id": 1, "step_name": "8"},
            },
        )
    )


def shown_steps(memory: Memory) -> dict[str, list[tuple[str, int, int]]]:
    """(label, begin, end in µs) of the steps of each allocator."""
    return {
        name: [
            (label, begin // US, end // US)
            for label, begin, end in zip(
                memory.step_label[memory.steps_of(at)],
                memory.step_begin_ps[memory.steps_of(at)].tolist(),
                memory.step_end_ps[memory.steps_of(at)].tolist(),
                strict=True,
            )
        ]
        for at, name in enumerate(memory.name)
    }


def test_the_memory_of_a_device_has_the_steps_of_that_device():
    """The second GPU ran them 12 µs later: no step lasts from the first to the second."""
    found = memory_of(apart())
    early, late = [("7", 0, 4), ("8", 4, 8)], [("7", 12, 16), ("8", 16, 20)]
    named = [*((f"{one} (GPU:4)", *at) for one, *at in early),
             *((f"{one} (GPU:6)", *at) for one, *at in late)]  # fmt: skip
    assert shown_steps(found) == {
        "GPU_1_bfc": [], "GPU_4_bfc": early, "GPU_6_bfc": late, "gpu_host_bfc": named,
    }  # fmt: skip
    own = [found.step[found.first_event[at] : found.first_event[at + 1]].tolist()
           for at in range(4)]  # fmt: skip
    # Outside of all steps an event belongs to that in which the others of its group lie.
    assert own == [[-1], [0, 0], [1, 1], [0, -1, 2]]


def test_memory_of_the_host_has_the_steps_of_one_device_where_they_overlap():
    found = shown_steps(memory_of(apart(overlap=True)))
    assert found["gpu_host_bfc"] == [("7 (GPU:4)", 0, 4), ("8 (GPU:4)", 4, 8)]
    assert found["GPU_6_bfc"] == [("7", 1, 5), ("8", 5, 9)]


def test_a_trace_without_memory_events_has_no_allocators():
    for space in (memory_space(), memory_space([]), space_of(draw({"/device:GPU:0": "s |a"}))):
        found = memory_of(space)
        assert found.name == found.texts == found.step_label == []
        assert found.first_event.tolist() == [0]
        assert found.time_ps.size == found.partner.size == found.step.size == 0


def test_the_v100_trace_holds_the_events_of_the_reference(gpu_trace: Path):
    found = memory_of(read_space(gpu_trace))
    assert found.name == ["GPU_1_bfc", "GPU_4_bfc", "GPU_6_bfc", "gpu_host_bfc"]
    begin, end = found.first_event[2:4].tolist()
    mine = slice(begin, end)
    assert (int(found.is_allocation[mine].sum()), int((~found.is_allocation[mine]).sum())) == (
        761,
        208,
    )
    at = begin + int(found.heap_bytes[mine].argmax())
    assert found.heap_bytes[at] == 6_210_111_488
    assert found.free_bytes[at] == 9_266_990_912
    assert found.stack_bytes[at] == 0
    assert found.fragmentation[at] == pytest.approx(0.000961762)
    host = slice(end, int(found.first_event[4]))
    frees = ~found.is_allocation[host]
    assert (int((~frees).sum()), int(frees.sum())) == (318, 218)
    assert int((frees & (found.partner[host] < 0)).sum()) == 11


# Random sequences beside a walk in plain Python.

_SIZES = st.sampled_from([None, 0, 1, 5, 7, 2**40])
CHANGES = st.builds(
    Change,
    at=st.integers(0, 12),
    is_allocation=st.booleans(),
    owner=st.sampled_from([GPU, GPU, "cpu", 3, None]),
    address=st.sampled_from([None, 0, 1, 1, 2, 3, 2**64 - 1]),
    size=_SIZES,
    requested=_SIZES,
    heap=st.sampled_from([None, 0, 3, 50, 2**41]),
    stack=st.sampled_from([None, 0, 4]),
    free=st.sampled_from([None, 0, 9]),
    op=st.sampled_from([None, "", "a", "b"]),
    group=st.sampled_from([None, 5, 9]),
)
LINES = st.lists(st.lists(CHANGES, max_size=12), min_size=1, max_size=3)


def owner_name(change: Change) -> str:
    return UNKNOWN_ALLOCATOR if change.owner is None else str(change.owner)


def in_order(lines: Sequence[Sequence[Change]], names: Sequence[str]) -> list[Change]:
    """The changes by allocator and time; of one instant in the order of the file."""
    changes = [change for line in lines for change in sorted(line, key=lambda one: one.at)]
    return sorted(changes, key=lambda one: (names.index(owner_name(one)), one.at))


def walk(changes: Sequence[Change]) -> list[int]:
    """The partner of each change, allocator by allocator."""
    partner = [-1] * len(changes)
    holder: dict[tuple[str, int], int] = {}
    for row, change in enumerate(changes):
        key = owner_name(change), change.address or 0
        if not key[1]:
            continue
        before = holder.pop(key, None)
        if before is not None:
            partner[before] = row
            if not change.is_allocation:
                partner[row] = before
        if change.is_allocation:
            holder[key] = row
    return partner


def test_partners_among_more_addresses_than_usual():
    random = np.random.default_rng(1)
    first = np.array([0, 15_000, 15_000, 40_000])
    address = random.integers(0, 25_000, 40_000).astype(np.uint64) << np.uint64(50)
    is_allocation = random.random(40_000) < 0.6
    partner = find_partners(first, address, is_allocation)
    changes = [
        Change(at, bool(allocates), owner=at >= 15_000, address=where)
        for at, (allocates, where) in enumerate(zip(is_allocation, address.tolist(), strict=True))
    ]
    assert partner.tolist() == walk(changes)


@given(LINES, st.sampled_from([3, 1 << 13]))
@settings(max_examples=60, deadline=None)
def test_events_are_those_of_a_walk(lines: list[list[Change]], piece: int):
    with patch.object(memory_events, "_PIECE", piece):
        found = memory_of(memory_space(*lines))
    changes = in_order(lines, found.name)
    assert found.time_ps.tolist() == [change.at * US for change in changes]
    assert found.is_allocation.tolist() == [change.is_allocation for change in changes]
    partner = walk(changes)
    assert found.partner.tolist() == partner
    # A release is what its allocation was, and has the sizes that it lacks.
    full = list(changes)
    for row, change in enumerate(changes):
        if not change.is_allocation and partner[row] >= 0:
            of = changes[partner[row]]
            full[row] = replace(
                change,
                op=of.op,
                size=of.size if change.size is None else change.size,
                requested=of.requested if change.requested is None else change.requested,
            )
    assert texts(found, found.op) == [change.op or "" for change in full]
    assert found.allocated_bytes.tolist() == [known(change.size) for change in full]
    assert found.requested_bytes.tolist() == [known(change.requested) for change in full]
    assert found.stack_bytes.tolist() == [known(change.stack) for change in full]
    for allocator, begin in enumerate(found.first_event[:-1]):
        rows = range(begin, found.first_event[allocator + 1])
        heap = [known(changes[row].heap) for row in rows]
        if max(heap) < 0:
            heap = summed(full, partner, rows)
        assert found.is_summed[allocator] == all(changes[row].heap is None for row in rows)
        assert found.heap_bytes[rows.start : rows.stop].tolist() == heap
    for row, change in enumerate(changes):
        if change.group is not None and found.step[row] >= 0:
            assert found.step_label[found.step[row]] in ("5", "9")


def known(size: int | None) -> int:
    return -1 if size is None else size


def summed(changes: Sequence[Change], partner: Sequence[int], rows: range) -> list[int]:
    """What is in use after each of the changes `rows`, as far as they tell."""
    out = []
    used = 0
    for row in rows:
        change = changes[row]
        own = known(change.size) if change.size is not None else change.requested or 0
        if change.is_allocation:
            used += own
        elif not change.address:
            used -= own
        ended = [one for one in rows if changes[one].is_allocation and partner[one] == row]
        for one in ended:
            before = changes[one]
            used -= before.requested or 0 if before.size is None else before.size
        used = max(used, 0)
        out.append(used)
    return out
