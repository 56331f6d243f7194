"""Shared by all tests: a cache folder of their own, and where traces and other interpreters are."""

import atexit
import contextlib
import gc
import importlib.util
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from helpers.started.programs import ForkServer
from helpers.started.recordings import drop_used, one_at_a_time
from hypothesis import settings

if TYPE_CHECKING:
    from helpers.started.profilers import Profiler

    from tbprof.storage.results import ResultStore

ROOT = Path(__file__).resolve().parent.parent
NOBODY = 65534
# Tests that wait for servers and other processes.
_WAITING = ("tests/storage/", "tests/engine/workers/", "tests/serving/", "tests/capturing/")


def _cache_directory() -> Path:
    """An empty folder of this process, as long as it runs."""
    folder = ROOT / ".cache" / "tests" / str(os.getpid())
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


# Before any module of the package is imported.
os.environ["TBPROF_CACHE_DIR"] = str(_cache_directory())
# Processes have tests of their own; others replace functions of this one.
os.environ["TBPROF_PROCESSES"] = "0"

# How long an example takes depends on what else the machine does.
settings.register_profile("tbprof", deadline=None)
settings.load_profile("tbprof")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """One worker after the other: the first one compiles the tests for all of them.

    What is imported stays, so to look through it for garbage would take a tenth of the time.
    """
    is_worker = "PYTEST_XDIST_WORKER" in os.environ and sys.platform != "win32"
    gc.disable()
    try:
        with one_at_a_time("collection") if is_worker else contextlib.nullcontext():
            return (yield)
    finally:
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that mostly wait come first: at the end, nothing would run beside them."""
    items.sort(key=lambda item: not item.nodeid.startswith(_WAITING))


def pytest_collection_finish() -> None:
    """What is imported by now stays: to look through it for garbage takes a tenth of all time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tests failed: their cause may be in a recording, which would be kept."""
    if session.testsfailed:
        drop_used()


@pytest.fixture(scope="session")
def sample_logdir() -> Path:
    """The project's own recorded traces: runs of TensorFlow and JAX on a CPU, see examples."""
    return ROOT / "examples" / "logdir"


@pytest.fixture(scope="session", autouse=True)
def _findings_keep_their_promises() -> Iterator[None]:
    """Whatever trace a test opens, what the overview finds in it is checked."""
    from helpers.promises.finding_promises import check_findings

    from tbprof.advice.evidence import Evidence
    from tbprof.advice.finding import Finding
    from tbprof.advice.rules.findings import find_findings
    from tbprof.tools import overview_page

    def checked(evidence: Evidence) -> list[Finding]:
        findings = find_findings(evidence)
        check_findings(evidence, findings)
        return findings

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overview_page, "find_findings", checked)
        yield


@pytest.fixture(scope="session", autouse=True)
def _logdirs_are_searched_whole() -> Iterator[None]:
    """A busy machine may hold a search up for longer than requests wait for it."""
    from helpers.patience import PATIENCE_S

    from tbprof.storage import logdir

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logdir, "RESCAN_WAIT_S", PATIENCE_S)
        patch.setitem(logdir.Logdir.__init__.__kwdefaults__ or {}, "wait_s", PATIENCE_S)
        yield


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder of somebody whom permissions bind: root, whom none do, is nobody meanwhile."""
    if sys.platform == "win32":
        pytest.skip("permissions of POSIX")
    is_root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as folder:
        if is_root:
            os.chown(folder, NOBODY, NOBODY)
            os.seteuid(NOBODY)
        try:
            yield Path(folder)
        finally:
            if is_root:
                os.seteuid(0)


@pytest.fixture(scope="session", autouse=True)
def _answers_are_as_described() -> Iterator[None]:
    """Whatever route a test asks in this process, its answer is checked."""
    from helpers.promises.answer_promises import check_answer
    from werkzeug.wrappers import Request

    from tbprof.serving.responses import Reply, response
    from tbprof.serving.routes import routes

    def checked(request: Request, reply: Reply, csp: str) -> object:
        check_answer(request.path.rpartition("/")[2], request.method, reply)
        return response(request, reply, csp)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(routes, "response", checked)
        yield


@pytest.fixture(scope="session")
def real_traces() -> Path:
    """The folder of traces from real accelerators, or a skip where this machine has none."""
    folder = Path(os.environ.get("TBPROF_TRACES", ROOT.parent / "shared" / "traces"))
    if not folder.is_dir():
        pytest.skip(f"TBPROF_TRACES: no folder {folder}")
    return folder


@pytest.fixture(scope="session")
def gpu_trace(real_traces: Path) -> Path:
    """TensorFlow on 8 V100 GPUs: 23 k events."""
    return _only_trace(real_traces / "gpu_tf_v100")


@pytest.fixture(scope="session")
def tpu_trace(real_traces: Path) -> Path:
    """JAX on 4 TPU v6e cores: 27 k events."""
    return _only_trace(real_traces / "tpu_jax_v6e")


@pytest.fixture(scope="session")
def amd_trace(real_traces: Path) -> Path:
    """JAX on an AMD Instinct MI350: 5 executions of a function."""
    return _only_trace(real_traces / "gpu_jax_mi350")


@pytest.fixture(params=["gpu_trace", "tpu_trace"])
def accelerator_trace(request: pytest.FixtureRequest) -> Path:
    """The trace of the GPUs, and that of the TPU cores."""
    return Path(request.getfixturevalue(request.param))


def _only_trace(logdir: Path) -> Path:
    found = sorted(logdir.rglob("*.xplane.pb"))
    if len(found) != 1:
        pytest.skip(f"expected one trace in {logdir}, found {len(found)}")
    return found[0]


@pytest.fixture
def store(tmp_path: Path) -> "ResultStore":
    """An empty store of results."""
    from tbprof.storage.results import ResultStore

    return ResultStore(tmp_path / "store")


@pytest.fixture
def profiler() -> Iterator["Profiler"]:
    """A running server that records a trace for whoever asks."""
    from helpers.started.profilers import Profiler, recorded, serving, trace

    running = Profiler([recorded(trace())])
    with serving(running):
        yield running


@pytest.fixture
def free_port() -> int:
    """A port that nothing listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def record_python() -> str:
    """An interpreter with tensorflow and jax, or a skip where there is none."""
    chosen = os.environ.get("TBPROF_RECORD_PYTHON")
    if chosen is None:
        if all(importlib.util.find_spec(name) for name in ("tensorflow", "jax")):
            return sys.executable
        pytest.skip("TBPROF_RECORD_PYTHON names no interpreter with tensorflow and jax")
    return chosen


@pytest.fixture(scope="session")
def tensorflow_programs(record_python: str) -> Iterator[ForkServer]:
    """Runs scripts of TensorFlow, which is imported once."""
    server = ForkServer(record_python)
    yield server
    server.close()
