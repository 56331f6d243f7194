"""Workers compute the parts that are not known, each once, and pages are the same."""

import pickle
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers.drawn.small_runs import OPS
from helpers.payloads import content_of

from tbprof.base.errors import BadTrace, NoData
from tbprof.engine.engine import DataRequest, Engine
from tbprof.engine.hosts.kept_parts import PartResult
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.parts import PartKey
from tbprof.engine.workers.workers import Workers
from tbprof.storage.logdir import Logdir
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile
from tbprof.tools import TOOLS


class CountedWorkers(Workers):
    """Computes parts without anything that the engine knows, and counts them."""

    hosts_at_once = 3
    keeps_results = False

    def __init__(self) -> None:
        self.computed: Counter[tuple[str, PartKey]] = Counter()

    def compute(
        self, file: TraceFile, requested: Sequence[PartKey], on_work: Callable[[str], None]
    ) -> Mapping[PartKey, PartResult]:
        self.computed.update((file.host, part) for part in requested)
        results = SummaryCache(None).parts(file, requested, on_work)
        return {part: results[part.name] for part in requested}

    def decoded_ratio(self, file: TraceFile) -> float:
        return 0.25 if file.host == "h1" else 0.0


class KeepingWorkers(CountedWorkers):
    keeps_results = True


def _all_pages(engine: Engine) -> dict[tuple[str, str], bytes]:
    pages = {}
    for run in ("mixed", "gpu", "cpu"):
        for tool in TOOLS:
            try:
                pages[run, tool.name] = content_of(engine, DataRequest(run, tool.name))
            except NoData as error:
                pages[run, tool.name] = str(error).encode()
    return pages


def test_pages_are_those_of_threads(logdir: Path):
    workers = CountedWorkers()
    pages = _all_pages(Engine(Logdir(str(logdir)), workers=workers))
    assert pages == _all_pages(Engine(Logdir(str(logdir))))
    assert workers.computed


def test_a_part_is_computed_once_for_requests_at_the_same_time(logdir: Path):
    workers = CountedWorkers()
    engine = Engine(Logdir(str(logdir)), workers=workers)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: engine.data(DataRequest("gpu", OPS)), range(8)))
    assert set(workers.computed.values()) == {1}


@pytest.mark.parametrize("workers", [CountedWorkers(), KeepingWorkers()])
def test_results_are_stored_unless_workers_do_so(
    logdir: Path, store: ResultStore, workers: CountedWorkers
):
    Engine(Logdir(str(logdir)), store, workers=workers).data(DataRequest("gpu", OPS))
    later = CountedWorkers()
    Engine(Logdir(str(logdir)), store, workers=later).data(DataRequest("gpu", OPS))
    assert bool(later.computed) is workers.keeps_results


def test_a_host_that_cannot_be_read_is_reported_as_by_threads(logdir: Path):
    with pytest.raises(BadTrace):
        Engine(Logdir(str(logdir)), workers=CountedWorkers()).data(DataRequest("broken", OPS))


def test_progress_is_that_of_workers(logdir: Path):
    files = Logdir(str(logdir)).run("gpu").files
    cache = SummaryCache(None, CountedWorkers())
    assert [cache.decoded_ratio(file) for file in files] == [0.0, 0.25]


def test_errors_are_those_of_another_process(logdir: Path):
    (file, *_) = Logdir(str(logdir)).run("broken").files
    with pytest.raises(BadTrace) as caught:
        SummaryCache(None).parts(file, [PartKey("outline")])
    came = pickle.loads(pickle.dumps(caught.value))
    assert type(came) is BadTrace
    assert vars(came) == vars(caught.value)
    assert str(came) == str(caught.value)
