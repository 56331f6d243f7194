"""Google's side of looking a TPU up: the metadata server of a machine, and the Cloud TPU API."""

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

ACCESS_TOKEN = "ya29.this-is-secret"
NODES = "/v2/projects/project-1/locations/zone-b/nodes/"
_METADATA = "/computeMetadata/v1/"
# Source: docs.cloud.google.com/compute/docs/metadata/predefined-metadata-keys.
_ACCOUNT = f"{_METADATA}instance/service-accounts/default/"
_TEXTS = {
    "/": "computeMetadata/",
    f"{_METADATA}project/project-id": "project-1",
    f"{_METADATA}instance/zone": "projects/123456/zones/zone-b",
    f"{_METADATA}universe/universe-domain": "googleapis.com",
}


def node(state: str = "READY", *hosts: str) -> dict[str, object]:
    """A TPU as the API tells it. Source: google/cloud/tpu/v2/cloud_tpu.proto, Node as JSON."""
    endpoints = [{"ipAddress": host, "port": 8470, "accessConfig": {}} for host in hosts]
    return {
        "name": "projects/project-1/locations/zone-b/nodes/my-tpu",
        "acceleratorType": "v4-16",
        "state": state,
        "health": "HEALTHY",
        "networkEndpoints": endpoints,
    }


@dataclass
class Google:
    """`nodes` by path. `requests` are (path, its Authorization) in the order they came."""

    address: str
    nodes: dict[str, object] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """That of a process that lives on a machine of Google's."""
        return {
            "GCE_METADATA_HOST": self.address,
            "GCE_METADATA_IP": self.address,
            "TBPROF_TPU_API": f"http://{self.address}/v2",
            "CLOUDSDK_CONFIG": "/nonexistent",  # no credentials of whoever runs the tests
        }

    def answer(self, path: str, authorization: str) -> tuple[int, bytes]:
        """(status, body) of a request."""
        self.requests.append((path, authorization))
        plain = path.partition("?")[0]
        if plain in _TEXTS:
            return 200, _TEXTS[plain].encode()
        if plain == f"{_ACCOUNT}token":
            token = {"access_token": ACCESS_TOKEN, "expires_in": 3600, "token_type": "Bearer"}
            return 200, json.dumps(token).encode()
        if plain == _ACCOUNT:
            account = {"aliases": ["default"], "email": "a@b.example", "scopes": []}
            return 200, json.dumps(account).encode()
        if not plain.startswith("/v2/"):
            return 404, b""
        if authorization != f"Bearer {ACCESS_TOKEN}":
            return 401, b""
        return (200, json.dumps(self.nodes[plain]).encode()) if plain in self.nodes else (404, b"")


@contextmanager
def serving_google() -> Iterator[Google]:
    """Both servers, on a free port of loopback."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = google.answer(self.path, self.headers.get("Authorization", ""))
            self.send_response(status)
            self.send_header("Metadata-Flavor", "Google")
            self.send_header(
                "Content-Type", "application/json" if body[:1] == b"{" else "application/text"
            )
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        google = Google(f"127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield google
        finally:
            server.shutdown()
            thread.join()
