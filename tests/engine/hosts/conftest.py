"""Shared by tests of the parts of hosts."""

from pathlib import Path

import pytest
from helpers.drawn.counted_parts import TRACE, Counting
from traces import write

from tbprof.storage.logdir import Logdir
from tbprof.storage.runs import TraceFile


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counting:
    return Counting(monkeypatch)


@pytest.fixture
def file(tmp_path: Path) -> TraceFile:
    (tmp_path / "trace").mkdir()
    path = write(tmp_path / "trace", TRACE)
    return next(iter(Logdir(str(path)).runs().values())).files[0]
