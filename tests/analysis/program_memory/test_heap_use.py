"""What a simulated heap has in use after each event."""

from analysis.program_memory.heap_twin import replay, replay_slowly
from hypothesis import given
from hypothesis import strategies as st
from traces.memory.memory_plans import MemoryPlan

from tbprof.analysis.program_memory.buffer_assignment import read_assignment
from tbprof.analysis.program_memory.heap_use import HeapUse, use_heap
from tbprof.analysis.program_memory.program_peaks import ranks_of_events

EVENTS = st.lists(
    st.tuples(st.sampled_from("++--="), st.integers(-1, 5), st.integers(-1, 5)), max_size=40
)


def lives(use: HeapUse) -> list[tuple[int, int, int, int]]:
    columns = (use.owner, use.holder, use.start, use.end)
    return [*zip(*(column.tolist() for column in columns), strict=True)]


@given(EVENTS, st.lists(st.integers(0, 9), min_size=6, max_size=6))
def test_what_is_in_use_is_what_has_users(events, sizes):
    use = replay(events, sizes)
    assert use.in_use_bytes.tolist() == replay_slowly(events, sizes)
    # Lives tell the same.
    for at, bytes_ in enumerate(use.in_use_bytes.tolist()):
        alive = [owner for owner, _, start, end in lives(use) if start <= at < end]
        assert len(alive) == len(set(alive))
        assert sum(sizes[owner] for owner in alive) == bytes_
    assert all(start < end for _, _, start, end in lives(use))


def test_memory_is_in_use_from_its_allocation_to_its_release():
    use = replay([("+", 0, -1), ("+", 1, -1), ("-", 0, -1), ("-", 1, -1)], [3, 5])
    assert use.in_use_bytes.tolist() == [3, 8, 5, 0]
    assert lives(use) == [(0, 0, 0, 2), (1, 1, 1, 3)]
    assert use.peak == 1


def test_shared_memory_is_in_use_until_its_last_user_is_freed():
    use = replay([("+", 0, -1), ("=", 1, 0), ("-", 0, -1), ("-", 1, -1)], [3, 5])
    assert use.in_use_bytes.tolist() == [3, 3, 3, 0]
    assert lives(use) == [(0, 0, 0, 3)]


def test_memory_that_is_shared_after_its_release_is_in_use_again():
    use = replay([("+", 0, -1), ("-", 0, -1), ("=", 1, 0), ("-", 1, -1)], [3, 5])
    assert use.in_use_bytes.tolist() == [3, 0, 3, 0]
    assert lives(use) == [(0, 0, 0, 1), (0, 1, 2, 3)]


def test_buffers_that_share_in_turn_share_one_memory():
    events = [("+", 0, -1), ("=", 1, 0), ("=", 2, 1), ("-", 0, -1), ("-", 2, -1), ("-", 1, -1)]
    assert replay(events, [3, 5, 7]).in_use_bytes.tolist() == [3, 3, 3, 3, 3, 0]


def test_a_circle_of_sharing_is_no_circle():
    events = [("=", 0, 1), ("=", 1, 0), ("=", 0, 0), ("-", 0, -1)]
    assert replay(events, [3, 5]).in_use_bytes.tolist() == replay_slowly(events, [3, 5])


def test_what_is_never_freed_is_in_use_to_the_end():
    assert lives(replay([("+", 0, -1), ("+", 1, -1)], [3, 5])) == [(0, 0, 0, 2), (1, 1, 1, 2)]


def test_what_was_not_allocated_is_not_freed():
    assert replay([("-", 0, -1), ("+", 0, -1)], [3]).in_use_bytes.tolist() == [0, 3]


def test_of_equal_peaks_the_first_counts():
    events = [("+", 0, -1), ("-", 0, -1), ("+", 1, -1), ("-", 1, -1)]
    assert replay(events, [5, 5]).peak == 0
    assert replay([], [5]).peak == -1


# Several traces.


def two_heaps() -> MemoryPlan:
    """A loop, whose body has a heap of its own, between `a` and `d`."""
    plan = MemoryPlan()
    program = plan.program
    program.add("a", "add", "f32[1]")
    program.add("b", "add", "f32[1]", within="body")
    program.add("c", "add", "f32[1]", within="body")
    program.add("loop", "while", "f32[1]", "a", calls="body")
    program.add("d", "add", "f32[1]", "loop")
    for name, size in (("a", 100), ("b", 10), ("c", 7), ("d", 50)):
        plan.buffer(name, size)
    plan.allocate(150, "a d@100")
    plan.allocate(17, "b c@10")
    plan.heap("+a +d -a:d -d")
    plan.heap("+b +c -b:c -c", within="body")
    return plan


def test_several_traces_are_one_heap_in_the_order_of_the_schedule():
    blob = two_heaps().bytes()
    assignment = read_assignment(blob)
    rank = ranks_of_events(assignment, blob)
    use = use_heap(assignment, 0, assignment.buffers.size_bytes, rank)
    assert [assignment.heap.names[row] for row in use.instruction.tolist()] == [
        "a", "b", "c", "c", "c", "d", "d", "d",
    ]  # fmt: skip
    assert use.in_use_bytes.tolist() == [100, 110, 117, 107, 100, 150, 50, 0]


def test_a_schedule_is_followed():
    plan = two_heaps()
    sequences = plan.program.proto.hlo_module.schedule.sequences
    named = plan.program.named
    # `d` first, then the loop.
    sequences[plan.program.computation("main").id].instruction_ids.extend(
        named[name].id for name in ("d", "a", "loop")
    )
    blob = plan.bytes()
    assignment = read_assignment(blob)
    use = use_heap(assignment, 0, assignment.buffers.size_bytes, ranks_of_events(assignment, blob))
    # The events of a trace keep their order.
    assert use.in_use_bytes.tolist() == [100, 150, 50, 0, 10, 17, 7, 0]


def test_a_trace_that_is_there_twice_counts_once():
    plan = MemoryPlan()
    plan.buffer("a", 100)
    plan.allocate(100, "a")
    plan.heap("+a -a")
    plan.heap("+a -a")
    assignment = read_assignment(plan.bytes())
    assert use_heap(assignment, 0, assignment.buffers.size_bytes).in_use_bytes.tolist() == [100, 0]


def test_a_space_shows_its_own_events():
    plan = MemoryPlan()
    for name in ("a", "b"):
        plan.buffer(name, 8)
    plan.allocate(8, "a")
    plan.allocate(8, "b", space=5)
    plan.heap("+a +b -a -b")
    assignment = read_assignment(plan.bytes())
    for space in (0, 5):
        use = use_heap(assignment, space, assignment.buffers.size_bytes)
        assert use.in_use_bytes.tolist() == [8, 0]
    assert assignment.spaces == [0, 5]
