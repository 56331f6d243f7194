"""The same pages and routes without TensorBoard: `tbprof serve`."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from werkzeug.wrappers import Request, Response

from tbprof.base.errors import TbprofError
from tbprof.serving.access import Access, with_token
from tbprof.serving.host_names import WILDCARDS, HostNames
from tbprof.serving.responses import CSP_STANDALONE, error_reply, response
from tbprof.serving.routes.routes import Application
from tbprof.serving.service import Service
from tbprof.serving.web_server import WebServer

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

logger = logging.getLogger(__name__)


class BadHost(TbprofError):
    """The Host header does not name this server."""

    code = "bad_host"
    status = 400


class CannotListen(TbprofError):
    """The address cannot be bound."""

    code = "cannot_listen"


class Standalone:
    """The WSGI application: the routes, a redirect from `/`, and checks of `Host` header and token.

    The former prevents DNS rebinding, see `host_names`. Without a token, all requests are allowed.
    """

    def __init__(self, service: Service, token: str = "") -> None:
        self._names = service.names
        self._access = Access(token)
        self._application = Application(service, csp=CSP_STANDALONE)
        self._prefix = f"/data/plugin/{service.plugin_name}"
        self._home = f"data/plugin/{service.plugin_name}/index.html"

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answers one request."""
        request = Request(environ)
        # Not the query, which may contain the token.
        logger.debug("%s: %s %s", request.remote_addr, request.method, request.path)
        host = environ.get("HTTP_HOST", "")
        if not self._names.include(host):
            error = BadHost(
                f"this server does not answer to the name {host[:200]!r}",
                "open it by its address, or start it with --allow-host and that name",
            )
            answer = response(request, error_reply(error), CSP_STANDALONE)
            return answer(environ, start_response)
        refusal = self._access.answer(request)
        if refusal is not None:
            return refusal(environ, start_response)
        if request.path in ("/", self._prefix, f"{self._prefix}/"):
            # Relative to the page, so that it works behind a proxy with a prefix.
            depth = request.path.count("/") - 1
            return _redirect("../" * depth + self._home)(environ, start_response)
        return self._application(environ, start_response)


def make_standalone(
    location: str | Sequence[str],
    host: str,
    port: int,
    allowed_hosts: Iterable[str] = (),
    *,
    can_capture: bool = True,
    token: str = "",
    processes: int | None = None,
) -> WebServer:
    """A server that is already listening; port 0 takes a free one. Raises CannotListen."""
    names = HostNames([host, *allowed_hosts])
    service = Service(location, can_capture=can_capture, names=names, processes=processes)
    application = Standalone(service, token=token)
    bound = _listen(host, port)
    # Unlike TensorBoard, this server only has our pages, and one is about to be opened.
    service.warm_up()
    return WebServer(application, bound)


def serve(server: WebServer, announce: Callable[[str], None], token: str = "") -> None:
    """Answers requests until Ctrl-C; `announce` receives the address with the token."""
    host, port = server.server_address
    name = host if host not in WILDCARDS else socket.gethostname()
    try:
        address = f"http://{f'[{name}]' if ':' in name else name}:{port}/"
        announce(with_token(address, token))
        server.serve_forever()
    finally:
        server.server_close()


def _listen(host: str, port: int) -> socket.socket:
    """A bound and listening socket. Raises CannotListen."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    if os.name == "posix":  # on Windows, it would take the port from another server
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(128)
    except (OSError, OverflowError) as err:
        listening.close()
        raise CannotListen(
            f"cannot listen on {host}:{port}: {err}",
            "another server may use the port: choose one with --port, or --port 0 for a free one",
        ) from err
    return listening


def _redirect(target: str) -> Response:
    redirect = Response(
        status=302, headers={"Location": target, "X-Content-Type-Options": "nosniff"}
    )
    redirect.autocorrect_location_header = False
    return redirect
