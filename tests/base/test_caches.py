"""Values are computed once, also by threads side by side, and the latest are kept."""

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import pytest

from tbprof.base.caches import LatestCache, OnceCache


def test_a_value_is_found_once_and_again_after_clear() -> None:
    cache, find = OnceCache(), itertools.count(1).__next__
    assert [cache.get_or_compute("a", find), cache.get_or_compute("a", find)] == [1, 1]
    cache.clear()
    assert cache.get_or_compute("a", find) == 2


def test_threads_that_ask_at_the_same_time_share_one_value() -> None:
    check_threads_share_one_value(OnceCache())


def check_threads_share_one_value(cache: OnceCache | LatestCache[str, object]) -> None:
    asked, ready = [], threading.Barrier(4)

    def find() -> object:
        asked.append(1)
        time.sleep(0.02)
        return object()

    def ask(_: int) -> object:
        ready.wait()
        return cache.get_or_compute("a", find)

    with ThreadPoolExecutor(4) as pool:
        assert len({id(value) for value in pool.map(ask, range(4))}) == len(asked) == 1


def test_a_value_may_need_another_and_a_failure_is_tried_again() -> None:
    cache = OnceCache()
    assert cache.get_or_compute("a", lambda: cache.get_or_compute("b", lambda: 1) + 1) == 2
    with pytest.raises(ZeroDivisionError):
        cache.get_or_compute("c", lambda: 1 // 0)
    assert cache.get_or_compute("c", lambda: 3) == 3


class Value:
    """Something that can be referred to weakly."""


def test_a_weak_value_is_shared_while_someone_uses_it() -> None:
    cache = OnceCache()
    first = cache.get_or_compute("a", Value, is_weak=True)
    assert cache.get_or_compute("a", Value, is_weak=True) is first
    known = id(first)
    kept = cache.get_or_compute("a", Value)
    assert kept is first
    del first, kept
    assert id(cache.get_or_compute("a", Value, is_weak=True)) == known


def test_a_weak_value_goes_with_its_last_user() -> None:
    cache, find = OnceCache(), Mock(side_effect=lambda: Value())
    value = cache.get_or_compute("a", find, is_weak=True)
    del value
    cache.get_or_compute("a", find, is_weak=True)
    assert find.call_count == 2


def test_the_least_recently_used_value_goes_first() -> None:
    cache: LatestCache[str, int] = LatestCache(2, 100)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert [cache.get(key) for key in "abc"] == [1, None, 3]


def test_the_bytes_of_all_values_are_bounded_and_the_last_one_stays() -> None:
    cache: LatestCache[str, int] = LatestCache(9, 100)
    for key, size in (("a", 60), ("b", 40), ("b", 30), ("c", 20)):
        cache.put(key, size, size)
    assert [cache.get(key) for key in "abc"] == [None, 30, 20]
    cache.put("d", 500, 500)
    assert [cache.get(key) for key in "bcd"] == [None, None, 500]


def test_threads_that_ask_for_one_of_the_latest_share_its_computation() -> None:
    cache: LatestCache[str, object] = LatestCache(2, 100)
    check_threads_share_one_value(cache)
    with pytest.raises(ZeroDivisionError):
        cache.get_or_compute("b", lambda: 1 // 0)
    assert cache.get_or_compute("b", lambda: 3) == 3
