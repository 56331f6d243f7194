"""Questions to routes, and their errors."""

import json
from urllib.parse import urlencode

BASE = "/data/plugin/profile/"


def get(client, route, headers=None, **parameters):
    query = urlencode(parameters, doseq=True)
    return client.get(f"{BASE}{route}?{query}", headers=headers)


def error_of(response) -> tuple[int, str]:
    body = json.loads(response.data)
    assert set(body) == {"error"}
    assert set(body["error"]) == {"code", "message", "hint"}
    assert "Traceback" not in body["error"]["message"] + body["error"]["hint"]
    return response.status_code, body["error"]["code"]
