"""Who asked, and whether they still wait for the answer."""

import selectors
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


def is_connected(environ: "WSGIEnvironment") -> bool:
    """Whether the client of a request has not closed its connection.

    Our own server says so, and TensorBoard's shows the connection; of others it is True.
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
