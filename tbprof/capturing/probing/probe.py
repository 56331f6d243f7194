"""What answers at an address: probed step by step, without disturbing the server."""

from __future__ import annotations

import secrets
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from enum import Enum

import grpc

from tbprof._pb import message
from tbprof.base.records import dataclass
from tbprof.capturing.probing.reasons import Reason, reason_of_error, reason_of_socket
from tbprof.capturing.protocol.channels import error_of, open_channel
from tbprof.capturing.protocol.profiler_messages import TERMINATE
from tbprof.capturing.requests.targets import Target

_CONNECT_S = 5.0
_ANSWER_S = 3.0
_TURN_S = 0.05
_AT_ONCE = 8
# The time between the starts of two probes, so that this process cannot scan a network.
_PACE_S = 0.05
# How an HTTP/2 connection begins, with empty settings. Source: RFC 9113, sections 3.4 and 6.5.
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"
_FRAME_HEAD = 9
_SETTINGS = 4
_TLS_ALERT = b"\x15"
_GET = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


class Step(Enum):
    """The steps of a probe, in this order; each is only taken if the previous ones succeeded."""

    NAME = "name"
    TCP = "tcp"
    GRPC = "grpc"
    METHOD = "method"


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The result of a step: `reason` is None if it succeeded; `detail` says what was observed."""

    step: Step
    reason: Reason | None
    detail: str = ""


def probe(target: Target) -> list[ProbeResult]:
    """How far a connection to `target` gets: a finding per step, up to the first that failed."""
    findings: list[ProbeResult] = []
    for step, ask in _STEPS:
        finding = ProbeResult(step, *ask(target))
        findings.append(finding)
        if finding.reason is not None:
            break
    return findings


def probe_all(targets: Sequence[Target]) -> list[list[ProbeResult]]:
    """`probe` of each target, in order, a few at a time, paced; empty for TPU names."""
    with ThreadPoolExecutor(max(1, min(_AT_ONCE, len(targets))), "tbprof-probe") as pool:
        return list(pool.map(_paced_probe, targets))


def _paced_probe(target: Target) -> list[ProbeResult]:
    if target.is_tpu_name:
        return []
    _PACE.wait()
    return probe(target)


class _Pace:
    """Lets one caller through at a time, `_PACE_S` after the previous one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next_s = 0.0

    def wait(self) -> None:
        with self._lock:
            begin_s = max(time.monotonic(), self._next_s)
            self._next_s = begin_s + _PACE_S
        time.sleep(max(0.0, begin_s - time.monotonic()))


_PACE = _Pace()


def why_unreachable(target: Target, cancelled: threading.Event | None = None) -> Reason | None:
    """Why `target` cannot be reached by gRPC, None if it can; makes no call.

    Returns CANCELLED once `cancelled` is set, even while waiting.
    """
    if cancelled is None:
        return _why_unreachable(target)
    answers: list[Reason | None] = []
    done = threading.Event()

    def ask() -> None:
        try:
            answers.append(_why_unreachable(target))
        finally:
            done.set()

    # A name lookup cannot be cancelled, so it is abandoned.
    threading.Thread(target=ask, name="tbprof-connect", daemon=True).start()
    while not done.wait(_TURN_S):
        if cancelled.is_set():
            return Reason.CANCELLED
    return answers[0]


def _why_unreachable(target: Target) -> Reason | None:
    for ask in (_ask_name, _ask_grpc):
        reason, _ = ask(target)
        if reason is not None:
            return reason
    return None


def _ask_name(target: Target) -> tuple[Reason | None, str]:
    try:
        addresses = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:  # UnicodeError: labels that are not valid in names
        return Reason.UNRESOLVABLE, str(error)
    return None, ", ".join(dict.fromkeys(str(entry[4][0]) for entry in addresses))


def _ask_tcp(target: Target) -> tuple[Reason | None, str]:
    try:
        with closing(_connect(target)):
            return None, ""
    except OSError as error:
        return reason_of_socket(error), str(error)


def _ask_grpc(target: Target) -> tuple[Reason | None, str]:
    """Whether the server speaks unencrypted HTTP/2, as gRPC requires, or what it is instead."""
    try:
        head, is_silent = _first_words(target, _PREFACE)
        if len(head) == _FRAME_HEAD and head[3] == _SETTINGS and not head.startswith(b"HTTP"):
            return None, ""
        if head[:1] == _TLS_ALERT or _speaks_tls(target):
            return Reason.TLS_SERVER, ""
        if head.startswith(b"HTTP/1") or _first_words(target, _GET)[0].startswith(b"HTTP/1"):
            return Reason.HTTP_SERVER, ""
    except OSError as error:
        return reason_of_socket(error), str(error)
    if is_silent and not head:
        return Reason.SILENT, f"no response within {_ANSWER_S:.0f} s"
    return Reason.NOT_GRPC, repr(head) if head else "it hung up"


def _first_words(target: Target, greeting: bytes) -> tuple[bytes, bool]:
    """(the server's response to a greeting, whether it then stayed silent instead of closing).

    At most the size of a frame header.
    """
    with closing(_connect(target)) as link:
        link.settimeout(_ANSWER_S)
        data = b""
        try:
            link.sendall(greeting)
            while len(data) < _FRAME_HEAD and (piece := link.recv(_FRAME_HEAD - len(data))):
                data += piece
        except TimeoutError:
            return data, True
        except ConnectionError:
            pass  # it closed the connection
        return data, False


def _speaks_tls(target: Target) -> bool:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # only checks for TLS, not for identity
    with closing(_connect(target)) as link:
        link.settimeout(_ANSWER_S)
        try:
            with context.wrap_socket(link):
                return True
        except (ssl.SSLError, OSError) as error:
            # A server that requires a client certificate, or another version, also speaks TLS.
            return isinstance(error, ssl.SSLError) and "ALERT" in (error.reason or "")


def _ask_method(target: Target) -> tuple[Reason | None, str]:
    """Whether there is a profiler service: requests the end of a recording that never began."""
    request = message("tensorflow.TerminateRequest")(session_id=f"tbprof-{secrets.token_hex(8)}")
    with closing(open_channel(target.address)) as channel:
        try:
            channel.unary_unary(TERMINATE)(request.SerializeToString(), timeout=_ANSWER_S)
        except grpc.RpcError as error:
            code, details = error_of(error)
            return reason_of_error(code, details), details
    return None, ""


_Ask = Callable[[Target], "tuple[Reason | None, str]"]
_STEPS: tuple[tuple[Step, _Ask], ...] = (
    (Step.NAME, _ask_name),
    (Step.TCP, _ask_tcp),
    (Step.GRPC, _ask_grpc),
    (Step.METHOD, _ask_method),
)


def _connect(target: Target) -> socket.socket:
    return socket.create_connection((target.host, target.port), _CONNECT_S)
