"""Calls whose responses are traces, read in pieces, so that no whole trace is in memory.

gRPC's own library returns a response as a whole, three times its size at its peak, and reports
no progress. A unary call is a request and a response over HTTP/2, which `h2` implements.
Source: github.com/grpc/grpc, doc/PROTOCOL-HTTP2.md.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import closing
from urllib.parse import unquote

import grpc
import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings

from tbprof.capturing.requests.targets import Target

_CONNECT_S = 10.0
_TURN_S = 0.05  # how often cancellation is checked
_ENDING_S = 0.25
_READ = 1 << 20
_WINDOW = 2**31 - 1
_FRAME = 2**24 - 1
_PREFIX = struct.Struct(">BI")  # whether it is compressed, and the length
_CODES = {code.value[0]: code for code in grpc.StatusCode}


class CallFailed(Exception):
    """A call failed: its status and message."""

    def __init__(self, code: grpc.StatusCode, details: str) -> None:
        super().__init__(f"{code.name}: {details}")
        self.code = code
        self.details = details


def call(
    target: Target,
    method: str,
    request: bytes,
    timeout_s: float,
    cancelled: threading.Event,
    receive: Callable[[bytes], None],
) -> None:
    """Calls a method; `receive` gets the bytes of the response message, piece by piece.

    Raises CallFailed, with CANCELLED if `cancelled` is set meanwhile: the server is informed
    and stops. An error of `receive` also ends the call.
    """
    deadline = time.monotonic() + timeout_s
    try:
        link = socket.create_connection((target.host, target.port), _CONNECT_S)
    except OSError as error:
        raise CallFailed(grpc.StatusCode.UNAVAILABLE, f"failed to connect: {error}") from error
    with closing(link):
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        exchange = _Exchange(link, target, method, request, timeout_s, receive)
        try:
            while not exchange.is_over:
                if cancelled.is_set():
                    exchange.reset()
                    raise CallFailed(grpc.StatusCode.CANCELLED, "cancelled")
                if time.monotonic() > deadline:
                    exchange.reset()
                    raise CallFailed(grpc.StatusCode.DEADLINE_EXCEEDED, "no response in time")
                exchange.turn()
        except (h2.exceptions.ProtocolError, UnicodeDecodeError) as error:
            details = f"not HTTP/2: {error}"
            raise CallFailed(grpc.StatusCode.UNAVAILABLE, details) from error
        except OSError as error:
            raise CallFailed(grpc.StatusCode.UNAVAILABLE, f"connection reset: {error}") from error
        exchange.check()


class _Exchange:
    """One request and its response on a separate connection."""

    def __init__(
        self,
        link: socket.socket,
        target: Target,
        method: str,
        request: bytes,
        timeout_s: float,
        receive: Callable[[bytes], None],
    ) -> None:
        self.is_over = False
        self._link = link
        self._receive = _Message(receive)
        self._status: dict[str, str] = {}
        self._lost = ""
        config = h2.config.H2Configuration(client_side=True, header_encoding="utf-8")
        self._http = h2.connection.H2Connection(config)
        self._http.local_settings = h2.settings.Settings(
            client=True,
            initial_values={
                h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: _WINDOW,
                h2.settings.SettingCodes.MAX_FRAME_SIZE: _FRAME,
                h2.settings.SettingCodes.ENABLE_PUSH: 0,
            },
        )
        self._http.max_inbound_frame_size = _FRAME
        self._http.initiate_connection()
        self._http.increment_flow_control_window(_WINDOW - 65_535)
        self._stream = self._http.get_next_available_stream_id()
        headers = [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", method),
            (":authority", target.address),
            ("te", "trailers"),
            ("content-type", "application/grpc"),
            ("user-agent", "tbprof"),
            ("grpc-timeout", f"{min(int(timeout_s * 1000), 99_999_999)}m"),
        ]
        self._http.send_headers(self._stream, headers)
        # A request is a few hundred bytes, less than any flow-control window.
        self._http.send_data(self._stream, _PREFIX.pack(0, len(request)) + request, end_stream=True)
        self._send()
        self._link.settimeout(_TURN_S)

    def turn(self) -> None:
        """Reads pending data, if any, and responds to it."""
        try:
            data = self._link.recv(_READ)
        except TimeoutError:
            return
        if not data:
            self._lost = self._lost or "the connection was closed"
            self.is_over = True
            return
        for event in self._http.receive_data(data):
            self._handle(event)
        self._send()

    def _handle(self, event: h2.events.Event) -> None:
        if isinstance(event, h2.events.DataReceived):
            self._http.acknowledge_received_data(event.flow_controlled_length, self._stream)
            self._receive.feed(event.data)
        elif isinstance(event, (h2.events.ResponseReceived, h2.events.TrailersReceived)):
            self._status.update((str(name), str(value)) for name, value in event.headers)
        elif isinstance(event, h2.events.StreamReset):
            self._lost = f"rst_stream: {event.error_code!r}"
            self.is_over = True
        elif isinstance(event, h2.events.StreamEnded):
            self.is_over = True
        elif isinstance(event, h2.events.ConnectionTerminated):
            self._lost = "the server went away"
            self.is_over = True

    def reset(self) -> None:
        """Tells the server that the response is no longer needed, and gives it time to stop."""
        try:
            self._http.reset_stream(self._stream, h2.errors.ErrorCodes.CANCEL)
            self._send()
        except (OSError, h2.exceptions.ProtocolError):
            pass  # closing the connection has the same effect
        # Profilers take some milliseconds to end; after this, the next capture can begin at once.
        time.sleep(_ENDING_S)

    def check(self) -> None:
        """Raises CallFailed if the response is an error or incomplete."""
        status = self._status.get("grpc-status")
        if status is None:
            web = self._status.get(":status", "200")
            if web != "200":
                raise CallFailed(grpc.StatusCode.UNAVAILABLE, f"HTTP status {web}")
            raise CallFailed(grpc.StatusCode.UNAVAILABLE, self._lost or "the response was cut off")
        code = _CODES.get(
            int(status) if status.isascii() and status.isdigit() else 2, grpc.StatusCode.UNKNOWN
        )
        if code is not grpc.StatusCode.OK:
            raise CallFailed(code, unquote(self._status.get("grpc-message", "")))
        if not self._receive.is_whole:
            raise CallFailed(grpc.StatusCode.UNAVAILABLE, "the response was cut off")

    def _send(self) -> None:
        data = self._http.data_to_send()
        if data:
            self._link.settimeout(_CONNECT_S)
            self._link.sendall(data)
            self._link.settimeout(_TURN_S)


class _Message:
    """Strips the prefix of a message that arrives in pieces."""

    def __init__(self, receive: Callable[[bytes], None]) -> None:
        self._receive = receive
        self._prefix = b""
        self._left = -1

    @property
    def is_whole(self) -> bool:
        """Whether all of it has arrived."""
        return self._left == 0

    def feed(self, data: bytes) -> None:
        if self._left < 0:
            self._prefix += data
            if len(self._prefix) < _PREFIX.size:
                return
            is_compressed, self._left = _PREFIX.unpack_from(self._prefix)
            data, self._prefix = self._prefix[_PREFIX.size :], b""
            if is_compressed:
                raise CallFailed(grpc.StatusCode.UNIMPLEMENTED, "the response is compressed")
        if len(data) > self._left:
            raise CallFailed(grpc.StatusCode.INTERNAL, "the response is longer than it states")
        self._left -= len(data)
        if data:
            self._receive(data)
