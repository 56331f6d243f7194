"""Which names of a server are its own, and what other names may do: DNS rebinding."""

import socket
from types import SimpleNamespace

import pytest
from helpers.asking import client_of
from werkzeug.test import Client

from tbprof.serving.host_names import HostNames
from tbprof.serving.plugin import ProfilePlugin
from tbprof.serving.routes.routes import Application
from tbprof.serving.service import ALLOW_HOST, Service

PREFIX = "/data/plugin/profile"


@pytest.mark.parametrize(
    ("names", "header", "is_included"),
    [
        ((), "localhost:6006", True),
        ((), "LOCALHOST.", True),
        ((), "tb.localhost", True),
        ((), "127.0.0.1:6006", True),
        ((), "10.1.2.3", True),
        ((), "[::1]:6006", True),
        ((), "", False),
        ((), "evil.example", False),
        ((), "localhost.evil.example:6006", False),
        ((), "127.0.0.1.evil.example", False),
        ((), socket.gethostname(), False),
        (("0.0.0.0",), socket.gethostname(), True),
        (("0.0.0.0",), "evil.example", False),
        (("board.corp",), "Board.Corp.:80", True),
        (("board.corp",), "a.board.corp", False),
        (("*",), "anything.example", True),
    ],
)
def test_names_of_a_server(names, header, is_included):
    assert HostNames(names).include(header) is is_included


def board(tmp_path, **flags) -> Client:
    given = {"host": None, "bind_all": False, "tbprof_allow_host": [], **flags}
    context = SimpleNamespace(
        logdir=str(tmp_path), flags=SimpleNamespace(**given), plugin_name_to_instance={}
    )
    return Client(ProfilePlugin(context).get_plugin_apps()["/config"])


def token(client: Client, host: str) -> str:
    capture = client.get(f"{PREFIX}/config", headers={"Host": host}).get_json()["capture"]
    assert bool(capture["token"]) is not bool(capture["off"])
    return capture["token"]


def test_a_page_of_another_name_gets_no_token_in_tensorboard(tmp_path):
    client = board(tmp_path)
    assert token(client, "localhost:6006")
    assert token(client, "evil.example:6006") == ""
    assert client.get(f"{PREFIX}/runs", headers={"Host": "evil.example"}).json == []


@pytest.mark.parametrize(
    ("flags", "host"),
    [
        ({"host": "board.corp"}, "board.corp:6006"),
        ({"bind_all": True}, socket.gethostname()),
        ({"tbprof_allow_host": ["hub.corp"]}, "hub.corp"),
        ({"tbprof_allow_host": ["*"]}, "any.example"),
    ],
)
def test_names_that_tensorboard_was_started_for_may_capture(tmp_path, flags, host):
    client = board(tmp_path, **flags)
    assert token(client, host)


def test_names_are_allowed_by_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv(ALLOW_HOST, "hub.corp,proxy.corp")
    assert token(board(tmp_path), "proxy.corp:80")


@pytest.mark.parametrize("route", ["capture", "capture_cancel", "capture_test"])
def test_a_page_of_another_name_cannot_record_even_with_the_token(tmp_path, route):
    service = Service(str(tmp_path))
    answer = Client(Application(service)).post(
        f"{PREFIX}/{route}",
        json={"addresses": "127.0.0.1:1"},
        headers={"X-Tbprof-Token": service.token, "Host": "evil.example"},
    )
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (403, "forbidden")


def test_a_page_of_another_name_does_not_see_captures(tmp_path):
    client = client_of(tmp_path)
    assert client.get(f"{PREFIX}/captures").status_code == 200
    assert client.get(f"{PREFIX}/captures", headers={"Host": "evil.example"}).status_code == 403
