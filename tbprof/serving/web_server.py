"""The server of `tbprof serve`: Waitress, with threads that no single run can occupy.

Waitress holds connections, reads requests and sends the rest of responses in one thread, so neither
idle nor slow browsers occupy a thread.
"""

from __future__ import annotations

import logging
import socket
import sys
import threading
from collections import Counter, deque
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer
from waitress.wasyncore import close_all, loop

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

logger = logging.getLogger(__name__)

# A client that neither sends nor receives anything for this long loses its connection.
IDLE_S = 60
# How often this is checked.
_LOOK_EVERY_S = 5
# Python's switch interval: by default 5 ms, which a request could wait four times, since it changes
# threads four times.
_SWITCH_S = 0.001
_MOST_CONNECTIONS = 500
_MOST_BODY_BYTES = 16 << 20
# Unsent parts of a response beyond this size are kept in a file; a streamed response waits.
_UNSENT_BYTES = 16 << 20

_THREADS = 16
# Threads that are reserved for the pages themselves and for quick requests.
_THREADS_OF_RUNS = 13
_THREADS_OF_RUN = 6
# Reports progress, and never waits.
_PROGRESS = "/progress"


class RequestThreads:
    """Threads that answer requests, started when they are needed.

    Some threads never answer requests about runs, and only a few answer requests about the same
    run. So clients that wait for a large run, in any number of tabs, do not block others.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[tuple[str, HTTPChannel]] = deque()
        # The number of busy threads by run; "" for requests about no run.
        self._answering: Counter[str] = Counter()
        self._threads = 0
        # Idle threads that have not been notified yet.
        self._idle = 0

    def add_task(self, channel: HTTPChannel) -> None:
        """Queues the first request of a connection; Waitress calls it."""
        with self._changed:
            self._waiting.append((_run_of(channel), channel))
            if self._idle:
                self._idle -= 1
                self._changed.notify()
            elif self._threads < _THREADS:
                self._threads += 1
                threading.Thread(target=self._work, name="tbprof-answers", daemon=True).start()

    def _work(self) -> None:
        while True:
            run, channel = self._take()
            try:
                channel.service()
            except Exception:  # an error in Waitress must not end the thread
                logger.exception("a connection could not be served")
            finally:
                with self._changed:
                    self._answering -= Counter((run,))  # this drops runs without busy threads

    def _take(self) -> tuple[str, HTTPChannel]:
        """Waits for a request that may be answered now, and returns it."""
        with self._changed:
            while (index := self._first()) is None:
                self._idle += 1
                self._changed.wait()
            run, channel = self._waiting[index]
            del self._waiting[index]
            self._answering[run] += 1
            return run, channel

    def _first(self) -> int | None:
        """The index of the first request that only waits for a thread."""
        of_runs = self._answering.total() - self._answering[""]
        for index, (run, _) in enumerate(self._waiting):
            if not run or (of_runs < _THREADS_OF_RUNS and self._answering[run] < _THREADS_OF_RUN):
                return index
        return None


class _Connection(HTTPChannel):  # type: ignore[misc] # Waitress is untyped
    """A connection that one thread may close while another sends."""

    def send(self, data: bytes, do_close: bool = True) -> int:
        """The number of bytes sent. Raises OSError if the connection is closed."""
        try:
            return int(super().send(data, do_close))
        except AttributeError:
            if self.socket is not None:
                raise
            raise ConnectionResetError("the connection is closed") from None


class WebServer(TcpWSGIServer):  # type: ignore[misc] # Waitress is untyped
    """Answers requests at a bound socket."""

    channel_class = _Connection

    def __init__(self, application: WSGIApplication, bound: socket.socket) -> None:
        self._is_closing = False
        self._is_closed = False
        chosen = Adjustments(
            sockets=[bound],
            ident="tbprof",
            connection_limit=_MOST_CONNECTIONS,
            channel_timeout=IDLE_S,
            cleanup_interval=_LOOK_EVERY_S,
            # Keeps reading while a request is answered, to notice that its client has disconnected.
            channel_request_lookahead=1,
            max_request_body_size=_MOST_BODY_BYTES,
            outbuf_overflow=_UNSENT_BYTES,
            outbuf_high_watermark=_UNSENT_BYTES,
            log_socket_errors=False,
            asyncore_use_poll=True,
        )
        place = bound.family, bound.type, bound.proto, bound.getsockname()
        super().__init__(
            application,
            _sock=bound,
            dispatcher=RequestThreads(),
            adj=chosen,
            sockinfo=place,
            bind_socket=False,
        )
        self.server_address = str(self.effective_host), int(self.effective_port)

    def serve_forever(self) -> None:
        """Answers requests until `shutdown` or Ctrl-C."""
        sys.setswitchinterval(_SWITCH_S)
        try:
            while not self._is_closing:
                loop(timeout=1.0, use_poll=True, map=self._map, count=1)
        except KeyboardInterrupt:
            return

    def shutdown(self) -> None:
        """Makes `serve_forever` return; called from another thread."""
        self._is_closing = True
        self.pull_trigger()

    def pull_trigger(self) -> None:
        """Wakes the thread that holds the connections, if there still is one."""
        if not self._is_closed:
            super().pull_trigger()

    def server_close(self) -> None:
        """Stops listening, and closes all connections."""
        self._is_closed = True
        close_all(self._map)

    def maintenance(self, now: float) -> None:
        """Closes idle connections, also those of clients that do not read their response."""
        super().maintenance(now)
        for channel in self.active_channels.values():
            if channel.total_outbufs_len and channel.last_activity < now - IDLE_S:
                # Not `will_close`: that waits until something can be sent.
                self.trigger.pull_trigger(channel.handle_close)


def _run_of(channel: HTTPChannel) -> str:
    """The run that a request is about, "" for quick requests."""
    request = channel.requests[0]
    if request.error or request.path.endswith(_PROGRESS):
        return ""
    runs: list[str] = parse_qs(request.query).get("run", [""])
    return runs[0]
