"""What is computed when, and how often."""

import dataclasses
import gc
import threading
import weakref
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import pytest
from helpers.drawn.counted_parts import TRACE, Counting, keys, same
from traces import write

from tbprof.analysis.memory.memory import Memory
from tbprof.base.errors import BadTrace
from tbprof.base.records import field_names
from tbprof.engine.hosts import kept_parts, space_pool
from tbprof.engine.hosts.kept_parts import PartResult, PartStore
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.parts import PARTS, PartKey
from tbprof.events.space import Plane, Space
from tbprof.storage.logdir import Logdir
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile
from tbprof.xplane.reader import read_space


def test_a_part_is_computed_once_and_found_by_the_next_process(
    file: TraceFile, store: ResultStore, counting: Counting
):
    cache = SummaryCache(store)
    first = cache.parts(file, keys(*PARTS))
    assert counting.counts == dict.fromkeys(PARTS, 1)
    assert cache.parts(file, keys(*PARTS)) == first
    again = SummaryCache(store).parts(file, keys(*PARTS))
    assert counting.counts == dict.fromkeys(PARTS, 1)
    assert again["ops"].value.name == first["ops"].value.name == ["日本", "op"]


def test_a_large_part_is_written_behind_the_answer(
    file: TraceFile, store: ResultStore, counting: Counting, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(kept_parts, "_LARGE", 0)
    monkeypatch.setattr(kept_parts, "_WRITTEN_BEHIND", 0)
    SummaryCache(store).parts(file, keys("ops"))
    for thread in threading.enumerate():
        if thread.name == "keeps a part":
            assert not thread.daemon  # a process does not end before
            thread.join()
    SummaryCache(store).parts(file, keys("ops"))
    assert counting.counts == {"ops": 1}


def test_who_uses_a_cache_may_keep_its_parts(file: TraceFile, store: ResultStore):
    given: list[tuple[str, Mapping[PartKey, PartResult]]] = []
    cache = SummaryCache(store, keep=lambda *computed: given.append(computed))
    cache.parts(file, keys("ops"))
    assert not SummaryCache(store).has_stored(file, keys("ops"))
    for computed in given:
        PartStore(store).keep(*computed)
    assert SummaryCache(store).has_stored(file, keys("ops"))


def test_only_what_is_asked_for_is_computed(
    file: TraceFile, store: ResultStore, counting: Counting
):
    heard: list[str] = []
    SummaryCache(store).parts(file, keys("outline", "kernels"), heard.append)
    assert counting.counts == {"outline": 1, "kernels": 1}
    assert sorted(heard) == ["kernels", "outline"]  # side by side
    SummaryCache(store).parts(file, keys("kernels"), heard.append)
    assert len(heard) == 2  # kept ones are not work


def test_a_part_takes_what_it_rests_on_from_where_that_is_kept(
    file: TraceFile, store: ResultStore, counting: Counting
):
    SummaryCache(store).parts(file, keys("steps"))
    SummaryCache(store).parts(file, keys("memory"))
    assert counting.counts == {"steps": 1, "memory": 1}
    # Other steps are other memory.
    counting.replace("steps", version=99)
    SummaryCache(store).parts(file, keys("memory"))
    assert counting.counts["memory"] == 2


def test_a_part_is_computed_without_what_it_could_use(
    file: TraceFile, store: ResultStore, counting: Counting
):
    alone = SummaryCache(store).parts(file, keys("memory"))["memory"].value
    assert counting.counts == {"memory": 1}
    SummaryCache(store).parts(file, keys("steps", "memory"))
    assert counting.counts == {"memory": 1, "steps": 1}
    with_steps = SummaryCache(None)
    with_steps.parts(file, keys("steps"))
    again = with_steps.parts(file, keys("memory"))["memory"].value
    assert all(same(getattr(again, name), getattr(alone, name)) for name in field_names(Memory))


def test_without_a_store_parts_are_kept_in_memory(file: TraceFile, counting: Counting):
    cache = SummaryCache(None)
    cache.parts(file, keys("ops"))
    cache.parts(file, keys("ops"))
    SummaryCache(None).parts(file, keys("ops"))
    assert counting.counts == {"ops": 2}


def test_a_new_version_of_a_part_is_computed_anew(
    file: TraceFile, store: ResultStore, counting: Counting
):
    SummaryCache(store).parts(file, keys("ops", "devices"))
    counting.replace("ops", PARTS["ops"].version + 1)
    counting.counts.clear()
    SummaryCache(store).parts(file, keys("ops", "devices"))
    assert set(counting.counts) == {"ops"}


def test_a_changed_file_is_computed_anew(file: TraceFile, store: ResultStore, counting: Counting):
    SummaryCache(store).parts(file, keys("ops"))
    changed = dataclasses.replace(file, modified_ns=file.modified_ns + 1)
    SummaryCache(store).parts(changed, keys("ops"))
    assert counting.counts == {"ops": 2}


def test_many_threads_compute_each_part_once(
    file: TraceFile, store: ResultStore, counting: Counting
):
    cache = SummaryCache(store)
    barrier = threading.Barrier(16)

    def ask(number: int) -> list[object]:
        barrier.wait()
        found = cache.parts(file, keys(*PARTS) if number % 2 else keys("kernels", "outline"))
        return [found["kernels"].value]

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(ask, range(16)))
    assert counting.counts == dict.fromkeys(PARTS, 1)
    assert all(answer[0] is answers[0][0] for answer in answers)


def test_a_host_opens_its_file_once_for_all_parts(
    tmp_path: Path, counting: Counting, monkeypatch: pytest.MonkeyPatch
):
    """Even where other hosts, at the same time, fill the few places for open files."""
    read = Mock(wraps=read_space)
    monkeypatch.setattr(space_pool, "read_space", read)
    for number in range(8):
        write(tmp_path, TRACE, f"h{number}")
    run = next(iter(Logdir(str(tmp_path)).runs().values()))
    cache = SummaryCache(None)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda one: cache.parts(one, keys(*PARTS)), run.files))
    assert set(Counter(call.args[0] for call in read.call_args_list).values()) == {1}


def test_closed_files_are_freed_without_collecting_garbage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Also where another host has taken the place of an open file."""
    planes: list[weakref.ref[Plane]] = []
    read = read_space

    def reading(path: Path, name: str) -> Space:
        space = read(path, name)
        planes.extend(map(weakref.ref, space.planes))
        return space

    monkeypatch.setattr(space_pool, "read_space", reading)
    monkeypatch.setattr(space_pool, "_OPEN_SPACES", 1)
    for number in range(2):
        write(tmp_path, TRACE, f"h{number}")
    first, other = next(iter(Logdir(str(tmp_path)).runs().values())).files

    def compute() -> None:
        cache = SummaryCache(None)

        def take_place(_part: str) -> None:
            cache.parts(other, keys("steps"))

        cache.parts(first, keys(*PARTS), take_place, side_by_side=False)

    gc.disable()
    try:
        compute()
        left = [plane() for plane in planes]
    finally:
        gc.enable()
    assert left == [None] * 4


def test_an_unreadable_file_raises_each_time(tmp_path: Path):
    path = write(tmp_path, b"not a trace")
    file = next(iter(Logdir(str(path)).runs().values())).files[0]
    cache = SummaryCache(None)
    for _ in range(2):
        with pytest.raises(BadTrace):
            cache.parts(file, keys("outline"))


def test_parts_are_what_their_kind_says(file: TraceFile):
    found = SummaryCache(None).parts(file, keys(*PARTS))
    for name, (part, _) in found.items():
        assert type(part) is PARTS[name].type
