"""Opens a logdir's trace in the trace viewer, as its server does for the first view, and ends.

python benchmarks/trace_open.py LOGDIR
"""

import gzip
import sys

import trace_session
from werkzeug.test import Client

from tbprof.serving.routes import Application
from tbprof.serving.service import Service

ROUTE = "/data/plugin/profile"


def main(logdir: str, *, is_kept: bool) -> None:
    """Asks for the index and for the tiles of the first view; both must be answered."""
    service = Service(logdir)
    client = Client(Application(service))
    _, tiles = trace_session.first_view(_get(client, "timeline?run=bench&host=host0"))
    _get(client, tiles)
    if is_kept:
        service.engine().timelines.settle()


def _get(client: Client, path: str) -> bytes:
    answer = client.get(f"{ROUTE}/{path}", headers={"Accept-Encoding": "gzip"})
    content: bytes = answer.data
    if answer.status_code != 200:
        raise SystemExit(f"{path}: {answer.status_code} {content[:300]!r}")
    if answer.headers.get("Content-Encoding") == "gzip":
        return gzip.decompress(content)
    return content


if __name__ == "__main__":
    main(sys.argv[1], is_kept="--keep" in sys.argv)
