"""How TPU cores exchange data, from drawn traces and programs made by hand."""

from pathlib import Path
from typing import Any

import pytest
from traces import draw, drawn_space, space_of
from traces.programs import Program

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.tpu.exchanges import ExchangeRole, Exchanges, find_exchanges, numbers_in
from tbprof.xplane.reader import read_space

TPU, META = "/device:TPU:0", "/host:metadata"
US = 1_000_000
F32 = "f32[64,128]{1,0}"
BYTES = 64 * 128 * 4


def exchanges_of(program: Program, drawing: str, **letters: str) -> Exchanges:
    """What a core ran: instructions by letter."""
    stats: dict[str, Any] = {letter: {"program_id": 7} for letter in letters}
    for letter, name in letters.items():
        stats[letter]["hlo_category"] = program.named[name].opcode
    texts = {letter: f"%{name} = {F32} x(%p)" for letter, name in letters.items()}
    planes, programs = {TPU: f"XLA Ops |{drawing}"}, {"jit_f(7)": program.bytes()}
    space = drawn_space(planes, names=texts, type_stats=stats, programs=programs)
    return find_exchanges(space, Programs(space))


def runs(one: Exchanges) -> list[tuple[str, int, int, int]]:
    """(name, start, begin of the end, end) in µs."""
    columns = (one.start_ps, one.done_ps, one.end_ps)
    times = ([time // US if time >= 0 else -1 for time in column.tolist()] for column in columns)
    return list(zip([one.name[kind] for kind in one.kind.tolist()], *times, strict=True))


@pytest.fixture
def program() -> Program:
    made = Program()
    made.add("p", "parameter", F32)
    return made


def test_an_all_reduce_of_listed_groups(program: Program):
    one = program.add("all-reduce.1", "all-reduce", f"{F32}, {F32}", "p", "p")
    one.channel_id = 3
    for group in ((0, 1), (2, 3)):
        one.replica_groups.add(replica_ids=group)
    read = exchanges_of(program, "..aaaf", a="all-reduce.1", f="p")
    assert (read.cores, read.name, read.opcode) == (["TPU:0"], ["all-reduce.1"], ["all-reduce"])
    assert (read.channel.tolist(), read.bytes.tolist()) == ([3], [2 * BYTES])
    assert list(numbers_in(read.groups[0])) == [[0, 1], [2, 3]]
    assert read.role.tolist() == [ExchangeRole.GROUPS]
    assert runs(read) == [("all-reduce.1", 2, 2, 5)]


@pytest.mark.parametrize("field", ["collective_device_list", "iota_collective_device_list"])
def test_groups_of_newer_programs(program: Program, field: str):
    """[4,2]<=[2,4]T(1,0): 0 to 7 as 2 rows of 4, of which the columns are groups."""
    one = program.add("all-gather.1", "all-gather", F32, "p")
    iota = getattr(one, field)
    if field == "collective_device_list":
        iota = iota.iota_replica_group_list
    iota.num_replica_groups, iota.num_devices_per_group = 4, 2
    iota.iota_reshape_dims.extend((2, 4))
    iota.iota_transpose_perm.extend((1, 0))
    assert exchanges_of(program, "a", a="all-gather.1").groups == ["0,4;1,5;2,6;3,7"]


@pytest.mark.parametrize(
    ("groups", "each", "dimensions", "order"),
    [
        (2**40, 2**40, [2**40, 2**40], []),
        (2, 2, [3], []),
        (2, 2, [2, 2], [0, 7]),
        (-2, -2, [4], []),
    ],
)
def test_groups_that_cannot_be_are_left_out(program: Program, groups, each, dimensions, order):
    iota = program.add("all-reduce.1", "all-reduce", F32, "p").iota_collective_device_list
    iota.num_replica_groups, iota.num_devices_per_group = groups, each
    iota.iota_reshape_dims.extend(dimensions)
    iota.iota_transpose_perm.extend(order)
    assert exchanges_of(program, "a", a="all-reduce.1").groups == [""]


def test_an_asynchronous_one_goes_from_its_start_to_the_end_of_its_done(program: Program):
    program.add("all-reduce-start.1", "all-reduce-start", F32, "p")
    program.add("all-reduce-done.1", "all-reduce-done", F32, "all-reduce-start.1")
    names = {"s": "all-reduce-start.1", "d": "all-reduce-done.1", "f": "p"}
    read = exchanges_of(program, "d.sffdds.s..d", **names)
    assert (read.name, read.done) == (["all-reduce-start.1"], ["all-reduce-done.1"])
    assert read.opcode == ["all-reduce"]
    # The first done has no start in the trace, the second start no done.
    assert [row[1:] for row in runs(read)] == [(2, 5, 7), (7, -1, -1), (9, 12, 13)]


def test_fusions_and_wrapped_ones(program: Program):
    program.add("in", "parameter", F32, within="fused")
    inner = program.add("inner", "reduce-scatter", F32, "in", within="fused")
    inner.replica_groups.add(replica_ids=(0, 1))
    program.add("fusion.1", "fusion", F32, "p", calls="fused")
    program.add("async-start.1", "async-start", F32, "p", calls="fused")
    program.add("async-update.1", "async-update", F32, "async-start.1")
    program.add("async-done.1", "async-done", F32, "async-update.1")
    space = exchanges_of(program, "sd", s="async-start.1", d="async-done.1")
    assert (space.opcode, space.groups) == (["reduce-scatter"], ["0,1"])
    assert runs(space) == [("async-start.1", 0, 1, 2)]


def test_channels_and_whom_they_connect(program: Program):
    permute = program.add("collective-permute.1", "collective-permute", F32, "p")
    permute.channel_id = 5
    for source, target in ((0, 1), (1, 0)):
        permute.source_target_pairs.add(source=source, target=target)
    for name, operands in (("send", ["p"]), ("recv", [])):
        program.add(f"{name}.1", name, f"{F32}, u32[]", *operands).channel_id = 6
        program.add(f"{name}-done.1", f"{name}-done", F32, f"{name}.1").channel_id = 6
    names = {"p": "collective-permute.1", "s": "send.1", "S": "send-done.1", "r": "recv.1"}
    read = exchanges_of(program, "ppsSrR", **names, R="recv-done.1")
    columns = zip(read.role, read.channel, read.bytes, map(numbers_in, read.pairs), strict=True)
    assert {name: (*one, list(pairs)) for name, (*one, pairs) in
            zip(read.name, columns, strict=True)} == {
        "collective-permute.1": (ExchangeRole.PERMUTE, 5, BYTES, [[0, 1], [1, 0]]),
        "send.1": (ExchangeRole.SEND, 6, BYTES, []),
        "recv.1": (ExchangeRole.RECV, 6, BYTES, []),
    }  # fmt: skip


def test_transfers_to_the_host_are_no_exchange_of_cores(program: Program):
    program.add("send.1", "send", F32, "p").is_host_transfer = True
    program.add("send-done.1", "send-done", F32, "send.1").is_host_transfer = True
    assert exchanges_of(program, "sS", s="send.1", S="send-done.1").name == []


def test_damaged_programs_and_traces_without_cores():
    content = draw(
        {TPU: "XLA Ops |a"},
        names={"a": f"%all-reduce.1 = {F32} all-reduce(%p)"},
        type_stats={"a": {"program_id": 7}},
        programs={"jit_f(7)": b"\xff"},
    )
    for drawn in (content, draw({"/host:CPU": "t |a"})):
        space = space_of(drawn)
        read = find_exchanges(space, Programs(space))
        assert (read.name, read.start_ps.size) == ([], 0)


def test_the_all_reduces_of_the_v6e_trace(tpu_trace: Path):
    space = read_space(tpu_trace)
    read = find_exchanges(space, Programs(space))
    assert (read.name, read.groups) == (["all-reduce"], ["0,4;1,5;2,6;3,7"])
    assert (read.channel.tolist(), read.bytes.tolist()) == ([1], [5 * 1024 * 1024 * 256 * 4])
    assert read.core.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert (read.end_ps > read.start_ps).all()
