"""Who may use a server that other machines can reach: see tbprof/serving/access.py."""

import json
import logging
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from helpers.started.own_server import ask_port, own_server

from tbprof import cli
from tbprof.base.errors import BadRequest
from tbprof.serving.access import choose_token, with_token
from tbprof.serving.routes.capture_routes import POST_ROUTES
from tbprof.serving.routes.routes import ROUTES
from tbprof.serving.service import Service
from tbprof.serving.web_server import WebServer

TOKEN = 'a/token&more;"%'
QUOTED = urlencode({"token": TOKEN})
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
FORM = {**BROWSER, "Content-Type": "application/x-www-form-urlencoded"}
RUNS = "/data/plugin/profile/runs"
PAGE = "/data/plugin/profile/index.html"


@pytest.fixture(scope="module")
def port(sample_logdir):
    with own_server(str(sample_logdir), token=TOKEN) as port:
        yield port


def ask(*request, **more):
    status, headers, body = ask_port(*request, **more)
    return status, headers, body.decode()


def cookie_of(headers):
    return {"Cookie": headers["Set-Cookie"].partition(";")[0]}


@pytest.mark.parametrize("route", ["", "index.html", "index.js", "nope", *ROUTES, *POST_ROUTES])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS"])
def test_nothing_is_answered_without_the_token(port, route, method):
    status, headers, body = ask(port, f"/data/plugin/profile/{route}", method=method)
    assert (status, headers["Cache-Control"]) == (403, "no-store")
    if method != "HEAD":
        assert json.loads(body)["error"]["code"] == "token_required"


@pytest.mark.parametrize(
    "shown",
    [
        {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": "Bearer"}, {"Authorization": "Bearer \xff"}, {"Cookie": "tbprof_1=x"},
        {"Cookie": "tbprof_PORT="}, {"Cookie": "tbprof_PORT=\xff"}, {"Cookie": "tbprof_80=TOKEN"},
    ],
)  # fmt: skip
def test_a_wrong_token_is_none(port, shown):
    [(name, value)] = shown.items()
    if isinstance(value, str):
        value = value.replace("PORT", str(port)).replace("TOKEN", "a")
    assert ask(port, RUNS, {name: value})[0] == 403


@pytest.mark.parametrize("query", ["token=", "token=a/token", "token=%ff", "Token=" + TOKEN[:1]])
def test_a_wrong_token_in_the_address_is_none(port, query):
    for headers in ({}, BROWSER):
        status, answered, _ = ask(port, f"{RUNS}?{query}", headers)
        assert status == 403
        assert "Set-Cookie" not in answered


def test_scripts_send_the_token_with_each_request(port):
    for scheme in ("Bearer", "bearer"):
        status, headers, body = ask(port, RUNS, {"Authorization": f"{scheme} {TOKEN}"})
        assert (status, len(json.loads(body))) == (200, 3)
        assert "Set-Cookie" not in headers
    assert ask(port, f"{RUNS}?{QUOTED}")[0] == 200


def test_a_browser_shows_the_token_once_and_keeps_a_cookie(port):
    status, headers, body = ask(port, f"{PAGE}?a=1%262&{QUOTED}", BROWSER)
    assert status == 200
    assert 'url=./index.html?a=1%262"' in body
    assert TOKEN not in body
    assert headers["Set-Cookie"].startswith(f"tbprof_{port}=")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} < set(headers["Set-Cookie"].split("; "))
    for path in (RUNS, PAGE):
        assert ask(port, path, {**BROWSER, **cookie_of(headers)})[0] == 200
    assert ask(port, f"/?{QUOTED}", BROWSER)[2].count('url=./"') == 1


def test_without_the_token_a_browser_gets_a_form(port):
    status, headers, body = ask(port, PAGE, BROWSER)
    assert (status, headers["Content-Type"]) == (403, "text/html; charset=utf-8")
    assert '<input type="password" name="token"' in body
    assert "form-action 'self'" in headers["Content-Security-Policy"]
    status, headers, _ = ask(port, f"{PAGE}?x=1", FORM, "POST", QUOTED)
    assert (status, headers["Location"]) == (303, "./index.html?x=1")
    assert ask(port, PAGE, cookie_of(headers))[0] == 200
    assert ask(port, PAGE, FORM, "POST", "token=wrong")[0] == 403
    assert ask(port, PAGE, FORM, "POST", "token=" + "x" * 5000)[0] == 403


def test_an_address_never_leads_to_another_server(port):
    for path in ("//evil.example/x", "/\\evil.example", "/a:b", "/%0d%0aX:%20y"):
        status, headers, _ = ask(port, path, FORM, "POST", QUOTED)
        assert status == 303
        assert headers["Location"].startswith("./")
        assert "X" not in headers
        target = ask(port, f"{path}?{QUOTED}", BROWSER)[2].partition("url=")[2]
        assert target.startswith("./")


def test_the_host_is_checked_all_the_same(port):
    status, _, body = ask(port, f"{PAGE}?{QUOTED}", {**BROWSER, "Host": "evil.example"})
    assert (status, json.loads(body)["error"]["code"]) == (400, "bad_host")


def test_captures_ask_for_the_token_of_the_page_as_well(port):
    _, headers, _ = ask(port, f"{PAGE}?{QUOTED}", BROWSER)
    status, _, body = ask(port, "/data/plugin/profile/capture", cookie_of(headers), "POST", "{}")
    assert (status, json.loads(body)["error"]["code"]) == (403, "forbidden")


def test_logs_do_not_have_the_token(port, caplog):
    with caplog.at_level(logging.DEBUG):
        ask(port, f"{RUNS}?a=1&{QUOTED}&b=2")
        ask(port, f"{RUNS}?{QUOTED}", method="BAD METHOD")
    said = "".join(record.getMessage() for record in caplog.records)
    assert f"GET {RUNS}" in said
    assert "token" not in said
    assert "more" not in said


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "::1"])
def test_this_machine_alone_needs_no_token(host):
    assert choose_token(host, "") == ""
    assert choose_token(host, "of-my-own") == "of-my-own"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "10.1.2.3", "this-machine", "127.1"])
def test_other_machines_need_a_token(host):
    made = {choose_token(host, "") for _ in range(9)}
    assert len(made) == 9
    assert min(map(len, made)) >= 32
    assert choose_token(host, "of-my-own") == "of-my-own"


def test_a_token_that_can_be_guessed_is_refused():
    with pytest.raises(BadRequest, match="7 characters"):
        choose_token("0.0.0.0", "1234567")


@pytest.mark.parametrize("given", ["of my own", "of-mÿ-own", "of-my\nown"])
def test_a_token_fits_into_a_header(given):
    with pytest.raises(BadRequest, match="ASCII"):
        choose_token("0.0.0.0", given)


def test_the_token_is_part_of_the_link():
    assert with_token("http://h:1/", "") == "http://h:1/"
    link = urlsplit(with_token("http://h:1/", TOKEN))
    assert parse_qs(link.query) == {"token": [TOKEN]}


@pytest.fixture
def printed(monkeypatch, capsys, tmp_path):
    """The token in the link that `tbprof serve` prints with these options."""
    monkeypatch.delenv("TBPROF_TOKEN", raising=False)
    monkeypatch.setattr(WebServer, "serve_forever", lambda _: None)
    monkeypatch.setattr(Service, "warm_up", lambda _: None)
    monkeypatch.setattr(logging, "disable", lambda: None)

    def run(*options):
        cli.main(["serve", str(tmp_path), "--port", "0", *options])
        address = urlsplit(capsys.readouterr().out.split()[3])
        return parse_qs(address.query).get("token", [""])[0]

    return run


@pytest.mark.parametrize(
    ("options", "variable", "token"),
    [
        (["--host", "0.0.0.0", "--token", "from-options"], "from-outside", "from-options"),
        (["--host", "0.0.0.0"], "from-outside", "from-outside"),
        (["--host", "0.0.0.0", "--no-token"], "from-outside", ""),
        (["--host", "0.0.0.0", "--no-token"], None, ""),
        (["--token", "from-options"], None, "from-options"),
        ([], "from-outside", "from-outside"),
        ([], None, ""),
    ],
)
def test_the_command_prints_a_link_with_the_token(options, variable, token, monkeypatch, printed):
    if variable is not None:
        monkeypatch.setenv("TBPROF_TOKEN", variable)
    assert printed(*options) == token


def test_a_made_up_token_is_printed(printed):
    assert len(printed("--host", "0.0.0.0")) == 32
