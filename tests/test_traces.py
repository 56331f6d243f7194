"""A drawn trace holds what the drawing shows."""

from pathlib import Path

import pytest
from traces import COLUMN_PS, Ref, Unsigned, draw, drawn_space, message_of, write

DRAWING = """
    Stream #1 |mmmm.rr.nnnn.
              |.aa......b....
    Stream #2 |..mm|
"""


def test_a_drawing_becomes_lines_and_nested_events() -> None:
    content = draw(
        {"/device:GPU:0": DRAWING},
        names={"m": "matmul", "n": "matmul"},
        line_ids={"Stream #2": -7},
        start_ns=5,
        hostnames=["h0"],
    )

    space = message_of(content)

    (plane,) = space.planes
    names = {number: entry.name for number, entry in plane.event_metadata.items()}
    found = [
        (
            line.id,
            line.name,
            line.timestamp_ns,
            [
                (
                    names[event.metadata_id],
                    event.offset_ps // COLUMN_PS,
                    event.duration_ps // COLUMN_PS,
                )
                for event in line.events
            ],
        )
        for line in plane.lines
    ]
    assert list(space.hostnames) == ["h0"]
    assert plane.name == "/device:GPU:0"
    assert sorted(names.values()) == ["a", "b", "matmul", "r"]
    stream = [("matmul", 0, 4), ("a", 1, 2), ("r", 5, 2), ("matmul", 8, 4), ("b", 9, 1)]
    assert found == [(1, "Stream #1", 5, stream), (-7, "Stream #2", 5, [("matmul", 2, 2)])]


def test_stats_are_written_by_the_type_of_their_value() -> None:
    plane, other = drawn_space(
        [("p", "line |a"), ("p", "line |b")],
        stats={
            "a": {"text": "t", "ref": Ref("r"), "int": -1, "unsigned": Unsigned(2**64 - 1),
                  "double": 0.5, "bytes": b"\x00"}
        },
        type_stats={"a": {"flops": 8}},
        plane_stats={"p": {"major": 7}},
        display_names={"a": "A"},
    ).planes  # fmt: skip

    assert plane.details(int(plane.events().source[0])) == [
        ("text", "t"),
        ("ref", "r"),
        ("int", -1),
        ("unsigned", 2**64 - 1),
        ("double", 0.5),
        ("bytes", b"\x00"),
    ]
    assert plane.types.stats(["flops"])["flops"].integers().tolist() == [8]
    assert plane.strings.take(plane.types.display_name.tolist()) == ["A"]
    assert dict(plane.stats) == dict(other.stats) == {"major": 7}


def test_a_drawing_needs_labels_and_bars() -> None:
    with pytest.raises(ValueError, match="first has a label"):
        draw({"p": "  |aa"})
    with pytest.raises(ValueError, match="label"):
        draw({"p": "aa"})


def test_a_trace_is_written_under_its_host(tmp_path: Path) -> None:
    assert write(tmp_path, b"x", "h1") == tmp_path / "h1.xplane.pb"
