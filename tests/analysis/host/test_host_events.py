"""The events of host threads, from drawn traces."""

from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from traces import draw, drawn_space, space_of

from tbprof.analysis.host.host_events import (
    async_rows,
    host_events,
    host_threads,
    kinds,
    stats_by_pieces,
)
from tbprof.events.space import Plane
from tbprof.kernels.analysis.row_groups import match_groups

NAMES = {"a": "alpha", "b": "beta"}
DRAWING = """
    one |aaaaaa
        |.xxxx.
        |..bb..
    two |.bbbb.
        |..a...
"""


def plane() -> Plane:
    stats = {"x": {"_a": 1, "id": 5}, "b": {"_a": 0}}
    return drawn_space({"/host:CPU": DRAWING}, names=NAMES, stats=stats).planes[0]


def test_asynchronous_events_nest_in_nothing_and_nothing_in_them():
    events, parent = host_threads(plane())
    assert async_rows(events).tolist() == [1]
    assert parent.tolist() == [-1, -1, 0, -1, 3]


def test_events_are_decoded_once():
    host = plane()
    events, parent = host_threads(host)
    assert host_events(host) is events
    assert host_threads(host)[1] is parent


def test_derived_lines_are_left_out():
    content = draw({"/host:CPU": "one |aa\nSteps |bb"}, line_ids={"Steps": 0xDEADBEEF}, names=NAMES)
    assert len(host_events(space_of(content).planes[0])) == 1


def test_kinds_go_by_full_names():
    assert kinds(host_events(plane()), {"alpha": 3, "bet": 4}).tolist() == [3, 0, 0, 0, 3]


def test_stats_come_by_pieces():
    events = host_events(plane())
    found = [
        (rows.tolist(), stats["id"].integers(-1).tolist())
        for rows, stats in stats_by_pieces(events, ["id", "nope"], most=2)
    ]
    assert found == [([0, 1], [-1, 5]), ([2, 3], [-1, -1]), ([4], [-1])]
    some = list(stats_by_pieces(events, ["id"], np.array([1, 2, 4]), most=2))
    assert [rows.tolist() for rows, _ in some] == [[1, 2], [4]]
    assert not list(stats_by_pieces(events, ["nope"]))


@given(st.lists(st.integers(-1, 3), max_size=12), st.randoms(use_true_random=False))
def test_an_event_is_matched_with_the_first_one_of_its_group(codes: list[int], random: Random):
    """The events are at any offsets, of which the first half, by offset, is known."""
    source = random.sample(range(-50, 50), len(codes))
    known = sorted(source)[: len(source) // 2 + 1]
    group = {offset: code for offset, code in zip(source, codes, strict=True) if offset in known}
    makers, takers = (sorted(random.sample(range(len(codes)), len(codes) // 2)) for _ in range(2))
    out = np.full(len(takers), -7, np.int64)

    match_groups(
        np.array(known, np.int64),
        np.array([group[offset] for offset in known], np.int32),
        np.array(source, np.int64),
        np.array(makers, np.int64),
        np.array(takers, np.int64),
        np.full(4, -1, np.int64),
        out,
    )

    def of(row: int) -> int:
        return group.get(source[row], -1)

    expected = [next((row for row in makers if of(row) == of(taker) >= 0), -1) for taker in takers]
    assert out.tolist() == expected
