"""What holds for every answer of every route that any test asks: it is as `openapi.json` says."""

from functools import cache
from typing import Any

import jsonschema_rs
import orjson

from tbprof.serving.responses import JSON, Reply
from tbprof.serving.routes.openapi import openapi

# Larger ones take longer to check than to make.
_MOST_BYTES = 1 << 18


def check_answer(route: str, method: str, reply: Reply) -> None:
    """Raises where the answer of a route is not what the document describes."""
    operation = _document()["paths"].get(f"/{route}", {}).get(_described(method))
    if operation is None or reply.status in (405, 500):
        return
    content = operation["responses"][str(reply.status)]["content"]
    assert reply.content_type.partition(";")[0] in content, f"{route}: {reply.content_type}"
    if reply.content_type == JSON and reply.chunks is None and len(reply.content) < _MOST_BYTES:
        _validator(route, _described(method), reply.status).validate(orjson.loads(reply.content))


def _described(method: str) -> str:
    return "get" if method == "HEAD" else method.lower()


@cache
def _document() -> dict[str, Any]:
    return openapi()


@cache
def _validator(route: str, method: str, status: int) -> Any:
    responses = _document()["paths"][f"/{route}"][method]["responses"]
    schema = responses[str(status)]["content"]["application/json"]["schema"]
    return jsonschema_rs.validator_for({**schema, "components": _document()["components"]})
