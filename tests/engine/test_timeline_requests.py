"""What questions about a timeline leave behind, and what they need not touch."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import orjson
import pytest
from traces import draw, write_run

from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.timelines.timeline_cache import BUILDERS, TimelineCache
from tbprof.engine.timelines.timeline_requests import HostTimeline, TileSpan
from tbprof.events.space import Space
from tbprof.storage.logdir import Logdir
from tbprof.storage.results import ResultStore
from tbprof.timeline.questions import flow_index
from tbprof.timeline.search.query import parse_query

DRAWING = {
    "/host:CPU": "python |ll.mm",
    "/device:GPU:0": "Stream #1 |.kk.k",
}
STATS = {
    "l": {"correlation_id": 7},
    "k": {"correlation_id": 7, "kernel_details": "grid:1,1,1 block:1,1,1"},
    "m": {"bytes": 4096},
}


class Asked:
    """One timeline to ask, and the file behind it."""

    def __init__(self, folder: Path) -> None:
        write_run(folder, {"host": draw(DRAWING, stats=STATS)})
        results = ResultStore(folder / "cache")
        self.summaries = SummaryCache(results)
        self.timelines = TimelineCache(self.summaries, results, BUILDERS)
        (self.file,) = Logdir([str(folder)]).run("run").files
        self.timelines.open(self.file, "events")
        self.timelines.settle()

    @property
    def timeline(self) -> HostTimeline:
        return HostTimeline(
            self.timelines, self.file, "events", self.timelines.open(self.file, "events")
        )

    def search(self, text: str) -> int:
        answer = self.timeline.search(
            parse_query(text), limit=9, after="", from_ps=None, to_ps=None
        )
        found: int = orjson.loads(answer)["count"]
        return found

    def space(self) -> Space:
        with self.summaries.space(self.file) as (space, _, _):
            return space


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    asked = Asked(tmp_path)
    yield asked
    asked.timelines.settle()


@pytest.mark.parametrize(("text", "count"), [("arg:bytes=4096", 1), ("kernel:k", 2)])
def test_what_a_search_reads_of_the_file_is_let_go(asked: Asked, text: str, count: int):
    space = asked.space()
    assert asked.search(text) == count
    asked.timeline.match_overview(parse_query(text), TileSpan(30, 0, 1), [(0, 1)])
    assert asked.space() is space
    assert [len(plane.cache) for plane in space.planes] == [0, 0]


def test_a_search_for_a_name_does_not_open_the_file(asked: Asked, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_args: object) -> None:
        raise AssertionError("the file was opened")

    monkeypatch.setattr(SummaryCache, "space", refuse)
    assert asked.search("m") == 1
    asked.timeline.match_overview(parse_query("category:compute"), TileSpan(30, 0, 1), [(0, 1)])


def test_flows_are_indexed_once_and_let_go_when_others_need_the_room(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
):
    index = Mock(wraps=flow_index._index)
    monkeypatch.setattr(flow_index, "_index", index)
    timeline = asked.timeline
    with ThreadPoolExecutor(4) as pool:
        answers = set(pool.map(timeline.flows, [0] * 8))
    assert index.call_count == 1
    assert len(answers) == 1
    asked.timelines._answers.put("other", None, 1 << 40)
    assert timeline.flows(0) in answers
    assert index.call_count == 2


def test_the_index_is_made_once(asked: Asked):
    assert asked.timeline.index() is asked.timeline.index()
