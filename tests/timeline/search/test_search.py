"""Searches: which events they find, page by page, and where the marks lie."""

import pytest
from builders import open_timelines
from builders.open_timelines import find_results, match_overview, search
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import Ref, Unsigned, drawn_space

from tbprof.base.errors import BadRequest
from tbprof.timeline.model.category_names import CATEGORIES
from tbprof.timeline.model.open_timeline import OpenTimeline
from tbprof.xplane.reader import read_space

NAMES = ("MatMul", "matmul_1", "Conv2D", "a.b", "")
EVENTS = st.tuples(st.integers(-5, 60), st.integers(0, 30), st.sampled_from(NAMES))
TRACKS = st.lists(st.lists(EVENTS, max_size=15), max_size=5)


def names_found(opened: OpenTimeline, text: str, **options: object) -> list[str]:
    return [hit["name"] for hit in search(opened, text, **options)["hits"]]


def some() -> OpenTimeline:
    return open_timelines.opened(
        [
            [(0, 10, "MatMul"), (2, 3, "matmul_1"), (20, 5, "Conv2D")],
            [(1, 1, "conv"), (30, 0, "MatMul"), (30, 5, "a.b"), (31, 1, "a-b")],
        ],
        categories={"MatMul": 1, "conv": 3},
        full_names={
            "Conv2D": "%conv2d = f32[8]{0} convolution(%MatMul)",
            "a.b": "layer_1/attention:a.b",
        },
    )


def test_a_name_is_found_by_a_part_of_it():
    opened = some()
    answer = search(opened, "matmul")
    assert answer["hits"][0] == {
        "id": 0, "name": "MatMul", "track": 0, "row": 0, "start_ps": 0, "duration_ps": 10
    }  # fmt: skip
    assert [hit["start_ps"] for hit in answer["hits"]] == [0, 2, 30]
    del answer["hits"]
    assert answer == {
        "count": 3, "types": 2, "cursor": "", "tracks": {"0": 2, "1": 1}, "error": None
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "options", "found"),
    [
        ("matmul", {"has_case": True}, ["matmul_1"]),
        ("a.b", {}, ["a.b"]),
        ("a.b", {"is_regex": True}, ["a.b", "a-b"]),
        ("^conv", {"is_regex": True}, ["conv", "Conv2D"]),
        ("^conv", {"is_regex": True, "has_case": True}, ["conv"]),
        ("whole:MatMul", {}, ["MatMul", "MatMul"]),
        ("whole:matmul", {}, []),
        ("whole:mat.*", {"is_regex": True}, ["MatMul", "matmul_1", "MatMul"]),
        ("whole:%conv2d = f32[8]{0} convolution(%MatMul)", {}, ["Conv2D"]),
        ("attention", {}, ["a.b"]),
        ("layer_1.*b$", {"is_regex": True}, ["a.b"]),
        ("f32", {}, []),
        ("arg:long_name=f32", {}, ["Conv2D"]),
        ("arg:long_name", {}, ["Conv2D", "a.b"]),
        ("category:copies", {}, ["conv"]),
        ("category:compute whole:MatMul", {}, ["MatMul", "MatMul"]),
        ("category:copies whole:MatMul", {}, []),
        ("category:Compute whole:Mat.*", {"is_regex": True}, ["MatMul", "MatMul"]),
        ("category:Compute", {}, ["MatMul", "MatMul"]),
        ("category:comp.*|copies", {"is_regex": True}, ["MatMul", "conv", "MatMul"]),
        ("nothing like this", {}, []),
        ("", {}, []),
        ("source:", {}, []),
    ],
)
def test_queries(text, options, found):
    assert names_found(some(), text, **options) == found


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("(", {"is_regex": True}, "regular expression"),
        ("arg:key=(", {"is_regex": True}, "regular expression"),
        (r"(a)\1", {"is_regex": True}, "not a supported"),
        ("a" * 4050, {"is_regex": True}, "too large"),
        ("arg:", {}, "needs the key"),
        ("arg:=5", {}, "needs the key"),
        ("category:kernels", {}, "no category 'kernels'"),
        ("category:kernels whole:a", {}, "no category 'kernels'"),
        ("x" * 5000, {}, "5,000 characters"),
        ("a", {"after": "x.y"}, "not a cursor"),
        ("a", {"after": "1.2.3"}, "not a cursor"),
        ("a", {"after": "٣.٣"}, "not a cursor"),
    ],
)
def test_what_can_mean_nothing_is_refused(text, options, message):
    with pytest.raises(BadRequest, match=message):
        search(some(), text, **options)


def test_hostile_names_are_searched_up_to_a_length():
    opened = open_timelines.opened([[(0, 1, "a" * 1_000_000 + "!"), (2, 1, "<img src=x>\0\n")]])
    assert search(opened, "aaaa")["count"] == 1
    assert search(opened, "a!")["count"] == 0
    assert search(opened, "(a+)+$", is_regex=True)["count"] == 1
    assert search(opened, "(a+)+!", is_regex=True)["count"] == 0
    assert names_found(opened, "<img") == ["<img src=x>\0\n"]
    assert search(opened, "whole:" + "a" * 4000)["count"] == 0


def test_a_range_holds_what_overlaps_it():
    opened = open_timelines.opened([[(0, 10, "a"), (10, 0, "a"), (10, 5, "a"), (20, 0, "a")]])

    def starts(begin: int, end: int) -> list[tuple[int, int]]:
        hits = search(opened, "a", from_ps=begin, to_ps=end)["hits"]
        return [(hit["start_ps"], hit["duration_ps"]) for hit in hits]

    assert starts(0, 10) == [(0, 10)]
    assert starts(10, 11) == [(10, 5), (10, 0)]
    assert starts(9, 21) == [(0, 10), (10, 5), (10, 0), (20, 0)]
    assert starts(20, 20) == []
    assert starts(15, 20) == []


def brute(opened: OpenTimeline, name: str) -> list[int]:
    """The ids of events of a name, by (start, id)."""
    timeline = opened.timeline
    found = [index for index in range(timeline.start_ps.size) if opened.name(index) == name]
    return sorted(found, key=lambda at: (int(timeline.start_ps[at]), at))


@settings(deadline=None)
@given(TRACKS, st.integers(1, 5))
def test_pages_list_every_hit_once_in_time_order(tracks, limit):
    opened = open_timelines.opened(tracks)
    found: list[int] = []
    cursor = ""
    while True:
        page = search(opened, "whole:MatMul", limit=limit, after=cursor)
        assert len(page["hits"]) <= limit
        found += [hit["id"] for hit in page["hits"]]
        cursor = page["cursor"]
        if not cursor:
            break
        assert len(page["hits"]) == limit
    assert found == brute(opened, "MatMul")
    assert page["count"] == len(found) == sum(page["tracks"].values())
    of_track = [sum(name == "MatMul" for _, _, name in track) for track in tracks]
    assert page["tracks"] == {str(at): count for at, count in enumerate(of_track) if count}


@settings(deadline=None)
@given(TRACKS, st.integers(-5, 80), st.integers(-5, 80), st.integers(0, 5))
def test_marks_are_the_hits_of_a_window_merged_by_bucket(tracks, begin, end, level):
    opened = open_timelines.opened(tracks)
    timeline = opened.timeline
    rows = range(timeline.row_first.size - 1)
    overview = match_overview(
        opened, "whole:MatMul", level=level, from_ps=begin, to_ps=end, rows=rows
    )
    expected: dict[str, list[list[int]]] = {}
    for at in brute(opened, "MatMul"):
        start, stop = (
            int(timeline.start_ps[at]),
            int(timeline.start_ps[at] + timeline.duration_ps[at]),
        )
        if not (start < end and (start >= begin or stop > begin)):
            continue
        spans = expected.setdefault(str(timeline.row_of(at)), [])
        bucket = (start - timeline.begin_ps) >> level
        if spans and bucket <= (spans[-1][1] - timeline.begin_ps) >> level:
            spans[-1][1] = max(spans[-1][1], stop)
        else:
            spans.append([start, stop])
    assert overview["rows"] == expected


def test_marks_of_rows_that_are_too_deep_to_nest():
    deep = [
        (index, 5000 - 2 * index, "a") for index in range(1500)
    ]  # 476 of them lie on the last row
    opened = open_timelines.opened([deep])
    assert opened.timeline.tracks[0].rows == 1024
    rows = [1022, 1023]
    overview = match_overview(opened, "a", level=0, from_ps=3900, to_ps=4000, rows=rows)
    assert overview["rows"] == {"1022": [[1022, 3978]], "1023": [[1023, 3977]]}
    assert match_overview(opened, "a", level=0, from_ps=3977, to_ps=3978, rows=rows)["rows"] == {
        "1022": [[1022, 3978]]
    }


def test_marks_have_limits():
    opened = open_timelines.opened([[(10 * index, 1, "a") for index in range(1000)]])
    window = {"from_ps": -(2**62), "to_ps": 2**62, "rows": [0, 7, -1]}
    assert match_overview(opened, "a", level=99, **window)["rows"] == {"0": [[0, 9991]]}
    assert len(match_overview(opened, "a", level=-3, **window)["rows"]["0"]) == 1000
    many = {**window, "rows": [0] * 5000}
    with pytest.raises(BadRequest, match="marks"):
        match_overview(opened, "a", level=0, **many)


def test_stats_are_found_by_key_and_value():
    space = drawn_space(
        {"/host:CPU": "t |aabbccdd", "/device:GPU:0": "s |a..bb"},
        names={"a": "one", "b": "two", "c": "three", "d": "four"},
        stats={
            "a": {"bytes": 4096, "Note": "Hello World"},
            "b": {"bytes": Unsigned(2**64 - 1), "Note": Ref("hello again")},
            "c": {"bytes": 0.5},
        },
        type_stats={"d": {"flops": 7, "Note": "hello from the type"}, "a": {"Note": "shared"}},
    )
    opened = open_timelines.opened_space(space)

    def found(text: str, **options: object) -> list[str]:
        return sorted(names_found(opened, text, **options))

    assert found("arg:bytes=4096") == ["one", "one"]
    assert found("arg:bytes=4,096") == ["one", "one"]
    assert found("arg:bytes=40") == []
    assert found("arg:bytes=40.*", is_regex=True) == ["one", "one"]
    assert found("arg:bytes=18446744073709551615") == ["two", "two"]
    assert found("arg:bytes=-1") == []
    assert found("arg:bytes=0.5") == ["three"]
    assert found("arg:bytes") == found("arg:bytes=") == ["one", "one", "three", "two", "two"]
    assert found("arg:note=hello") == ["four", "one", "one", "two", "two"]
    assert found("arg:note=hello", has_case=True) == []
    assert found("arg:Note=hello", has_case=True) == ["four", "two", "two"]
    assert found("arg:Note=shared") == []  # a type's stats are defaults
    assert found("arg:Note=^hello .*(again|type)$", is_regex=True) == ["four", "two", "two"]
    assert found("arg:flops=7") == ["four"]
    assert found("arg:flops=7.0") == ["four"]
    assert found("arg:no such key=1") == []
    assert search(opened, "arg:bytes=4096")["tracks"] == {"0": 1, "1": 1}


def test_sources_are_stats_and_names_of_frames():
    space = drawn_space(
        {"/host:CPU": "t |aabbccdd"},
        names={"a": "$model.py:12 call", "b": "b", "c": "model.py", "d": "d"},
        stats={"b": {"source": "/x/model.py:40"}},
        type_stats={"d": {"source_stack": "model.py:1\nmain.py:2"}},
    )
    opened = open_timelines.opened_space(space)
    assert sorted(names_found(opened, "source:model.py")) == ["$model.py:12 call", "b", "d"]
    assert names_found(opened, "source:main") == ["d"]
    assert names_found(opened, r"source:py:\d\d", is_regex=True) == ["$model.py:12 call", "b"]


def test_events_that_were_derived_have_no_stats():
    opened = open_timelines.opened([[(0, 1, "a")]])
    assert search(opened, "arg:x=1")["count"] == 0


def test_nothing_is_found_in_nothing():
    opened = open_timelines.opened([])
    assert search(opened, "a")["count"] == 0
    assert match_overview(opened, "a", level=3, from_ps=0, to_ps=10, rows=[0])["rows"] == {}
    assert search(open_timelines.opened([[], []]), "a")["tracks"] == {}


def test_the_latest_searches_are_kept():
    opened = some()
    assert find_results(opened, "MatMul") is find_results(opened, "MatMul")
    assert find_results(opened, "MatMul") is not find_results(opened, "MatMul", has_case=True)
    first = find_results(opened, "MatMul")
    for number in range(20):
        find_results(opened, f"name {number}")
    assert find_results(opened, "MatMul") is not first


def test_a_real_trace(gpu_trace):
    space = read_space(gpu_trace)
    opened = open_timelines.built(space)
    copies = search(opened, "whole:MemcpyH2D", limit=10_000)
    assert copies["count"] == len(copies["hits"]) > 100
    starts = [hit["start_ps"] for hit in copies["hits"]]
    assert starts == sorted(starts)
    assert search(opened, "arg:correlation_id")["count"] == 1556 + 19 + 759 + 778
    wanted = 0
    for plane in space.planes:
        details = plane.event_stats(plane.events().source, ["kernel_details"])["kernel_details"]
        texts = plane.strings.take(details.texts().tolist())
        wanted += sum("block:1024,1,1" in text for text in texts)
    assert search(opened, "arg:kernel_details=block:1024,1,1")["count"] == wanted > 100


def test_categories_of_real_traces_add_up(gpu_trace, tpu_trace, sample_logdir):
    for path in (gpu_trace, tpu_trace, *sorted(sample_logdir.rglob("*.xplane.pb"))):
        opened = open_timelines.built(read_space(path))
        counts = [search(opened, f"category:{name}")["count"] for name, _ in CATEGORIES]
        assert sum(counts) == opened.timeline.start_ps.size
        assert sum(count > 0 for count in counts) > 2
