"""Worker processes compute what threads compute, and the end of one does not affect the others."""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from helpers.drawn.small_runs import OPS, payload
from helpers.payloads import content_of
from helpers.started.planted_workers import Plant

from tbprof.base.errors import BadTrace, TbprofError
from tbprof.engine.engine import DataRequest, Engine
from tbprof.engine.parts import PartKey
from tbprof.engine.workers import endings, processes, starting, worker
from tbprof.engine.workers.asking import Answer, Job, ask
from tbprof.engine.workers.endings import WorkerEnded
from tbprof.engine.workers.limits import Limits
from tbprof.engine.workers.processes import WorkerProcesses
from tbprof.engine.workers.starting import (
    Forked,
    NoWorkers,
    Spawned,
    Starter,
    WorkerProcess,
    make_starter,
)
from tbprof.storage.logdir import Logdir
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile
from tbprof.tools import TOOLS

ops, kernels, outline = PartKey("ops"), PartKey("kernels"), PartKey("outline")
STARTERS = [Spawned, *([Forked] if sys.platform == "linux" else [])]
_PATIENCE_S = 60.0


def path(*folders: str) -> str:
    """For programs that import what this one does."""
    return os.pathsep.join([*folders, *filter(None, sys.path)])


def ignored(_name: str) -> None:
    """Nobody looks at the progress."""


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + _PATIENCE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def pool() -> Iterator[Callable[..., WorkerProcesses]]:
    made: list[WorkerProcesses] = []

    def make(
        results: ResultStore | None = None,
        processes: int = 2,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        make: Callable[[], Starter] = make_starter,
    ) -> WorkerProcesses:
        made.append(WorkerProcesses(results, processes, limits, make))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def plant(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Plant:
    return Plant(tmp_path_factory.mktemp("plant"), monkeypatch)


@pytest.fixture
def hosts(logdir: Path) -> Sequence[TraceFile]:
    return Logdir(str(logdir)).run("gpu").files


def pages(engine: Engine) -> dict[tuple[str, str], bytes]:
    found: dict[tuple[str, str], bytes] = {}
    for run in engine.runs():
        for tool in TOOLS:
            try:
                found[run, tool.name] = content_of(engine, DataRequest(run, tool.name))
            except TbprofError as error:
                found[run, tool.name] = f"{error.message}; {error.hint}".encode()
    return found


@pytest.mark.parametrize("make", STARTERS)
def test_pages_are_those_of_threads(logdir: Path, pool, make: Callable[[], Starter]):
    workers = pool(make=make)
    assert pages(Engine(Logdir(str(logdir)), workers=workers)) == pages(Engine(Logdir(str(logdir))))


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priorities elsewhere")
def test_what_takes_long_gives_way_and_nothing_else_does():
    def niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, 0)

    def of_a_helper() -> int:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(niceness).result()

    ours = niceness()
    assert worker._gently(niceness) == worker._gently(of_a_helper) == min(ours + 5, 19)
    assert niceness() == of_a_helper() == ours
    with pytest.raises(ValueError, match="its own"):
        worker._gently(lambda: int("its own"))


def test_pages_of_recorded_traces_are_those_of_threads(sample_logdir: Path, tmp_path: Path, pool):
    store = ResultStore(tmp_path)
    workers = pool(store)
    found = pages(Engine(Logdir(str(sample_logdir)), store, workers=workers))
    assert found == pages(Engine(Logdir(str(sample_logdir))))


def test_workers_keep_what_they_compute(
    logdir: Path, tmp_path: Path, pool, monkeypatch: pytest.MonkeyPatch
):
    store = ResultStore(tmp_path / "store")
    page = content_of(
        Engine(Logdir(str(logdir)), store, workers=pool(store)), DataRequest("gpu", OPS)
    )
    monkeypatch.setattr("tbprof.engine.hosts.summary_cache._compute", None)
    assert content_of(Engine(Logdir(str(logdir)), store), DataRequest("gpu", OPS)) == page


def test_progress_comes_from_workers(
    pool, plant: Plant, hosts: Sequence[TraceFile], tmp_path: Path
):
    workers, gate = pool(), tmp_path / "gate"
    plant.do(
        f"compute(space, part, needed)\nwhile not Path({str(gate)!r}).exists(): time.sleep(0.001)"
    )
    begun: list[str] = []
    with ThreadPoolExecutor(1) as thread:
        computed = thread.submit(workers.compute, hosts[0], [outline, ops, kernels], begun.append)
        until(lambda: workers.decoded_ratio(hosts[0]) > 0)
        assert begun == ["outline", "ops"]
        assert workers.decoded_ratio(hosts[1]) == 0
        gate.touch()
        assert set(computed.result()) == {outline, ops, kernels}
    assert begun == ["outline", "ops", "kernels"]


def test_errors_are_those_of_the_file(logdir: Path, pool):
    (file, *_) = Logdir(str(logdir)).run("broken").files
    with pytest.raises(BadTrace) as caught:
        pool().compute(file, [outline], ignored)
    assert caught.value.path == "broken/h0.xplane.pb"


def test_a_defect_is_raised_with_the_place_in_the_worker(
    pool, plant: Plant, hosts: Sequence[TraceFile]
):
    workers = pool()
    plant.do("raise ValueError('a defect')")
    with pytest.raises(ValueError, match="a defect") as caught:
        workers.compute(hosts[0], [ops], ignored)
    assert "in planted" in str(caught.value.__cause__)
    plant.do("class Odd(Exception):\n  pass\nraise Odd('cannot be sent')")
    with pytest.raises(RuntimeError, match="Odd: cannot be sent"):
        workers.compute(hosts[0], [ops], ignored)


def test_a_file_stays_with_its_worker(pool, plant: Plant, hosts: Sequence[TraceFile]):
    workers = pool()
    plant.do(f"while Path({str(plant.log)!r}).read_text().count('ops') < 2: time.sleep(0.001)")
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda file: workers.compute(file, [ops], ignored), hosts))
    begun = dict(plant.computed("ops"))
    assert len(set(begun.values())) == 2
    for file in reversed(hosts):
        workers.compute(file, [kernels], ignored)
    assert dict(plant.computed("kernels")) == begun


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "crashed (SIGSEGV)"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "was killed"),
        ("os.abort()", "crashed (SIGABRT)"),
        ("os._exit(3)", "crashed (status 3)"),
        ("numpy.ones(1 << 28)", "was ended: it took more than 0.25 GiB of memory"),
        ("x = []\n while True: x.append(bytearray(1000))", "took more than 0.25 GiB of memory"),
    ],
)
def test_the_end_of_a_worker_is_said_of_its_host(
    logdir: Path, pool, plant: Plant, script: str, said: str
):
    engine = Engine(Logdir(str(logdir)), workers=pool(limits=Limits(1 << 28)))
    plant.do(f"if host == 'h0':\n {script}")
    with pytest.raises(WorkerEnded) as caught:
        engine.data(DataRequest("gpu", OPS, ("h0",)))
    assert caught.value.message.startswith("the process that read host 'h0' ")
    assert said in caught.value.message
    assert caught.value.hint
    (notice,) = payload(engine, "gpu", OPS)[0]["warnings"]
    assert notice["host"] == "h0"
    assert said in notice["message"]


def test_a_file_that_ended_a_worker_is_tried_again_later(
    pool, plant: Plant, hosts: Sequence[TraceFile], monkeypatch: pytest.MonkeyPatch
):
    workers = pool()
    plant.do("os._exit(3)")

    def is_tried(now: float) -> bool:
        monkeypatch.setattr(endings, "monotonic", lambda: now)
        before = len(plant.computed("ops"))
        with pytest.raises(WorkerEnded, match="crashed"):
            workers.compute(hosts[0], [ops], ignored)
        return len(plant.computed("ops")) > before

    assert [is_tried(now) for now in (0.0, 4.9, 5.1, 10.0, 15.0, 15.2)] == [
        True, False, True, False, False, True
    ]  # fmt: skip
    plant.do("")
    monkeypatch.setattr(endings, "monotonic", lambda: 100.0)
    assert workers.compute(hosts[0], [ops], ignored)


def test_a_worker_that_takes_too_long_is_ended(pool, plant: Plant, hosts: Sequence[TraceFile]):
    workers = pool(limits=Limits(seconds=0.5))
    plant.do("while True: ...")
    with pytest.raises(WorkerEnded, match=r"it took longer than 0\.5 s"):
        workers.compute(hosts[0], [ops], ignored)
    ((_, process),) = plant.computed("ops")
    until(lambda: not is_alive(process))


def test_a_worker_that_was_killed_while_idle_is_replaced(
    pool, plant: Plant, hosts: Sequence[TraceFile]
):
    workers = pool()
    workers.compute(hosts[0], [ops], ignored)
    ((_, process),) = plant.computed("ops")
    os.kill(process, signal.SIGKILL)
    assert workers.compute(hosts[0], [kernels], ignored)
    ((_, other),) = plant.computed("kernels")
    assert other != process


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each worker is started alone")
def test_what_starts_workers_is_replaced_when_it_was_killed(pool, hosts: Sequence[TraceFile]):
    starters: list[Forked] = []

    def make() -> Forked:
        starters.append(Forked())
        return starters[-1]

    workers = pool(make=make)
    os.kill(starters[0].process, signal.SIGKILL)
    assert workers.compute(hosts[0], [ops], ignored)
    assert len(starters) == 2


@pytest.mark.parametrize("make", STARTERS)
def test_starters_get_ready_and_workers_do_not_wait_for_it(make: Callable[[], Starter]):
    starter = make()
    worker = starter.start()
    starter.get_ready()
    worker.end()
    starter.close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each worker is started alone")
def test_nobody_waits_for_a_starter_that_was_killed():
    starter = Forked()
    os.kill(starter.process, signal.SIGKILL)
    starter.get_ready()
    starter.close()


def test_threads_compute_where_no_process_can_be_started(
    pool, hosts: Sequence[TraceFile], caplog: pytest.LogCaptureFixture
):
    def make() -> Starter:
        raise NoWorkers("there is no room")

    workers = pool(make=make)
    for part in (ops, kernels):
        assert set(workers.compute(hosts[0], [part], ignored)) == {part}
    (record,) = caplog.records
    assert record.message.endswith("in threads, without limits: there is no room")


@pytest.mark.parametrize(
    "attribute", [("frozen", True), ("executable", "")], ids=["frozen", "embedded"]
)
def test_some_pythons_start_no_processes(
    monkeypatch: pytest.MonkeyPatch, attribute: tuple[str, object]
):
    monkeypatch.setattr(sys, *attribute, raising=False)
    with pytest.raises(NoWorkers):
        make_starter()


def test_a_python_that_is_not_there_starts_no_processes(
    pool, hosts: Sequence[TraceFile], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert pool().compute(hosts[0], [ops], ignored)


def test_a_worker_is_ready_before_the_first_request(
    logdir: Path, pool, plant: Plant, monkeypatch: pytest.MonkeyPatch
):
    workers = pool()
    engine = Engine(Logdir(str(logdir)), workers=workers)
    engine.load_tools()
    monkeypatch.setattr(workers, "_start", None)
    assert payload(engine, "cpu", OPS)


@pytest.mark.parametrize("make", STARTERS)
def test_the_first_worker_rehearses_once(
    pool, make: Callable[[], Starter], monkeypatch: pytest.MonkeyPatch
):
    heard: list[tuple[Job | None, Answer]] = []

    def listen(worker: WorkerProcess, job: Job | None, most_s: float, hear: Any) -> Answer:
        heard.append((job, ask(worker, job, most_s, hear)))
        return heard[-1][1]

    monkeypatch.setattr(processes, "ask", listen)
    workers = pool(make=make)
    workers.warm_up()
    workers.warm_up()
    assert heard == [(None, Answer({}))]


def test_a_worker_that_ends_in_its_rehearsal_is_replaced(
    pool, hosts: Sequence[TraceFile], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(processes, "_REHEARSAL_S", 0.0)
    workers = pool()
    workers.warm_up()
    assert workers.compute(hosts[0], [ops], ignored)


def test_small_files_do_not_wait_for_large_ones(
    pool, plant: Plant, logdir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    large = Logdir(str(logdir)).run("gpu").files
    (small,) = Logdir(str(logdir)).run("cpu").files
    assert small.bytes < large[0].bytes == large[1].bytes
    monkeypatch.setattr(processes, "LARGE", large[0].bytes)
    workers, gate = pool(processes=1), tmp_path / "gate"
    plant.do(f"while host == 'h0' and not Path({str(gate)!r}).exists(): time.sleep(0.001)")
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(workers.compute, large[0], [ops], ignored)
        until(lambda: plant.computed("ops"))
        second = threads.submit(workers.compute, large[1], [ops], ignored)
        assert workers.compute(small, [outline], ignored)
        assert plant.computed("ops") == plant.computed("ops")[:1]
        gate.touch()
        assert first.result()
        assert second.result()


SERVER = """
import sys, threading, time
from tbprof.engine.parts import PartKey
from tbprof.engine.workers import starting
from tbprof.engine.workers.processes import WorkerProcesses
from tbprof.storage.logdir import Logdir
import planted_server

starting._CODE = planted_server.CODE
pool = WorkerProcesses(None, 2)
file = Logdir([sys.argv[1]]).run("gpu").files[0]
pool.compute(file, [PartKey("ops")], lambda name: None)
"""


def test_workers_end_with_a_server_that_was_killed(
    logdir: Path, plant: Plant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    plant.do("while True: ...")
    (tmp_path / "planted_server.py").write_text(f"CODE = {starting._CODE!r}")
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(logdir)],
        env={**os.environ, "PYTHONPATH": path(str(tmp_path))},
    )
    until(lambda: plant.computed("ops"))
    ((_, process),) = plant.computed("ops")
    server.kill()
    server.wait()
    until(lambda: not is_alive(process))


def test_ctrl_c_ends_a_server_quietly(sample_logdir: Path):
    server = subprocess.Popen(
        [sys.executable, "-m", "tbprof.cli", "serve", str(sample_logdir), "--port", "0"],
        env={**os.environ, "PYTHONPATH": path(), "TBPROF_PROCESSES": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Where the tests run in the background, it is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[3]
        query = "data/plugin/profile/data?run=jax_cpu_training&tag=overview_page"
        with urllib.request.urlopen(address + query) as answer:
            assert answer.status == 200
        os.killpg(server.pid, signal.SIGINT)
        _, said = server.communicate()
    assert (server.returncode, said) == (0, "")
