"""The routes of timelines, over the real engine."""

import gzip
import shutil
from collections import Counter
from pathlib import Path

import pytest
from helpers.asking import client_of, error_of, get
from helpers.timeline_client import DRAWN, Timeline, index_of
from traces import write_run
from werkzeug.test import Client

RUN = "tensorflow_cpu_training"
US = 1_000_000


@pytest.fixture(scope="module")
def logdir(tmp_path_factory, sample_logdir) -> Path:
    root = tmp_path_factory.mktemp("timelines")
    shutil.copytree(sample_logdir, root, dirs_exist_ok=True)
    write_run(root, {"host0": DRAWN}, "drawn")
    write_run(root, {"a.b": DRAWN, "c,d": DRAWN}, "two")
    return root


@pytest.fixture(scope="module")
def client(logdir) -> Client:
    return client_of(logdir)


@pytest.fixture(scope="module")
def drawn(client) -> Timeline:
    return Timeline(client)


# The index.


def test_index_names_sections_and_tracks(drawn):
    index = drawn.index
    assert (index["host"], index["part"], index["origin_ns"]) == ("host0", "events", "0")
    assert (index["begin_ps"], index["end_ps"]) == (0, 16 * US)
    assert (index["events_in_file"], index["events"], index["unplaced"]) == (8, 8, 0)
    assert [section["name"] for section in index["sections"]] == ["/device:GPU:0", "/host:CPU"]
    assert [section["kind"] for section in index["sections"]] == ["device", "host"]
    assert [section["events"] for section in index["sections"]] == [4, 4]
    by_name = {track["name"]: track for track in index["tracks"]}
    stream = by_name["Stream #1(Compute)"]
    assert stream == {
        "id": stream["id"], "section": 0, "name": "Stream #1(Compute)", "kind": "stream",
        "row": stream["row"], "rows": 1, "events": 3, "busy_ps": 10 * US, "begin_ps": 0,
        "end_ps": 12 * US, "derived": False,
    }  # fmt: skip
    assert (by_name["python"]["rows"], by_name["python"]["end_ps"]) == (3, 16 * US)
    assert index["sections"][0]["busy_ps"] == 10 * US
    assert index["warnings"] == []


def test_things_are_numbered_in_order_and_rows_follow_one_another(client):
    for run in ("drawn", RUN, "jax_cpu_training"):
        for part in ("events", "derived"):
            index = index_of(client, run, part=part)
            for what in ("sections", "tracks", "counters"):
                assert [one["id"] for one in index[what]] == list(range(len(index[what])))
            row = 0
            for track in index["tracks"]:
                assert track["row"] == row
                row += track["rows"]
                assert track["id"] in index["sections"][track["section"]]["tracks"]
            assert sum(track["events"] for track in index["tracks"]) == index["events"]
            meanings = {category["name"]: category["meaning"] for category in index["categories"]}
            assert meanings["compute"] == "compute"


def test_derived_part_brings_steps_and_where_to_begin(client):
    index = index_of(client, RUN, part="derived")
    (steps,) = [track for track in index["tracks"] if track["kind"] == "steps"][:1]
    assert steps["derived"]
    home = index["home"]
    assert home["from_ps"] < home["to_ps"]
    assert home["label"]
    assert index["version"] != index_of(client, RUN)["version"]


def test_host_may_be_left_out_where_there_is_one(client):
    assert index_of(client)["host"] == "host0"
    assert error_of(get(client, "timeline", run="two")) == (400, "bad_request")
    assert index_of(client, "two", host="c,d")["host"] == "c,d"


# Tiles.


def test_whole_trace_fits_in_one_tile(drawn):
    tiles = drawn.whole()
    rows = {row for row, _ in tiles.chunks}
    assert rows == {row for track in drawn.index["tracks"]
                    for row in range(track["row"], track["row"] + track["rows"])}  # fmt: skip
    assert sum(entry.count for entry in tiles.entries) == 8
    assert not tiles.head["truncated"]
    assert Counter(entry.name for entry in tiles.entries)["matmul"] == 2


def test_every_event_is_its_own_at_the_finest_level(drawn):
    span = drawn.index["end_ps"] - drawn.index["begin_ps"]
    level = 10
    tiles = drawn.tiles(level, 0, (span >> (level + 9)) + 1)
    own = {entry.id: entry for entry in tiles.entries}
    assert sorted(own) == list(range(8))
    assert all(entry.count == 1 for entry in own.values())
    events = {(entry.name, entry.start_ps, entry.end_ps) for entry in own.values()}
    assert {("train", 0, 16 * US), ("matmul", 8 * US, 12 * US), ("k", 2 * US, 3 * US)} <= {
        (name, round(start, -4), round(end, -4)) for name, start, end in events
    }


@pytest.mark.parametrize("run", [RUN, "jax_cpu_training"])
def test_no_event_of_a_real_trace_is_lost_at_any_level(client, run):
    timeline = Timeline(client, run)
    for level in range(timeline.index["max_level"], timeline.index["max_level"] - 6, -1):
        tiles = (timeline.index["end_ps"] - timeline.index["begin_ps"] >> (level + 9)) + 1
        found = timeline.tiles(level, 0, tiles)
        size = 1 << (level + 9)
        counts: Counter[int] = Counter()
        for entry in found.entries:
            start = entry.start_ps - timeline.index["begin_ps"]
            if start >= entry.tile * size:  # not one that reaches in from before
                counts[entry.row] += entry.count
        events = {
            track["id"]: sum(counts[track["row"] + depth] for depth in range(track["rows"]))
            for track in timeline.index["tracks"]
        }
        assert events == {track["id"]: track["events"] for track in timeline.index["tracks"]}


def test_chunks_are_listed_though_they_are_empty(drawn):
    tiles = drawn.tiles(0, 0, 3, rows="0-1")
    assert tiles.chunks == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    beyond = drawn.tiles(20, 2**40, 2**40 + 2, rows="0")
    assert beyond.chunks == [(0, 2**40), (0, 2**40 + 1)]
    assert beyond.entries == []


def test_filter_leaves_events_out(drawn):
    assert {entry.name for entry in drawn.whole(name="MAT").entries} == {"matmul"}
    assert drawn.whole(name="MAT", case=1).entries == []
    assert {e.name for e in drawn.whole(name="^[kr]$", regex=1).entries} == {"k", "r"}
    long = drawn.whole(min_ps=4e6).entries
    assert sum(entry.count for entry in long) == 4
    of_one = {e.name for e in drawn.whole(category="collectives").entries}
    assert of_one == set()
    names = [category["name"] for category in drawn.index["categories"]]
    every = drawn.whole(category=",".join(names))
    assert sum(entry.count for entry in every.entries) == 8


def test_body_is_a_function_of_the_url(drawn):
    response = drawn.get("tiles", level=10, **{"from": 0, "to": 2})
    assert response.mimetype == "application/octet-stream"
    assert response.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    etag = response.headers["ETag"]
    again = drawn.get("tiles", {"If-None-Match": etag}, level=10, **{"from": 0, "to": 2})
    assert (again.status_code, again.data) == (304, b"")
    zipped = drawn.get("tiles", {"Accept-Encoding": "gzip"}, level=10, **{"from": 0, "to": 20})
    assert zipped.headers["Content-Encoding"] == "gzip"
    plain = drawn.get("tiles", level=10, **{"from": 0, "to": 20})
    assert gzip.decompress(zipped.data) == plain.data
    tiny = drawn.get("tiles", {"Accept-Encoding": "gzip"}, level=10, rows=0, **{"from": 0, "to": 1})
    assert "Content-Encoding" not in tiny.headers


# Other questions.


def test_busy_shares(drawn):
    shares = drawn.json("busy", buckets=4)["sections"]
    assert shares["0"] == pytest.approx([1.0, 0.5, 1.0, 0.0])
    assert shares["1"] == pytest.approx([1.0] * 4)
    assert drawn.json("busy", from_ps=4e6, to_ps=8e6, sections="0") == {"sections": {"0": [0.5]}}


def test_tracks_in_use_have_events_in_the_span(drawn):
    every = drawn.json("in_use")
    assert every["tracks"] == [track["id"] for track in drawn.index["tracks"]]
    name = {track["id"]: track["name"] for track in drawn.index["tracks"]}
    later = drawn.json("in_use", from_ps=12e6, to_ps=13e6)
    assert [name[track] for track in later["tracks"]] == ["python"]


def test_search_finds_names_and_arguments_in_time_order(drawn):
    found = drawn.json("search", q="MATMUL")
    assert (found["count"], found["types"], found["cursor"], found["error"]) == (2, 1, "", None)
    assert [hit["start_ps"] for hit in found["hits"]] == [0, 8 * US]
    (track,) = found["tracks"]
    assert found["tracks"] == {track: 2}
    assert drawn.json("search", q="matmul", from_ps=5e6, to_ps=9e6)["count"] == 1
    assert drawn.json("search", q="arg:bytes=4096")["count"] == 1
    first = drawn.json("search", q=".", regex=1, limit=5)
    assert (len(first["hits"]), first["count"]) == (5, 8)
    rest = drawn.json("search", q=".", regex=1, limit=5, after=first["cursor"])
    assert len(rest["hits"]) == 3
    ids = [hit["id"] for hit in first["hits"] + rest["hits"]]
    assert sorted(ids) == list(range(8))


def test_marks_are_where_hits_lie(drawn):
    level = drawn.index["max_level"]
    row = drawn.json("search", q="matmul")["hits"][0]["row"]
    marks = drawn.json("marks", q="matmul", level=10, **{"from": 0, "to": 64})
    assert marks == {"rows": {str(row): [[0, 4 * US], [8 * US, 12 * US]]}}
    assert drawn.json("marks", q="matmul", level=level, rows=row, **{"from": 0, "to": 1})["rows"]
    assert drawn.json("marks", q="no such", level=level, **{"from": 0, "to": 1}) == {"rows": {}}


def test_aggregate_sums_a_span(drawn):
    sums = drawn.json("aggregate", tracks="0-1")
    rows = dict(zip(sums["rows"]["key"], sums["rows"]["total_ps"], strict=True))
    assert rows["matmul"] == 8 * US
    assert (sums["events"], sums["busy_ps"]) == (4, 10 * US)
    part = drawn.json("aggregate", tracks="0-1", from_ps=2e6, to_ps=9e6, by="category")
    assert part["events"] == 4
    assert sum(part["rows"]["count"]) == 4


def test_calls_of_a_span_are_a_tree(drawn):
    python = next(track["id"] for track in drawn.index["tracks"] if track["name"] == "python")
    answer = drawn.json("calls", tracks=python, from_ps=2e6)
    nodes, names = answer["nodes"], answer["names"]["text"]
    assert [names[name] for name in nodes["name"][1:]] == ["train", "launch", "i", "k"]
    assert nodes["parent"] == [-1, 0, 1, 1, 2]
    assert nodes["total_ps"] == [14 * US, 14 * US, 3 * US, 3 * US, US]
    assert nodes["self_ps"] == [0, 8 * US, 2 * US, 3 * US, US]
    event = drawn.json("event", id=nodes["longest"][4])
    assert (event["name"], event["duration_ps"]) == ("k", nodes["longest_ps"][4])
    back = drawn.json("calls", tracks=python, order="bottom_up", by_track=1)
    row = back["nodes"]["name"].index(back["names"]["track"].index(python))
    assert back["nodes"]["self_ps"][row] == 16 * US
    assert answer["overlap_ps"] == 0


def test_event_tells_all_about_itself(drawn):
    (hit,) = drawn.json("search", q="arg:note")["hits"]
    event = drawn.json("event", id=hit["id"])
    assert {**hit, **event} == event
    assert (event["full_name"], event["depth"], event["self_ps"]) == ("matmul", 0, 4 * US)
    stats = {stat["key"]: stat["value"] for stat in event["stats"]}
    assert (stats["bytes"], stats["note"]) == (4096, "<b>&")
    assert (event["same_name"]["count"], event["same_name"]["total_ps"]) == (2, 8 * US)
    assert event["stack"] == []
    (inner,) = drawn.json("search", q="whole:k")["hits"]
    assert [one["name"] for one in drawn.json("event", id=inner["id"])["stack"]] == [
        "train", "launch",
    ]  # fmt: skip


def test_moves_lead_from_event_to_event(drawn):
    (first, second) = drawn.json("search", q="matmul")["hits"]
    (train,) = drawn.json("search", q="train")["hits"]
    (launch,) = drawn.json("search", q="launch")["hits"]

    def led(event, how):
        return drawn.json("event", id=event["id"], move=how)["id"]

    assert (led(first, "next_same"), led(second, "first_same")) == (second["id"], first["id"])
    assert led(second, "previous_same") == first["id"]
    assert led(launch, "parent") == train["id"]
    assert led(train, "child") == launch["id"]
    for event, how in ((first, "previous"), (second, "next"), (train, "parent")):
        assert drawn.json("event", id=event["id"], move=how) is None
    assert error_of(drawn.get("event", id=8)) == (404, "event_not_found")
    assert error_of(drawn.get("flows", id=8)) == (404, "event_not_found")
    assert error_of(drawn.get("event", id=2**32)) == (400, "bad_request")
    assert error_of(drawn.get("event", id=0, move="up")) == (400, "bad_request")


def test_event_names_its_step_whatever_was_asked_before(logdir):
    for asks_first in (False, True):
        client = client_of(logdir)
        timeline = Timeline(client, RUN)
        if asks_first:
            index_of(client, RUN, part="derived")
        hits = timeline.json("search", q="MatMul", limit=1000)["hits"]
        steps = [timeline.json("event", id=hit["id"])["step"] for hit in hits[len(hits) // 2 :][:5]]
        assert all(step["label"] for step in steps)


def test_flows_lead_from_launches_to_kernels(client):
    timeline = Timeline(client)
    assert timeline.json("flows", id=0) == {"flows": [], "total": 0, "is_enclosed": False}


def test_counters_of_a_trace_without_any(drawn):
    assert drawn.json("counters", level=20, **{"from": 0, "to": 1}) == {"counters": {}}
