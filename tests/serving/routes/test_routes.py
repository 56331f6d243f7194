"""The HTTP contract, over the real engine."""

import gzip
import html
import logging
import re
import shutil
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import pytest
from helpers.asking import BASE, client_of, error_of, get
from helpers.patience import PATIENCE_S
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from traces import write_run
from werkzeug.test import Client

import tbprof
import tbprof.serving.service as service_module
from tbprof.serving.routes.routes import ROUTES, Application
from tbprof.serving.service import Service

RUN = "tensorflow_cpu_training"
TOOL = "framework_op_stats"


@pytest.fixture(scope="session")
def logdir(tmp_path_factory, sample_logdir) -> Path:
    """The sample runs, and runs with two hosts, with one broken host, and with none."""
    root = tmp_path_factory.mktemp("logdir")
    trace = (sample_logdir / "plugins/profile" / RUN / "host0.xplane.pb").read_bytes()
    shutil.copytree(sample_logdir, root, dirs_exist_ok=True)
    two = write_run(root, {"a.b": trace, "c,d": trace}, "two")
    (two / "old.xplane.riegeli").touch()
    write_run(root, {"bad": b"\x0a\xff\xff\xff\xff\x0fxx", "good": trace}, "half")
    write_run(root / "train", {}, "none")
    return root


@pytest.fixture(scope="session")
def client(logdir) -> Client:
    return client_of(logdir)


def test_runs_are_listed_newest_first(client):
    assert get(client, "runs").json == [
        "two", "train/none", "tensorflow_input_bound", RUN, "jax_cpu_training", "half",
    ]  # fmt: skip


def test_tools_of_a_run(client):
    assert get(client, "run_tools", run=RUN).json == [
        "overview_page", "input_pipeline_analyzer", "tf_data_bottleneck_analysis", TOOL,
        "memory_profile", "pod_viewer", "trace_viewer",
    ]  # fmt: skip
    assert get(client, "run_tools", run="train/none").json == []


def test_programs_of_a_run_are_listed_as_text(client):
    response = get(client, "module_list", run="jax_cpu_training")
    assert response.mimetype == "text/plain"
    titles = response.text.split(",")
    assert titles == sorted(titles)
    assert "jit_train_step(26)" in titles
    assert get(client, "module_list", run=RUN).text == "NO_MODULE"
    assert get(client, "module_list", run="two").text == "NO_MODULE"


def test_a_graph_as_html_is_a_page_that_opens_it(client):
    name = 'a"><b>'
    chosen: dict[str, Any] = {
        "run": "jax_cpu_training", "tag": "graph_viewer", "node_name": name,
    }  # fmt: skip
    page = get(client, "data", **chosen, format="html", type="graph", program_id="26")
    assert (page.status_code, page.mimetype) == (200, "text/html")
    [link] = re.findall('href="([^"]*)"', page.text)
    page_name, _, choice = html.unescape(link).partition("#")
    assert page_name == "index.html"
    assert dict(parse_qsl(choice)) == {
        "run": "jax_cpu_training", "tool": "graph_viewer", "node_name": name, "program_id": "26",
    }  # fmt: skip


def test_hosts_of_a_run(client):
    assert get(client, "hosts", run=RUN, tag=TOOL).json == [{"hostname": "host0"}]
    assert get(client, "hosts", run="two", tag=f"{TOOL}^").json == [
        {"hostname": "ALL_HOSTS"}, {"hostname": "a.b"}, {"hostname": "c,d"},
    ]  # fmt: skip


def test_version_and_config(client):
    version = get(client, "version")
    assert (version.text, version.mimetype) == (tbprof.__version__, "text/plain")
    config = get(client, "config").json
    capture = config.pop("capture")
    assert capture["off"] == ""
    assert len(capture["token"]) > 20
    assert config == {
        "hideCaptureProfileButton": False,
        "srcPathPrefix": "",
        "enableTabNameLabel": False,
        "version": tbprof.__version__,
        "pluginName": "profile",
    }


def test_data_is_a_list_of_tables(client):
    response = get(client, "data", run=RUN, tag=TOOL)
    assert response.mimetype == "application/json"
    with_idle, without_idle, _calls = response.json
    assert with_idle["cols"][0]["id"] == "rank"
    assert len(with_idle["rows"]) >= len(without_idle["rows"]) > 0
    columns = get(client, "data", run=RUN, tag=TOOL, layout="columns").json[0]["columns"]
    assert [row["c"][3]["v"] for row in with_idle["rows"]] == columns[3]
    batch = get(client, "data", run=RUN, tag=TOOL, first_row="1").json[0]
    assert (batch["first_row"], batch["all_rows"]) == (1, len(columns[3]))
    assert batch["columns"][3] == columns[3][1:]


@pytest.mark.parametrize("tag", ["tensorflow_stats", f"{TOOL}^", f"{TOOL}#", "tensorflow_stats^"])
def test_old_names_of_tools_are_understood(client, tag):
    assert get(client, "data", run=RUN, tag=tag).data == get(client, "data", run=RUN, tag=TOOL).data


def occurrences(response) -> float:
    assert response.status_code == 200, response.data
    return sum(row["c"][4]["v"] for row in response.json[1]["rows"])


def test_hosts_may_be_chosen_in_every_way(client):
    one = occurrences(get(client, "data", run="two", tag=TOOL, host="a.b"))
    comma = occurrences(get(client, "data", run="two", tag=TOOL, host="c,d"))
    assert comma == one
    assert occurrences(get(client, "data", run="two", tag=TOOL, hosts="c,d")) == one
    for both in (
        {}, {"host": "ALL_HOSTS"}, {"hosts": "ALL_HOSTS"}, {"hosts": ["a.b", "c,d"]},
        {"host": ["a.b", "c,d"]}, {"host": ""},
    ):  # fmt: skip
        assert occurrences(get(client, "data", run="two", tag=TOOL, **both)) == 2 * one


def test_one_bad_host_hides_no_other_and_is_named(client):
    body = get(client, "data", run="half", tag=TOOL).json
    assert body[0]["rows"]
    (warning,) = [one for one in body[0]["warnings"] if one["host"] == "bad"]
    assert "left out" in warning["message"]
    assert error_of(get(client, "data", run="half", tag=TOOL, host="bad")) == (422, "bad_trace")
    hosts = get(client, "session", run="half").json["hosts"]
    assert [host["error"] is None for host in hosts] == [False, True]


def test_csv_is_an_attachment(client):
    direct = get(client, "data_csv", run="two", tag=TOOL, host="c,d")
    assert direct.mimetype == "text/csv"
    disposition = direct.headers["Content-Disposition"]
    assert disposition.startswith('attachment; filename="framework_op_stats_two_c_d.csv"')
    assert direct.text.startswith("Rank,Host/device")
    assert get(client, "data", run="two", tag=TOOL, host="c,d", tqx="reqId:0;out:csv").data == (
        direct.data
    )
    second = get(client, "data_csv", run=RUN, tag=TOOL, table="1")
    assert second.status_code == 200
    assert error_of(get(client, "data_csv", run=RUN, tag=TOOL, table="3")) == (400, "bad_request")


def test_etag_saves_the_second_transfer(client):
    first = get(client, "data", run=RUN, tag=TOOL)
    etag = first.headers["ETag"]
    again = get(client, "data", {"If-None-Match": etag}, run=RUN, tag=TOOL)
    assert (again.status_code, again.data) == (304, b"")
    assert again.content_type == first.content_type  # TensorBoard's validator insists
    assert again.headers["ETag"] == etag
    zipped = get(client, "data", {"If-None-Match": f'"x", {etag}', "Accept-Encoding": "gzip"},
                 run=RUN, tag=TOOL)  # fmt: skip
    assert zipped.status_code == 304
    other = get(client, "data", {"If-None-Match": etag}, run="two", tag=TOOL)
    assert other.status_code == 200


@pytest.mark.parametrize(
    ("accepted", "is_zipped"),
    [
        ("gzip", True),
        ("gzip, deflate, br", True),
        ("br;q=1.0, gzip;q=0.8, *;q=0.1", True),
        ("", False),
        ("identity", False),
        ("gzip;q=0", False),
        ("br", False),
    ],
)
def test_bodies_are_compressed_only_when_that_is_accepted(client, accepted, is_zipped):
    plain = get(client, "data", run=RUN, tag=TOOL)
    assert "Content-Encoding" not in plain.headers
    response = get(client, "data", {"Accept-Encoding": accepted}, run=RUN, tag=TOOL)
    assert response.headers["Vary"] == "Accept-Encoding"
    assert (response.headers.get("Content-Encoding") == "gzip") == is_zipped
    data = gzip.decompress(response.data) if is_zipped else response.data
    assert data == plain.data
    assert int(response.headers["Content-Length"]) == len(response.data)


def test_logdir_says_what_was_searched(client, logdir):
    body = get(client, "logdir").json
    assert body["logdir"] == str(logdir)
    assert body["scanning"] is False
    assert set(body["searched"]) == {"directories", "files", "seconds", "stopped"}
    assert body["searched"]["stopped"] is None
    assert [Path(entry["path"]).name for entry in body["ignored"]] == ["old.xplane.riegeli"]
    runs = {run["name"]: run for run in body["runs"]}
    assert [run["name"] for run in body["runs"]] == get(client, "runs").json
    assert runs["two"]["hosts"] == 2
    assert runs["train/none"] == {"name": "train/none", "hosts": 0, "bytes": 0, "modified_ms": 0}
    assert runs["two"]["modified_ms"] > 1.6e12


def test_session_gives_the_reason_for_every_tool_without_data(client):
    session = get(client, "session", run="train/none").json
    assert session["hosts"] == []
    assert all(not tool["available"] and tool["reason"] for tool in session["tools"])


def test_progress_is_idle_when_nothing_is_asked_for(client):
    get(client, "run_tools", run=RUN)
    assert get(client, "progress", run=RUN, tag=TOOL).json["state"] == "idle"


@pytest.mark.parametrize(
    ("route", "parameters", "status", "code"),
    [
        ("data", {"run": "nope", "tag": TOOL}, 404, "run_not_found"),
        ("data", {"run": "../../etc", "tag": TOOL}, 404, "run_not_found"),
        ("data", {"run": "<script>", "tag": TOOL}, 404, "run_not_found"),
        ("data", {"run": RUN, "tag": "nope"}, 404, "tool_not_found"),
        ("data", {"run": RUN, "tag": "../x"}, 404, "tool_not_found"),
        ("data", {"run": RUN, "tag": TOOL, "host": "nope"}, 404, "host_not_found"),
        ("data", {"run": RUN, "tag": TOOL, "host": "../host0"}, 404, "host_not_found"),
        ("data", {"run": RUN, "tag": TOOL, "hosts": "host0,nope"}, 404, "host_not_found"),
        ("data", {"run": RUN}, 400, "bad_request"),
        ("data", {"tag": TOOL}, 400, "bad_request"),
        ("data", {"run": "", "tag": TOOL}, 400, "bad_request"),
        ("data", {"run": "a\0b", "tag": TOOL}, 400, "bad_request"),
        ("data", {"run": "x" * 5000, "tag": TOOL}, 400, "bad_request"),
        ("data", {"run": RUN, "tag": "x" * 5000}, 400, "bad_request"),
        ("data", {"run": RUN, "tag": TOOL, "x" * 5000: "1"}, 400, "bad_request"),
        ("data", {"run": RUN, "tag": TOOL, "layout": "x"}, 400, "bad_request"),
        ("data", {"run": RUN, "tag": TOOL, "first_row": "-1"}, 400, "bad_request"),
        ("data", {"run": RUN, "tag": TOOL, "first_row": "9" * 9}, 400, "bad_request"),
        ("data", {"run": RUN, "tag": TOOL, "tqx": "out:html"}, 400, "bad_request"),
        ("data_csv", {"run": RUN, "tag": TOOL, "table": "-1"}, 400, "bad_request"),
        ("data_csv", {"run": RUN, "tag": TOOL, "table": "1e9"}, 400, "bad_request"),
        ("data_csv", {"run": RUN, "tag": TOOL, "table": "²"}, 400, "bad_request"),
        ("data_csv", {"run": RUN, "tag": TOOL, "table": "9" * 20}, 400, "bad_request"),
        ("data", {"run": RUN, "tag": "kernel_stats"}, 422, "no_data"),
        ("data", {"run": "train/none", "tag": TOOL}, 422, "no_data"),
        ("hosts", {"run": RUN}, 400, "bad_request"),
        ("hosts", {"run": "nope", "tag": TOOL}, 404, "run_not_found"),
        ("run_tools", {}, 400, "bad_request"),
        ("run_tools", {"run": "nope"}, 404, "run_not_found"),
        ("session", {"run": "nope"}, 404, "run_not_found"),
        ("progress", {}, 400, "bad_request"),
        ("nope", {}, 404, "not_found"),
        ("", {}, 404, "not_found"),
        ("data/x", {}, 404, "not_found"),
        ("RUNS", {}, 404, "not_found"),
        ("assets/../routes.py", {}, 404, "not_found"),
        ("../../../etc/passwd", {}, 404, "not_found"),
        ("assets/%2e%2e/%2e%2e/cli.py", {}, 404, "not_found"),
    ],
)  # fmt: skip
def test_errors_keep_one_form(client, route, parameters, status, code):
    response = get(client, route, **parameters)
    assert error_of(response) == (status, code)
    assert response.mimetype == "application/json"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
@pytest.mark.parametrize("route", ["runs", "data", "index.html", "nope"])
def test_other_methods_are_refused(client, method, route):
    response = client.open(f"{BASE}{route}", method=method)
    assert error_of(response) == (405, "method_not_allowed")
    assert response.headers["Allow"] == "GET, HEAD"


def test_head_has_the_headers_alone(client):
    head = client.head(f"{BASE}version")
    assert (head.status_code, head.data) == (200, b"")
    assert head.headers["Content-Length"] == "5"


@pytest.mark.parametrize("route", [*ROUTES, "index.html", "index.js", "nope"])
def test_every_answer_has_the_security_headers(client, route):
    headers = get(client, route).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"].startswith("default-src 'self'; script-src 'self';")
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["Content-Type"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    route=st.sampled_from([*ROUTES, "", "x"]) | st.text(max_size=20),
    names=st.lists(st.sampled_from(["run", "tag", "host", "hosts", "tqx", "table", "layout", "z"])),
    values=st.lists(st.sampled_from([RUN, TOOL, "two", "a.b,", ",", "..", "0"]) | st.text()),
)
def test_no_request_makes_a_defect(client, caplog, route, names, values):
    pairs = list(zip(names, values, strict=False))
    query = urlencode([(k, v.encode("utf-8", "replace")) for k, v in pairs])
    path = quote(route.encode("utf-8", "replace"))
    response = client.get(f"{BASE}{path}?{query}")
    assert response.status_code in (200, 400, 404, 409, 422), response.data
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_query_that_is_not_utf8_is_no_defect(client):
    assert client.get(f"{BASE}data?run=%ff%fe&tag=%00").status_code == 400
    assert client.get(f"{BASE}data?run=%ff%fe&tag=x").status_code == 404


@pytest.mark.skipif(sys.platform == "win32", reason="Windows forbids such names")
def test_hostile_names_make_the_round_trip(tmp_path, sample_logdir):
    trace = (sample_logdir / "plugins/profile" / RUN / "host0.xplane.pb").read_bytes()
    names = ["<img src=x onerror=alert(1)>", "a\nb\tc", "..", "%2e", "ünï&x=1#y", "'\"; --", "=1+1"]
    for name in names:
        write_run(tmp_path / "tb", {name: trace}, f"r{name}")
    client = client_of(tmp_path)
    assert get(client, "runs").json == sorted((f"tb/r{name}" for name in names), reverse=True)
    for name in names:
        assert get(client, "hosts", run=f"tb/r{name}", tag=TOOL).json == [{"hostname": name}]
        csv = get(client, "data_csv", run=f"tb/r{name}", tag=TOOL, host=name)
        assert csv.status_code == 200
        assert "\n" not in csv.headers["Content-Disposition"]


def test_defect_is_logged_and_told_without_a_traceback(logdir, caplog, monkeypatch):
    service = Service(str(logdir))
    monkeypatch.setattr(service, "logdir", lambda: 1 / 0)
    response = get(Client(Application(service)), "runs")
    assert error_of(response) == (500, "internal")
    assert b"ZeroDivision" not in response.data
    assert "ZeroDivisionError" in caplog.text


def test_broken_installation_shows_on_the_page(logdir, monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "tbprof.engine.engine", None)
    service = Service(str(logdir))
    client = Client(Application(service))
    assert RUN in get(client, "runs").json
    for route in ("data", "run_tools", "hosts", "session"):
        response = get(client, route, run=RUN, tag=TOOL)
        assert error_of(response) == (503, "load_failed")
        assert "tbprof.engine.engine" in response.json["error"]["message"]
    progress = get(client, "progress", run=RUN, tag=TOOL).json
    assert progress["state"] == "error"
    assert "tbprof.engine.engine" in progress["text"]
    assert get(client, "index.html").status_code == 200
    assert caplog.text.count("Traceback") == 1  # the reason, once


def test_storage_out_of_reach_is_told():
    client = client_of("nosuch://bucket/logs")
    response = get(client, "runs")
    assert error_of(response) == (502, "unreachable")
    assert "a scheme that fsspec supports" in response.json["error"]["hint"]
    assert get(client, "logdir").json["ignored"][0]["path"] == "nosuch://bucket/logs"


def test_empty_logdir_has_no_runs(tmp_path):
    for location in (str(tmp_path), "", str(tmp_path / "missing")):
        client = client_of(location)
        assert get(client, "runs").json == []
        assert get(client, "logdir").json["runs"] == []


def test_runs_are_listed_while_the_engine_is_loading(logdir, monkeypatch):
    may_end = threading.Event()
    engine = SimpleNamespace(load_tools=lambda: None)
    monkeypatch.setattr(
        service_module, "_make_engine", lambda *_: may_end.wait(PATIENCE_S) and engine
    )
    service = Service(str(logdir))
    client = Client(Application(service))
    loading = threading.Thread(target=service.engine)
    loading.start()
    try:
        assert RUN in get(client, "runs").json
        assert get(client, "logdir").json["runs"]
        assert get(client, "index.html").status_code == 200
        assert get(client, "progress", run=RUN, tag=TOOL).json["state"] == "preparing"
    finally:
        may_end.set()
        loading.join()
