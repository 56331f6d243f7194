"""Long texts of parts are kept once for all hosts, and parts without theirs are computed again."""

import os
from pathlib import Path

import numpy as np
import pytest

from tbprof.analysis.ops.op_metrics import OpGatherer, OpMetrics
from tbprof.engine.hosts import kept_texts
from tbprof.engine.hosts.kept_parts import PartResult, PartStore
from tbprof.engine.parts import PartKey
from tbprof.storage.results import ResultStore

OPS = PartKey("ops")
LONG = [f"op {index} of a network whose layers have long names, 日本" for index in range(2000)]


def ops(names: list[str], first: int = 0) -> PartResult:
    gatherer = OpGatherer()
    gatherer.add(0, names, ["Op"] * len(names), {"occurrences": np.arange(len(names)) + first})
    return PartResult(gatherer.table(), ())


def kept_ops(parts: PartStore, host: str) -> OpMetrics | None:
    result = parts.find(host, OPS, parts.load(host))
    return None if result is None else result.value


def texts(store: ResultStore) -> list[Path]:
    """The files that hold the long names."""
    return [path for path in store.directory.iterdir() if LONG[7].encode() in path.read_bytes()]


def test_hosts_of_one_job_keep_their_names_once(store: ResultStore) -> None:
    parts = PartStore(store)
    for host in range(5):
        parts.keep(f"h{host}", {OPS: ops(LONG, host)})
    parts.keep("other", {OPS: ops(["a", "b"])})
    assert len(texts(store)) == 1
    assert len(list(store.directory.iterdir())) == 7
    for reader in (parts, PartStore(store)):
        tables = [kept_ops(reader, f"h{host}") for host in range(5)]
        assert [repr(table) for table in tables] == [
            repr(ops(LONG, index).value) for index in range(5)
        ]
        assert len({id(table.name) for table in tables if table is not None}) == 1
        assert repr(kept_ops(reader, "other")) == repr(ops(["a", "b"]).value)
        assert reader.has("h3", [OPS])


def test_other_names_have_another_file(store: ResultStore) -> None:
    parts = PartStore(store)
    parts.keep("h0", {OPS: ops(LONG)})
    parts.keep("h1", {OPS: ops([*LONG[:-1], "last"])})
    assert len(texts(store)) == 2
    table = kept_ops(parts, "h1")
    assert table is not None
    assert table.name[-2:] == [LONG[-2], "last"]


def test_a_part_whose_texts_are_gone_is_not_there_until_it_is_kept_again(
    store: ResultStore,
) -> None:
    parts = PartStore(store)
    parts.keep("h0", {OPS: ops(LONG)})
    [text] = texts(store)
    text.unlink()
    for reader in (parts, PartStore(store)):
        assert not reader.has("h0", [OPS])
        assert kept_ops(reader, "h0") is None
    parts.keep("h0", {OPS: ops(LONG)})
    assert texts(store) == [text]
    assert parts.has("h0", [OPS])
    assert repr(kept_ops(parts, "h0")) == repr(ops(LONG).value)


def test_texts_under_another_name_are_not_taken(store: ResultStore) -> None:
    parts = PartStore(store)
    parts.keep("h0", {OPS: ops(LONG)})
    parts.keep("h1", {OPS: ops(LONG[::-1])})
    one, other = texts(store)
    swapped = one.with_suffix(".swapped")
    one.rename(swapped)
    other.rename(one)
    swapped.rename(other)
    assert kept_ops(PartStore(store), "h0") is None


def test_texts_that_are_used_from_memory_stay_on_disk(store: ResultStore) -> None:
    """The least recently used files go first: not the one that all hosts need."""
    parts = PartStore(store)
    parts.keep("h0", {OPS: ops(LONG)})
    [text] = texts(store)
    assert kept_ops(parts, "h0") is not None
    os.utime(text, (1, 1))
    assert kept_ops(parts, "h0") is not None
    assert text.stat().st_mtime > 1


def test_texts_that_are_kept_again_count_as_used(store: ResultStore) -> None:
    parts = PartStore(store)
    parts.keep("h0", {OPS: ops(LONG)})
    [text] = texts(store)
    os.utime(text, (1, 1))
    parts.keep("h1", {OPS: ops(LONG)})
    assert text.stat().st_mtime > 1


def test_short_texts_stay_with_their_host(
    store: ResultStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_texts, "LONG_TEXT", 1 << 30)
    parts = PartStore(store)
    for host in range(3):
        parts.keep(f"h{host}", {OPS: ops(LONG, host)})
    assert len(list(store.directory.iterdir())) == 3
    assert repr(kept_ops(parts, "h2")) == repr(ops(LONG, 2).value)
