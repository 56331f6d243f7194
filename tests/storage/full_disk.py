"""A cache and a capture on a full disk: `python -m storage.full_disk FOLDER`, on a small mount."""

import logging
import shutil
import sys
from pathlib import Path

from helpers.started.profilers import Profiler, recorded, serving, trace
from storage.kills import pages

from tbprof.capturing.requests.request import parse_request
from tbprof.capturing.sessions.session import Capture
from tbprof.storage.results import ResultStore

_CAPTURED = 100_000_000
_LEFT = 1 << 16


def main() -> None:
    folder = Path(sys.argv[1])
    logging.basicConfig(format="logged: %(message)s", level=logging.WARNING)
    filling = folder / "filling"
    filling.write_bytes(bytes(shutil.disk_usage(folder).free - _LEFT))
    assert pages(ResultStore(folder / "cache")) == pages(None)
    assert not list((folder / "cache").rglob("*.tmp"))
    filling.unlink()
    with serving(profiler := Profiler([recorded(trace(size=_CAPTURED))])):
        request = parse_request({"addresses": profiler.address, "duration_ms": 20})
        report = Capture(request, str(folder / "logs")).run()
    [worker] = report.workers
    assert worker.reason == "not_written", worker
    assert "No space left" in worker.details
    assert not [path for path in (folder / "logs").rglob("*") if path.is_file()]
    print("as expected")  # noqa: T201


if __name__ == "__main__":
    main()
