"""Commands start processes for many hosts, and only for these."""

import os
from pathlib import Path

import pytest
from helpers.drawn.small_runs import OPS
from helpers.payloads import content_of
from helpers.started.planted_workers import Plant

from tbprof.base.errors import TbprofError
from tbprof.engine.engine import DataRequest, Engine
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.parts import PartKey
from tbprof.engine.workers import many_hosts, starting
from tbprof.engine.workers.endings import WorkerEnded
from tbprof.engine.workers.many_hosts import ManyHosts
from tbprof.engine.workers.starting import Starter, make_starter
from tbprof.storage.logdir import Logdir
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile

ops = PartKey("ops")


@pytest.fixture
def plant(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Plant:
    """With three hosts being many, on a machine with two processors."""
    monkeypatch.setattr(many_hosts, "_MANY", 3)
    monkeypatch.setattr(ManyHosts, "least_hosts", 3)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    return Plant(tmp_path_factory.mktemp("plant"), monkeypatch)


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> ResultStore:
    return ResultStore(tmp_path_factory.mktemp("store"))


@pytest.fixture
def files(logdir: Path) -> list[TraceFile]:
    """Of four hosts, the last of which cannot be read."""
    return [file for run in ("gpu", "cpu") for file in Logdir(str(logdir)).run(run).files] + [
        Logdir(str(logdir)).run("broken").files[0]
    ]


def _by_host(cache: SummaryCache, files: list[TraceFile]) -> dict[TraceFile, str]:
    return {
        file: str(type(found)) if isinstance(found, TbprofError) else repr(found["ops"])
        for file, found in cache.parts_of_hosts(files, [ops])
    }


def test_processes_compute_many_hosts_and_end(
    files: list[TraceFile], store: ResultStore, plant: Plant
) -> None:
    found = _by_host(SummaryCache(store, ManyHosts(store)), files)
    assert found == _by_host(SummaryCache(None), files)
    processes = {process for _, process in plant.computed("ops")}
    assert processes
    assert os.getpid() not in processes
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_what_is_kept_needs_no_processes(
    files: list[TraceFile], store: ResultStore, plant: Plant
) -> None:
    _by_host(SummaryCache(store), files[:2])
    found = _by_host(SummaryCache(store, ManyHosts(store)), files)
    assert found == _by_host(SummaryCache(None), files)
    assert not plant.computed("ops")  # two are missing: this process computes them
    assert SummaryCache(store).has_stored(files[2], [ops])


def test_workers_are_prepared_while_a_tool_is_imported(
    logdir: Path, store: ResultStore, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Starter] = []

    def make(*, is_for_command: bool) -> Starter:
        made.append(make_starter(is_for_command=is_for_command))
        return made[-1]

    monkeypatch.setattr(starting, "make_starter", make)
    files = Logdir(str(logdir)).run("gpu").files
    few, many = files[:1], files * 3
    workers = ManyHosts(store)
    cache = SummaryCache(store, workers)
    cache.expect(few)
    assert not made
    cache.expect(many)
    cache.expect(many)
    assert len(made) == 1
    assert len(_by_host(cache, [*files, *Logdir(str(logdir)).run("cpu").files])) == 3
    assert len(made) == 1
    assert plant.computed("ops")
    cache.expect(many)  # the parts of the first are kept
    assert len(made) == 1


def test_pages_of_few_hosts_start_no_processes(
    logdir: Path, store: ResultStore, plant: Plant
) -> None:
    request = DataRequest("gpu", OPS)
    page = content_of(Engine(Logdir(str(logdir)), store, workers=ManyHosts(store)), request)
    assert page == content_of(Engine(Logdir(str(logdir))), request)
    assert not plant.computed("ops")


def test_a_process_that_ends_costs_its_host_alone(
    files: list[TraceFile], store: ResultStore, plant: Plant
) -> None:
    plant.do("if host == 'h1': os.kill(os.getpid(), signal.SIGKILL)")
    found = _by_host(SummaryCache(store, ManyHosts(store)), files)
    expected = _by_host(SummaryCache(None), files)
    lost = {file: str(WorkerEnded) for file in files if file.host == "h1" and file in files[:2]}
    assert len(lost) == 1
    assert found == expected | lost
