"""Profiler servers that behave as told: what real ones do, and what broken ones do."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc

from tbprof._pb import message
from tbprof.capturing.requests.request import parse_request
from tbprof.capturing.sessions.session import Capture, CaptureReport

SERVICE = "tensorflow.ProfilerService"


def trace(name: str = "worker", size: int = 0) -> bytes:
    """An XSpace, with as many bytes more as `size`."""
    space = message("tensorflow.profiler.XSpace")(hostnames=[name])
    space.planes.add(name="/host:CPU").lines.add(name="x" * size)
    data: bytes = space.SerializeToString()
    return data


@dataclass
class Profiler:
    """A server on loopback. `answers` are used up one by one, the last one for ever.

    An answer is bytes (a ProfileResponse) or (status, details). A request lasts as long as it asks
    for, and until `may_answer` is set, if there is one.
    """

    answers: list[bytes | tuple[grpc.StatusCode, str]]
    may_answer: threading.Event | None = None
    port: int = 0
    requests: list[Any] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def profile(self, data: bytes, context: grpc.ServicerContext) -> bytes:
        request = message("tensorflow.ProfileRequest").FromString(data)
        self.requests.append(request)
        context.add_callback(lambda: None if context.is_active() else self.cancelled.set())
        answer = self.answers[0] if len(self.answers) == 1 else self.answers.pop(0)
        if isinstance(answer, tuple):
            context.abort(*answer)
        ahead_s = request.opts.start_timestamp_ns / 1e9 - time.time()
        self._sleep(max(0.0, ahead_s), context)
        self.starts.append(time.time())
        self._sleep(request.opts.duration_ms / 1000, context)
        while self.may_answer and context.is_active() and not self.may_answer.wait(0.01):
            pass
        return answer

    def _sleep(self, seconds: float, context: grpc.ServicerContext) -> None:
        until = time.monotonic() + seconds
        while context.is_active() and time.monotonic() < until:
            time.sleep(min(0.01, max(0.0, until - time.monotonic())))


def recorded(space: bytes) -> bytes:
    """The answer of a server that has recorded `space`."""
    data: bytes = message("tensorflow.ProfileResponse")(xspace=space).SerializeToString()
    return data


def capture_of(logdir: Path, *profilers: Profiler, **choices: object) -> Capture:
    """A capture of them, of 50 ms unless `choices` say otherwise."""
    values = {"duration_ms": 50, "addresses": ",".join(profiler.address for profiler in profilers)}
    return Capture(parse_request({**values, **choices}), str(logdir))


def captured(logdir: Path, *profilers: Profiler, **choices: object) -> CaptureReport:
    return capture_of(logdir, *profilers, **choices).run()


EMPTY = b"\x38\x01"  # empty_trace = true


@contextmanager
def serving(*profilers: Profiler) -> Iterator[None]:
    """Runs servers on free ports of loopback."""
    servers = []
    for profiler in profilers:
        server = grpc.server(ThreadPoolExecutor(8))
        handlers: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
            "Profile": grpc.unary_unary_rpc_method_handler(profiler.profile),
            "Terminate": grpc.unary_unary_rpc_method_handler(lambda _data, _context: b""),
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
        profiler.port = server.add_insecure_port(f"127.0.0.1:{profiler.port}")
        server.start()
        servers.append(server)
    try:
        yield
    finally:
        for server in servers:
            server.stop(0).wait()
