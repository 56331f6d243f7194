"""The targets of a capture: the addresses that users type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tbprof.base.errors import BadRequest
from tbprof.base.records import dataclass
from tbprof.base.texts import cut, whole_number

# Pods have up to some thousand hosts; more is a typing mistake.
MOST_TARGETS = 4096
# Where profilers of TPU hosts listen. Source: tensorflow/python/profiler/profiler_client.py.
TPU_PORT = 8466
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_BRACKETED = re.compile(r"\[([0-9A-Fa-f:.]+(?:%[\w.-]+)?)\](?::(.*))?", re.DOTALL)
_HOST = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?\.?")
# Names of TPUs and of their projects. Source: Cloud TPU API v2, projects.locations.nodes.
_TPU = re.compile(r"[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?")
_TPU_PATH = re.compile(
    r"projects/[a-z0-9:.-]{4,100}/locations/[a-z0-9-]{1,63}/nodes/([a-z0-9-]{1,63})"
)
_USER = re.compile(r"(?<=://).*@|^.*@", re.DOTALL)
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")
_NAMES = "TensorFlow's servers often listen on 6009, JAX's on 9999: host:port, or [address]:port"


class BadAddress(BadRequest):
    """An invalid address; names it."""

    code = "bad_address"


@dataclass(frozen=True, slots=True)
class Target:
    """One worker: a host and a port, or the name of a TPU, which must be looked up (port 0)."""

    host: str
    port: int

    @property
    def is_tpu_name(self) -> bool:
        """Whether this is a name that the Cloud TPU API knows."""
        return self.port == 0

    @property
    def address(self) -> str:
        """The address for gRPC and for display."""
        if self.is_tpu_name:
            return self.host
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_targets(addresses: str | Iterable[str], port: int = 0) -> list[Target]:
    """The workers in one or more comma-separated lists: each once, in order.

    `port` is used for addresses without one; by default those are names of TPUs. Raises BadAddress
    for an invalid address, and if there is none.
    """
    texts = [addresses] if isinstance(addresses, str) else list(addresses)
    words = [word for text in texts for word in re.split(r"[,;\s]+", text) if word]
    if not words:
        raise BadAddress("no address is given", _NAMES)
    if len(words) > MOST_TARGETS:
        raise BadAddress(f"{len(words):,} addresses are too many", f"at most {MOST_TARGETS:,}")
    return list(dict.fromkeys(parse_target(word, port) for word in words))


def parse_target(text: str, usual_port: int = 0) -> Target:
    """The worker of one address: `host:port`, `grpc://host:port`, `[::1]:port`, a TPU."""
    rest = text
    scheme = _SCHEME.fullmatch(text)
    if scheme is not None:
        if scheme[1].lower() != "grpc":
            raise BadAddress(
                f"{_shown(text)} is not the address of a profiler server",
                f"those speak gRPC: {_NAMES}",
            )
        rest = scheme[2].removesuffix("/")
    if "@" in rest:
        raise BadAddress(
            f"{_shown(text)} contains a user name",
            "profiler servers use no user names or passwords: give only host:port",
        )
    bracketed = _BRACKETED.fullmatch(rest)
    if bracketed is not None:
        return Target(bracketed[1].lower(), _port(text, bracketed[2] or ""))
    if rest.count(":") > 1:
        raise BadAddress(
            f"{_shown(text)} has more than one colon",
            "put IPv6 addresses in brackets, such as [::1]:6009, and separate addresses with "
            "commas",
        )
    host, colon, port = rest.partition(":")
    if not colon and not usual_port:
        return _tpu(text, rest)
    if _HOST.fullmatch(host) is None:
        raise BadAddress(f"{_shown(text)} names no host", _NAMES)
    return Target(host.lower(), _port(text, port) if colon else usual_port)


def _tpu(text: str, name: str) -> Target:
    if _TPU_PATH.fullmatch(name) or (_TPU.fullmatch(name) and name != "localhost"):
        return Target(name, 0)
    raise BadAddress(f"{_shown(text)} has no port", _NAMES)


def _port(text: str, port: str) -> int:
    if not port:
        raise BadAddress(f"{_shown(text)} has no port", _NAMES)
    number = whole_number(port, 5)
    if number is None or not 0 < number < 65536:
        raise BadAddress(f"{_shown(text)} has no valid port", "a port is a number up to 65535")
    return number


def _shown(text: str) -> str:
    # A password in an address must not appear in a message.
    text = _USER.sub("…@", text)
    return repr(cut(text, 80))


def host_names(targets: Sequence[Target]) -> list[str]:
    """The name of each worker's trace: safe as a file name, and unique.

    `10.0.0.2:6009` is `10.0.0.2_6009`, as profiler servers name their own files.
    """
    names: list[str] = []
    taken: set[str] = set()
    for target in targets:
        plain = _UNSAFE.sub("_", target.address).lstrip(".") or "worker"
        name, count = plain, 1
        while name.lower() in taken:  # file systems may ignore case
            count += 1
            name = f"{plain}-{count}"
        taken.add(name.lower())
        names.append(name)
    return names
