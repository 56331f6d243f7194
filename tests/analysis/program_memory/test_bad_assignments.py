"""Damaged and hostile buffer assignments: what is known is shown, or a reason."""

import pytest
from analysis.program_memory.test_program_memory import memory_of, planned, table
from traces.memory.memory_plans import MemoryPlan, planned_trace, train_step

from tbprof.analysis.program_memory.buffer_assignment import BadAssignment, read_assignment
from tbprof.analysis.program_memory.live_buffers import live_at


def test_a_cut_assignment_is_damage_wherever_it_is_cut():
    plan = train_step()
    blob, module = plan.bytes(), len(plan.program.bytes())
    reasons = set()
    for end in range(module, len(blob)):
        try:
            read_assignment(blob[:end])
        except BadAssignment as reason:
            reasons.add(str(reason))
    assert reasons == {
        "the program is damaged in the file",
        "the compiler wrote no buffer assignment for the program",  # cut between the two
    }


@pytest.mark.parametrize("size", [-1, 2**62, 2**63 - 1])
def test_impossible_sizes_are_no_sizes(size):
    plan = train_step()
    plan.assigned.buffer_allocations[0].size = size
    assert planned(plan).reason == "the sizes in the program's buffer assignment are impossible"
    plan = train_step()
    plan.assigned.logical_buffers[2].size = size
    assert planned(plan).reason == "the sizes in the program's buffer assignment are impossible"


def test_dangling_ids_are_left_out():
    plan = train_step()
    plan.allocate(64, "", maybe_live_out=True).assigned.add(logical_buffer_id=12345, size=64)
    trace = plan.assigned.heap_simulator_traces[0]
    for kind in range(3):
        trace.events.add(
            kind=kind, buffer_id=999, share_with_canonical_id=998, instruction_name="x"
        )
    trace.events.add(kind=2, buffer_id=999, share_with_canonical_id=trace.events[0].buffer_id)
    memory = planned(plan)
    # Without a buffer of any size an allocation is not counted.
    assert memory.peak_bytes == 13328
    assert memory.use.in_use_bytes.size == 6


def test_a_buffer_whose_instruction_is_not_there_keeps_its_size():
    plan = MemoryPlan()
    plan.program.add("t", "tuple", "f32[4], f32[4]")
    plan.buffer("lost", 512)
    plan.buffer("t", 64, "t", 0, 3)  # its first part has no parts
    plan.allocate(512, "lost", maybe_live_out=True)
    plan.allocate(64, "t", maybe_live_out=True)
    memory = planned(plan)
    assert table(memory, live_at(memory, -1)) == {
        "lost": (512, 512, -1, 0),
        "{0,3}": (64, 64, -1, 0),
    }


def test_kinds_of_events_that_are_not_known_change_nothing():
    plan = train_step()
    plan.assigned.heap_simulator_traces[0].events[1].kind = 77
    assert planned(plan).use.in_use_bytes.tolist() == [512, 512, 1024, 512, 0]


def test_a_heap_that_shares_in_a_circle_ends():
    plan = train_step()
    plan.heap("norm=dot dot=norm norm=norm act=norm -norm -dot -act")
    assert planned(plan).peak_bytes >= 12304


def test_an_allocation_of_an_unknown_program_is_said_to():
    damaged = planned_trace(("jit_f(7)", b"\xff\xff damaged"), ("jit_g(8)", train_step().bytes()))
    assert memory_of(damaged).title == "jit_g(8)"
    memory = memory_of(damaged, "jit_f(7)")
    assert memory.reason == "the program is damaged in the file"


def test_hostile_names_and_shapes_stay_texts():
    plan = MemoryPlan()
    name = "<img src=x onerror=alert(1)>../../\x00\n" * 3
    plan.program.add(name, "tuple", ", ".join(["f32[4]"] * 1000))
    plan.program.named[name].metadata.op_name = "=cmd()"
    plan.buffer("b", 8000, name)
    plan.allocate(8000, "b", maybe_live_out=True)
    memory = planned(plan)
    assert [*table(memory, live_at(memory, -1))] == [name]


def test_scoped_memory_of_odd_configurations_is_unknown():
    for config in (
        b"used_scoped_memory_configs", b'{"used_scoped_memory_configs":7}', b"[" * 10**5 +
        b"used_scoped_memory_configs", b'{"used_scoped_memory_configs":[7,{"size":9}]}',
        b'["used_scoped_memory_configs"]',
    ):  # fmt: skip
        plan = train_step()
        plan.program.named["dot"].backend_config = config
        assert planned(plan, "1").reason == "the program uses no vector memory (VMEM)"
