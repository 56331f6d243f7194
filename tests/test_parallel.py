"""Passes that run side by side: in order, and as many at once as there are processors."""

import os
import threading
import time

import pytest

from tbprof.base.parallel import in_parallel


def test_as_many_passes_run_at_once_as_there_are_processors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    running: set[int] = set()
    most = 0
    lock = threading.Lock()

    def work(item: int) -> int:
        nonlocal most
        with lock:
            running.add(item)
            most = max(most, len(running))
        time.sleep(0.01)
        with lock:
            running.remove(item)
        return item * item

    assert in_parallel(work, range(12), 1 << 30) == [item * item for item in range(12)]
    assert most <= 2
