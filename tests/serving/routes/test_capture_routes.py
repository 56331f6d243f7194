"""Captures over HTTP: who may start one, and how it is followed."""

import socket
import threading

import pytest
from helpers.asking import client_of
from helpers.patience import until
from helpers.started.profilers import Profiler, recorded, serving, trace
from werkzeug.test import Client

from tbprof.serving.service import NO_CAPTURE

PREFIX = "/data/plugin/profile"


@pytest.fixture
def client(tmp_path) -> Client:
    return client_of(tmp_path)


def token(client: Client) -> str:
    return client.get(f"{PREFIX}/config").get_json()["capture"]["token"]


def post(client: Client, route: str, values: object, **headers: str):
    proof = {"X-Tbprof-Token": token(client)}
    return client.post(f"{PREFIX}/{route}", json=values, headers={**proof, **headers})


def finished(client: Client, id_: str) -> dict:
    def standing() -> dict:
        return client.get(f"{PREFIX}/captures?id={id_}").get_json()

    until(lambda: standing()["state"] in ("done", "failed", "cancelled"), every_s=0.02)
    return standing()


def test_a_capture_is_followed_to_its_run(client, profiler):
    assert client.get(f"{PREFIX}/runs").json == []
    values = {"addresses": profiler.address, "duration_ms": 50, "run": "new"}
    answer = post(client, "capture", values)
    assert answer.status_code == 202
    standing = finished(client, answer.get_json()["id"])
    assert (standing["state"], standing["run"], standing["written"]) == ("done", "new", 1)
    assert standing["workers"][0]["phase"] == "written"
    assert client.get(f"{PREFIX}/runs").json == ["new"]


def test_a_failure_says_why_beside_each_worker(tmp_path, client):
    answer = post(client, "capture", {"addresses": "127.0.0.1:1"})
    standing = finished(client, answer.get_json()["id"])
    assert standing["state"] == "failed"
    assert standing["workers"][0]["reason"] == "refused"
    assert "nothing listens" in standing["error"]["message"]
    assert list(tmp_path.iterdir()) == []


def test_captures_wait_for_each_other_and_can_be_cancelled(tmp_path, client):
    profiler = Profiler([recorded(trace())], may_answer=threading.Event())
    with serving(profiler):
        values = {"addresses": profiler.address, "duration_ms": 20}
        first, second = (post(client, "capture", values).get_json()["id"] for _ in range(2))
        assert client.get(f"{PREFIX}/captures?id={second}").get_json()["ahead"] == 1
        assert len(client.get(f"{PREFIX}/captures").get_json()["captures"]) == 2
        until(lambda: client.get(f"{PREFIX}/captures?id={first}").get_json()["state"] != "waiting")
        statuses = [post(client, "capture", values).status_code for _ in range(9)]
        assert statuses == [202] * 7 + [429] * 2
        for capture in client.get(f"{PREFIX}/captures").get_json()["captures"]:
            post(client, "capture_cancel", {"id": capture["id"]})
        assert finished(client, first)["state"] == "cancelled"
        assert finished(client, second)["state"] == "cancelled"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("route", ["capture", "capture_cancel", "capture_test"])
@pytest.mark.parametrize(
    "headers",
    [
        {"X-Tbprof-Token": ""},
        {"X-Tbprof-Token": "x" * 32},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
)
def test_other_sites_cannot_capture(tmp_path, route, headers):
    answer = post(client_of(tmp_path), route, {"addresses": "127.0.0.1:1"}, **headers)
    assert answer.status_code == 403
    assert answer.get_json()["error"]["code"] == "forbidden"


def test_our_own_page_can(client):
    for headers in ({"Origin": "http://localhost"}, {"Sec-Fetch-Site": "same-origin"}):
        answer = post(client, "capture_test", {"addresses": "127.0.0.1:1"}, **headers)
        assert answer.status_code == 200


@pytest.mark.parametrize("route", ["capture", "capture_cancel", "capture_test"])
def test_nothing_is_captured_by_get(tmp_path, route):
    answer = client_of(tmp_path).get(f"{PREFIX}/{route}?addresses=127.0.0.1:1")
    assert answer.status_code == 405
    assert answer.headers["Allow"] == "POST"


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"addresses": "localhost"}, "addresses"),
        ({"addresses": ""}, "addresses"),
        ({"addresses": 5}, "addresses"),
        ({"addresses": "a:1", "workers": "b:c"}, "workers"),
        ({"addresses": "a:1", "duration_ms": 0}, "duration_ms"),
        ({"addresses": "a:1", "duration_ms": "1"}, "duration_ms"),
        ({"addresses": "a:1", "duration_ms": 1.5}, "duration_ms"),
        ({"addresses": "a:1", "duration_ms": True}, "duration_ms"),
        ({"addresses": "a:1", "duration_ms": float("nan")}, "duration_ms"),
        ({"addresses": "a:1", "delay_ms": float("inf")}, "delay_ms"),
        ({"addresses": "a:1", "retries": 10**400}, "retries"),
        ({"addresses": "a:1", "workers": "b"}, "addresses"),
        ({"addresses": "a:1", "advanced": {"x": "\ud800"}}, "advanced"),
        ({"addresses": "a:1", "advanced": {"x": "y" * 5000}}, "advanced"),
        ({"addresses": "a:1", "hlo": 1}, "hlo"),
        ({"addresses": "a:1", "run": "../up"}, "run"),
        ({"addresses": "a:1", "advanced": []}, "advanced"),
        ({"addresses": "a:1", "logdir": "/etc"}, "logdir"),
    ],
)
def test_mistakes_name_their_field(tmp_path, values, field):
    answer = post(client_of(tmp_path), "capture", values)
    assert answer.status_code == 400
    assert answer.get_json()["error"]["field"] == field
    assert len(answer.data) < 500


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b"1" * (1 << 21)])
def test_other_bodies_are_refused(client, body):
    headers = {"X-Tbprof-Token": token(client)}
    answer = client.post(f"{PREFIX}/capture", data=body, headers=headers)
    assert answer.status_code == 400


def test_connections_are_tested_step_by_step(client, profiler):
    addresses = f"{profiler.address},127.0.0.1:1,no-such-host.invalid:1,my-tpu"
    workers = post(client, "capture_test", {"addresses": addresses}).get_json()["workers"]
    good, refused, unknown, tpu = workers
    assert [step["step"] for step in good["steps"]] == ["name", "tcp", "grpc", "method"]
    assert all(step["ok"] for step in good["steps"])
    assert (refused["reason"], unknown["reason"]) == ("refused", "unresolvable")
    assert tpu["is_tpu_name"]
    assert profiler.requests == []  # nobody was disturbed


def test_servers_without_capture_refuse_and_say_why(tmp_path, monkeypatch):
    for client in (
        client_of(tmp_path, can_capture=False),
        client_of(),
        client_of(tmp_path / "host.xplane.pb"),
    ):
        config = client.get(f"{PREFIX}/config").get_json()
        assert config["hideCaptureProfileButton"]
        assert config["capture"]["off"]
        assert config["capture"]["token"] == ""
        for route in ("capture", "capture_cancel", "capture_test"):
            answer = client.post(f"{PREFIX}/{route}", json={"addresses": "a:1"})
            assert answer.status_code == 403
        assert client.get(f"{PREFIX}/captures").status_code == 403
    monkeypatch.setenv(NO_CAPTURE, "1")
    assert client_of(tmp_path).get(f"{PREFIX}/config").get_json()["hideCaptureProfileButton"]


def test_an_unknown_capture(client):
    assert client.get(f"{PREFIX}/captures?id=x").status_code == 404
    assert post(client, "capture_cancel", {"id": "x"}).status_code == 404


def test_a_test_takes_a_few_dozen_addresses(client):
    addresses = ",".join(f"127.0.0.1:{port}" for port in range(1, 67))
    answer = post(client, "capture_test", {"addresses": addresses})
    assert answer.status_code == 400
    assert "64" in answer.get_json()["error"]["hint"]


def test_one_test_runs_at_a_time(client):
    with socket.create_server(("127.0.0.1", 0)) as silent:  # it accepts, and never answers
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        answers: list[int] = []
        first = threading.Thread(
            target=lambda: answers.append(
                post(client, "capture_test", {"addresses": address}).status_code
            )
        )
        first.start()
        with silent.accept()[0]:
            assert post(client, "capture_test", {"addresses": address}).status_code == 429
    first.join()
    assert answers == [200]
