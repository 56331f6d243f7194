"""A proxy in front of a storage server, which counts requests and answers some of them badly."""

import http.client
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import urlsplit

from helpers.patience import PATIENCE_S

Fault = Literal["busy", "broken", "denied"]
_ANSWERS = {"busy": 503, "denied": 403}


class FaultProxy:
    """Passes requests on to `upstream`, such as `http://127.0.0.1:9000`."""

    def __init__(self, upstream: str) -> None:
        self._upstream = urlsplit(upstream).netloc
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.requests: list[tuple[str, str]] = []  # method, path
        self._faults: list[Fault] = []
        self._always: Fault | None = None
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    @contextmanager
    def counting(self) -> Iterator[Counter[str]]:
        """By method, the requests inside the block; complete after it."""
        counts: Counter[str] = Counter()
        begin = len(self.requests)
        yield counts
        counts.update(method for method, _ in self.requests[begin:])

    @contextmanager
    def failing(self, *faults: Fault) -> Iterator[None]:
        """The next requests fail, as many as there are faults; all of them are made."""
        self._faults = list(faults)
        yield
        left, self._faults = self._faults, []
        assert not left, f"{len(left)} of {len(faults)} faults were not met"

    @contextmanager
    def always(self, fault: Fault) -> Iterator[None]:
        """Every request fails inside the block."""
        self._always = fault
        yield
        self._always = None

    def fault(self) -> Fault | None:
        return self._faults.pop(0) if self._faults else self._always

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        proxy, upstream = self, self._upstream

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _pass_on(self) -> None:
                body = self._body()
                proxy.requests.append((self.command, self.path))
                fault = proxy.fault()
                if fault in _ANSWERS:
                    self._answer(_ANSWERS[fault], [], b"")
                    return
                status, headers, content = _exchange(upstream, self, body)
                self._answer(status, headers, content, is_broken=fault == "broken")

            def __getattr__(self, name: str) -> Callable[[], None]:
                if name.startswith("do_"):  # every method of HTTP
                    return self._pass_on
                raise AttributeError(name)

            def _body(self) -> bytes:
                if "chunked" not in self.headers.get("Transfer-Encoding", ""):
                    return self.rfile.read(int(self.headers.get("Content-Length") or 0))
                pieces = []
                while size := int(self.rfile.readline().split(b";")[0], 16):
                    pieces.append(self.rfile.read(size))
                    self.rfile.readline()
                self.rfile.readline()
                return b"".join(pieces)

            def _answer(
                self, status: int, headers: Any, content: bytes, *, is_broken: bool = False
            ) -> None:
                self.send_response_only(status)
                for name, value in headers:
                    if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                        self.send_header(name, value)
                sizes = [value for name, value in headers if name.lower() == "content-length"]
                is_head = self.command == "HEAD"
                size = sizes[0] if is_head and sizes else str(len(content))
                self.send_header("Content-Length", size)
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if is_broken else content)
                self.close_connection = is_broken

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        return Handler


def _exchange(
    upstream: str, request: BaseHTTPRequestHandler, body: bytes
) -> tuple[int, list[tuple[str, str]], bytes]:
    connection = http.client.HTTPConnection(upstream, timeout=PATIENCE_S)
    headers = {k: v for k, v in request.headers.items() if k.lower() != "transfer-encoding"}
    if body:
        headers["Content-Length"] = str(len(body))
    connection.request(request.command, request.path, body or None, headers)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, response.getheaders(), content
