"""Timelines over real connections: many at once, and some that are given up."""

import json
import logging
import shutil
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import create_autospec
from urllib.parse import urlencode

import pytest
from helpers.patience import PATIENCE_S, until
from helpers.started.own_server import ask_port, own_server
from helpers.tile_reader import read_tiles

from tbprof.engine.timelines.timeline_cache import TimelineCache

RUN = "tensorflow_cpu_training"
BASE = "/data/plugin/profile/"


@pytest.fixture
def port(tmp_path: Path, sample_logdir: Path) -> Iterator[int]:
    """A server of a trace that nobody has opened before."""
    folder = tmp_path / "plugins/profile" / RUN
    folder.mkdir(parents=True)
    shutil.copy(sample_logdir / f"plugins/profile/{RUN}/host0.xplane.pb", folder)
    with own_server(str(tmp_path)) as served:
        yield served


def ask(port: int, route: str, **parameters: Any) -> tuple[int, bytes]:
    status, _, body = ask_port(port, f"{BASE}{route}?{urlencode({'run': RUN, **parameters})}")
    return status, body


def index_of(port: int) -> dict[str, Any]:
    status, body = ask(port, "timeline")
    assert status == 200, body
    found: dict[str, Any] = json.loads(body)
    return found


def test_threads_that_ask_for_a_fresh_trace_share_one_build(
    port: int, monkeypatch: pytest.MonkeyPatch
):
    build = create_autospec(TimelineCache._build, side_effect=TimelineCache._build)
    monkeypatch.setattr(TimelineCache, "_build", build)
    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda _: ask(port, "timeline"), range(32)))
    assert {status for status, _ in answers} == {200}
    assert len({body for _, body in answers}) == 1
    assert [call.args[2] for call in build.call_args_list] == ["events"]
    index = json.loads(answers[0][1])
    which = {key: index[key] for key in ("host", "part", "version")}
    rows = sum(index["tracks"]["rows"])

    def tile(number: int) -> tuple[int, bytes]:
        level = index["max_level"] - number % 8
        span = {"level": level, "from": 0, "to": 1, "rows": number % rows}
        return ask(port, "timeline_tiles", **which, **span)

    with ThreadPoolExecutor(32) as pool:
        found = list(pool.map(tile, range(256)))
    assert {status for status, _ in found} == {200}
    assert [body for _, body in found] == [tile(number)[1] for number in range(256)]
    assert [call.args[2] for call in build.call_args_list] == ["events"]


def test_tiles_of_a_server_that_was_restarted_are_the_same(tmp_path: Path, sample_logdir: Path):
    bodies = []
    for _ in range(2):
        with own_server(str(sample_logdir)) as port:
            index = index_of(port)
            which = {key: index[key] for key in ("host", "part", "version")}
            level = index["max_level"] - 3
            span = {"level": level, "from": 0, "to": 8}
            bodies.append(ask(port, "timeline_tiles", **which, **span))
    assert bodies[0] == bodies[1]
    assert read_tiles(bodies[0][1]).entries


def test_requests_that_are_given_up_disturb_no_other(port: int, caplog: pytest.LogCaptureFixture):
    index = index_of(port)
    which = {key: index[key] for key in ("host", "part", "version")}
    query = urlencode(
        {"run": RUN, **which, "level": max(index["max_level"] - 9, 0), "from": 0, "to": 512}
    )
    for _ in range(40):
        given_up = socket.create_connection(("127.0.0.1", port))
        given_up.sendall(
            f"GET {BASE}timeline_tiles?{query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        )
        # Closed with a reset while the answer is made or sent.
        given_up.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        given_up.close()
    status, body = ask(port, "timeline_search", **which, q="MatMul")
    assert status == 200
    assert json.loads(body)["count"]
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def progress(port: int) -> tuple[str, str]:
    standing = json.loads(ask(port, "progress", tag="trace_viewer")[1])
    return standing["state"], standing["text"]


def test_progress_is_told_while_a_timeline_is_built(port: int, monkeypatch: pytest.MonkeyPatch):
    may_end = threading.Event()
    build = TimelineCache._build

    def slow(self: TimelineCache, *args: Any) -> Any:
        may_end.wait(PATIENCE_S)
        return build(self, *args)

    monkeypatch.setattr(TimelineCache, "_build", slow)
    asking = threading.Thread(target=ask, args=(port, "timeline"))
    asking.start()
    try:
        expected = ("working", "indexing the events of host0")
        until(lambda: progress(port) == expected, every_s=0.02)
    finally:
        may_end.set()
        asking.join()
    assert progress(port)[0] == "idle"
