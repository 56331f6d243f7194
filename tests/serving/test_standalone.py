"""The server of `tbprof serve`."""

import http.client
import json
import socket
import threading
from types import SimpleNamespace

import pytest
from helpers.patience import PATIENCE_S
from helpers.started.own_server import ask_port, own_server

from tbprof.serving import service, standalone
from tbprof.serving.standalone import CannotListen, make_standalone


@pytest.fixture(scope="module")
def port(sample_logdir):
    with own_server(str(sample_logdir), "proxy.example.com") as port:
        yield port


def test_serves_the_routes_of_the_plugin(port):
    status, headers, body = ask_port(port, "/data/plugin/profile/runs")
    assert status == 200
    assert json.loads(body) == [
        "tensorflow_input_bound", "tensorflow_cpu_training", "jax_cpu_training"
    ]  # fmt: skip
    assert "frame-ancestors 'self'" in headers["Content-Security-Policy"]
    assert headers["Server"] == "tbprof"


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("/", "data/plugin/profile/index.html"),
        ("/data/plugin/profile", "../../data/plugin/profile/index.html"),
        ("/data/plugin/profile/", "../../../data/plugin/profile/index.html"),
    ],
)
def test_leads_to_the_page_relatively(port, path, location):
    status, headers, _ = ask_port(port, path)
    assert (status, headers["Location"]) == (302, location)
    assert ask_port(port, "/data/plugin/profile/index.html")[0] == 200


def test_other_paths_are_errors_in_our_form(port):
    for path in ("/x", "/data/plugin/other/runs", "/data", "//runs", "/favicon.ico"):
        status, _, body = ask_port(port, path)
        assert (status, json.loads(body)["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    "host",
    [
        "localhost", "localhost:6006", "LOCALHOST.", "app.localhost", "127.0.0.1", "127.0.0.1:1",
        "[::1]", "[::1]:6006", "10.1.2.3:80", "proxy.example.com", "Proxy.Example.com:8080",
    ],
)  # fmt: skip
def test_known_host_names_are_answered(port, host):
    assert ask_port(port, "/data/plugin/profile/version", {"Host": host})[0] == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:6006", "localhost.evil.example", "127.0.0.1.evil.example",
        "notlocalhost", "", "[::1].evil", "[evil]", "a:b:c", "proxy.example.com.evil",
    ],
)  # fmt: skip
def test_names_that_others_point_here_are_refused(port, host):
    for path in ("/data/plugin/profile/runs", "/", "/nope"):
        status, _, body = ask_port(port, path, {"Host": host})
        assert (status, json.loads(body)["error"]["code"]) == (400, "bad_host")


def test_any_host_name_can_be_allowed(sample_logdir):
    with own_server(str(sample_logdir), "*") as port:
        assert ask_port(port, "/data/plugin/profile/version", {"Host": "any.example"})[0] == 200


def test_taken_port_is_an_error_of_ours():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(CannotListen) as raised:
            make_standalone("", "127.0.0.1", taken.getsockname()[1])
    assert "--port" in raised.value.hint


def test_address_of_another_machine_is_an_error_of_ours():
    with pytest.raises(CannotListen):
        make_standalone("", "203.0.113.1", 0)


def test_listens_on_the_machine_alone_unless_told_otherwise():
    server = make_standalone("", "127.0.0.1", 0)
    assert server.server_address[0] == "127.0.0.1"
    server.server_close()


def test_announces_its_address():
    server = make_standalone("", "127.0.0.1", 0)
    heard = []

    def announce(url):
        heard.append(url)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        standalone.serve(server, announce)
    assert heard == [f"http://127.0.0.1:{server.server_address[1]}/"]


@pytest.mark.parametrize(
    ("argument", "environment", "number"),
    [(None, "", 2), (None, "3", 3), (None, "0", 0), (4, "0", 4), (0, "3", 0), (None, "many", 2)],
)
def test_traces_are_read_in_as_many_processes_as_was_chosen(
    sample_logdir, monkeypatch, argument, environment, number
):
    made = []
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr(
        "tbprof.engine.workers.processes.WorkerProcesses",
        lambda _results, processes, _limits, **_: made.append(processes),
    )
    monkeypatch.setenv(service.PROCESSES, environment)
    service.Service(str(sample_logdir), processes=argument).engine()
    assert made == [number] * bool(number)


def test_the_engine_is_loaded_before_a_page_is_opened(sample_logdir, monkeypatch):
    is_loading = threading.Event()
    engine = SimpleNamespace(load_tools=is_loading.set)
    monkeypatch.setattr(service, "_make_engine", lambda *_: engine)
    server = make_standalone(str(sample_logdir), "127.0.0.1", 0)
    assert is_loading.wait(PATIENCE_S)
    server.server_close()


def test_a_body_without_a_length_is_bounded(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    _, _, config = ask_port(port, "/data/plugin/profile/config")
    token = json.loads(config)["capture"]["token"]
    connection.request(
        "POST",
        "/data/plugin/profile/capture",
        body=iter([b"1" * (1 << 19)] * 3),
        headers={"X-Tbprof-Token": token},
        encode_chunked=True,
    )
    response = connection.getresponse()
    assert response.status == 400
    assert "too large" in json.loads(response.read())["error"]["message"]
    connection.close()
