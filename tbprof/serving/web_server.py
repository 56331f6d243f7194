"""The server of `tbprof serve`: Waitress, with threads that one run cannot take from the others.

Waitress holds connections, reads requests and sends what is left of answers in one thread, so
neither an idle browser nor a slow one has a thread of its own.
"""

import logging
import socket
import sys
import threading
from collections import Counter, deque
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from waitress.adjustments import Adjustments
from waitress.server import TcpWSGIServer
from waitress.wasyncore import close_all, loop

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication
    from waitress.channel import HTTPChannel

logger = logging.getLogger(__name__)

# A client that neither sends nor takes anything for so long loses its connection.
IDLE_S = 60
# How often that is looked for.
_LOOK_EVERY_S = 5
# What Python lets a thread compute before another one may: 5 ms usually, which each of the four
# times that a request changes its thread would wait for.
_SWITCH_S = 0.001
_MOST_CONNECTIONS = 500
_MOST_BODY_BYTES = 16 << 20
# An answer of which more is not sent yet is kept in a file; one that is streamed waits.
_UNSENT_BYTES = 16 << 20

_THREADS = 16
# What is left to the pages themselves, and to what is quick.
_THREADS_OF_RUNS = 13
_THREADS_OF_RUN = 6
# Tells how far a run is, and never waits.
_PROGRESS = "/progress"


class RequestThreads:
    """Threads that answer requests, started when they are needed.

    Some of them answer no requests about runs, and only few answer those about one run. So whoever
    waits for a large run, in however many tabs, keeps nobody from another.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[tuple[str, HTTPChannel]] = deque()
        # By run, "" for requests about none.
        self._answering: Counter[str] = Counter()
        self._threads = 0
        # Those that nothing was said to since they began to wait.
        self._idle = 0

    def add_task(self, channel: "HTTPChannel") -> None:
        """Has the first request of a connection answered; Waitress calls it."""
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
            except Exception:  # of Waitress: it must not end the thread
                logger.exception("a connection could not be served")
            finally:
                with self._changed:
                    self._answering -= Counter((run,))  # which forgets runs with none

    def _take(self) -> "tuple[str, HTTPChannel]":
        """Waits for a request that may be answered now."""
        with self._changed:
            while (at := self._first()) is None:
                self._idle += 1
                self._changed.wait()
            run, channel = self._waiting[at]
            del self._waiting[at]
            self._answering[run] += 1
            return run, channel

    def _first(self) -> int | None:
        """The place of the first request that waits for nothing but a thread."""
        of_runs = self._answering.total() - self._answering[""]
        for at, (run, _) in enumerate(self._waiting):
            if not run or (of_runs < _THREADS_OF_RUNS and self._answering[run] < _THREADS_OF_RUN):
                return at
        return None


class WebServer(TcpWSGIServer):  # type: ignore[misc] # Waitress is untyped
    """Answers what arrives at a bound socket."""

    def __init__(self, application: "WSGIApplication", bound: socket.socket) -> None:
        self._is_closing = False
        chosen = Adjustments(
            sockets=[bound],
            ident="tbprof",
            connection_limit=_MOST_CONNECTIONS,
            channel_timeout=IDLE_S,
            cleanup_interval=_LOOK_EVERY_S,
            # Reads on while a request is answered, and so notices that its client has gone.
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
        """Has `serve_forever` return; for another thread."""
        self._is_closing = True
        self.pull_trigger()

    def server_close(self) -> None:
        """Stops listening, and closes all connections."""
        close_all(self._map)

    def maintenance(self, now: float) -> None:
        """Closes idle connections, also of clients that do not take what is there for them."""
        super().maintenance(now)
        for channel in self.active_channels.values():
            if channel.total_outbufs_len and channel.last_activity < now - IDLE_S:
                # Not `will_close`: that waits until something can be sent.
                self.trigger.pull_trigger(channel.handle_close)


def _run_of(channel: "HTTPChannel") -> str:
    """The run that a request is about, "" if it is quick."""
    request = channel.requests[0]
    if request.error or request.path.endswith(_PROGRESS):
        return ""
    runs: list[str] = parse_qs(request.query).get("run", [""])
    return runs[0]
