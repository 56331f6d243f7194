"""TPUs: workers that their own service records."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from helpers.started.profilers import trace

from tbprof._pb import message
from tbprof.capturing.probing.monitor import monitor
from tbprof.capturing.requests.request import parse_request
from tbprof.capturing.requests.targets import Target
from tbprof.capturing.sessions.session import Capture, CaptureReport


class Service:
    """The analysis service of a TPU: writes the files of all hosts itself."""

    def __init__(
        self, *, error: str = "", is_empty: bool = False, writes: bool = True, busy: int = 0
    ) -> None:
        self.error, self.is_empty, self.writes, self.busy = error, is_empty, writes, busy
        self.requests: list[Any] = []
        self.port = 0

    def new_session(self, data: bytes, context: grpc.ServicerContext) -> bytes:
        request = message("tensorflow.NewProfileSessionRequest").FromString(data)
        self.requests.append(request)
        if len(self.requests) <= self.busy:
            context.abort(grpc.StatusCode.ALREADY_EXISTS, "A profiling session is already running.")
        folder = Path(request.repository_root) / request.session_id
        if self.writes:
            folder.mkdir(parents=True)
            for host in request.hosts:
                (folder / f"{host}.xplane.pb").write_bytes(trace(host))
        answer = message("tensorflow.NewProfileSessionResponse")(
            error_message=self.error, empty_trace=self.is_empty
        )
        sent: bytes = answer.SerializeToString()
        return sent

    def monitor(self, data: bytes, _context: grpc.ServicerContext) -> bytes:
        request = message("tensorflow.MonitorRequest").FromString(data)
        text = f"level {request.monitoring_level}: MXU 41 %"
        sent: bytes = message("tensorflow.MonitorResponse")(data=text).SerializeToString()
        return sent


@contextmanager
def serving(service: Service) -> Iterator[None]:
    server = grpc.server(ThreadPoolExecutor(4))
    handle = grpc.unary_unary_rpc_method_handler
    services: dict[str, dict[str, Any]] = {
        "tensorflow.ProfileAnalysis": {"NewSession": handle(service.new_session)},
        "tensorflow.ProfilerService": {"Monitor": handle(service.monitor)},
    }
    for name, methods in services.items():
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, methods),))
    service.port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield
    finally:
        server.stop(0).wait()


def captured(service: Service, logdir: Path, **choices: object) -> CaptureReport:
    values = {"workers": f"127.0.0.1:{service.port},10.9.9.2", "duration_ms": 20, "run": "tpu"}
    return Capture(parse_request({**values, **choices}), str(logdir)).run()


def test_a_list_of_workers_is_one_session(tmp_path):
    service = Service()
    with serving(service):
        report = captured(service, tmp_path)
    [request] = service.requests
    assert list(request.hosts) == ["127.0.0.1", "10.9.9.2"]
    assert request.session_id == request.request.session_id == "tpu"
    assert request.request.host_name == "127.0.0.1"
    assert [worker.phase for worker in report.workers] == ["written", "written"]
    assert Path(report.workers[1].path).read_bytes() == trace("10.9.9.2")


def test_a_service_that_is_busy_is_asked_again(tmp_path):
    service = Service(busy=1)
    with serving(service):
        refused = captured(service, tmp_path, retries=0)
        service.requests.clear()
        report = captured(service, tmp_path, retries=2)
    assert [worker.reason for worker in refused.workers] == ["busy"] * 2
    assert [(one.phase, one.reason, one.attempts) for one in report.workers] == [
        ("written", "", 2)
    ] * 2


@pytest.mark.parametrize(
    ("service", "reason"),
    [
        (Service(error="no bucket", writes=False), "failed"),
        (Service(is_empty=True, writes=False), "empty"),
        (Service(writes=False), "missing_file"),
    ],
)
def test_a_session_that_failed_says_why(service, reason, tmp_path, monkeypatch):
    monkeypatch.setattr("tbprof.capturing.sessions.tpu_session._FILES_S", 0.5)
    with serving(service):
        report = captured(service, tmp_path)
    assert [worker.reason for worker in report.workers] == [reason] * 2
    if reason == "failed":
        assert report.workers[0].details == "no bucket"


def test_programs_have_no_such_service(tmp_path, profiler):
    values = {"workers": profiler.address, "duration_ms": 20}
    report = Capture(parse_request(values), str(tmp_path)).run()
    assert report.workers[0].reason == "wrong_service"


def test_monitoring():
    service = Service()
    with serving(service):
        assert monitor(Target("127.0.0.1", service.port), 10) == "level 1: MXU 41 %"
