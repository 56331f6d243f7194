"""What is computed for clients that have gone."""

import http.client
import socket
import threading
from pathlib import Path

import pytest
from helpers.drawn.replaced_parts import before_part
from helpers.drawn.small_runs import GPU_TRACE, OPS
from helpers.patience import PATIENCE_S
from helpers.started.own_server import own_server
from traces import write_run

from tbprof.base.process.waiting import Abandoned, awaited_while, check_awaited
from tbprof.engine.engine import DataRequest, Engine
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.serving.clients import is_connected
from tbprof.storage.logdir import Logdir

HOSTS = 4


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    write_run(tmp_path, {f"h{host}": GPU_TRACE for host in range(HOSTS)})
    return tmp_path


def test_a_connection_is_there_until_the_client_closes_it():
    ours, theirs = socket.socketpair()
    with ours:
        assert is_connected({"werkzeug.socket": ours})
        theirs.send(b"the next request")
        assert is_connected({"werkzeug.socket": ours})
        ours.recv(100)
        theirs.close()
        assert not is_connected({"werkzeug.socket": ours})
    assert not is_connected({"werkzeug.socket": ours})
    assert is_connected({})


def test_our_server_says_whether_the_client_is_there():
    assert is_connected({"waitress.client_disconnected": lambda: False})
    assert not is_connected({"waitress.client_disconnected": lambda: True})


def test_work_is_awaited_unless_its_client_has_gone():
    check_awaited()
    with awaited_while(lambda: False), pytest.raises(Abandoned):
        check_awaited()
    check_awaited()


@pytest.fixture
def begun(logdir: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hosts whose parts were asked for, one after the other.

    Only those of this test: servers of tests before it may still be looking ahead.
    """
    found: list[str] = []

    def one_by_one(cache: SummaryCache, files, requested, _on_work):
        for file in files:
            if Path(file.url).is_relative_to(logdir):
                found.append(file.host)
            yield file, cache.parts(file, requested)

    monkeypatch.setattr(SummaryCache, "parts_of_hosts", one_by_one)
    return found


def test_hosts_are_left_that_nobody_waits_for(logdir: Path, begun: list[str]):
    engine = Engine(Logdir(str(logdir)))
    with awaited_while(lambda: len(begun) < 2), pytest.raises(Abandoned):
        engine.data(DataRequest("run", OPS))
    assert begun == ["h0", "h1"]
    engine.data(DataRequest("run", OPS))
    assert begun[2:] == ["h0", "h1", "h2", "h3"]


def test_a_server_leaves_the_hosts_of_a_client_that_has_gone(
    logdir: Path, begun: list[str], monkeypatch: pytest.MonkeyPatch
):
    is_begun, may_go_on, is_left = threading.Event(), threading.Event(), threading.Event()

    def hold() -> None:
        is_begun.set()
        assert may_go_on.wait(PATIENCE_S)

    def check() -> None:
        with pytest.raises(Abandoned):
            check_awaited()
        is_left.set()
        raise Abandoned("")

    before_part(monkeypatch, "ops", hold)
    monkeypatch.setattr("tbprof.engine.run_parts.check_awaited", check)
    with own_server(str(logdir)) as port:
        client = http.client.HTTPConnection("127.0.0.1", port)
        client.request("GET", f"/data/plugin/profile/data?run=run&tag={OPS}")
        assert is_begun.wait(PATIENCE_S)
        client.close()
        may_go_on.set()
        assert is_left.wait(PATIENCE_S)
    assert begun == ["h0"]
