"""Random changes of memory beside a walk in plain Python."""

from collections.abc import Sequence
from dataclasses import replace
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from traces.memory.memory_changes import GPU, US, Change, memory_of, memory_space, texts

from tbprof.analysis.memory import memory_events
from tbprof.analysis.memory.memory import UNKNOWN_ALLOCATOR, find_partners

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
    with patch.object(memory_events, "STATS_PIECE", piece):
        memory = memory_of(memory_space(*lines))
    changes = in_order(lines, memory.name)
    assert memory.time_ps.tolist() == [change.at * US for change in changes]
    assert memory.is_allocation.tolist() == [change.is_allocation for change in changes]
    partner = walk(changes)
    assert memory.partner.tolist() == partner
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
    assert texts(memory, memory.op) == [change.op or "" for change in full]
    assert memory.allocated_bytes.tolist() == [known(change.size) for change in full]
    assert memory.requested_bytes.tolist() == [known(change.requested) for change in full]
    assert memory.stack_bytes.tolist() == [known(change.stack) for change in full]
    for allocator, begin in enumerate(memory.first_event[:-1]):
        rows = range(begin, memory.first_event[allocator + 1])
        heap = [known(changes[row].heap) for row in rows]
        if max(heap) < 0:
            heap = summed(full, partner, rows)
        assert memory.is_summed[allocator] == all(changes[row].heap is None for row in rows)
        assert memory.heap_bytes[rows.start : rows.stop].tolist() == heap
    for row, change in enumerate(changes):
        if change.group is not None and memory.step[row] >= 0:
            assert memory.step_label[memory.step[row]] in ("5", "9")


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
