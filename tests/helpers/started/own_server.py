"""Our own server, running in a thread, and requests to servers of this machine."""

import http.client
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

from helpers.patience import PATIENCE_S
from tbprof.serving.standalone import make_standalone
from tbprof.serving.web_server import WebServer


@contextmanager
def running(server: WebServer) -> Iterator[int]:
    """The port of a server that answers while the block runs."""
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def own_server(location: str | Sequence[str], *allowed: str, **chosen: Any) -> Iterator[int]:
    """The port of `tbprof serve` at a logdir."""
    with running(make_standalone(location, "127.0.0.1", 0, allowed, **chosen)) as port:
        yield port


def ask_port(
    port: int,
    path: str,
    headers: Mapping[str, str] | None = None,
    method: str = "GET",
    body: str | None = None,
) -> tuple[int, dict[str, str], bytes]:
    """The status, the headers and the body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    with closing(connection):
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()
