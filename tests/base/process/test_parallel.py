"""Passes that run side by side: in order, and as many at once as there are processors."""

import os
import threading
import time

import pytest
from helpers.patience import PATIENCE_S

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
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    callers = 10
    all_begin, all_have_begun = threading.Barrier(callers, timeout=PATIENCE_S), threading.Event()
    working: set[threading.Thread] = set()
    found: list[list[int]] = []

    def work(item: int) -> int:
        thread = threading.current_thread()
        if thread in threads and thread not in working:
            working.add(thread)
            all_begin.wait()
            all_have_begun.set()
        working.add(thread)
        assert all_have_begun.wait(PATIENCE_S)
        return item

    threads = [
        threading.Thread(target=lambda: found.append(in_parallel(work, range(9))))
        for _ in range(callers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[*range(9)]] * callers
    assert 1 <= len(working - {*threads}) <= 2


def test_a_thread_that_is_done_elsewhere_joins_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    has_begun, may_end = threading.Barrier(3, timeout=PATIENCE_S), threading.Event()
    meet = threading.Barrier(2, timeout=PATIENCE_S)

    def keep_busy(item: int) -> int:
        has_begun.wait()
        assert may_end.wait(PATIENCE_S)
        return item

    def need_two(item: int) -> int:
        may_end.set()
        meet.wait()
        return item

    found: list[list[int]] = []
    first = threading.Thread(target=lambda: found.append(in_parallel(keep_busy, range(2))))
    first.start()
    has_begun.wait()  # the caller and the only other thread
    assert in_parallel(need_two, range(4)) == [*range(4)]
    first.join()
    assert found == [[0, 1]]


@pytest.mark.parametrize("failing", range(4))
def test_what_any_item_raises_is_raised(failing: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)

    def work(item: int) -> int:
        if item == failing:
            raise IndexError(item)
        return item

    with pytest.raises(IndexError, match=str(failing)):
        in_parallel(work, range(4))


def test_threads_end_with_the_last_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    working: set[threading.Thread] = set()
    meet = threading.Barrier(2, timeout=PATIENCE_S)

    def work(item: int) -> int:
        working.add(threading.current_thread())
        meet.wait()
        return item

    in_parallel(work, range(2))
    [helper] = working - {threading.current_thread()}
    helper.join(60)
    assert not helper.is_alive()


def test_those_who_start_threads_share_a_number_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    with helpers(3) as first, helpers(3) as second, helpers(3) as third:
        assert (first, second, third) == (3, 1, 0)
    with helpers(9) as free:
        assert free == 4


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
    meet = threading.Barrier(2, timeout=PATIENCE_S)
    assert both(meet.wait, meet.wait, 1 << 30) in {(0, 1), (1, 0)}


def test_what_either_of_two_functions_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        both(lambda: 1 // 0, str, 1 << 30)
    with pytest.raises(ZeroDivisionError):
        both(str, lambda: 1 // 0, 1 << 30)
