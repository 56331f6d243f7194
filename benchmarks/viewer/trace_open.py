"""Opens a logdir's trace in the trace viewer, as its server does for the first view, and ends.

python -m benchmarks.viewer.trace_open LOGDIR
"""

from __future__ import annotations

import gc
import gzip
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING
from wsgiref.util import setup_testing_defaults

from benchmarks.viewer import trace_session

if TYPE_CHECKING:
    from tbprof.serving.routes.routes import Application

ROUTE = "/data/plugin/profile"


def main(logdir: str, *, is_kept: bool) -> None:
    """Asks for the index and for the tiles of the first view; both must be answered."""
    # As `tbprof serve` starts.
    gc.disable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from tbprof.serving.routes.routes import Application
    from tbprof.serving.service import Service

    gc.freeze()
    gc.enable()
    service = Service(logdir)
    application = Application(service)
    _, tiles = trace_session.first_view(_get(application, "timeline?run=bench&host=host0"))
    _get(application, tiles)
    if is_kept:
        service.engine().timelines.settle()


def _get(application: Application, address: str) -> bytes:
    """An answer's content. No client is imported: a user's is the browser."""
    path, _, query = f"{ROUTE}/{address}".partition("?")
    environ = {"PATH_INFO": path, "QUERY_STRING": query, "HTTP_ACCEPT_ENCODING": "gzip"}
    setup_testing_defaults(environ)
    status = ""
    headers: dict[str, str] = {}

    def start_response(
        line: str, fields: list[tuple[str, str]], *_: object
    ) -> Callable[[bytes], object]:
        nonlocal status
        status = line
        headers.update(fields)
        return lambda _: None

    content = b"".join(application(environ, start_response))
    if not status.startswith("200"):
        raise SystemExit(f"{address}: {status} {content[:300]!r}")
    return gzip.decompress(content) if headers.get("Content-Encoding") == "gzip" else content


if __name__ == "__main__":
    main(sys.argv[1], is_kept="--keep" in sys.argv)
