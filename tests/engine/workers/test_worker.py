"""What a worker does when its server has gone."""

import pickle
import socket

import pytest

from tbprof.engine.workers import worker


@pytest.mark.parametrize("is_read", [True, False])
def test_a_worker_ends_quietly_with_its_server(monkeypatch: pytest.MonkeyPatch, is_read: bool):
    """Also if the server had not read all that the worker said."""
    monkeypatch.setattr(worker, "share_heap", lambda _bytes: None)
    server, own = socket.socketpair()
    with own:
        with server:
            server.sendall(pickle.dumps(None))
            own.sendall(b"said")
            if is_read:
                server.recv(100)
        worker.work(own.makefile("rb"), own.makefile("wb"))
