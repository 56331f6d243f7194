"""The events of host threads, from drawn traces."""

import numpy as np
from traces import draw, space_of

from tbprof.analysis.host.host_events import (
    async_rows,
    host_events,
    host_threads,
    kinds,
    stats_by_pieces,
)
from tbprof.events.space import Plane

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
    return space_of(draw({"/host:CPU": DRAWING}, names=NAMES, stats=stats)).planes[0]


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
