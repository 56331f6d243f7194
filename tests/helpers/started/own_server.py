"""Our own server, running in a thread."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

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
