"""The host names of a server, to recognize DNS rebinding.

In that attack, a web page points its own name at this machine. Its scripts then have the origin of
our pages, and read our responses in the visitor's browser. The `Host` header has the page's name.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable

from tbprof.base.addresses import is_ip_address

WILDCARDS = ("", "0.0.0.0", "::")  # noqa: S104 - recognised, not bound
ANY = "*"


class HostNames:
    """Loopback, every IP address, and the given names. DNS cannot redirect an IP address.

    A server that listens on all addresses also has the name of its machine.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        given = {name.lower().rstrip(".") for name in names}
        self._names = given - set(WILDCARDS)
        self._is_on_all = len(self._names) < len(given)

    def include(self, header: str) -> bool:
        """Whether the value of a `Host` header is one of these names."""
        name = _without_port(header).lower().rstrip(".")
        return (
            ANY in self._names
            or name in self._names
            or name == "localhost"
            or name.endswith(".localhost")
            or is_ip_address(name)
            or (self._is_on_all and name in _names_of_machine())
        )


def _names_of_machine() -> set[str]:
    return {socket.gethostname().lower(), socket.getfqdn().lower().rstrip(".")}


def _without_port(header: str) -> str:
    """Source: RFC 9110, Host; RFC 3986, host and port. Anything else is unknown."""
    name, separator, port = header.rpartition(":")
    if separator and port.isdigit():
        header = name
    is_bracketed = header.startswith("[") and header.endswith("]")
    return header[1:-1] if is_bracketed else header
