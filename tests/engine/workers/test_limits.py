"""How much memory and time the parts of one trace may take."""

import sys
from pathlib import Path

import numpy as np
import pytest

from tbprof.engine.workers import limits
from tbprof.engine.workers.limits import Limits, chosen_limits, held_to
from tbprof.storage.runs import TraceFile

GIB = 1 << 30


def trace(size: int, compression: str = "") -> TraceFile:
    return TraceFile("h0", "/x.xplane.pb", size, 0, "gz" if compression else "")


@pytest.mark.parametrize(
    ("size", "compression", "most_gib"),
    [
        (1000, "", 2),
        (GIB, "", 8),
        (GIB // 30, "gz", 8),
        (4 * GIB, "", 12.8),
    ],
)
def test_memory_follows_the_size_of_the_trace_and_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, size: int, compression: str, most_gib: float
):
    monkeypatch.setattr(limits, "_memory", lambda: 16 * GIB)
    assert Limits().bytes_of(trace(size, compression)) / GIB == pytest.approx(most_gib)


def test_time_follows_the_size_of_the_trace():
    assert Limits().seconds_of(trace(0)) == 120
    assert Limits().seconds_of(trace(767_000_000)) == 887
    assert Limits().seconds_of(trace(1_000_000, "gz")) == 150


def test_the_environment_chooses_for_all_traces(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TBPROF_TRACE_GIB", "1.5")
    monkeypatch.setenv("TBPROF_TRACE_SECONDS", "20")
    chosen = chosen_limits()
    assert (chosen.bytes_of(trace(GIB)), chosen.seconds_of(trace(GIB))) == (3 * GIB // 2, 20)


@pytest.mark.parametrize("text", ["", "much", "-1", "nan", "inf"])
def test_what_is_no_number_leaves_it_to_the_size(monkeypatch: pytest.MonkeyPatch, text: str):
    monkeypatch.setenv("TBPROF_TRACE_GIB", text)
    monkeypatch.setenv("TBPROF_TRACE_SECONDS", text)
    assert chosen_limits() == Limits()


@pytest.mark.skipif(sys.platform != "linux", reason="Linux limits it")
def test_memory_beyond_the_limit_is_not_given():
    with held_to(64 << 20), pytest.raises(MemoryError):
        np.empty(16 << 20)
    with held_to(256 << 20):
        assert np.empty(16 << 20).nbytes == 128 << 20
    assert np.empty(64 << 20).nbytes == 512 << 20


@pytest.mark.skipif(sys.platform != "linux", reason="control groups of Linux")
def test_the_memory_of_a_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    memory = limits._memory.__wrapped__  # computed again
    machine = memory()
    monkeypatch.setattr(limits, "_GROUPS", tmp_path)
    (tmp_path / "memory.max").write_text("max\n")
    assert memory() >= machine
    (tmp_path / "memory.max").write_text(f"{GIB // 2}\n")
    assert memory() == GIB // 2
