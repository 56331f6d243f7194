"""Why a worker could not be recorded, and the fix."""

from __future__ import annotations

import errno
import socket
from enum import Enum

import grpc

_START = (
    "call tf.profiler.experimental.server.start(6009) (TensorFlow) or "
    "jax.profiler.start_server(9999) (JAX) in the program before it trains"
)

_RIVALS = "another capture, or the program's own tf.profiler.experimental.start"


class Reason(Enum):
    """(code, what is wrong, the fix). Codes are stable: scripts and the page know them."""

    UNRESOLVABLE = (
        "unresolvable",
        "the host's name is not known",
        "check the spelling, or give the address itself",
    )
    REFUSED = ("refused", "nothing listens on this port", f"check the port; {_START}")
    UNREACHABLE = (
        "unreachable",
        "the host does not respond",
        "check that it runs, and that no firewall keeps this port from you",
    )
    HTTP_SERVER = (
        "http_server",
        "a web server answers here, not a profiler",
        f"give the profiler's own port, not that of TensorBoard or another page; {_START}",
    )
    TLS_SERVER = (
        "tls_server",
        "this port expects an encrypted connection, which profiler servers do not use",
        f"give the profiler's own port; {_START}",
    )
    NOT_GRPC = (
        "not_grpc",
        "something other than a profiler answers here",
        f"give the profiler's own port; {_START}",
    )
    SILENT = (
        "silent",
        "something listens on this port, but does not respond",
        (
            "the program may be stopped or overloaded, or the port may belong to another "
            f"program; {_START}"
        ),
    )
    WRONG_SERVICE = (
        "wrong_service",
        "a gRPC server answers here, but it has no profiler",
        f"this may be the port of a tf.distribute or tf.data server; {_START}",
    )
    BUSY = (
        "busy",
        "the program is being profiled already",
        f"wait until that recording ends ({_RIVALS}), or choose retries",
    )
    EMPTY = (
        "empty",
        "nothing was recorded",
        "the program may have been idle: record longer, or while it trains",
    )
    DEADLINE = (
        "deadline",
        "the worker did not respond in time",
        "the program may hang, or its trace may be very large: record fewer steps, without Python",
    )
    LOST = (
        "lost",
        "the connection was lost while recording",
        "the program ended or was killed: check its log, and record earlier",
    )
    CANCELLED = ("cancelled", "cancelled", "")
    GARBLED = (
        "garbled",
        "the response is not a trace",
        "the server may be of another kind or version: test the connection",
    )
    MISSING_FILE = (
        "missing_file",
        "the worker recorded, but sent nothing: it writes its own file, elsewhere",
        "put the logdir where the worker can write (gs://bucket/logs), or update TensorFlow or JAX",
    )
    NOT_WRITTEN = (
        "not_written",
        "the trace could not be written",
        "free some space, or check the permissions of the logdir",
    )
    TPU_NAME = (
        "tpu_name",
        "the TPU's name could not be looked up",
        "give its address instead: the worker's IP and port 8466",
    )
    FAILED = ("failed", "the profiler reported an error", "check the program's log")

    @property
    def code(self) -> str:
        """The stable name."""
        return self.value[0]

    @property
    def text(self) -> str:
        """What is wrong."""
        return self.value[1]

    @property
    def fix(self) -> str:
        """What to do."""
        return self.value[2]

    @property
    def is_passing(self) -> bool:
        """Whether another attempt may succeed without any change."""
        return self in _PASSING


_PASSING = frozenset(
    {
        Reason.REFUSED,
        Reason.UNREACHABLE,
        Reason.SILENT,
        Reason.BUSY,
        Reason.EMPTY,
        Reason.LOST,
    }
)
_REFUSALS = frozenset({errno.ECONNREFUSED, getattr(errno, "WSAECONNREFUSED", -1)})


def reason_of_socket(error: OSError) -> Reason:
    """Why a connection could not be made or was closed."""
    if isinstance(error, socket.gaierror):
        return Reason.UNRESOLVABLE
    if error.errno in _REFUSALS:
        return Reason.REFUSED
    if isinstance(error, ConnectionError):
        return Reason.NOT_GRPC
    return Reason.UNREACHABLE


def reason_of_error(code: grpc.StatusCode, details: str) -> Reason:
    """Why a call failed. Source: the texts of TensorFlow 2.21's, JAX 0.10's and gRPC's errors."""
    low = details.lower()
    if "another profiling session" in low or "already running" in low or "already active" in low:
        return Reason.BUSY
    known = {
        grpc.StatusCode.UNIMPLEMENTED: Reason.WRONG_SERVICE,
        grpc.StatusCode.DEADLINE_EXCEEDED: Reason.DEADLINE,
        grpc.StatusCode.CANCELLED: Reason.CANCELLED,
        grpc.StatusCode.ALREADY_EXISTS: Reason.BUSY,
    }
    if code in known:
        return known[code]
    if code is grpc.StatusCode.UNAVAILABLE:
        if "resolv" in low or "dns" in low:
            return Reason.UNRESOLVABLE
        if "refused" in low:
            return Reason.REFUSED
        if "failed to connect" in low or "timed out" in low or "unreachable" in low:
            return Reason.UNREACHABLE
        return Reason.LOST
    if "stream removed" in low or "rst_stream" in low or "connection reset" in low:
        return Reason.LOST
    return Reason.FAILED
