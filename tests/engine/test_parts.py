"""Parts as arrays and back, and what is computed when."""

import dataclasses
import math
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.drawn.computed_parts import compute_part, compute_parts
from helpers.drawn.replaced_parts import replace_part
from helpers.kept_files import overwrite
from hypothesis import given
from hypothesis import strategies as st
from traces import draw, write

from tbprof.analysis.devices.devices import Devices
from tbprof.analysis.memory.memory import Memory
from tbprof.analysis.ops.op_metrics import OpGatherer, OpMetrics
from tbprof.analysis.run.outline import Outline
from tbprof.base.errors import BadTrace, Notice
from tbprof.base.records import field_names
from tbprof.engine import parts as parts_module
from tbprof.engine.hosts import kept_parts, part_memory, space_pool
from tbprof.engine.hosts.kept_parts import PartResult, PartStore
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.parts import (
    PARTS,
    PartKey,
    PartKind,
    bytes_of,
    part_keys,
)
from tbprof.storage.arrays import SUFFIX, load_arrays
from tbprof.storage.bundles import bundle, unbundle
from tbprof.storage.logdir import Logdir
from tbprof.storage.packing import pack, unpack
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile
from tbprof.xplane.reader import read_space

TRACE = draw(
    {"/host:CPU": "t |aaaa", "/device:GPU:0": "Stream #1 |k"},
    names={"a": "op:Op", "k": "kernel"},
    stats={"k": {"kernel_details": "regs:8", "tf_op": "日本:X"}},
)


def keys(*names: str, **params: str) -> list[PartKey]:
    return part_keys(names, params)


def same(one: object, other: object) -> bool:
    """Equality that takes arrays and NaN as people do."""
    if isinstance(one, np.ndarray):
        return (
            isinstance(other, np.ndarray)
            and one.dtype == other.dtype
            and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        )
    if isinstance(one, float) and math.isnan(one):
        return isinstance(other, float) and math.isnan(other)
    return one == other


def assert_round_trip(kind: PartKind, part: Any) -> None:
    back: Any = unpack(kind.type, pack(part))
    for field in dataclasses.fields(part):
        assert same(getattr(back, field.name), getattr(part, field.name)), field.name


@pytest.mark.parametrize("name", PARTS)
def test_every_part_of_a_trace_round_trips(name: str, tmp_path: Path):
    space = read_space(write(tmp_path, TRACE))
    assert_round_trip(PARTS[name], compute_part(name, space))


def test_every_part_of_an_empty_trace_round_trips(tmp_path: Path):
    space = read_space(write(tmp_path, draw({"/host:CPU": "t |"})))
    for name, part in compute_parts(space).items():
        assert_round_trip(PARTS[name], part)


@given(st.lists(st.text()), st.lists(st.text()))
def test_texts_of_any_alphabet_round_trip(errors, warnings):
    outline = Outline(["p"], np.array([1]), ["kernels"], errors, warnings, 0, "")
    assert_round_trip(PARTS["outline"], outline)


def test_unknown_numbers_round_trip():
    assert_round_trip(PARTS["devices"], Devices(1, 0, "GPU", math.nan, 1.5))


# What is computed when.


class Counting:
    """Counts the computations of every part."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._patch = monkeypatch
        for name in PARTS:
            self.replace(name)

    def replace(self, name: str, version: int | None = None) -> None:
        kind = parts_module.PARTS[name]

        def compute(space: object, programs: object, *values: str) -> object:
            with self._lock:
                self.counts[name] += 1
            return kind.compute(space, programs, *values)

        replace_part(self._patch, name, compute=compute, version=version or kind.version)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counting:
    return Counting(monkeypatch)


@pytest.fixture
def file(tmp_path: Path) -> TraceFile:
    (tmp_path / "trace").mkdir()
    path = write(tmp_path / "trace", TRACE)
    return next(iter(Logdir(str(path)).runs().values())).files[0]


@pytest.fixture
def store(tmp_path: Path) -> ResultStore:
    return ResultStore(tmp_path / "store")


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


def test_small_parts_of_a_file_are_kept_together(file: TraceFile, store: ResultStore):
    """Of whatever requests; another version of a part takes the place of the one before."""
    notices = (Notice("code", "message", "host", "hint"),)
    kept, found = PartStore(store), SummaryCache(None).parts(file, keys("ops", "devices"))
    old = PartKey("ops"), PartResult(found["ops"].value, notices)
    kept.keep("file", dict([old]))
    kept.keep("file", {PartKey("devices"): found["devices"]})
    assert len(list(store.directory.iterdir())) == 1
    for part, one in (old, (PartKey("devices"), found["devices"])):
        back = kept.find("file", part, kept.load("file"))
        assert back is not None
        assert back[0].__class__ is one[0].__class__
        assert back[1] == one[1]
    size = sum(content.size for content in kept.load("file").values())
    kept.keep("file", {PartKey("ops"): found["ops"]})
    again = kept.find("file", PartKey("ops"), kept.load("file"))
    assert again is not None
    assert again[1] == ()
    assert sum(content.size for content in kept.load("file").values()) < size


@pytest.mark.parametrize("least", [0, 1 << 20])
def test_large_and_chosen_parts_have_files_of_their_own(
    file: TraceFile, store: ResultStore, monkeypatch: pytest.MonkeyPatch, least: int
):
    monkeypatch.setattr(kept_parts, "_LARGE", least)
    kept, wanted = PartStore(store), keys("ops", "steps", marker="op:Op")
    found = SummaryCache(None).parts(file, wanted)
    kept.keep("file", {part: found[part.name] for part in wanted})
    assert len(list(store.directory.iterdir())) == (2 if least else 3)
    for part in wanted:
        back = kept.find("file", part, kept.load("file"))
        assert back is not None
        assert bytes_of(back.value) == bytes_of(found[part.name].value)
    assert kept.find("file", PartKey("steps", ("",)), kept.load("file")) is None


@pytest.mark.parametrize("are_short", [True, False])
def test_long_texts_of_kept_parts_do_not_stay_in_memory_as_bytes(
    store: ResultStore, monkeypatch: pytest.MonkeyPatch, are_short: bool
):
    """A part of few numbers and long texts has a file of its own, and shares none of its bytes."""
    monkeypatch.setattr(kept_parts, "_LARGE", 1000)
    gatherer = OpGatherer()
    names = [name if are_short else name * 1000 for name in "abc"]
    gatherer.add(0, names, [""] * 3, {"occurrences": np.arange(3)})
    ops = PartKey("ops")
    kept = PartStore(store)
    kept.keep("file", {ops: PartResult(gatherer.table(), ())})
    assert len(list(store.directory.iterdir())) == (1 if are_short else 2)
    back = kept.find("file", ops, kept.load("file"))
    assert back is not None
    assert back.value.name == names
    arrays = [value for name in field_names(OpMetrics)
              if isinstance(value := getattr(back.value, name), np.ndarray)]  # fmt: skip
    assert len(arrays) > 9
    assert all(array.base is None for array in arrays)


def test_lists_that_hosts_share_count_for_each_host_in_part():
    table = OpGatherer().table()

    def host(names: list[str]) -> OpMetrics:
        return dataclasses.replace(table, name=names, type=[])

    names = [f"a long name of an op {at}" for at in range(1000)]
    others = bytes_of(host([]))
    alone = bytes_of(host([*names])) - others
    assert alone > 60_000
    hosts = [host(names) for _ in range(9)]  # and this function
    together = sum(bytes_of(one) - others for one in hosts)
    assert together == pytest.approx(alone * 9 / 10, rel=0.01)
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


def test_only_the_parts_that_are_asked_for_are_taken_apart(
    file: TraceFile, store: ResultStore, monkeypatch: pytest.MonkeyPatch
):
    SummaryCache(store).parts(file, keys(*PARTS))
    taken: list[int] = []

    def counted(content: np.ndarray) -> dict[str, np.ndarray]:
        taken.append(content.size)
        return unbundle(content)

    monkeypatch.setattr(kept_parts, "unbundle", counted)
    SummaryCache(store).parts(file, keys("ops", "devices"))
    assert len(taken) == 2


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


def _truncate(arrays: dict[str, np.ndarray]) -> None:
    del arrays["self_ps"]


def _not_json(arrays: dict[str, np.ndarray]) -> None:
    arrays["meta"] = np.frombuffer(b"{", np.uint8)


def _other_scalars(arrays: dict[str, np.ndarray]) -> None:
    arrays["meta"] = np.frombuffer(b"[1]", np.uint8)


def _torn_texts(arrays: dict[str, np.ndarray]) -> None:
    arrays["name.text"] = np.frombuffer("é".encode()[:1] * 9, np.uint8)


@pytest.mark.parametrize("damage", [_truncate, _not_json, _other_scalars, _torn_texts])
def test_a_damaged_entry_is_computed_anew(
    file: TraceFile,
    store: ResultStore,
    counting: Counting,
    damage: Callable[[dict[str, np.ndarray]], None],
    monkeypatch: pytest.MonkeyPatch,
):
    whole = SummaryCache(store).parts(file, keys("ops"))["ops"].value
    load = load_arrays

    def damaged(store: ResultStore, key: str) -> dict[str, np.ndarray] | None:
        contents = load(store, key)
        if contents is None:
            return None
        for name, content in contents.items():
            arrays = unbundle(content)
            damage(arrays)
            contents[name] = bundle(arrays)
        return contents

    monkeypatch.setattr(kept_parts, "load_arrays", damaged)
    found = SummaryCache(store).parts(file, keys("ops"))["ops"].value
    assert counting.counts == {"ops": 2}
    assert (found.name, found.self_ps.tolist()) == (whole.name, whole.self_ps.tolist())


def test_damaged_files_of_the_store_are_computed_anew(
    file: TraceFile, store: ResultStore, counting: Counting
):
    SummaryCache(store).parts(file, keys("ops"))
    for path in store.directory.glob(f"*{SUFFIX}"):
        overwrite(path, path.read_bytes()[:100])
    SummaryCache(store).parts(file, keys("ops"))
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
    opened: Counter[str] = Counter()
    read = read_space

    def reading(path: Path, name: str) -> object:
        opened[str(path)] += 1
        return read(path, name)

    monkeypatch.setattr(space_pool, "read_space", reading)
    for number in range(8):
        write(tmp_path, TRACE, f"h{number}")
    run = next(iter(Logdir(str(tmp_path)).runs().values()))
    cache = SummaryCache(None)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda one: cache.parts(one, keys(*PARTS)), run.files))
    assert set(opened.values()) == {1}


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
    assert isinstance(OpGatherer().table(), OpMetrics)


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
