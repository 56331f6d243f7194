"""Calls of servers that answer as no profiler does."""

import socket
import threading

import grpc
import h2.config
import h2.connection
import h2.events
import pytest

from tbprof.capturing.protocol.calls import CallFailed, call
from tbprof.capturing.protocol.profiler_messages import PROFILE
from tbprof.capturing.requests.targets import Target


def answer_once(server: socket.socket, headers: list[tuple[bytes, bytes]]) -> None:
    """Answers the first request with these headers alone."""
    link, _ = server.accept()
    http = h2.connection.H2Connection(
        h2.config.H2Configuration(client_side=False, validate_outbound_headers=False)
    )
    http.initiate_connection()
    with link:
        while data := link.recv(1 << 16):
            for event in http.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    http.send_headers(event.stream_id, headers, end_stream=True)
            link.sendall(http.data_to_send())


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ([(b":status", b"200"), (b"grpc-status", b"\xff")], grpc.StatusCode.UNAVAILABLE),
        ([(b":status", b"200"), (b"grpc-status", "²".encode())], grpc.StatusCode.UNKNOWN),
        ([(b":status", b"200"), (b"grpc-status", b"9" * 50)], grpc.StatusCode.UNKNOWN),
        ([(b":status", b"200"), (b"grpc-status", b"7")], grpc.StatusCode.PERMISSION_DENIED),
        ([(b":status", b"404")], grpc.StatusCode.UNAVAILABLE),
    ],
)
def test_headers_of_a_server_are_untrusted(headers, code):
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=answer_once, args=(server, headers), daemon=True).start()
        target = Target("127.0.0.1", server.getsockname()[1])
        with pytest.raises(CallFailed) as failed:
            call(target, PROFILE, b"", 30, threading.Event(), lambda _: None)
    assert failed.value.code is code
