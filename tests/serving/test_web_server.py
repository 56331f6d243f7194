"""How many threads answer requests, and who waits for them."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from helpers.drawn.small_runs import CPU_TRACE, GPU_TRACE, KERNELS, OPS
from helpers.patience import PATIENCE_S, until
from helpers.started.own_server import ask_port, own_server, running
from helpers.started.planted_workers import Plant
from traces import write_run

from tbprof.serving import web_server
from tbprof.serving.standalone import _listen
from tbprof.serving.web_server import WebServer

BROWSERS = 50
ROUTES = "/data/plugin/profile/"


def get(port: int, path: str) -> tuple[int, bytes]:
    status, _, body = ask_port(port, path)
    return status, body


def handlers() -> int:
    return sum(thread.name == "tbprof-answers" for thread in threading.enumerate())


class Held:
    """An application that answers with the run of a request, and "held" ones once they may go."""

    def __init__(self) -> None:
        self.may_go = threading.Event()
        self.begun: list[str] = []

    def __call__(self, environ: Any, start_response: Any) -> list[bytes]:
        query = parse_qs(environ["QUERY_STRING"])
        run = query.get("run", [""])[0]
        if "held" in query:
            self.begun.append(run)
            assert self.may_go.wait(PATIENCE_S)
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [run.encode()]


@pytest.fixture
def held() -> Iterator[Held]:
    application = Held()
    yield application
    application.may_go.set()


@pytest.fixture
def port(held: Held) -> Iterator[int]:
    with running(WebServer(held, _listen("127.0.0.1", 0))) as served:
        yield served
        held.may_go.set()


def test_requests_wait_for_a_bounded_number_of_threads(held: Held, port: int):
    before = handlers()
    with ThreadPoolExecutor(BROWSERS) as browsers:
        answers = [
            browsers.submit(get, port, f"/data?held=1&run=run{number}")
            for number in range(BROWSERS)
        ]
        until(lambda: len(held.begun) == web_server._THREADS_OF_RUNS)
        assert get(port, "/version") == (200, b"")
        assert get(port, "/progress?run=run1") == (200, b"run1")
        assert len(held.begun) == web_server._THREADS_OF_RUNS
        assert handlers() - before <= web_server._THREADS
        held.may_go.set()
        assert [answer.result() for answer in answers] == [
            (200, b"run%d" % number) for number in range(BROWSERS)
        ]
    assert handlers() - before <= web_server._THREADS


def test_those_who_wait_for_one_run_leave_threads_for_others(held: Held, port: int):
    with ThreadPoolExecutor(BROWSERS) as browsers:
        large = [browsers.submit(get, port, "/data?held=1&run=large") for _ in range(BROWSERS)]
        until(lambda: len(held.begun) == web_server._THREADS_OF_RUN)
        for number in range(100):
            assert get(port, f"/data?run=small{number % 7}") == (200, b"small%d" % (number % 7))
        assert held.begun == ["large"] * web_server._THREADS_OF_RUN
        held.may_go.set()
        assert {answer.result() for answer in large} == {(200, b"large")}
    assert held.begun == ["large"] * BROWSERS


def test_a_client_that_left_while_it_waited_is_not_answered(held: Held, port: int):
    with ThreadPoolExecutor(BROWSERS) as browsers:
        first = [
            browsers.submit(get, port, "/data?held=1&run=a")
            for _ in range(web_server._THREADS_OF_RUN)
        ]
        until(lambda: len(held.begun) == web_server._THREADS_OF_RUN)
        for _ in range(10):
            with socket.create_connection(("127.0.0.1", port)) as gone:
                gone.sendall(b"GET /data?held=1&run=a HTTP/1.1\r\nHost: localhost\r\n\r\n")
        last = browsers.submit(get, port, "/data?held=1&run=a")
        assert get(port, "/version")[0] == 200  # so those that left have been noticed
        held.may_go.set()
        assert {answer.result()[0] for answer in (*first, last)} == {200}
    assert len(held.begun) == web_server._THREADS_OF_RUN + 1


def test_connections_without_a_request_have_no_thread(port: int):
    before = threading.active_count()
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
    try:
        for connection in idle[50:]:
            connection.sendall(b"GET /version HTTP/1.1\r\nHost: loc")
        assert get(port, "/version")[0] == 200
        assert threading.active_count() <= before + 1
    finally:
        for connection in idle:
            connection.close()


def test_a_connection_serves_several_requests(port: int):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    for run in ("a", "b", "c"):
        connection.request("GET", f"/data?run={run}")
        sockets = connection.sock
        assert connection.getresponse().read() == run.encode()
        assert connection.sock is sockets is not None
    connection.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "IDLE_S", 1)
    monkeypatch.setattr(web_server, "_LOOK_EVERY_S", 1)


@pytest.mark.usefixtures("impatient")
def test_a_client_that_sends_nothing_loses_its_connection(held: Held):
    with running(WebServer(held, _listen("127.0.0.1", 0))) as port:
        for begin in (b"", b"GET /data/plugin/profile/version HTTP/1.1\r\nHost: loc"):
            with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as slow:
                slow.sendall(begin)
                assert slow.recv(1 << 16) == b""


@pytest.mark.usefixtures("impatient")
def test_a_client_that_takes_nothing_loses_its_connection():
    """A stream waits for its client, and must not do so for ever."""
    ended = threading.Event()

    def endless() -> Iterator[bytes]:
        try:
            while True:
                yield b"x" * (1 << 20)
        finally:
            ended.set()

    def application(_environ: Any, start_response: Any) -> Iterator[bytes]:
        start_response("200 OK", [("Content-Type", "text/plain")])
        return endless()

    with (
        running(WebServer(application, _listen("127.0.0.1", 0))) as port,
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as slow,
    ):
        slow.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert ended.wait(PATIENCE_S)


def test_a_defect_ends_no_thread(caplog: pytest.LogCaptureFixture):
    def application(_environ: Any, _start_response: Any) -> list[bytes]:
        raise ValueError("a defect")

    with running(WebServer(application, _listen("127.0.0.1", 0))) as port:
        for _ in range(web_server._THREADS * 2):
            assert get(port, "/version")[0] == 500
    assert "a defect" in caplog.text


def test_a_connection_that_is_closed_while_something_is_sent_is_not_reported(
    held: Held, caplog: pytest.LogCaptureFixture
):
    server = WebServer(held, _listen("127.0.0.1", 0))
    here, there = socket.socketpair()
    with closing(server), closing(there):
        connection = server.channel_class(server, here, ("", 0), server.adj, map=server._map)
        connection.outbufs[-1].append(b"late")
        connection.total_outbufs_len = 4
        connection.close()
        connection.handle_write()
        assert connection.will_close
    assert caplog.text == ""


def test_an_answer_that_ends_after_the_server_does_not_write_to_its_pipe(held: Held):
    server = WebServer(held, _listen("127.0.0.1", 0))
    server.server_close()
    server.pull_trigger()  # as Waitress does after each answer; the number may be another file's


def test_small_runs_are_answered_while_a_large_one_is_prepared(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
):
    """Fifty tabs wait for a run that takes for ever; the pages of others come meanwhile."""
    plant = Plant(tmp_path_factory.mktemp("plant"), monkeypatch)
    gate = tmp_path_factory.mktemp("gate") / "gate"
    plant.do(f"while host == 'large' and not Path({str(gate)!r}).exists(): time.sleep(0.01)")
    for run, trace in (("large", GPU_TRACE), ("small", GPU_TRACE), ("other", CPU_TRACE)):
        write_run(tmp_path, {run: trace}, run)
    before = threading.active_count()

    def page(run: str, tag: str) -> int:
        return get(served, f"{ROUTES}data?run={run}&tag={tag}")[0]

    with (
        ThreadPoolExecutor(BROWSERS) as browsers,
        own_server(str(tmp_path), processes=2) as served,
    ):
        large = [browsers.submit(page, "large", OPS) for _ in range(BROWSERS)]
        try:
            until(lambda: plant.computed("ops"))
            assert [page("small", OPS), page("small", KERNELS), page("other", OPS)] == [200] * 3
            told = json.loads(get(served, f"{ROUTES}progress?run=large&tag={OPS}")[1])
            assert told["state"] == "working"
            assert not any(answer.done() for answer in large)
            assert threading.active_count() - before - BROWSERS <= 32
        finally:
            gate.touch()
        assert {answer.result() for answer in large} == {200}
