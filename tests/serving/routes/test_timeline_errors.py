"""What the routes of timelines say to requests that cannot be answered."""

import logging
import os
from typing import Any

import pytest
from helpers.asking import client_of, error_of, get
from helpers.timeline_client import DRAWN, Timeline
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from traces import draw, write, write_run
from werkzeug.test import Client

from tbprof.serving.routes.timeline_routes import TIMELINE_ROUTES

SPAN: dict[str, Any] = {"level": 20, "from": 0, "to": 1}


@pytest.fixture(scope="module")
def client(tmp_path_factory) -> Client:
    root = tmp_path_factory.mktemp("timelines")
    write_run(root, {"host0": DRAWN}, "drawn")
    write_run(root, {}, "none")
    return client_of(root)


@pytest.fixture(scope="module")
def drawn(client) -> Timeline:
    return Timeline(client)


@pytest.mark.parametrize(
    ("route", "parameters", "status", "code"),
    [
        ("timeline", {"run": "nope"}, 404, "run_not_found"),
        ("timeline", {"run": "../../etc"}, 404, "run_not_found"),
        ("timeline", {}, 400, "bad_request"),
        ("timeline", {"run": "drawn", "host": "nope"}, 404, "host_not_found"),
        ("timeline", {"run": "drawn", "host": "../host0"}, 404, "host_not_found"),
        ("timeline", {"run": "drawn", "part": "all"}, 400, "bad_request"),
        ("timeline", {"run": "none"}, 422, "no_data"),
        ("timeline_tiles", {"run": "nope", **SPAN}, 404, "run_not_found"),
        ("timeline_tiles", {"run": "drawn", **SPAN}, 409, "stale"),
        ("timeline_tiles", {"run": "drawn", "version": "x", **SPAN}, 409, "stale"),
        ("timeline_search", {"run": "drawn", "version": "", "q": "x"}, 409, "stale"),
        ("timeline_", {"run": "drawn"}, 404, "not_found"),
    ],
)
def test_timelines_that_there_are_not(client, route, parameters, status, code):
    assert error_of(get(client, route, **parameters)) == (status, code)


@pytest.mark.parametrize(
    ("route", "parameters"),
    [
        ("tiles", {}),
        ("tiles", {**SPAN, "level": -1}),
        ("tiles", {**SPAN, "level": 53}),
        ("tiles", {**SPAN, "level": "1.5"}),
        ("tiles", {**SPAN, "from": -1}),
        ("tiles", {**SPAN, "from": 1}),
        ("tiles", {**SPAN, "to": 2**60}),
        ("tiles", {**SPAN, "to": 65_536}),
        ("tiles", {**SPAN, "rows": "0-4294967295"}),
        ("tiles", {**SPAN, "rows": "999"}),
        ("tiles", {**SPAN, "rows": "3-1"}),
        ("tiles", {**SPAN, "rows": "a"}),
        ("tiles", {**SPAN, "rows": "1," * 9000}),
        ("tiles", {**SPAN, "name": "(", "regex": 1}),
        ("tiles", {**SPAN, "regex": "yes"}),
        ("tiles", {**SPAN, "category": "nope"}),
        ("tiles", {**SPAN, "min_ps": "1 ms"}),
        ("tiles", {**SPAN, "name": "x" * 5000}),
        ("counters", {"level": 1}),
        ("counters", {**SPAN, "counters": "0"}),
        ("busy", {"buckets": 0}),
        ("busy", {"buckets": 4097}),
        ("busy", {"from_ps": 5, "to_ps": 4}),
        ("busy", {"from_ps": "NaN"}),
        ("busy", {"sections": "9"}),
        ("in_use", {"from_ps": 5, "to_ps": 4}),
        ("in_use", {"to_ps": "soon"}),
        ("search", {}),
        ("search", {"q": "("}, ),
        ("search", {"q": "x", "limit": -1}),
        ("search", {"q": "x", "limit": 10_001}),
        ("search", {"q": "x", "after": "nonsense"}),
        ("search", {"q": "arg:"}),
        ("marks", {"q": "x"}),
        ("marks", {**SPAN, "q": "(", "regex": 1}),
        ("marks", {**SPAN}),
        ("aggregate", {"by": "color"}),
        ("aggregate", {"tracks": "77"}),
        ("aggregate", {"from_ps": 9, "to_ps": 1}),
        ("calls", {"order": "sideways"}),
        ("calls", {"by_track": "yes"}),
        ("calls", {"tracks": "77"}),
        ("calls", {"from_ps": "now"}),
        ("calls", {"from_ps": 9, "to_ps": 1}),
    ],
)  # fmt: skip
def test_bad_parameters_are_named(drawn, route, parameters):
    if route == "search" and parameters.get("q") == "(":
        parameters = {**parameters, "regex": 1}
    response = drawn.get(route, **parameters)
    assert error_of(response) == (400, "bad_request")
    assert len(response.data) < 1000


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    route=st.sampled_from([name.removeprefix("timeline_") for name in TIMELINE_ROUTES][1:]),
    texts=st.dictionaries(
        st.sampled_from(
            ["level", "from", "to", "rows", "q", "regex", "case", "limit", "after", "from_ps",
             "to_ps", "buckets", "sections", "counters", "tracks", "by", "id", "move", "name",
             "category", "min_ps", "part"]
        ),
        st.sampled_from(
            ["0", "1", "2", "52", "-1", "1e18", "9223372036854775807", "4611686018427387904",
             "4294967295", "0-1", "1-0", "name", "track", "next", "parent", "matmul", "arg:bytes=1",
             "whole:k", "category:compute", "source:x", "kernel:m", "(a|b)+", "[", ".*"]
        ) | st.text(max_size=8),
        min_size=3,
    ),
)  # fmt: skip
def test_no_question_makes_a_defect(drawn, caplog, route, texts):
    response = drawn.get(route, **{name: text.encode("utf-8", "replace")
                                   for name, text in texts.items()})  # fmt: skip
    assert response.status_code in (200, 400, 404, 409), response.data
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_version_is_stale_once_the_file_has_changed(tmp_path):
    folder = write_run(tmp_path, {})
    path = write(folder, DRAWN)
    timeline = Timeline(client_of(tmp_path), "run")
    assert timeline.whole().entries
    write(folder, draw({"/host:CPU": "a|x"}))
    os.utime(path, ns=(1, 1))
    response = timeline.get("tiles", **SPAN)
    assert error_of(response) == (409, "stale")
    assert "timeline" in response.get_json()["error"]["hint"]
    fresh = Timeline(timeline.client, "run")
    assert fresh.index["version"] != timeline.index["version"]
    assert [entry.name for entry in fresh.whole().entries] == ["x"]
    path.unlink()
    assert error_of(fresh.get("tiles", **SPAN))[0] == 422
