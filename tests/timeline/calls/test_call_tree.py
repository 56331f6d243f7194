"""Call trees, by hand and against a brute force that looks at every instant."""

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
import pytest
from builders import open_timelines
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tbprof.base.errors import BadRequest
from tbprof.timeline.calls import call_paths
from tbprof.timeline.calls.call_tree import call_tree
from tbprof.timeline.questions.aggregate import aggregate
from tbprof.xplane.reader import read_space

EVENTS = st.tuples(st.integers(-5, 25), st.integers(0, 20), st.sampled_from("abc"))
TRACKS = st.lists(st.lists(EVENTS, max_size=12), max_size=3)
ORDERS = st.sampled_from(["top_down", "bottom_up"])
Path = tuple[str, ...]


class Node(NamedTuple):
    """A node of a tree."""

    calls: int
    total_ps: int | None
    self_ps: int


def nodes_of(answer: dict[str, Any]) -> dict[Path, Node]:
    """The nodes by their path; "…" is what is not listed by itself. Siblings have other names."""
    columns, text = answer["nodes"], answer["names"]["text"]
    paths: list[Path] = []
    found = {}
    for row, (parent, name) in enumerate(zip(columns["parent"], columns["name"], strict=True)):
        assert parent < row
        part = (text[name] if name >= 0 else "…",) if row else ()
        paths.append((*paths[parent], *part) if row else ())
        found[paths[row]] = Node(*(columns[name][row] for name in ("count", "total_ps", "self_ps")))
    assert len(found) == len(paths)
    return found


def longest_of(answer: dict[str, Any]) -> dict[Path, tuple[int, int]]:
    """(event, its time) of the longest call by path."""
    columns = answer["nodes"]
    rows = zip(columns["longest"], columns["longest_ps"], strict=True)
    return dict(zip(nodes_of(answer), rows, strict=True))


# A thread that calls itself, and a stream on which nothing is nested; a column is 1 ps.
#     |aaaaaaaa.aa      |kk.kk
#     |.bbb.b....
#     |  a
DRAWN = [
    [(0, 8, "a"), (1, 3, "b"), (2, 1, "a"), (5, 1, "b"), (9, 2, "a")],
    [(0, 2, "k"), (3, 2, "k")],
]


def test_calls_add_up_along_their_paths():
    answer = call_tree(open_timelines.opened(DRAWN))
    assert nodes_of(answer) == {
        (): Node(7, 14, 0),
        ("a",): Node(2, 10, 6),
        ("a", "b"): Node(2, 4, 3),
        ("a", "b", "a"): Node(1, 1, 1),
        ("k",): Node(2, 4, 4),
    }
    assert longest_of(answer)[("a",)] == (0, 8)
    assert answer["overlap_ps"] == 0


def test_calls_add_up_back_from_each_name():
    """A name within itself counts once: the inner a is part of the outer one."""
    assert nodes_of(call_tree(open_timelines.opened(DRAWN), order="bottom_up")) == {
        (): Node(7, 14, 14),
        ("a",): Node(3, 10, 7),
        ("a", "b"): Node(1, 1, 1),
        ("a", "b", "a"): Node(1, 1, 1),
        ("b",): Node(2, 4, 3),
        ("b", "a"): Node(2, 4, 3),
        ("k",): Node(2, 4, 4),
    }


def test_events_count_with_the_part_in_the_range():
    answer = call_tree(open_timelines.opened(DRAWN[:1]), from_ps=2, to_ps=6)
    assert nodes_of(answer) == {
        (): Node(4, 4, 0),
        ("a",): Node(1, 4, 1),
        ("a", "b"): Node(2, 3, 2),
        ("a", "b", "a"): Node(1, 1, 1),
    }
    # Both are 2 and 1 long here; of the first b, a part is before the range.
    assert longest_of(answer)[("a", "b")][1] == 2


def test_tracks_are_told_apart_or_merged():
    opened = open_timelines.opened([[(0, 4, "a"), (1, 2, "b")], [(0, 3, "a")]])
    assert nodes_of(call_tree(opened)) == {
        (): Node(3, 7, 0), ("a",): Node(2, 7, 5), ("a", "b"): Node(1, 2, 2),
    }  # fmt: skip
    apart = call_tree(opened, is_by_track=True)
    assert nodes_of(apart) == {
        (): Node(3, 7, 0),
        ("track 0",): Node(2, 4, 0),
        ("track 0", "a"): Node(1, 4, 2),
        ("track 0", "a", "b"): Node(1, 2, 2),
        ("track 1",): Node(1, 3, 0),
        ("track 1", "a"): Node(1, 3, 3),
    }
    assert sorted(apart["names"]["track"]) == [-1, -1, 0, 1]
    back = nodes_of(call_tree(opened, tracks=[1, 0, 0], order="bottom_up", is_by_track=True))
    assert back[("track 0", "b", "a")] == Node(1, 2, 2)
    assert back[("track 1",)] == Node(1, 3, 3)
    one = call_tree(opened, tracks=[1], is_by_track=True)
    assert nodes_of(one)[("track 1", "a")] == Node(1, 3, 3)
    assert sorted(one["names"]["track"]) == [-1, 1]


def test_an_instant_of_a_track_belongs_to_one_path():
    """What overlaps without nesting counts from where the earlier event ends: 8 to 10 for b."""
    opened = open_timelines.opened([[(0, 8, "a"), (5, 5, "b"), (6, 3, "c")]])
    answer = call_tree(opened)
    assert nodes_of(answer) == {
        (): Node(3, 10, 0), ("a",): Node(1, 8, 8), ("b",): Node(1, 2, 1), ("b", "c"): Node(1, 1, 1),
    }  # fmt: skip
    assert answer["overlap_ps"] == 3
    assert longest_of(answer)[("b",)] == (1, 5)


def test_names_of_two_categories_are_two_nodes():
    opened = open_timelines.opened([[(0, 2, "x"), (3, 2, "y")]], categories={"x": 1, "y": 3})
    names = call_tree(opened)["names"]
    assert names == {"text": ["x", "y"], "category": ["compute", "copies"], "track": [-1, -1]}


def test_what_is_small_is_one_node_with_all_of_its_time():
    tracks = [[(0, 100, "a"), (0, 40, "b"), (41, 4, "c"), (42, 1, "e"), (50, 3, "d"), (60, 2, "f")]]
    opened = open_timelines.opened([*tracks, [(0, 1, "g")]])
    answer = call_tree(opened, most=3)
    assert nodes_of(answer) == {
        (): Node(7, 101, 0),
        ("a",): Node(1, 100, 51),
        ("a", "b"): Node(1, 40, 40),
        ("a", "…"): Node(4, 9, 9),
        ("g",): Node(1, 1, 1),  # one alone keeps its name
    }
    assert longest_of(answer)[("a", "…")][1] == 4
    back = nodes_of(call_tree(opened, most=3, order="bottom_up"))
    assert back == {
        (): Node(7, 101, 101),
        ("a",): Node(1, 100, 51),
        ("b",): Node(1, 40, 40),
        ("b", "a"): Node(1, 40, 40),
        ("…",): Node(5, None, 10),
    }


def test_more_paths_than_there_is_room_for_are_other_calls(monkeypatch):
    monkeypatch.setattr(call_paths, "_MOST_PATHS", 2)
    opened = open_timelines.opened(
        [[(0, 9, "a"), (1, 5, "b"), (2, 3, "c"), (3, 1, "d"), (7, 1, "e")]]
    )
    assert nodes_of(call_tree(opened)) == {
        (): Node(5, 9, 0),
        ("a",): Node(1, 9, 3),
        ("a", "b"): Node(1, 5, 2),
        ("a", "b", "…"): Node(2, 3, 3),
        ("a", "…"): Node(1, 1, 1),
    }
    back = nodes_of(call_tree(opened, order="bottom_up"))
    assert back[("…",)] == Node(3, None, 4)
    assert back[()] == Node(5, 9, 9)


def test_nothing_is_a_root_alone():
    nothing: list[list[list[Any]]] = [[], [[]], [[], []]]
    for tracks in nothing:
        for order in ("top_down", "bottom_up"):
            assert nodes_of(call_tree(open_timelines.opened(tracks), order=order)) == {
                (): Node(0, 0, 0)
            }
    opened = open_timelines.opened(DRAWN)
    assert nodes_of(call_tree(opened, tracks=[])) == {(): Node(0, 0, 0)}
    assert nodes_of(call_tree(opened, from_ps=20, to_ps=10)) == {(): Node(0, 0, 0)}


def test_events_without_a_duration_count():
    assert nodes_of(call_tree(open_timelines.opened([[(0, 4, "a"), (2, 0, "b")]]))) == {
        (): Node(2, 4, 0), ("a",): Node(1, 4, 4), ("a", "b"): Node(1, 0, 0)
    }  # fmt: skip


def test_a_track_that_is_not_there_is_refused():
    with pytest.raises(BadRequest, match="no track 2"):
        call_tree(open_timelines.opened(DRAWN), tracks=[2])


def test_events_deeper_than_rows_still_nest():
    deep = [(index, 5000 - 2 * index, "a") for index in range(1500)]
    opened = open_timelines.opened([deep])
    paths = nodes_of(call_tree(opened))
    assert len(paths) == 1501
    assert max(len(path) for path in paths) == 1500
    back = nodes_of(call_tree(opened, order="bottom_up"))
    assert back[("a",)] == Node(1500, 5000, 5000)
    assert back[("a", "a")] == Node(1499, 4998, 4998)


def events_of(track, begin, end):
    """(path, its instants, those that an earlier event has) of the events: O(n²)."""
    events = sorted(track, key=lambda event: (event[0], -event[1]))
    paths: list[Path] = []
    owned: list[set[int]] = []
    parents: list[int] = []
    for at, (start, duration, name) in enumerate(events):
        ends = [first + length for first, length, _ in events[:at]]
        around = [one for one, until in enumerate(ends) if start < until >= start + duration]
        parent = max(around, default=-1)
        earlier = {
            instant
            for sibling in range(at)
            if parents[sibling] == parent
            for instant in range(events[sibling][0], ends[sibling])
        }
        inside = set(range(max(start, begin), min(start + duration, end)))
        inside &= owned[parent] if parent >= 0 else inside
        parents.append(parent)
        paths.append((*(paths[parent] if parent >= 0 else ()), name))
        owned.append(inside - earlier)
        if begin < end and start < end and (start >= begin or start + duration > begin):
            yield paths[at], owned[at], inside & earlier


def brute(tracks, begin, end, order, *, is_by_track):
    """The nodes from the definitions, and the overlap."""
    calls: dict[Path, int] = defaultdict(int)
    # At which instants of which track a chain of calls is in progress, and is all there is.
    during: dict[Path, set[tuple[int, int]]] = defaultdict(set)
    own: dict[Path, set[tuple[int, int]]] = defaultdict(set)
    overlap = events = 0
    for number, track in enumerate(tracks):
        top = (f"track {number}",) if is_by_track else ()
        innermost: dict[int, Path] = {}
        for path, instants, lost in events_of(track, begin, end):
            events += 1
            overlap += len(lost)
            calls[top] += 1 if top else 0
            chains = (
                [path]
                if order == "top_down"
                else [path[index:][::-1] for index in range(len(path))]
            )
            for chain in chains:
                calls[top + chain] += 1
                during[top + chain] |= {(number, instant) for instant in instants}
            innermost |= dict.fromkeys(instants, path)
        for instant, path in innermost.items():
            during[()].add((number, instant))
            during[top].add((number, instant))
            if order == "top_down":
                own[top + path].add((number, instant))
            else:
                for at in range(len(path) + 1):
                    own[top + path[::-1][:at]].add((number, instant))
                own[()].add((number, instant))
    calls[()] = events
    return {
        path: Node(count, len(during[path]), len(own[path])) for path, count in calls.items()
    }, overlap


@settings(deadline=None, max_examples=300)
@given(TRACKS, st.integers(-8, 40), st.integers(-8, 50), ORDERS, st.integers(0, 1))
@example([[(0, 10, "a"), (5, 10, "b"), (6, 3, "c")]], 0, 50, "top_down", 0)
@example([[(0, 10, "a"), (1, 8, "a"), (2, 3, "b"), (6, 2, "b")]], 0, 50, "bottom_up", 1)
def test_nodes_are_those_of_a_brute_force(tracks, begin, end, order, is_by_track):
    opened = open_timelines.opened(tracks)
    answer = call_tree(opened, from_ps=begin, to_ps=end, order=order, is_by_track=bool(is_by_track))
    # A range up to the end holds the instants there.
    until = end + (end >= opened.timeline.end_ps)
    expected, overlap = brute(tracks, begin, until, order, is_by_track=is_by_track)
    nodes = nodes_of(answer)
    # Chains without self time are not followed further.
    if order == "bottom_up":
        depth = 2 if is_by_track else 1
        expected = {
            path: node
            for path, node in expected.items()
            if len(path) <= depth or expected[path[:-1]].self_ps
        }
    assert nodes == expected
    assert answer["overlap_ps"] == overlap


@settings(deadline=None, max_examples=150)
@given(TRACKS, st.booleans(), st.integers(1, 8))
def test_folding_leaves_no_time_and_no_event_out(tracks, is_by_track, most):
    opened = open_timelines.opened(tracks)
    events = sum(map(len, tracks))
    whole = nodes_of(call_tree(opened, is_by_track=is_by_track))[()]
    for order in ("top_down", "bottom_up"):
        answer = call_tree(opened, order=order, is_by_track=is_by_track, most=most)
        nodes = answer["nodes"]
        parent, own = np.array(nodes["parent"]), np.array(nodes["self_ps"])
        assert nodes["count"][0] == events
        assert parent.size <= 2 * most + 1
        below = np.zeros(parent.size, np.int64)
        if order == "top_down":
            assert own.sum() == whole.total_ps
            np.add.at(below, parent[1:], nodes["total_ps"][1:])
            assert (below + own == nodes["total_ps"]).all()
            is_call = np.array([
                row > 0 and (name < 0 or answer["names"]["track"][name] < 0)
                for row, name in enumerate(nodes["name"])
            ])  # fmt: skip
            assert np.array(nodes["count"])[is_call].sum() == events
        else:
            assert own[0] == whole.total_ps
            np.add.at(below, parent[1:], own[1:])
            assert (below <= own).all()


def test_a_real_trace_adds_up(gpu_trace):
    opened = open_timelines.opened_space(read_space(gpu_trace))
    answer = call_tree(opened)
    # Nothing overlaps without nesting: each track is busy for as long as its calls.
    assert answer["overlap_ps"] == 0
    busy = sum(track.busy_ps for track in opened.timeline.tracks)
    assert answer["nodes"]["total_ps"][0] == answer["nodes"]["self_ps"][0] + busy
    sums = aggregate(opened)["rows"]
    assert sum(answer["nodes"]["self_ps"]) == sum(sums["self_ps"]) == busy
    by_name = dict(
        zip(zip(sums["key"], sums["category"], strict=True), sums["self_ps"], strict=True)
    )
    back = call_tree(opened, order="bottom_up", most=100_000)
    nodes, names = back["nodes"], back["names"]
    for row, (parent, name) in enumerate(zip(nodes["parent"], nodes["name"], strict=True)):
        if row and not parent:
            key = names["text"][name], names["category"][name]
            assert nodes["self_ps"][row] == by_name.pop(key)
    assert not by_name
    assert len(call_tree(opened, order="bottom_up")["nodes"]["parent"]) <= 8001
