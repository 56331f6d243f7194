"""Worker processes compute what threads compute, and the end of one does not affect the others."""

import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers.drawn.small_runs import OPS
from helpers.patience import until
from helpers.payloads import content_of
from helpers.started.planted_workers import Plant
from helpers.started.worker_pools import STARTERS, ignored, kernels, ops, outline

from tbprof.base.errors import BadTrace, TbprofError
from tbprof.engine.engine import DataRequest, Engine
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.workers import processes, worker
from tbprof.engine.workers.starting import (
    Starter,
)
from tbprof.storage.logdir import Logdir
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile
from tbprof.tools import TOOLS


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


def test_pages_of_recorded_traces_are_those_of_threads(
    sample_logdir: Path, store: ResultStore, pool
):
    found = pages(Engine(Logdir(str(sample_logdir)), store, workers=pool(store)))
    assert found == pages(Engine(Logdir(str(sample_logdir))))


def test_workers_keep_what_they_compute(
    logdir: Path, store: ResultStore, pool, monkeypatch: pytest.MonkeyPatch
):
    page = content_of(
        Engine(Logdir(str(logdir)), store, workers=pool(store)), DataRequest("gpu", OPS)
    )
    monkeypatch.setattr("tbprof.engine.hosts.summary_cache._compute", None)
    assert content_of(Engine(Logdir(str(logdir)), store), DataRequest("gpu", OPS)) == page


def test_workers_may_keep_what_they_compute_after_they_answer(
    store: ResultStore, pool, hosts: Sequence[TraceFile]
):
    workers = pool(store, keeps_later=True)
    asked = [ops, kernels]
    workers.compute(hosts[0], asked, ignored)
    kept = SummaryCache(store)
    until(lambda: kept.has_stored(hosts[0], asked))


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
