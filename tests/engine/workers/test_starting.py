"""How worker processes are started, and what happens where they cannot be."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from helpers.drawn.small_runs import OPS
from helpers.payloads import document_of
from helpers.started.planted_workers import Plant
from helpers.started.worker_pools import STARTERS, ignored, kernels, ops

from tbprof.engine.engine import Engine
from tbprof.engine.workers import processes
from tbprof.engine.workers.asking import Answer, Job, ask
from tbprof.engine.workers.starting import (
    Forked,
    NoWorkers,
    Starter,
    WorkerProcess,
    make_starter,
)
from tbprof.storage.logdir import Logdir
from tbprof.storage.runs import TraceFile


@pytest.mark.parametrize("make", [*STARTERS, partial(make_starter, is_for_command=True)])
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
    assert document_of(engine, "cpu", OPS)


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
