"""Timelines of files that are broken, hostile, or huge in one way or another, over HTTP."""

import json
import logging
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from helpers.tile_reader import Tiles, read_tiles
from helpers.timeline_client import expanded
from traces import draw, write
from werkzeug.test import Client

from tbprof._pb import message
from tbprof.serving.routes import Application
from tbprof.serving.service import Service

RUN = "tensorflow_cpu_training"
YEAR_NS = 365 * 86_400 * 10**9


class Opened:
    """A logdir with one trace, asked as the page asks."""

    def __init__(self, root: Path, content: bytes, host: str = "host0") -> None:
        folder = root / "plugins/profile/run"
        folder.mkdir(parents=True, exist_ok=True)
        self.path = write(folder, content, host)
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

    def ask(self, route: str, **parameters: Any) -> Any:
        response = self.get(f"timeline_{route}", version=self.index()["version"], **parameters)
        assert response.status_code == 200, response.data
        return response.json

    def tiles(self, level: int | None = None, first: int = 0, last: int = 1, **more: Any) -> Tiles:
        index = self.index()
        span = {"level": index["max_level"] if level is None else level, "from": first, "to": last}
        response = self.get("timeline_tiles", version=index["version"], **span, **more)
        assert response.status_code == 200, response.data
        return read_tiles(response.data)

    def count(self) -> int:
        """The events that the whole trace in one tile a row stands for."""
        return sum(entry.count for entry in self.tiles().entries)


def trace(*lines: tuple[str, list[tuple[str, int, int]]], plane: str = "/host:CPU") -> bytes:
    """A space of one plane: lines of (name, start_ps, duration_ps)."""
    space = message("tensorflow.profiler.XSpace")()
    made = space.planes.add(name=plane)
    types: dict[str, int] = {}
    for number, (name, events) in enumerate(lines, start=1):
        line = made.lines.add(id=number, name=name)
        for event_name, start, duration in events:
            type_ = types.setdefault(event_name, len(types) + 1)
            made.event_metadata[type_].id = type_
            made.event_metadata[type_].name = event_name
            line.events.add(metadata_id=type_, offset_ps=start, duration_ps=duration)
    return bytes(space.SerializeToString())


# Files.


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(lambda _: b"", id="empty"),
        pytest.param(lambda _: b"\x0a\xff\xff\xff\xff\x0fxx", id="no trace"),
        pytest.param(lambda whole: whole.replace(b"\xff", b"\xef\xbf\xbd"), id="recoded"),
    ],
)
def test_files_that_cannot_be_read_say_why(
    tmp_path: Path, sample_logdir: Path, broken: Callable[[bytes], bytes]
):
    whole = (sample_logdir / f"plugins/profile/{RUN}/host0.xplane.pb").read_bytes()
    opened = Opened(tmp_path, broken(whole))
    response = opened.get("timeline")
    if response.status_code == 200:  # no more than what is left of it
        assert opened.count() == response.json["events"]
        assert response.json["warnings"] or not opened.path.stat().st_size
    else:
        assert response.status_code == 422
        assert "host0" in response.json["error"]["message"]
    assert opened.get("timeline", part="derived").status_code == response.status_code


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_truncated_file_shows_what_is_left_and_warns(
    tmp_path: Path, sample_logdir: Path, share: float
):
    whole = (sample_logdir / f"plugins/profile/{RUN}/host0.xplane.pb").read_bytes()
    opened = Opened(tmp_path, whole[: int(len(whole) * share)])
    index = opened.index()
    assert index["warnings"]
    assert all(set(one) == {"code", "message", "hint"} for one in index["warnings"])
    assert opened.count() == index["events"]


def test_what_the_recorder_lost_is_said(tmp_path: Path):
    space = message("tensorflow.profiler.XSpace")()
    stats = {plane: {"dropped_traces": 1_200_000} for plane in ("/device:GPU:0", "/device:GPU:1")}
    space.ParseFromString(draw(dict.fromkeys(stats, "s |k"), plane_stats=stats))
    space.errors.append("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES")
    space.warnings.append("<b>buffers</b> were full")
    opened = Opened(tmp_path, space.SerializeToString())
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


# What is in them.


def test_trace_without_events(tmp_path: Path):
    opened = Opened(tmp_path, trace(("idle", []), ("other", [])))
    index = opened.index()
    assert (index["events"], index["begin_ps"], index["end_ps"], index["home"]) == (0, 0, 0, None)
    assert opened.tiles().entries == []
    assert opened.ask("search", q="x")["hits"] == []
    assert opened.ask("aggregate")["events"] == 0
    assert opened.ask("busy", buckets=3)["sections"] == {}
    assert opened.get("timeline", part="derived").json["events"] == 0


def test_lines_without_events_take_no_room(tmp_path: Path):
    opened = Opened(tmp_path, trace(("idle", []), ("main", [("a", 0, 5)]), ("late", [])))
    assert [track["name"] for track in opened.index()["tracks"]] == ["main"]
    assert opened.count() == 1


def test_impossible_times_are_clamped_and_said(tmp_path: Path):
    events = [("early", -(2**63), 5), ("late", 2**63 - 1, 2**63 - 1), ("back", 100, -50)]
    opened = Opened(tmp_path, trace(("main", [*events, ("fine", 10, 20)])))
    index = opened.index()
    assert index["events"] == 4
    assert index["warnings"]
    assert -(2**58) <= index["begin_ps"] < index["end_ps"] <= 2**59
    assert opened.count() == 4
    hits = opened.ask("search", q="fine")["hits"]
    assert [(hit["start_ps"], hit["duration_ps"]) for hit in hits] == [(10, 20)]
    sums = opened.ask("aggregate")
    assert sums["events"] == 4


def test_years_between_events_leave_a_useful_view(tmp_path: Path):
    # The reader keeps times within 2^57 ps, which is 40 hours.
    gap = 2**56
    near = [(f"n{number}", number * 1000, 500) for number in range(100)]
    far = [(f"f{number}", gap + number * 1000, 500) for number in range(100)]
    opened = Opened(tmp_path, trace(("main", near + far)))
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
    space = message("tensorflow.profiler.XSpace")()
    plane = space.planes.add(name="/host:CPU")
    plane.event_metadata[1].name = "work"
    for year in (0, 3):
        line = plane.lines.add(id=year, name=f"main {year}", timestamp_ns=10**18 + year * YEAR_NS)
        line.events.add(metadata_id=1, offset_ps=5, duration_ps=7)
    opened = Opened(tmp_path, space.SerializeToString())
    index = opened.index()
    assert opened.count() == index["events"] == 2
    assert index["end_ps"] - index["begin_ps"] <= 2**58
    assert index["warnings"]
    assert [entry.name for entry in opened.tiles(0, rows="0").entries] == ["work"]


def test_events_outside_of_their_line_are_shown_where_they_say(tmp_path: Path):
    space = message("tensorflow.profiler.XSpace")()
    plane = space.planes.add(name="/host:CPU")
    plane.event_metadata[1].name = "outside"
    line = plane.lines.add(id=1, name="main", timestamp_ns=5, duration_ps=10)
    line.events.add(metadata_id=1, offset_ps=10**9, duration_ps=7)
    line.events.add(metadata_id=99, offset_ps=-3, duration_ps=1)
    opened = Opened(tmp_path, space.SerializeToString())
    assert opened.count() == 2
    assert opened.ask("search", q="outside")["hits"][0]["duration_ps"] == 7


def test_names_of_a_megabyte_are_cut_where_they_would_drown_the_rest(tmp_path: Path):
    long = "n" * 1_000_000
    opened = Opened(tmp_path, trace((long, [(long + "1", 0, 5), (long + "2", 10, 5)])))
    response = opened.get("timeline")
    assert len(response.data) < 20_000
    assert response.json["tracks"]["name"][0].endswith("n…")
    tiles = opened.tiles(0)
    assert {len(entry.name) for entry in tiles.entries} == {200}
    found = opened.get("timeline_search", version=response.json["version"], q="nn", limit=10)
    assert found.json["count"] == 2
    assert len(found.data) < 100_000
    assert len(opened.get("timeline_aggregate", version=response.json["version"]).data) < 100_000


@pytest.mark.slow
def test_hundred_thousand_lines(tmp_path: Path):
    lines = [(f"line {number}", [("op", number, 3)]) for number in range(100_000)]
    opened = Opened(tmp_path, trace(*lines))
    index = opened.index()
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


def test_markup_in_names_is_text(tmp_path: Path):
    name = "</script><img src=x onerror=alert(1)>\u2028\x01"
    opened = Opened(tmp_path, trace((name, [(name, 0, 5)])))
    index = opened.index()
    assert index["tracks"][0]["name"] == name
    assert opened.tiles().entries[0].name == name
    assert opened.ask("search", q="onerror")["hits"][0]["name"] == name
    response = opened.get("timeline")
    assert response.mimetype == "application/json"
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_expressions_that_take_forever_elsewhere_end(tmp_path: Path):
    opened = Opened(tmp_path, trace(("main", [("a" * 5000, 0, 5)])))
    assert opened.ask("search", q="(a+)+$", regex=1)["count"] == 1
    assert opened.ask("search", q="(a|aa)+b", regex=1)["count"] == 0


@pytest.mark.parametrize("seed", range(20))
def test_damaged_bytes_make_no_defect(
    tmp_path: Path, sample_logdir: Path, seed: int, caplog: pytest.LogCaptureFixture
):
    import random

    chosen = random.Random(seed)
    whole = bytearray((sample_logdir / f"plugins/profile/{RUN}/host0.xplane.pb").read_bytes())
    for _ in range(chosen.choice([1, 10, 200])):
        whole[chosen.randrange(len(whole))] = chosen.randrange(256)
    opened = Opened(tmp_path, bytes(whole))
    response = opened.get("timeline")
    assert response.status_code in (200, 422), response.data
    if response.status_code == 200:
        index = json.loads(response.data)
        assert opened.count() == index["events"]
        opened.ask("search", q="a", limit=3)
        opened.ask("aggregate", by="track")
        opened.ask("busy", buckets=10)
    assert opened.get("timeline", part="derived").status_code in (200, 422)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_broken_host_does_not_hide_the_other(tmp_path: Path):
    bad = Opened(tmp_path, b"\x0a\xff\xff\xff\xff\x0fxx", "bad")
    good = Opened(tmp_path, draw({"/host:CPU": "a|x"}), "good")
    assert bad.get("timeline").status_code == 422
    assert good.count() == 1


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
        path.write_bytes(path.read_bytes()[:-8] + b"\xff" * 8)
    anew = Service(str(tmp_path / "logdir"))
    first.client = Client(Application(anew))
    assert first.count() == 2
    anew.engine().timelines.settle()
    shutil.rmtree(cache)
    assert first.count() == 2
