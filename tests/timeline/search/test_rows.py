"""Rows of other pages' tables, found again among the events of a timeline."""

import pytest
from builders import open_timelines
from builders.open_timelines import find_results
from traces import drawn_space

from tbprof.timeline.search.query import TableRow, parse_query

LAUNCH = "regs:32 shm:0 grid:{},1,1 block:256,1,1"
OP = "a/Mat:Mul"


@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("device-op:a/b:c d", TableRow("device-op", "a/b:c d")),
        ("host-op:x", TableRow("host-op", "x")),
        ("input-op:Iterator::Map", TableRow("input-op", "Iterator::Map")),
        ("iterator:Iterator::Map", TableRow("iterator", "Iterator::Map")),
        ("kernel:void f<int>(op: 1)", TableRow("kernel", "void f<int>(op: 1)")),
        ("kernel:gemm op:a b", TableRow("kernel", "gemm", "a b")),
        ("kernel:gemm op:", TableRow("kernel", "gemm", "")),
        ("kernel:gemm launch:8,1,1/1,1,1//", TableRow("kernel", "gemm", None, "8,1,1/1,1,1//")),
        (
            "kernel:gemm op:a launch:8,1,1/256,1,1/32/0",
            TableRow("kernel", "gemm", "a", "8,1,1/256,1,1/32/0"),
        ),
        ("kernel:", None),
        ("op:x", None),
        ("Kernel:x", None),
        ("whole:kernel:x", None),
    ],
)
def test_queries_name_rows(query: str, row: TableRow | None) -> None:
    assert parse_query(query).row == row


def test_rows_are_found_on_all_tracks_and_nowhere_else():
    names = {"a": "gemm", "b": "gemm", "m": OP, "i": "Iterator::Root::Map", "c": "gemm"}
    stats = {
        "a": {"tf_op": OP, "kernel_details": LAUNCH.format(8)},
        "b": {"tf_op": OP, "kernel_details": LAUNCH.format(4)},
        "c": {"kernel_details": LAUNCH.format(8)},
    }
    space = drawn_space(
        {
            "/device:GPU:0": """
                Stream #1 |aa.bb.aa
                Stream #2 |c.a
            """,
            "/host:CPU": """
                main |mmmmmm.m
                     |.iii
            """,
        },
        names=names,
        stats=stats,
    )
    opened = open_timelines.built(space)

    def found(query: str) -> list[tuple[str, int]]:
        places = [opened.place(event) for event in find_results(opened, query).event.tolist()]
        tracks = opened.timeline.tracks
        return [(tracks[place["track"]].name, place["start_ps"] // 10**6) for place in places]

    op = "a/Mat"
    assert found("kernel:gemm") == [
        ("Stream #1", 0), ("Stream #1", 3), ("Stream #1", 6), ("Stream #2", 0), ("Stream #2", 2),
    ]  # fmt: skip
    assert found(f"kernel:gemm op:{op} launch:4,1,1/256,1,1/32/0") == [("Stream #1", 3)]
    assert found("kernel:gemm op:") == [("Stream #2", 0)]
    assert len(found(f"device-op:{op}")) == 4
    assert found("input-op:Iterator::Root::Map") == [("main", 1)]
    assert found(f"host-op:{op}") == [("main", 0), ("main", 7)]
    assert found("host-op:gemm") == []
