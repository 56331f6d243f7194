"""Planes that are decoded piece by piece give what they give as a whole."""

from pathlib import Path

import numpy as np
from traces import drawn_space

from tbprof.events.space import Space
from tbprof.storage.packing import pack
from tbprof.timeline.build.build import build_timeline
from tbprof.timeline.build.pieces import read_pieces
from tbprof.timeline.build.tracks import find_tracks
from tbprof.xplane.reader import read_space

LINES = """
    worker/10  |aaaa..bb
    python     |pp.mm...
    worker/9   |.bb.....
    Steps      |s..t....
    _counters_ |c...d...
    empty      |
"""


def drawn() -> Space:
    stats = {"c": {"watts": 1}, "d": {"watts": 2}, "m": {"bytes_allocated": 7, "device_ordinal": 3}}
    planes = {"/host:CPU": LINES, "/device:GPU:0": "Steps |s\n Stream #1 |kk", "/host:other": ""}
    names = {**dict.fromkeys("cd", "power"), "m": "MemoryAllocation", "p": "PjitFunction(f)"}
    return drawn_space(planes, names=names, stats=stats)


def assert_equal(space: Space, again: Space) -> None:
    whole = pack(build_timeline(space, find_tracks(space, 1 << 40)))
    parts = pack(build_timeline(again, find_tracks(again, 1)))
    assert whole.keys() == parts.keys()
    for name, expected in whole.items():
        np.testing.assert_array_equal(parts[name], expected, name)


def test_a_line_is_a_piece_where_it_is_longer_than_one():
    (pieces, one) = read_pieces(drawn().planes[:2], 1)
    rows = [piece.rows for piece in pieces]
    # In the natural order of their names: what stands together is decoded together.
    assert rows == [[4], [5], [1], [3], [2], [0]]
    assert [len(piece.events) for piece in pieces] == [2, 0, 2, 2, 1, 2]
    assert len(one) == 2


def test_short_lines_are_one_piece_in_the_order_of_the_file():
    (pieces,) = read_pieces(drawn().planes[:1], 1 << 20)
    assert [piece.rows for piece in pieces] == [[0, 1, 2, 3, 4, 5]]


def test_neighbours_are_decoded_together_up_to_the_size_of_a_piece():
    plane = drawn().planes[0]
    size = int(plane.line_bytes.sum())
    (pieces,) = read_pieces([plane], size - 1)
    assert len(pieces) == 2
    assert sorted(row for piece in pieces for row in piece.rows) == [0, 1, 2, 3, 4, 5]


def test_no_planes_have_no_pieces():
    assert read_pieces([], 1) == []
    assert read_pieces(drawn().planes[2:], 1) == [[]]


def test_pieces_give_the_timeline_of_the_whole():
    assert_equal(drawn(), drawn())


def test_real_traces_are_the_same_by_pieces(accelerator_trace: Path):
    assert_equal(read_space(accelerator_trace), read_space(accelerator_trace))
