"""The devices among which collectives exchange data."""

from traces import draw, space_of
from traces.programs import Program

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.programs.instruction_facts import InstructionReader


def groups_of(made: Program, name: str) -> str:
    trace = draw(
        {"/host:metadata": "none |"},
        names={"P": "jit_f(8)"},
        type_stats={"P": {"Hlo Proto": made.bytes(), "program_id": 8}},
    )
    facts = InstructionReader(Programs(space_of(trace))).read(8, "", name)
    assert facts is not None
    return facts.replica_groups


def test_groups_are_written_as_the_program_has_them():
    made = Program()
    made.add("p", "parameter", "f32[8]")
    reduced = made.add("sum", "all-reduce", "f32[8]", "p")
    for devices in ([0, 1], [2, 3]):
        reduced.replica_groups.add().replica_ids.extend(devices)
    gathered = made.add("gather", "all-gather", "f32[16]", "p")
    iota = gathered.collective_device_list.iota_replica_group_list
    iota.num_replica_groups, iota.num_devices_per_group = 2, 2
    iota.iota_reshape_dims.extend([4])
    moved = made.add("move", "collective-permute", "f32[8]", "p")
    for source, target in ((0, 1), (1, 0)):
        moved.source_target_pairs.add(source=source, target=target)
    made.add("whole", "all-to-all", "f32[8]", "p")
    made.add("add", "add", "f32[8]", "p", "p")
    assert groups_of(made, "sum") == "{{0,1},{2,3}}"
    assert groups_of(made, "gather") == "[2,2]<=[4]"
    assert groups_of(made, "move") == "{{0,1},{1,0}}"
    assert groups_of(made, "whole") == "all devices"
    assert groups_of(made, "add") == ""


def test_what_completes_a_collective_has_its_groups():
    made = Program()
    made.add("p", "parameter", "f32[8]")
    start = made.add("s", "all-reduce-start", "f32[8]", "p")
    start.replica_groups.add().replica_ids.extend(range(2_000))
    made.add("d", "all-reduce-done", "f32[8]", "s")
    text = groups_of(made, "d")
    assert text.startswith("{{0,1,2,")
    assert len(text) == 401
    assert groups_of(made, "s") == text
