"""Parts in the result store: which files they are in, and what damage costs."""

from collections.abc import Callable
from unittest.mock import Mock

import numpy as np
import pytest
from helpers.drawn.counted_parts import Counting, keys, same
from helpers.kept_files import overwrite

from tbprof.analysis.ops.op_metrics import OpGatherer, OpMetrics
from tbprof.base.errors import Notice
from tbprof.base.records import field_names, values_of
from tbprof.engine.hosts import kept_parts
from tbprof.engine.hosts.kept_parts import PartResult, PartStore
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.parts import (
    PARTS,
    PartKey,
    bytes_of,
)
from tbprof.storage.arrays import SUFFIX, load_arrays
from tbprof.storage.bundles import bundle, unbundle
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile


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


def test_small_parts_open_from_the_bundles_that_are_kept(
    file: TraceFile, store: ResultStore, monkeypatch: pytest.MonkeyPatch
):
    """Not those that refer to texts in other files, which another process may have removed."""
    kept, wanted = PartStore(store), keys("ops", "devices", "steps", marker="op:Op")
    found = SummaryCache(None).parts(file, wanted)
    bundles = kept.keep("file", {part: found[part.name] for part in wanted})
    opened = {part.name: kept.opened(part, content) for part, content in bundles.items()}
    assert set(opened) == {"ops", "devices"}
    for name, (value, notices) in opened.items():
        assert all(map(same, values_of(value), values_of(found[name].value)))
        assert notices == found[name].notices
    monkeypatch.setattr(kept_parts, "LONG_TEXT", 0)
    monkeypatch.setattr("tbprof.engine.hosts.kept_texts.LONG_TEXT", 0)
    assert not kept.keep("other", {part: found[part.name] for part in keys("ops")})


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
    """A part of few numbers and long texts has a file of its own, and shares none of its bytes.

    A small one is a view of its own bytes.
    """
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
    assert all((array.base is None) != are_short for array in arrays)
    shared = kept.find("file", ops, kept.load("file"))
    assert (shared is back) == are_short


def test_only_the_parts_that_are_asked_for_are_taken_apart(
    file: TraceFile, store: ResultStore, monkeypatch: pytest.MonkeyPatch
):
    SummaryCache(store).parts(file, keys(*PARTS))
    taken = Mock(wraps=unbundle)
    monkeypatch.setattr(kept_parts, "unbundle", taken)
    SummaryCache(store).parts(file, keys("ops", "devices"))
    assert taken.call_count == 3  # what the host has, and two of that


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
        kept = load(store, key)
        if kept is None:
            return None
        parts = {name: unbundle(content) for name, content in unbundle(kept["parts"]).items()}
        for arrays in parts.values():
            damage(arrays)
        bundles = {name: bundle(arrays) for name, arrays in parts.items()}
        return {"parts": bundle(bundles)}

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
