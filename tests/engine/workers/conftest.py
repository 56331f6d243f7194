"""Shared by tests of workers."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from helpers.started.planted_workers import Plant

from tbprof.engine.workers.limits import Limits
from tbprof.engine.workers.processes import WorkerProcesses
from tbprof.engine.workers.starting import (
    Starter,
    make_starter,
)
from tbprof.storage.logdir import Logdir
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile


@pytest.fixture
def pool() -> Iterator[Callable[..., WorkerProcesses]]:
    made: list[WorkerProcesses] = []

    def make(
        results: ResultStore | None = None,
        processes: int = 2,
        limits: Limits | None = None,
        make: Callable[[], Starter] = make_starter,
        *,
        keeps_later: bool = False,
    ) -> WorkerProcesses:
        made.append(
            WorkerProcesses(results, processes, limits or Limits(), make, keeps_later=keeps_later)
        )
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
