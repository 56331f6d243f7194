"""Whether the client of a request is still connected."""

from __future__ import annotations

import selectors
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


def is_connected(environ: WSGIEnvironment) -> bool:
    """Whether the client of a request has not closed its connection.

    `tbprof serve` and TensorBoard provide the connection; for other servers it is True.
    """
    has_gone = environ.get("waitress.client_disconnected")
    if has_gone is not None:
        return not has_gone()
    connection = environ.get("werkzeug.socket")
    if not isinstance(connection, socket.socket):
        return True
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(connection, selectors.EVENT_READ)
            return not selector.select(0) or bool(connection.recv(1, socket.MSG_PEEK))
    except (OSError, ValueError):
        return False
