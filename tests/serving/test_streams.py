"""What is too much to be held is sent piece by piece: headers, compression, clients that leave."""

import gzip
import http.client
import json
import logging
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from helpers.asking import BASE, client_of, error_of
from helpers.patience import PATIENCE_S
from helpers.started.own_server import ask_port, own_server
from serving.test_plugin import install_tbprof, tensorboard
from traces import draw, listed, write_run
from werkzeug.test import Client

RUN, TOOL = "train", "trace_viewer"
HOST = "/host:CPU"
TRACE = draw({HOST: "t |aaaa.bb"}, names={"a": "</script>"})


def large() -> bytes:
    """A trace of 120,000 events: 20 MB of JSON."""
    events = [(f"{1 + index % 8}" * 100, index * 10, 5) for index in range(120_000)]
    return listed({HOST: {"t": events}})


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("logdir")
    for run, hosts in {
        RUN: {"h0": TRACE, "h1": TRACE},
        "large": {"h0": large()},
        "none": {"h0": draw({HOST: "t |"})},
        "broken": {"h0": b"not a trace"},
    }.items():
        write_run(root, hosts, run)
    return root


@pytest.fixture(scope="module")
def client(logdir: Path) -> Client:
    return client_of(logdir)


def ask(client, route="data", headers=None, method="GET", **parameters):
    query = urlencode({"run": RUN, "tag": TOOL, **parameters}, doseq=True)
    return client.open(f"{BASE}{route}?{query}", headers=headers, method=method)


def test_a_trace_is_a_document(client):
    response = ask(client)
    assert (response.status_code, response.mimetype) == (200, "application/json")
    assert "Content-Length" not in response.headers
    assert "Content-Encoding" not in response.headers
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    document = json.loads(response.data)
    assert len([event for event in document["traceEvents"] if event["ph"] == "X"]) == 4
    assert ask(client, tag="trace_viewer@").data == response.data


def test_it_is_compressed_where_that_is_accepted(client):
    plain = ask(client).data
    packed = ask(client, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["Vary"] == "Accept-Encoding"
    assert gzip.decompress(packed.data) == plain
    assert ask(client, headers={"Accept-Encoding": "gzip;q=0"}).data == plain
    large = ask(client, headers={"Accept-Encoding": "gzip"}, run="large")
    assert gzip.decompress(large.data) == ask(client, run="large").data


def test_head_answers_without_making_anything(client, monkeypatch):
    full = ask(client)

    def refuse(*_args, **_more):
        raise AssertionError

    monkeypatch.setattr("tbprof.engine.timelines.streams.chrome_trace", refuse)
    head = ask(client, method="HEAD")
    assert head.data == b""
    assert {name: value for name, value in head.headers.items() if name != "Date"} == dict(
        full.headers
    )


def test_an_unchanged_trace_is_not_sent_again(client, monkeypatch):
    tag = ask(client).headers["ETag"]
    assert ask(client, host="h0").headers["ETag"] != tag
    assert ask(client, end_time_ms="1").headers["ETag"] != tag
    assert ask(client, resolution="8000").headers["ETag"] == tag

    def refuse(*_args, **_more):
        raise AssertionError

    monkeypatch.setattr("tbprof.engine.timelines.streams.chrome_trace", refuse)
    again = ask(client, headers={"If-None-Match": tag})
    assert (again.status_code, again.data) == (304, b"")


def test_hosts_and_ranges_are_chosen(client):
    def names(**parameters):
        events = json.loads(ask(client, **parameters).data)["traceEvents"]
        return [(event["pid"], event["name"]) for event in events if event["ph"] == "X"]

    assert names(host="h0") == [(701, "</script>"), (701, "b")]
    assert names(hosts="h0,h1") == names(host="ALL_HOSTS") == names()
    assert names(end_time_ms="0.0045") == [(1701, "</script>"), (2701, "</script>")]
    assert names(start_time_ms="0.0045", end_time_ms="0") == [(1701, "b"), (2701, "b")]
    assert names(start_time_ms="5") == []


@pytest.mark.parametrize(
    ("parameters", "status", "code"),
    [
        ({"run": "none"}, 422, "no_data"),
        ({"run": "broken"}, 422, "bad_trace"),
        ({"run": "nope"}, 404, "run_not_found"),
        ({"host": "nope"}, 404, "host_not_found"),
        ({"start_time_ms": "x"}, 400, "bad_request"),
        ({"end_time_ms": "nan"}, 400, "bad_request"),
        ({"start_time_ms": "2", "end_time_ms": "1"}, 400, "bad_request"),
        ({"tqx": "out:csv", "table": "1"}, 400, "bad_request"),
    ],
)  # fmt: skip
def test_what_is_wrong_from_the_start_is_an_error(client, parameters, status, code):
    assert error_of(ask(client, **parameters)) == (status, code)


def test_csv(client):
    for response in (ask(client, "data_csv"), ask(client, tqx="out:csv")):
        assert response.mimetype == "text/csv"
        assert "trace_viewer_train_ALL_HOSTS.csv" in response.headers["Content-Disposition"]
        assert response.data.startswith(b"host,process,thread,name,start_us,duration_us\r\nh0,")
        assert response.data.count(b"\r\n") == 5
    packed = ask(client, "data_csv", headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(packed.data) == ask(client, "data_csv").data


@pytest.fixture
def server(logdir: Path) -> Iterator[int]:
    with own_server(str(logdir)) as port:
        yield port


LARGE = f"{BASE}data?run=large&tag={TOOL}"


def test_clients_that_leave_do_not_break_the_server(server, caplog):
    with caplog.at_level(logging.INFO):
        for packing in (b"", b"Accept-Encoding: gzip\r\n"):
            with socket.create_connection(("127.0.0.1", server), timeout=PATIENCE_S) as left:
                left.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n"
                             % (LARGE.encode(), packing))  # fmt: skip
                assert left.recv(1000).startswith(b"HTTP/1.")
        whole = json.loads(ask_port(server, LARGE)[2])
    assert whole["metadata"]["hosts"][0]["events"] == 120_000
    assert "Traceback" not in caplog.text


def test_the_first_piece_comes_before_the_last_is_made(server):
    connection = http.client.HTTPConnection("127.0.0.1", server, timeout=PATIENCE_S)
    connection.request("GET", LARGE)
    response = connection.getresponse()
    assert response.length is None
    first = response.read(100)
    assert first.startswith(b'{"displayTimeUnit":"ns","traceEvents":[\n{"args"')
    rest = response.read()
    connection.close()
    assert json.loads(first + rest)["metadata"]["complete"] is True


@pytest.mark.slow
def test_tensorboard_sends_it_too(tmp_path: Path, logdir: Path) -> None:
    install_tbprof(tmp_path / "packages")
    log = tmp_path / "log"
    with tensorboard(tmp_path / "packages", log, "--logdir", str(logdir)) as running:
        for packing, unpack in (("identity", bytes), ("gzip", gzip.decompress)):
            status, headers, body = running.get(LARGE, **{"Accept-Encoding": packing})
            assert status == 200
            document = json.loads(unpack(body))
            assert document["metadata"]["hosts"][0]["events"] == 120_000
            assert running.get(LARGE, **{"If-None-Match": headers["ETag"]})[0] == 304
        request = urllib.request.Request(running.url + LARGE)
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as left:
            assert left.read(10)
        status, _, body = running.get(f"{BASE}data?run=none&tag={TOOL}")
        assert (status, json.loads(body)["error"]["code"]) == (422, "no_data")
        assert "Traceback" not in running.log()
