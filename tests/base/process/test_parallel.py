"""Passes that run side by side: in order, and as many at once as there are processors."""

import os
import threading
import time

import pytest

from tbprof.base.process import parallel
from tbprof.base.process.parallel import both, helpers, in_line_ranges, in_parallel


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


def test_all_who_work_in_parallel_share_a_bounded_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    callers = 10
    have_begun, may_end = threading.Barrier(callers + 1, timeout=60), threading.Event()
    working: set[threading.Thread] = set()

    def work(item: int) -> int:
        working.add(threading.current_thread())
        if item == 0:
            have_begun.wait()
            assert may_end.wait(60)
        return item

    found: list[list[int]] = []
    threads = [
        threading.Thread(target=lambda: found.append(in_parallel(work, range(9), 1 << 30)))
        for _ in range(callers)
    ]
    for thread in threads:
        thread.start()
    have_begun.wait()
    assert len(working - {*threads}) <= 2 * 2
    may_end.set()
    for thread in threads:
        thread.join()
    assert found == [[*range(9)]] * callers
    with helpers() as free:
        assert free == 2
    with helpers(1) as free:
        assert free == 1


@pytest.mark.parametrize(
    ("sizes", "ranges"),
    [
        ([], [(0, 0)]),
        ([9], [(0, 1)]),
        ([9, 9], [(0, 1), (1, 2)]),
        ([1, 1, 1, 9, 0, 3, 1], [(0, 3), (3, 4), (4, 6), (6, 7)]),
    ],
)
def test_lines_are_taken_together_until_they_are_enough(
    sizes: list[int], ranges: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "PIECE", 3)
    first_event = [sum(sizes[:line]) for line in range(len(sizes) + 1)]
    assert in_line_ranges(lambda begin, end: (begin, end), first_event) == ranges


@pytest.mark.parametrize("size", [0, 1 << 30])
def test_both_of_two_functions_return_whatever_their_size(size: int) -> None:
    assert both(lambda: 1, lambda: "other", size) == (1, "other")


def test_large_work_of_two_functions_goes_on_at_the_same_time() -> None:
    meet = threading.Barrier(2, timeout=60)
    assert both(meet.wait, meet.wait, 1 << 30) in {(0, 1), (1, 0)}


def test_what_either_of_two_functions_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        both(lambda: 1 // 0, str, 1 << 30)
    with pytest.raises(ZeroDivisionError):
        both(str, lambda: 1 // 0, 1 << 30)
