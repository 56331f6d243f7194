"""Parts in memory: what they take, and which are dropped."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from helpers.drawn.counted_parts import TRACE, Counting, keys
from traces import write

from tbprof.analysis.ops.op_metrics import OpGatherer, OpMetrics
from tbprof.analysis.run.outline import Outline
from tbprof.engine.hosts import part_memory
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.parts import (
    bytes_of,
)
from tbprof.storage.logdir import Logdir
from tbprof.storage.runs import TraceFile


def test_lists_that_hosts_share_count_for_each_host_in_part():
    table = OpGatherer().table()

    def host(names: list[str]) -> OpMetrics:
        return dataclasses.replace(table, name=names, type=[])

    names = [f"a long name of an op {index}" for index in range(1000)]
    others = bytes_of(host([]))
    alone = bytes_of(host([*names])) - others
    assert alone > 60_000
    hosts = [host(names) for _ in range(9)]  # and this function
    together = sum(bytes_of(one) - others for one in hosts)
    assert together == pytest.approx(alone * 9 / 10, rel=0.02)
    few = names[:9]
    one = host(few)
    assert bytes_of(one) == bytes_of(host(few))


def test_what_a_file_takes_in_memory_is_what_its_parts_do(file: TraceFile):
    cache = SummaryCache(None)
    for marker in map(str, range(20)):
        cache.parts(file, keys("ops", "steps", marker=marker))
    [state] = cache._memory._files.values()
    assert state.bytes == sum(bytes_of(part) for part, _ in state.results.values())
    assert set(state.sizes) == set(state.results)


def test_what_all_files_take_is_what_those_in_memory_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Counted along, also where files are pushed out by their number or by their size."""
    for host in "abcde":
        write(tmp_path, TRACE, host)
    files = next(iter(Logdir(str(tmp_path)).runs().values())).files
    cache = SummaryCache(None, files=3)
    memory = cache._memory
    for least in (0, 1):
        for file in files:
            cache.parts(file, keys("ops", "devices"))
            assert memory._bytes == sum(state.bytes for state in memory._files.values())
        assert len(memory._files) == 3 - least
        monkeypatch.setattr(part_memory, "_MOST_BYTES", memory._bytes - 1)


def test_the_files_that_were_used_last_are_kept_in_memory_up_to_a_bound_in_bytes(
    tmp_path: Path, counting: Counting, monkeypatch: pytest.MonkeyPatch
):
    for number in range(3):
        write(tmp_path, TRACE, f"h{number}")
    one, two, three = next(iter(Logdir(str(tmp_path)).runs().values())).files
    cache = SummaryCache(None)
    size = bytes_of(cache.parts(one, keys("ops"))["ops"].value)
    monkeypatch.setattr(part_memory, "_MOST_BYTES", 2 * size)
    cache.parts(two, keys("ops"))
    cache.parts(one, keys("ops"))
    assert counting.counts == {"ops": 2}
    cache.parts(three, keys("ops"))  # `two` was used least recently
    cache.parts(one, keys("ops"))
    assert counting.counts == {"ops": 3}
    cache.parts(two, keys("ops"))
    assert counting.counts == {"ops": 4}
    # One that is larger than the bound is kept as long as no other is asked for.
    monkeypatch.setattr(part_memory, "_MOST_BYTES", size - 1)
    cache.parts(one, keys("ops", "devices"))
    cache.parts(one, keys("ops", "devices"))
    cache.parts(two, keys("ops"))
    assert counting.counts == {"ops": 5, "devices": 1}


def test_bytes_of_a_part_are_those_of_its_columns_and_texts():
    part = Outline(["a" * 1000], np.zeros(100, np.int64), [], [], [], 0, "")
    assert 1800 < bytes_of(part) < 2500
