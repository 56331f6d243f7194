"""What answers at an address: profilers, and everything else that may listen there."""

import http.server
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from helpers.patience import PATIENCE_S

from tbprof.capturing.probing import probe as probe_module
from tbprof.capturing.probing.monitor import NotMonitored, monitor
from tbprof.capturing.probing.probe import ProbeResult, probe, probe_all, why_unreachable
from tbprof.capturing.probing.reasons import Reason
from tbprof.capturing.requests.targets import Target, parse_target

# A certificate of nobody, for "localhost"; made for these tests alone.
DATA = Path(__file__).resolve().parents[1] / "data"


def failure(target: Target) -> tuple[int, Reason | None]:
    """(how many steps went well, why the next one did not)."""
    findings = probe(target)
    return sum(finding.reason is None for finding in findings), findings[-1].reason


@contextmanager
def listening(
    answer: Callable[[socket.socket], None], family: int = socket.AF_INET
) -> Iterator[int]:
    """The port of a server that does something to each connection."""
    place = "::1" if family == socket.AF_INET6 else "127.0.0.1"
    with socket.socket(family) as server, ThreadPoolExecutor(4) as pool:
        server.bind((place, 0))
        server.listen()

        def accept() -> None:
            while True:
                try:
                    link, _ = server.accept()
                except OSError:
                    return
                pool.submit(answer, link)

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)


def hang_up(link: socket.socket) -> None:
    link.close()


def babble(link: socket.socket) -> None:
    with link:
        link.recv(100)
        link.sendall(b"220 mail.example.com ready\r\n")


def stay_silent(link: socket.socket) -> None:
    with link:
        while link.recv(100):
            pass


def speak_tls(link: socket.socket) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(DATA / "localhost.cert.pem", DATA / "localhost.key.pem")
    try:
        with context.wrap_socket(link, server_side=True) as secure:
            secure.recv(1)
    except (ssl.SSLError, OSError):
        link.close()


def test_a_profiler(profiler):
    assert failure(parse_target(profiler.address)) == (4, None)
    assert why_unreachable(parse_target(profiler.address)) is None
    assert profiler.requests == []


def test_a_grpc_server_without_a_profiler():
    server = grpc.server(ThreadPoolExecutor(2))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        assert failure(Target("127.0.0.1", port)) == (3, Reason.WRONG_SERVICE)
    finally:
        server.stop(0).wait()


def test_web_servers():
    for handler in (http.server.SimpleHTTPRequestHandler, http.server.BaseHTTPRequestHandler):
        quiet = type("Quiet", (handler,), {"log_message": lambda *_: None})
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), quiet) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            port = server.server_address[1]
            assert failure(Target("127.0.0.1", port)) == (2, Reason.HTTP_SERVER)
            server.shutdown()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (hang_up, Reason.NOT_GRPC),
        (babble, Reason.NOT_GRPC),
        (speak_tls, Reason.TLS_SERVER),
        (stay_silent, Reason.SILENT),
    ],
)
def test_other_servers(answer, reason, monkeypatch):
    wait_s = 0.3 if answer is stay_silent else PATIENCE_S
    monkeypatch.setattr("tbprof.capturing.probing.probe._ANSWER_S", wait_s)
    with listening(answer) as port:
        assert failure(Target("127.0.0.1", port)) == (2, reason)


def test_a_connection_that_hangs_can_be_cancelled(monkeypatch):
    monkeypatch.setattr("tbprof.capturing.probing.probe._ANSWER_S", PATIENCE_S)
    cancelled, released = threading.Event(), threading.Event()

    def hold(link: socket.socket) -> None:
        with link:
            cancelled.set()
            released.wait()

    with listening(hold) as port:
        try:
            assert why_unreachable(Target("127.0.0.1", port), cancelled) is Reason.CANCELLED
        finally:
            released.set()  # until now the connection hangs


def test_nobody_and_nowhere():
    assert failure(Target("127.0.0.1", 1)) == (1, Reason.REFUSED)
    assert failure(Target("no-such-host.invalid", 1)) == (0, Reason.UNRESOLVABLE)
    assert failure(Target("a" * 70 + ".example", 1)) == (0, Reason.UNRESOLVABLE)


def test_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    with listening(babble, socket.AF_INET6) as port:
        assert failure(parse_target(f"[::1]:{port}")) == (2, Reason.NOT_GRPC)


def test_programs_cannot_be_monitored_and_say_so(profiler):
    with pytest.raises(NotMonitored, match="only Cloud TPUs"):
        monitor(parse_target(profiler.address), 10)
    with pytest.raises(NotMonitored, match="nothing listens"):
        monitor(Target("127.0.0.1", 1), 10)


def test_probes_of_several_addresses_keep_a_distance(monkeypatch):
    began: list[float] = []

    def note(_: Target) -> list[ProbeResult]:
        began.append(time.monotonic())
        return []

    monkeypatch.setattr(probe_module, "_PACE_S", 0.02)
    monkeypatch.setattr(probe_module, "probe", note)
    asked = time.monotonic()
    probe_all([Target("127.0.0.1", port) for port in range(1, 21)])
    assert len(began) == 20
    assert max(began) - asked >= 19 * 0.02
