"""Questions to routes, and their errors."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from werkzeug.test import Client, TestResponse

from tbprof.serving.routes.routes import Application
from tbprof.serving.service import Service

BASE = "/data/plugin/profile/"


def client_of(logdir: object = "", **choices: Any) -> Client:
    """A client of our own application."""
    return Client(Application(Service(str(logdir), **choices)))


def get(
    client: Client, route: str, headers: Mapping[str, str] | None = None, **parameters: Any
) -> Any:
    """The answer of a route."""
    query = urlencode(parameters, doseq=True)
    return client.get(f"{BASE}{route}?{query}", headers=headers)


def error_of(response: TestResponse) -> tuple[int, str]:
    """(status, code) of an answer that keeps the form of errors."""
    body = json.loads(response.data)
    assert set(body) == {"error"}
    assert set(body["error"]) == {"code", "message", "hint"}
    assert "Traceback" not in body["error"]["message"] + body["error"]["hint"]
    assert response.headers["Cache-Control"] == "no-store"
    return response.status_code, body["error"]["code"]
