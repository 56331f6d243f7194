"""Parts from the workers of a real Dask cluster: two processes on this machine."""

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from helpers.commands import run
from helpers.drawn.small_runs import BROKEN, CPU_TRACE, GPU_TRACE, OPS
from helpers.patience import PATIENCE_S, until
from helpers.payloads import content_of
from helpers.started.clusters import Scheduler, kill_a_worker, local_cluster, own_scheduler
from traces import write

from tbprof.base.errors import BadTrace, NoData, TbprofError, Unreachable
from tbprof.base.records import replace
from tbprof.engine.engine import DataRequest, Engine
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.look_ahead import LookAhead
from tbprof.engine.parts import PartKey
from tbprof.engine.workers.clusters import batches
from tbprof.engine.workers.clusters import cluster as cluster_module
from tbprof.engine.workers.clusters.cluster import Cluster, ClusterFailed, WorkersDied, _divided
from tbprof.engine.workers.clusters.scheduler import serving_workers
from tbprof.engine.workers.clusters.stand_in import WithStandIn
from tbprof.engine.workers.threads import Threads
from tbprof.engine.workers.workers import HostParts, HostWork
from tbprof.serving.service import Service
from tbprof.storage.logdir import Logdir
from tbprof.storage.runs import TraceFile
from tbprof.tools import TOOLS

if TYPE_CHECKING:
    from distributed import LocalCluster

HOSTS = 64
OUTLINE = (PartKey("outline"),)
# Of a host `poison`, a worker dies; a host `endless` is read until somebody stops it.
PLANTED = """
import os, time
from tbprof.engine.workers.threads import Threads

def planted(self, file, requested, on_work, compute=Threads.compute):
    if file.host == "poison":
        os._exit(1)
    if file.host == "endless":
        try:
            while True:
                on_work("outline")
                time.sleep(0.01)
        finally:
            open(file.url + ".stopped", "x").close()
    return compute(self, file, requested, on_work)

Threads.compute = planted
"""


@pytest.fixture(scope="module")
def run_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """64 hosts, with and without a GPU; one is not a trace."""
    folder = tmp_path_factory.mktemp("hosts") / "run"
    folder.mkdir()
    for host in range(HOSTS):
        content = BROKEN if host == 7 else GPU_TRACE if host % 2 else CPU_TRACE
        write(folder, content, f"h{host}")
    return folder


@pytest.fixture(scope="module")
def pages_alone(run_directory: Path) -> dict[str, bytes]:
    """The pages of one machine."""
    return _pages(Engine(Logdir(str(run_directory))))


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[LocalCluster]":
    planted = tmp_path_factory.mktemp("planted") / "planted.py"
    planted.write_text(PLANTED)
    with local_cluster(preload=str(planted)) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def workers(local: "LocalCluster") -> Cluster:
    return Cluster(local.scheduler_address)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine holds up whoever answers; tests of silence set their own times."""
    for name in ("_CONNECT_S", "_ANSWER_S", "_NO_WORKERS_S"):
        monkeypatch.setattr(cluster_module, name, PATIENCE_S)


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[Scheduler]:
    started = Scheduler(tmp_path)
    yield started
    started.kill()


def _hosts(run_directory: Path, *names: str) -> list[HostWork]:
    """Work for hosts of these names; a name that the run lacks is that of another trace."""
    files = {file.host: file for file in Logdir(str(run_directory)).run("run").files}
    spare = files["h0"]
    return [HostWork(replace(files.get(name, spare), host=name), OUTLINE) for name in names]


def _pages(engine: Engine) -> dict[str, bytes]:
    pages = {}
    for tool in TOOLS:
        try:
            pages[tool.name] = content_of(engine, DataRequest("run", tool.name))
        except NoData as error:
            pages[tool.name] = str(error).encode()
    return pages


class Interfering(Cluster):
    """Does something when the first host of all is done."""

    def __init__(self, address: str, act: Callable[[], object]) -> None:
        super().__init__(address)
        self._acts = [act]

    def compute_hosts(
        self, work: Sequence[HostWork], on_work: Callable[[TraceFile, str], None]
    ) -> Iterator[tuple[HostWork, HostParts]]:
        for found in super().compute_hosts(work, on_work):
            yield found
            while self._acts:
                self._acts.pop()()


def test_pages_are_those_of_one_machine_while_a_worker_is_killed(
    local: "LocalCluster", run_directory: Path, pages_alone: dict[str, bytes]
):
    workers = Interfering(local.scheduler_address, lambda: kill_a_worker(local))
    pages = _pages(Engine(Logdir(str(run_directory)), workers=workers))
    assert not workers._acts
    assert pages == pages_alone


def test_a_host_that_cannot_be_read_has_the_error_of_one_machine(
    workers: Cluster, run_directory: Path
):
    file = _hosts(run_directory, "h7")[0].file
    with pytest.raises(BadTrace) as there:
        workers.compute(file, OUTLINE, lambda _name: None)
    with pytest.raises(BadTrace) as here:
        SummaryCache(None).parts(file, OUTLINE)
    assert vars(there.value) == vars(here.value)


def test_a_file_that_only_this_machine_has_is_a_matter_of_the_cluster(
    workers: Cluster, run_directory: Path
):
    with (run_directory / "h0.xplane.pb").open() as opened:
        file = replace(_hosts(run_directory, "h0")[0].file, url=f"/proc/self/fd/{opened.fileno()}")
        with pytest.raises(Unreachable, match="a worker of the cluster") as caught:
            workers.compute(file, OUTLINE, lambda _name: None)
    assert "mount" in caught.value.hint
    with pytest.raises(Unreachable, match=r"^/nowhere"):
        workers.compute(replace(file, url="/nowhere"), OUTLINE, lambda _name: None)


def test_a_host_that_ends_workers_does_not_hide_others(
    local: "LocalCluster", workers: Cluster, run_directory: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(local.scheduler, "allowed_failures", 0)
    monkeypatch.setattr(cluster_module, "_BATCHES_PER_THREAD", 1)
    hosts = _hosts(run_directory, "h0", "poison", "h1", "h2")
    found = dict(workers.compute_hosts(hosts, lambda *_: None))
    died = found.pop(hosts[1])
    assert isinstance(died, WorkersDied)
    assert "host poison" in died.message
    assert not any(isinstance(parts, TbprofError) for parts in found.values())
    assert len(found) == 3


def test_work_stops_when_nobody_waits_for_it(workers: Cluster, run_directory: Path):
    endless, short = _hosts(run_directory, "endless", "h0")
    is_begun = threading.Event()

    def hear(file: TraceFile, part: str) -> None:
        if (file.host, part) == ("endless", "outline"):
            is_begun.set()

    results = workers.compute_hosts([endless, short], hear)
    assert isinstance(results, Generator)
    assert next(results)[0] == short
    assert is_begun.wait(PATIENCE_S)
    results.close()
    until(Path(endless.file.url + ".stopped").exists)
    assert not workers._batches


def test_other_software_on_the_workers_is_an_error(
    workers: Cluster, run_directory: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(batches, "SOFTWARE", ("0.0.1", "3.9"))
    with pytest.raises(ClusterFailed, match=r"have tbprof .* this is tbprof 0.0.1 with Python 3.9"):
        dict(workers.compute_hosts(_hosts(run_directory, "h0"), lambda *_: None))


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense", "spam://x:1"])
def test_a_scheduler_that_cannot_be_reached_is_an_error(
    run_directory: Path, monkeypatch: pytest.MonkeyPatch, address: str
):
    monkeypatch.setattr(cluster_module, "_CONNECT_S", 0.2)
    with pytest.raises(ClusterFailed, match=f"{address} cannot be reached"):
        Cluster(address).compute(_hosts(run_directory, "h0")[0].file, OUTLINE, lambda _name: None)


def test_a_scheduler_without_workers_is_an_error_after_a_while(
    run_directory: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cluster_module, "_LOOK_EVERY_S", 0.1)
    monkeypatch.setattr(cluster_module, "_NO_WORKERS_S", 0.2)
    with own_scheduler() as address, pytest.raises(ClusterFailed, match="has no workers"):
        list(Cluster(address).compute_hosts(_hosts(run_directory, "h0"), lambda *_: None))


def test_a_server_goes_on_without_a_scheduler_that_is_gone(
    scheduler: Scheduler,
    run_directory: Path,
    pages_alone: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    def divided(work: Sequence[HostWork], threads: int) -> Iterator[list[HostWork]]:
        yield list(work)
        scheduler.kill()
        monkeypatch.setattr(cluster_module, "_CONNECT_S", 0.2)  # nothing answers from now on

    monkeypatch.setattr(cluster_module, "_divided", divided)
    now = 100.0
    cluster = Cluster(scheduler.address)
    workers = WithStandIn(cluster, Threads(None, 2), lambda: now)
    engine = Engine(Logdir(str(run_directory)), workers=workers)
    assert _pages(engine) == pages_alone
    (said,) = [record.message for record in caplog.records if record.name.startswith("tbprof")]
    assert "does not answer any more" in said
    now += 1000
    dict(workers.compute_hosts(_hosts(run_directory, "h0"), lambda *_: None))
    assert "cannot be reached" in caplog.text


def test_commands_use_the_cluster_of_a_scheduler(
    local: "LocalCluster", run_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TBPROF_CACHE_DIR", str(tmp_path / "alone"))
    alone = run("export", run_directory, "--tool", OPS)
    monkeypatch.setenv("TBPROF_CACHE_DIR", str(tmp_path / "together"))
    monkeypatch.setattr(SummaryCache, "parts", None)  # nothing is computed here
    together = run("export", run_directory, "--tool", OPS, "--scheduler", local.scheduler_address)
    assert together == alone
    monkeypatch.setenv("TBPROF_SCHEDULER", local.scheduler_address)
    ahead = run("precompute", run_directory)
    assert ahead.stdout == f"run: {HOSTS - 1} of {HOSTS} hosts cached, {HOSTS - 1} new\n"
    assert "host h7 cannot be read" in ahead.stderr
    assert ahead.exit_code == 1


def test_commands_fail_without_their_scheduler(
    run_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TBPROF_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cluster_module, "_CONNECT_S", 0.2)
    for command in (["export", "--tool", OPS], ["precompute"]):
        ran = run(*command, run_directory, "--scheduler", "tcp://127.0.0.1:1")
        assert (ran.exit_code, ran.stdout) == (1, "")
        assert "the Dask scheduler at tcp://127.0.0.1:1 cannot be reached" in ran.stderr


def test_servers_use_the_cluster_of_the_environment(
    local: "LocalCluster",
    run_directory: Path,
    pages_alone: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TBPROF_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TBPROF_SCHEDULER", local.scheduler_address)
    monkeypatch.setattr(SummaryCache, "parts", None)  # nothing is computed here
    monkeypatch.setattr(LookAhead, "start", lambda *_: None)  # one page is asked for
    engine = Service(str(run_directory)).engine()
    assert content_of(engine, DataRequest("run", OPS)) == pages_alone[OPS]


def test_servers_without_dask_go_on(
    run_directory: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cluster_module, "find_spec", lambda _name: None)
    here = Threads(None, 2)
    assert serving_workers("tcp://127.0.0.1:1", here) is here
    assert "tbprof[dask]" in caplog.text
    ran = run("serve", run_directory, "--scheduler", "tcp://127.0.0.1:1")
    assert (ran.exit_code, "tbprof[dask]" in ran.stderr) == (1, True)


def test_dask_is_an_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cluster_module, "find_spec", lambda _name: None)
    with pytest.raises(ClusterFailed, match="not installed") as caught:
        Cluster("tcp://127.0.0.1:1")
    assert "tbprof[dask]" in caught.value.hint


def test_batches_are_few_and_keep_all_threads_busy():
    def sizes(hosts: int, threads: int, megabytes: int = 1) -> list[int]:
        file = TraceFile("h", "h", megabytes << 20, 0, "")
        return [len(batch) for batch in _divided([HostWork(file, OUTLINE)] * hosts, threads)]

    assert sizes(10_000, 100) == [25] * 400
    assert sizes(10_000, 10) == [32] * 312 + [16]
    assert sizes(64, 2) == [8] * 8
    assert sizes(3, 100) == [1] * 3
    assert sizes(64, 2, megabytes=100) == [5] * 12 + [4]
    assert sizes(0, 2) == []
