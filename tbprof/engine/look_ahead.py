"""Prepares the other pages of a run after the first, so that a second one opens at once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from time import sleep
from typing import Any, Literal

from tbprof.base.errors import TbprofError
from tbprof.base.lazy import get_logger
from tbprof.engine.requests import Body, DataRequest, Stream
from tbprof.storage.files import fingerprints
from tbprof.storage.runs import Run, TraceFile
from tbprof.tools import TOOLS

_log = get_logger(__name__)

# What our own pages request comes first.
_LAYOUTS: tuple[Literal["columns", "rows"], ...] = ("columns", "rows")
# For more hosts, rows, which only scripts request, would displace the payloads of pages: the memory
# profile of 64 hosts with 8 GPUs takes 123 MB.
_MOST_WITH_ROWS = 16
# Workers keep few files open. For more hosts, the parts of all pages are computed first, so that
# each file is opened once, not once per page. This many hosts are computed at a time, since their
# parts are held in memory.
_MOST_OPEN = 4
_AT_ONCE = 256
# The first page is sent in the meantime: threads that compute would delay that by 5 ms at a time.
_PAUSE_S = 0.05
# How many choices of hosts wait at most, and how many prepared ones are remembered.
_MOST_WAITING = 4
_MOST_PREPARED = 256

_Key = tuple[str, ...]
_Choice = tuple[Run, Sequence[TraceFile]]


class LookAhead:
    """Requests all payloads of the chosen hosts from `data`, once for each choice of hosts.

    `compute` computes the parts of some hosts that these payloads need. A single thread does this
    while there are choices, the latest first. Before each payload, `until_idle` returns when no
    request waits for an answer.
    """

    def __init__(
        self,
        data: Callable[[DataRequest], Body | Stream],
        compute: Callable[[Run, Sequence[TraceFile]], object],
        until_idle: Callable[[], None],
    ) -> None:
        self._data = data
        self._compute = compute
        self._until_idle = until_idle
        self._changed = threading.Condition()
        self._waiting: OrderedDict[_Key, _Choice] = OrderedDict()
        self._prepared: OrderedDict[_Key, None] = OrderedDict()
        self._is_running = False

    def start(self, run: Run, files: Sequence[TraceFile]) -> None:
        """Prepares the other tools' pages of the same hosts, one after another, after requests."""
        key = fingerprints(files)
        with self._changed:
            if key in self._prepared:
                return
            self._waiting[key] = (run, files)
            self._waiting.move_to_end(key)
            _trim(self._waiting, _MOST_WAITING)
            if self._is_running:
                return
            self._is_running = True
        # A daemon: stopping the server does not wait for pages that were not requested.
        threading.Thread(target=self._work, name="tbprof-ahead", daemon=True).start()

    def wait(self) -> None:
        """Returns when nothing waits any more."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_running)

    def _work(self) -> None:
        sleep(_PAUSE_S)
        while (choice := self._next()) is not None:
            run, files = choice
            hosts = tuple(file.host for file in files)
            for begin in range(0, len(files), _AT_ONCE) if len(files) > _MOST_OPEN else ():
                self._until_idle()
                _tried(partial(self._compute, run, files[begin : begin + _AT_ONCE]))
            for layout in _LAYOUTS[: 2 if len(files) <= _MOST_WITH_ROWS else 1]:
                for tool in TOOLS:
                    if not tool.is_streamed:
                        # Scripts request rows, and use no parameters.
                        params = dict(tool.usual) if layout == "columns" else {}
                        first_row = 0 if layout == "columns" and tool.is_in_batches else None
                        request = DataRequest(
                            run.name, tool.name, hosts, layout, first_row=first_row, params=params
                        )
                        self._until_idle()
                        _tried(partial(self._prepare, request))

    def _next(self) -> _Choice | None:
        """The latest choice; None ends the thread."""
        with self._changed:
            if not self._waiting:
                self._is_running = False
                self._changed.notify_all()
                return None
            key, choice = self._waiting.popitem()
            self._prepared[key] = None
            _trim(self._prepared, _MOST_PREPARED)
            return choice

    def _prepare(self, request: DataRequest) -> None:
        body = self._data(request)
        if isinstance(body, Body):
            _ = body.gzipped


def _tried(prepare: Callable[[], object]) -> None:
    try:
        prepare()
    except TbprofError:  # a tool without data: the page will say why when it is opened
        return
    except Exception:  # noqa: BLE001 - a defect that the page itself will show
        _log.debug("preparing pages failed", exc_info=True)


def _trim(entries: OrderedDict[_Key, Any], most: int) -> None:
    while len(entries) > most:
        entries.popitem(last=False)
