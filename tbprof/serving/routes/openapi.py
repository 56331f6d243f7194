"""The routes as an OpenAPI document, for clients and for the tests.

Source: OpenAPI Specification 3.1.0, https://spec.openapis.org/oas/v3.1.0.
"""

from __future__ import annotations

from typing import Any

from tbprof import __version__
from tbprof.serving.routes.route_shapes import (
    ANSWERS,
    CONTENT,
    ERROR,
    PARAMETERS,
    REPEATED,
    TAKES,
    Shape,
)

_JSON = "application/json"
_TYPES = {"text": "string", "whole": "integer", "number": "number", "flag": "boolean"}
# The statuses of any route, see "Errors" in docs/http_api.md. 500 is a bug.
_FAILURES = (400, 403, 404, 405, 409, 422, 429, 502, 503)
_ACCEPTED = {"capture": 202}
# Tables, and what the graph viewer answers beside JSON.
_FILES = ("text/csv", "text/html", "text/plain", "application/octet-stream")


def openapi() -> dict[str, Any]:
    """The document; paths are relative to its own address."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "tbprof", "version": __version__},
        "servers": [{"url": "."}],
        "paths": {f"/{route}": _path(route) for route in TAKES},
        "components": {"schemas": {"Error": schema(ERROR)}},
    }


def schema(shape: Shape) -> dict[str, Any]:
    """A shape as JSON Schema."""
    if isinstance(shape, list):
        return {"type": "array", "items": schema(shape[0])}
    if isinstance(shape, dict):
        return _object(shape)
    name = shape.removesuffix("?")
    if name == "any":
        return {}
    return {"type": _TYPES[name] if name == shape else [_TYPES[name], "null"]}


def _object(shape: dict[str, Any]) -> dict[str, Any]:
    if "*" in shape:
        return {"type": "object", "additionalProperties": schema(shape["*"])}
    fields = {key: value for key, value in shape.items() if key != "?"}
    return {
        "type": ["object", "null"] if "?" in shape else "object",
        "properties": {key.removesuffix("?"): schema(value) for key, value in fields.items()},
        "required": [key for key in fields if not key.endswith("?")],
        "additionalProperties": False,
    }


def _path(route: str) -> dict[str, Any]:
    is_post = route.startswith("capture") and route != "captures"
    return {
        "post" if is_post else "get": _post_operation(route) if is_post else _get_operation(route)
    }


def _get_operation(route: str) -> dict[str, Any]:
    parameters = [_parameter(name) for name in TAKES[route].split()]
    return {"operationId": route, "parameters": parameters, "responses": _responses(route)}


def _post_operation(route: str) -> dict[str, Any]:
    proof = {"name": "X-Tbprof-Token", "in": "header", "required": True}
    body = {"required": True, "content": {_JSON: {"schema": {"type": "object"}}}}
    return {
        "operationId": route,
        "parameters": [{**proof, "schema": {"type": "string"}}],
        "requestBody": body,
        "responses": _responses(route),
    }


def _parameter(word: str) -> dict[str, Any]:
    name = word.removesuffix("!")
    values = PARAMETERS[name]
    if name in REPEATED:
        values = {"type": "array", "items": values}
    return {"name": name, "in": "query", "required": name != word, "schema": values}


def _responses(route: str) -> dict[str, Any]:
    if route in CONTENT:
        content: dict[str, Any] = {CONTENT[route]: {}}
    else:
        content = {_JSON: {"schema": schema(ANSWERS[route])}}
        if route == "data":
            content |= {kind: {} for kind in _FILES}
    failure = {_JSON: {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {
        str(_ACCEPTED.get(route, 200)): {"description": "the answer", "content": content},
        **{str(status): {"description": "an error", "content": failure} for status in _FAILURES},
    }
