"""The description of the routes: all of them, with the parameters that they read.

Whether answers are as described is checked wherever a test asks, by
`helpers/promises/answer_promises.py`.
"""

import json

import pytest
from helpers.asking import client_of
from helpers.promises.answer_promises import check_answer
from serving.routes.test_http_api import DOCUMENTED

from tbprof.serving.responses import PLAIN, Reply, json_reply
from tbprof.serving.routes.capture_routes import POST_ROUTES
from tbprof.serving.routes.openapi import openapi, schema
from tbprof.serving.routes.routes import ROUTES
from tbprof.tools import TOOLS

PATHS = openapi()["paths"]


def test_every_route_is_described_and_there_are_no_others():
    described = {(path, method) for path, item in PATHS.items() for method in item}
    assert described == {(f"/{route}", "get") for route in ROUTES} | {
        (f"/{route}", "post") for route in POST_ROUTES
    }


@pytest.mark.parametrize("route", ROUTES)
def test_parameters_are_those_of_the_documents(route):
    named = {parameter["name"] for parameter in PATHS[f"/{route}"]["get"]["parameters"]}
    of_tools = {name for tool in TOOLS for name in tool.params}
    assert named == DOCUMENTED[route] | (of_tools if route in ("data", "data_csv") else set())


def test_the_server_has_it():
    answer = client_of().get("/data/plugin/profile/openapi.json")
    assert answer.status_code == 200
    assert answer.json == json.loads(json.dumps(openapi()))


def test_shapes_are_spelled_out():
    assert schema({"a": ["text?"], "b?": "whole", "?": ""}) == {
        "type": ["object", "null"],
        "properties": {
            "a": {"type": "array", "items": {"type": ["string", "null"]}},
            "b": {"type": "integer"},
        },
        "required": ["a"],
        "additionalProperties": False,
    }
    assert schema({"*": "any"}) == {"type": "object", "additionalProperties": {}}


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (json_reply([1]), "string"),
        (json_reply(["a"], 404), "object"),
        (json_reply([], 202), "202"),
        (Reply(b"", PLAIN), "text/plain"),
    ],
)
def test_an_answer_that_is_not_as_described_is_noticed(reply, problem):
    with pytest.raises((AssertionError, KeyError, ValueError), match=problem):
        check_answer("runs", "GET", reply)
