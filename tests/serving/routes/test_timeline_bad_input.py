"""What timelines show of files that are broken, hostile, or huge, over HTTP."""

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers.asking import client_of, get
from helpers.kept_files import overwrite
from helpers.timeline_client import Timeline
from traces import draw, listed, write_run
from traces.bad_files import BAD_FILES, HOST
from werkzeug.test import Client

from tbprof.serving.routes.routes import Application
from tbprof.serving.service import Service

TRACE = draw({HOST: "a|x"})


def opened(root: Path, content: bytes, host: str = "host0") -> Timeline:
    """The timeline of a run with one trace."""
    write_run(root, {host: content})
    return Timeline(client_of(root), "run", host=host)


def shown(timeline: Timeline) -> int:
    """The events that the whole trace in one tile a row stands for."""
    return sum(entry.count for entry in timeline.whole().entries)


def test_what_the_recorder_lost_is_said(tmp_path: Path):
    timeline = opened(tmp_path, BAD_FILES["what the recorder lost"]())
    dropped, error, warning = timeline.index["warnings"]
    assert (dropped["code"], dropped["message"]) == (
        "dropped_events",
        "the recorder dropped 2,400,000 events",
    )
    assert "record fewer steps" in dropped["hint"]
    assert (error["code"], warning["code"]) == ("recorder_error", "recorder_warning")
    assert warning["message"] == "<b>buffers</b> were full"
    document = get(timeline.client, "data", run="run", tag="trace_viewer").json
    assert [one["message"] for one in document["metadata"]["warnings"]] == [
        error["message"], warning["message"], dropped["message"],
    ]  # fmt: skip


def test_file_that_may_not_be_read_is_unreachable(unprivileged: Path):
    (write_run(unprivileged, {"host0": TRACE}) / "host0.xplane.pb").chmod(0)
    assert get(client_of(unprivileged), "timeline", run="run").status_code == 502


def test_file_that_vanishes_while_it_is_shown(tmp_path: Path):
    timeline = opened(tmp_path, TRACE)
    [path] = tmp_path.rglob("*.xplane.pb")
    path.unlink()
    path.mkdir()
    assert timeline.get("search", q="x").status_code in (404, 422, 502)


def test_names_of_runs_and_hosts_may_be_anything(tmp_path: Path):
    if sys.platform == "win32":
        pytest.skip("Windows forbids such names")
    for host in ("<img src=x onerror=alert(1)>", "a\nb\tc", "..", "%2e", "ünï&x=1#y", "'\"; --"):
        timeline = opened(tmp_path, TRACE, host)
        assert timeline.index["host"] == host
        assert timeline.json("search", q="x")["count"] == 1


def test_trace_without_events(tmp_path: Path):
    timeline = opened(tmp_path, BAD_FILES["no events"]())
    index = timeline.index
    assert (index["events"], index["begin_ps"], index["end_ps"], index["home"]) == (0, 0, 0, None)
    assert timeline.whole().entries == []
    assert timeline.json("search", q="x")["hits"] == []
    assert timeline.json("aggregate")["events"] == 0
    assert timeline.json("calls")["nodes"]["count"] == [0]
    assert timeline.json("busy", buckets=3)["sections"] == {}
    assert timeline.json("in_use") == {"tracks": [], "counters": []}
    assert get(timeline.client, "timeline", run="run", part="derived").json["events"] == 0


def test_lines_without_events_take_no_room(tmp_path: Path):
    timeline = opened(tmp_path, BAD_FILES["lines without events"]())
    assert [track["name"] for track in timeline.index["tracks"]] == ["main"]
    assert shown(timeline) == 1


def test_impossible_times_are_clamped_and_said(tmp_path: Path):
    timeline = opened(tmp_path, BAD_FILES["impossible times"]())
    index = timeline.index
    assert index["events"] == 4
    assert index["warnings"]
    assert -(2**58) <= index["begin_ps"] < index["end_ps"] <= 2**59
    assert shown(timeline) == 4
    hits = timeline.json("search", q="fine")["hits"]
    assert [(hit["start_ps"], hit["duration_ps"]) for hit in hits] == [(10, 20)]
    sums = timeline.json("aggregate")
    assert sums["events"] == 4
    assert timeline.json("calls")["nodes"]["count"][0] == 4


def test_years_between_events_leave_a_useful_view(tmp_path: Path):
    gap = 2**56
    timeline = opened(tmp_path, BAD_FILES["years between events"]())
    whole = timeline.whole().entries
    assert sorted(entry.count for entry in whole) == [100, 100]
    index = timeline.index
    fine = timeline.tiles(6, 0, 4)
    assert {"n0", "n50"} <= {entry.name for entry in fine.entries}
    tile = gap >> 15
    assert {"f0", "f5"} <= {entry.name for entry in timeline.tiles(6, tile, tile + 1).entries}
    assert timeline.tiles(6, tile // 2, tile // 2 + 1).entries == []
    assert index["end_ps"] - index["begin_ps"] > gap


def test_lines_that_begin_years_apart(tmp_path: Path):
    timeline = opened(tmp_path, BAD_FILES["years between lines"]())
    index = timeline.index
    assert shown(timeline) == index["events"] == 2
    assert index["end_ps"] - index["begin_ps"] <= 2**58
    assert index["warnings"]
    assert [entry.name for entry in timeline.tiles(0, rows="0").entries] == ["work"]


def test_events_outside_of_their_line_are_shown_where_they_say(tmp_path: Path):
    timeline = opened(tmp_path, BAD_FILES["events outside of their line"]())
    assert shown(timeline) == 2
    assert timeline.json("search", q="outside")["hits"][0]["duration_ps"] == 7


def test_names_of_a_megabyte_are_cut_where_they_would_drown_the_rest(tmp_path: Path):
    timeline = opened(tmp_path, BAD_FILES["names of a megabyte"]())
    response = get(timeline.client, "timeline", run="run")
    assert len(response.data) < 20_000
    assert response.json["tracks"]["name"][0].endswith("n…")
    tiles = timeline.tiles(0)
    assert {len(entry.name) for entry in tiles.entries} == {200}
    found = timeline.get("search", q="nn", limit=10)
    assert found.json["count"] == 2
    assert len(found.data) < 100_000
    for route in ("aggregate", "calls"):
        assert len(timeline.get(route).data) < 100_000


@pytest.mark.slow
def test_hundred_thousand_lines(tmp_path: Path):
    lines = {f"line {number}": [("op", number, 3)] for number in range(100_000)}
    timeline = opened(tmp_path, listed({HOST: lines}))
    index = timeline.index
    assert len(index["tracks"]) == 100_000
    assert timeline.whole(rows="99990-99999").chunks == [(row, 0) for row in range(99_990, 100_000)]
    span: dict[str, Any] = {"level": index["max_level"], "from": 0, "to": 1}
    every = timeline.get("tiles", **span)
    assert every.status_code == 400  # 65,536 chunks at once
    found = timeline.json("search", q="op", limit=5)
    assert (found["count"], len(found["tracks"])) == (100_000, 100_000)
    assert timeline.json("aggregate")["events"] == 100_000
    calls = timeline.json("calls", by_track=1)["nodes"]
    assert (len(calls["parent"]), calls["count"][0]) == (8000, 100_000)


def test_markup_in_names_is_text(tmp_path: Path):
    name = "</script><img src=x onerror=alert(1)>\u2028\x01"
    timeline = opened(tmp_path, listed({HOST: {name: [(name, 0, 5)]}}))
    index = timeline.index
    assert index["tracks"][0]["name"] == name
    assert timeline.whole().entries[0].name == name
    assert timeline.json("search", q="onerror")["hits"][0]["name"] == name
    response = get(timeline.client, "timeline", run="run")
    assert response.mimetype == "application/json"
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_expressions_that_take_forever_elsewhere_end(tmp_path: Path):
    timeline = opened(tmp_path, listed({HOST: {"main": [("a" * 5000, 0, 5)]}}))
    assert timeline.json("search", q="(a+)+$", regex=1)["count"] == 1
    assert timeline.json("search", q="(a|aa)+b", regex=1)["count"] == 0


def test_damaged_copy_in_the_cache_is_built_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    cache = tmp_path / "cache"
    monkeypatch.setenv("TBPROF_CACHE_DIR", str(cache))
    logdir = tmp_path / "logdir"
    write_run(logdir, {"host0": draw({HOST: "a|xx.yy"})})
    service = Service(str(logdir))
    timeline = Timeline(Client(Application(service)), "run")
    assert shown(timeline) == 2
    service.engine().timelines.settle()
    kept = [path for path in (cache / "results").iterdir() if path.suffix == ".map"]
    assert kept
    for path in kept:
        overwrite(path, path.read_bytes()[:-8] + b"\xff" * 8)
    reopened = Service(str(logdir))
    timeline.client = Client(Application(reopened))
    assert shown(timeline) == 2
    reopened.engine().timelines.settle()
    shutil.rmtree(cache)
    assert shown(timeline) == 2
