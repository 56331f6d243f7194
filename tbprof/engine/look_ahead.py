"""Prepares the other pages of a run after the first, so that a second one opens at once."""

import threading
from collections.abc import Callable, Sequence
from typing import Literal

from tbprof.base.errors import TbprofError
from tbprof.base.lazy import get_logger
from tbprof.engine.requests import Body, DataRequest, Stream
from tbprof.storage.files import fingerprints
from tbprof.storage.runs import Run, TraceFile
from tbprof.tools import TOOLS

_log = get_logger(__name__)

# What our own pages request comes first.
_LAYOUTS: tuple[Literal["columns", "rows"], ...] = ("columns", "rows")


class LookAhead:
    """Requests all payloads of the chosen hosts from `data`, once for each choice of hosts.

    `threads` do so, one at a time.
    """

    def __init__(self, data: Callable[[DataRequest], Body | Stream]) -> None:
        self._data = data
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self.threads: dict[tuple[str, ...], threading.Thread] = {}

    def start(self, run: Run, files: Sequence[TraceFile]) -> None:
        """Prepares the other tools' pages of the same hosts, one after another, after requests."""
        key = fingerprints(files)
        with self._lock:
            if key in self.threads:
                return
            # A daemon: stopping the server does not wait for pages that were not requested.
            thread = self.threads[key] = threading.Thread(
                target=self._prepare_all, args=(run, files), name="tbprof-ahead", daemon=True
            )
        thread.start()

    def _prepare_all(self, run: Run, files: Sequence[TraceFile]) -> None:
        hosts = tuple(file.host for file in files)
        with self._turn:
            for layout in _LAYOUTS:
                for tool in TOOLS:
                    if not tool.is_streamed:
                        self._prepare(DataRequest(run.name, tool.name, hosts, layout))

    def _prepare(self, request: DataRequest) -> None:
        try:
            body = self._data(request)
            if isinstance(body, Body):
                _ = body.gzipped
        except TbprofError:  # a tool without data: the page will say why when it is opened
            return
        except Exception:  # noqa: BLE001 - a defect that the page itself will show
            _log.debug("preparing %s failed", request.tag, exc_info=True)
