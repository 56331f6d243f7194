from pathlib import Path

import numpy as np
import pytest
from helpers.drawn.computed_parts import compute_part
from traces import drawn_space

from tbprof.analysis.gpu.kernels import find_kernels
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.input.input_ops import find_input_ops
from tbprof.analysis.ops.ops import find_ops
from tbprof.events.space import Space
from tbprof.timeline.search.query import TableRow
from tbprof.timeline.search.row_events import find_row_events
from tbprof.xplane.reader import read_space

SAMPLES = sorted(
    (Path(__file__).resolve().parents[3] / "examples/logdir").glob("plugins/profile/*/*.xplane.pb*")
)
LAUNCH = "regs:32 shm:0 grid:{},1,1 block:256,1,1"


def starts(space: Space, row: TableRow) -> list[int]:
    """When, in columns of the drawing, the events of a row begin."""
    found = []
    for at, sources in find_row_events(space, Programs(space), row):
        events = space.planes[at].events()
        wanted = set(sources.tolist())
        times = zip(events.source.tolist(), events.start_ps.tolist(), strict=True)
        found += [start // 10**6 for source, start in times if source in wanted]
    return sorted(found)


def test_rows_are_found_where_they_were_drawn() -> None:
    space = drawn_space(
        {
            "/device:GPU:0": "Stream #1 |aa.bb.cc.dd.aa",
            "/device:GPU:1": "Stream #1 |..aa",
            "/host:CPU": """
                main |mmmmmm.m
                     |.iii
            """,
        },
        names={
            **dict.fromkeys("abc", "gemm"),
            "d": "MemcpyH2D",
            "m": "dense/MatMul:MatMul",
            "i": "Iterator::Root::Map",
        },
        stats={
            "a": {"tf_op": "dense/MatMul:MatMul", "kernel_details": LAUNCH.format(8)},
            "b": {"tf_op": "dense/MatMul:MatMul", "kernel_details": LAUNCH.format(4)},
            "c": {"kernel_details": LAUNCH.format(8)},
        },
    )
    assert starts(space, TableRow("device-op", "dense/MatMul")) == [0, 2, 3, 12]
    assert starts(space, TableRow("device-op", "MemcpyH2D")) == [9]
    assert starts(space, TableRow("host-op", "dense/MatMul")) == [0, 7]
    assert starts(space, TableRow("kernel", "gemm")) == [0, 2, 3, 6, 12]
    assert starts(space, TableRow("kernel", "gemm", op="")) == [6]
    assert starts(space, TableRow("kernel", "gemm", "dense/MatMul", "8,1,1/256,1,1/32/0")) == [
        0, 2, 12,
    ]  # fmt: skip
    assert starts(space, TableRow("input-op", "Iterator::Root::Map")) == [1]
    assert starts(space, TableRow("kernel", "MemcpyH2D")) == []
    assert starts(space, TableRow("input-op", "no such op")) == []


def test_a_stage_has_the_calls_of_its_copies():
    names = {
        "a": "Iterator::Root::Interleave[0]::Map", "b": "Iterator::Root::Interleave[12]::Map",
        "c": "Iterator::Root::Interleave[0]", "d": "Interleave::Map", "e": "Iterator::Root::Zip[1]",
    }  # fmt: skip
    space = drawn_space({"/host:CPU": "main |a.b.c.d.e.a"}, names=names)
    assert starts(space, TableRow("iterator", "Iterator::Root::Interleave::Map")) == [0, 2, 10]
    assert starts(space, TableRow("iterator", "Iterator::Root::Interleave")) == [4]
    assert starts(space, TableRow("iterator", "Iterator::Root::Zip[1]")) == [8]
    assert starts(space, TableRow("iterator", "Iterator::Root::Zip")) == []
    assert starts(space, TableRow("iterator", "Interleave::Map")) == []


def test_instructions_are_found_in_their_program_on_every_kind_of_device():
    launch = {"hlo_op": "while::dot", "hlo_module": "jit_f"}
    gpu = drawn_space(
        {"/device:GPU:0": "Stream #1 |ab.c.k.ab", "/host:CPU": "python |d"},
        stats={
            "a": {**launch, "program_id": 7}, "b": {**launch, "program_id": 7},
            "c": {**launch, "program_id": 8}, "d": {**launch, "program_id": 7},
        },
    )  # fmt: skip
    assert starts(gpu, TableRow("instruction", "dot", program="7")) == [0, 1, 7, 8]
    assert starts(gpu, TableRow("instruction", "dot")) == [0, 1, 3, 7, 8]
    assert starts(gpu, TableRow("instruction", "dot", program="")) == []
    assert starts(gpu, TableRow("instruction", "k", program="")) == [5]
    tpu = drawn_space(
        {"/device:TPU:0": "XLA Ops |aa.b.aa\nAsync XLA Ops |aaaa"},
        names={"a": "%dot = f32[8] dot(f32[8] %p)", "b": "dot"},
        type_stats={"a": {"program_id": -3}, "b": {"program_id": 8}},
    )
    assert starts(tpu, TableRow("instruction", "dot", program=str(2**64 - 3))) == [0, 5]
    assert starts(tpu, TableRow("instruction", "dot")) == [0, 3, 5]
    cpu = drawn_space(
        {"/host:CPU": "pool |aa.x.b.a"},
        names={"x": "end: dot"},
        stats={key: {**launch, "program_id": 7} for key in "axb"} | {"b": launch},
    )
    assert starts(cpu, TableRow("instruction", "dot", program="7")) == [0, 7]
    assert starts(cpu, TableRow("instruction", "dot", program="")) == [5]


@pytest.mark.parametrize("trace", ["jax", "tpu_trace", "amd_trace"])
def test_instructions_have_as_many_events_as_their_table_says(
    trace: str, request: pytest.FixtureRequest
) -> None:
    """Executions; on GPUs their kernels."""
    path = SAMPLES[0] if trace == "jax" else request.getfixturevalue(trace)
    space = read_space(path)
    programs = Programs(space)
    ops = compute_part("program_ops", space)
    assert ops.name
    for row in np.argsort(-ops.self_ps)[:20].tolist():
        wanted = TableRow("instruction", ops.name[row], program=ops.program_id[row])
        found = sum(sources.size for _, sources in find_row_events(space, programs, wanted))
        assert found == (ops.kernels[row] or ops.occurrences[row])


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.parent.name)
def test_rows_have_as_many_events_as_tables_say(path: Path) -> None:
    space = read_space(path)
    programs = Programs(space)
    ops, kernels = find_ops(space, programs), find_kernels(space, programs)
    inputs = find_input_ops(space, programs)
    expected = {
        TableRow("device-op" if is_device else "host-op", name): count
        for name, is_device, count in zip(
            ops.name, ops.is_device.tolist(), ops.occurrences.tolist(), strict=True
        )
    }
    for name, count in zip(inputs.name, inputs.count.tolist(), strict=True):
        expected[TableRow("input-op", name)] = count
    assert not kernels.name  # CPU programs
    rows = list(expected)[:: max(len(expected) // 50, 1)]
    counts = {
        row: sum(sources.size for _, sources in find_row_events(space, programs, row))
        for row in rows
    }
    assert counts == {row: expected[row] for row in rows}
