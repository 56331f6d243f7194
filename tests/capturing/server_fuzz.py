"""Profiler servers that answer with damage: `PYTHONPATH=tests python -m capturing.server_fuzz`.

A good answer, with trailers or an error, is wounded at the level of frames or of the message, cut
into pieces, and sent; then the connection is closed or reset. A call ends with an answer, or says
why not, in a second of its own time.
"""

import argparse
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from random import Random

import h2.config
import h2.connection
from helpers.started.profilers import EMPTY, recorded, trace
from xplane.fuzz import mutate

from tbprof.capturing.protocol.calls import CallFailed, call
from tbprof.capturing.protocol.profiler_messages import PROFILE, AnswerReader, Garbled
from tbprof.capturing.requests.targets import Target

_TIMEOUT_S = 20.0
_OK = (("grpc-status", "0"),)
_ENDS = (_OK, _OK, _OK, (("grpc-status", "13"), ("grpc-message", "%zz%41 busy")), (), None)
_ANSWERS = (recorded(trace()), recorded(trace(size=50_000)), EMPTY, b"")
_ABORT = struct.pack("ii", 1, 0)  # SO_LINGER: a reset in place of an end


def answer(random: Random) -> bytes:
    """What a server sends from the beginning of a connection, with up to four wounds."""
    content = random.choice(_ANSWERS)
    if random.random() < 0.4:
        content = mutate(random, content, content)
    sent = _frames(random, struct.pack(">BI", 0, len(content)) + content)
    return mutate(random, sent, sent) if random.random() < 0.5 else sent


def _frames(random: Random, message: bytes) -> bytes:
    client = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
    server = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
    client.initiate_connection()
    request = [(":method", "POST"), (":scheme", "http"), (":path", "/"), (":authority", "a")]
    client.send_headers(1, request, end_stream=True)
    server.initiate_connection()
    server.receive_data(client.data_to_send())
    server.send_headers(1, [(":status", random.choice(("200",) * 9 + ("404",)))])
    for begin in range(0, min(len(message), 60_000), 16_000):
        server.send_data(1, message[begin : begin + 16_000])
    end = random.choice(_ENDS)
    if end is not None:
        server.send_headers(1, end or (("x", "y"),), end_stream=True)
    return bytes(server.data_to_send())


@contextmanager
def serving(random: Random) -> Iterator[Target]:
    """A server that sends one answer to whoever connects, and closes."""
    sent = answer(random)
    size = random.choice((1 << 20, 5_000, 100)) if len(sent) < 1000 else 1 << 20
    is_reset = random.random() < 0.2

    def serve() -> None:
        link, _ = listening.accept()
        with link, suppress(OSError):
            link.recv(1 << 16)
            for begin in range(0, len(sent), size):
                link.sendall(sent[begin : begin + size])
            if is_reset:
                link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield Target("127.0.0.1", listening.getsockname()[1])
        thread.join()


def run(calls: int, seed: int) -> Counter[str]:
    """How calls of such servers ended; call i follows from (seed, i) alone."""
    ends: Counter[str] = Counter()
    for index in range(calls):
        with serving(Random(f"{seed}/{index}")) as target:
            begun = time.thread_time()
            ends[_end(target)] += 1
            assert time.thread_time() - begun < 1, f"call {index} of seed {seed} takes long"
    return ends


def _end(target: Target) -> str:
    received = bytearray()
    reader = AnswerReader(received.extend)
    try:
        call(target, PROFILE, b"", _TIMEOUT_S, threading.Event(), reader.feed)
        reader.answer()
    except CallFailed as error:
        return error.code.name
    except Garbled:
        return "garbled"
    return "answered"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    started = time.perf_counter()
    ends = run(chosen.calls, chosen.seed)
    took = time.perf_counter() - started
    print(f"seed {chosen.seed}: {ends.total()} calls, {dict(ends)}, {took:.0f} s")  # noqa: T201


if __name__ == "__main__":
    main()
