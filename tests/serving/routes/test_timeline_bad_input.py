"""What timelines show of files that are broken, hostile, or huge, over HTTP."""

import shutil
import sys
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from helpers.kept_files import overwrite
from helpers.tile_reader import Tiles, read_tiles
from helpers.timeline_client import expanded
from traces import draw, listed, write_run
from traces.bad_files import BAD_FILES, HOST
from werkzeug.test import Client

from tbprof.serving.routes.routes import Application
from tbprof.serving.service import Service


class Opened:
    """A logdir with one trace, asked as the page asks."""

    def __init__(self, root: Path, content: bytes, host: str = "host0") -> None:
        self.path = write_run(root, {host: content}) / f"{host}.xplane.pb"
        self.service = Service(str(root))
        self.client = Client(Application(self.service))
        self.host = host

    def get(self, route: str, **parameters: Any) -> Any:
        query = urlencode({"run": "run", "host": self.host, **parameters})
        return self.client.get(f"/data/plugin/profile/{route}?{query}")

    def index(self) -> dict[str, Any]:
        response = self.get("timeline")
        assert response.status_code == 200, response.data
        return expanded(response.json)

    @cached_property
    def seen(self) -> dict[str, Any]:
        """The index that the page has."""
        return self.index()

    def ask(self, route: str, **parameters: Any) -> Any:
        response = self.get(f"timeline_{route}", version=self.seen["version"], **parameters)
        assert response.status_code == 200, response.data
        return response.json

    def tiles(self, level: int | None = None, first: int = 0, last: int = 1, **more: Any) -> Tiles:
        index = self.seen
        span = {"level": index["max_level"] if level is None else level, "from": first, "to": last}
        response = self.get("timeline_tiles", version=index["version"], **span, **more)
        assert response.status_code == 200, response.data
        return read_tiles(response.data)

    def count(self) -> int:
        """The events that the whole trace in one tile a row stands for."""
        return sum(entry.count for entry in self.tiles().entries)


def test_what_the_recorder_lost_is_said(tmp_path: Path):
    opened = Opened(tmp_path, BAD_FILES["what the recorder lost"]())
    dropped, error, warning = opened.index()["warnings"]
    assert (dropped["code"], dropped["message"]) == (
        "dropped_events",
        "the recorder dropped 2,400,000 events",
    )
    assert "record fewer steps" in dropped["hint"]
    assert (error["code"], warning["code"]) == ("recorder_error", "recorder_warning")
    assert warning["message"] == "<b>buffers</b> were full"
    document = opened.get("data", tag="trace_viewer").json
    assert [one["message"] for one in document["metadata"]["warnings"]] == [
        error["message"], warning["message"], dropped["message"],
    ]  # fmt: skip


def test_file_that_may_not_be_read_is_unreachable(unprivileged: Path):
    opened = Opened(unprivileged, draw({"/host:CPU": "a|x"}))
    opened.path.chmod(0)
    assert opened.get("timeline").status_code == 502


def test_file_that_vanishes_while_it_is_shown(tmp_path: Path):
    opened = Opened(tmp_path, draw({"/host:CPU": "a|x"}))
    version = opened.index()["version"]
    opened.path.unlink()
    opened.path.mkdir()
    response = opened.get("timeline_search", version=version, q="x")
    assert response.status_code in (404, 422, 502)


def test_names_of_runs_and_hosts_may_be_anything(tmp_path: Path):
    if sys.platform == "win32":
        pytest.skip("Windows forbids such names")
    for host in ("<img src=x onerror=alert(1)>", "a\nb\tc", "..", "%2e", "ünï&x=1#y", "'\"; --"):
        opened = Opened(tmp_path, draw({"/host:CPU": "a|x"}), host)
        assert opened.index()["host"] == host
        assert opened.ask("search", q="x")["count"] == 1


def test_trace_without_events(tmp_path: Path):
    opened = Opened(tmp_path, BAD_FILES["no events"]())
    index = opened.index()
    assert (index["events"], index["begin_ps"], index["end_ps"], index["home"]) == (0, 0, 0, None)
    assert opened.tiles().entries == []
    assert opened.ask("search", q="x")["hits"] == []
    assert opened.ask("aggregate")["events"] == 0
    assert opened.ask("calls")["nodes"]["count"] == [0]
    assert opened.ask("busy", buckets=3)["sections"] == {}
    assert opened.ask("in_use") == {"tracks": [], "counters": []}
    assert opened.get("timeline", part="derived").json["events"] == 0


def test_lines_without_events_take_no_room(tmp_path: Path):
    opened = Opened(tmp_path, BAD_FILES["lines without events"]())
    assert [track["name"] for track in opened.index()["tracks"]] == ["main"]
    assert opened.count() == 1


def test_impossible_times_are_clamped_and_said(tmp_path: Path):
    opened = Opened(tmp_path, BAD_FILES["impossible times"]())
    index = opened.index()
    assert index["events"] == 4
    assert index["warnings"]
    assert -(2**58) <= index["begin_ps"] < index["end_ps"] <= 2**59
    assert opened.count() == 4
    hits = opened.ask("search", q="fine")["hits"]
    assert [(hit["start_ps"], hit["duration_ps"]) for hit in hits] == [(10, 20)]
    sums = opened.ask("aggregate")
    assert sums["events"] == 4
    assert opened.ask("calls")["nodes"]["count"][0] == 4


def test_years_between_events_leave_a_useful_view(tmp_path: Path):
    gap = 2**56
    opened = Opened(tmp_path, BAD_FILES["years between events"]())
    whole = opened.tiles().entries
    assert sorted(entry.count for entry in whole) == [100, 100]
    index = opened.index()
    fine = opened.tiles(6, 0, 4)
    assert {"n0", "n50"} <= {entry.name for entry in fine.entries}
    tile = gap >> 15
    assert {"f0", "f5"} <= {entry.name for entry in opened.tiles(6, tile, tile + 1).entries}
    assert opened.tiles(6, tile // 2, tile // 2 + 1).entries == []
    assert index["end_ps"] - index["begin_ps"] > gap


def test_lines_that_begin_years_apart(tmp_path: Path):
    opened = Opened(tmp_path, BAD_FILES["years between lines"]())
    index = opened.index()
    assert opened.count() == index["events"] == 2
    assert index["end_ps"] - index["begin_ps"] <= 2**58
    assert index["warnings"]
    assert [entry.name for entry in opened.tiles(0, rows="0").entries] == ["work"]


def test_events_outside_of_their_line_are_shown_where_they_say(tmp_path: Path):
    opened = Opened(tmp_path, BAD_FILES["events outside of their line"]())
    assert opened.count() == 2
    assert opened.ask("search", q="outside")["hits"][0]["duration_ps"] == 7


def test_names_of_a_megabyte_are_cut_where_they_would_drown_the_rest(tmp_path: Path):
    opened = Opened(tmp_path, BAD_FILES["names of a megabyte"]())
    response = opened.get("timeline")
    assert len(response.data) < 20_000
    assert response.json["tracks"]["name"][0].endswith("n…")
    tiles = opened.tiles(0)
    assert {len(entry.name) for entry in tiles.entries} == {200}
    found = opened.get("timeline_search", version=response.json["version"], q="nn", limit=10)
    assert found.json["count"] == 2
    assert len(found.data) < 100_000
    for route in ("timeline_aggregate", "timeline_calls"):
        assert len(opened.get(route, version=response.json["version"]).data) < 100_000


@pytest.mark.slow
def test_hundred_thousand_lines(tmp_path: Path):
    lines = {f"line {number}": [("op", number, 3)] for number in range(100_000)}
    opened = Opened(tmp_path, listed({HOST: lines}))
    index = opened.seen
    assert len(index["tracks"]) == 100_000
    assert opened.tiles(rows="99990-99999").chunks == [(row, 0) for row in range(99_990, 100_000)]
    version = index["version"]
    every = opened.get(
        "timeline_tiles", version=version, level=index["max_level"], to=1, **{"from": 0}
    )
    assert every.status_code == 400  # 65,536 chunks at once
    found = opened.ask("search", q="op", limit=5)
    assert (found["count"], len(found["tracks"])) == (100_000, 100_000)
    assert opened.ask("aggregate")["events"] == 100_000
    calls = opened.ask("calls", by_track=1)["nodes"]
    assert (len(calls["parent"]), calls["count"][0]) == (8000, 100_000)


def test_markup_in_names_is_text(tmp_path: Path):
    name = "</script><img src=x onerror=alert(1)>\u2028\x01"
    opened = Opened(tmp_path, listed({HOST: {name: [(name, 0, 5)]}}))
    index = opened.index()
    assert index["tracks"][0]["name"] == name
    assert opened.tiles().entries[0].name == name
    assert opened.ask("search", q="onerror")["hits"][0]["name"] == name
    response = opened.get("timeline")
    assert response.mimetype == "application/json"
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_expressions_that_take_forever_elsewhere_end(tmp_path: Path):
    opened = Opened(tmp_path, listed({HOST: {"main": [("a" * 5000, 0, 5)]}}))
    assert opened.ask("search", q="(a+)+$", regex=1)["count"] == 1
    assert opened.ask("search", q="(a|aa)+b", regex=1)["count"] == 0


def test_damaged_copy_in_the_cache_is_built_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    cache = tmp_path / "cache"
    monkeypatch.setenv("TBPROF_CACHE_DIR", str(cache))
    content = draw({"/host:CPU": "a|xx.yy"})
    first = Opened(tmp_path / "logdir", content)
    service = first.service
    assert first.count() == 2
    service.engine().timelines.settle()
    kept = [path for path in (cache / "results").iterdir() if path.suffix == ".map"]
    assert kept
    for path in kept:
        overwrite(path, path.read_bytes()[:-8] + b"\xff" * 8)
    reopened = Service(str(tmp_path / "logdir"))
    first.client = Client(Application(reopened))
    assert first.count() == 2
    reopened.engine().timelines.settle()
    shutil.rmtree(cache)
    assert first.count() == 2
