"""Caches that threads share: values that are computed once, and the most recently used of many."""

from __future__ import annotations

import functools
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast

_T = TypeVar("_T")
_P = ParamSpec("_P")
_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


class _Entry:
    """One value, held by a strong or a weak reference, and the lock under which it is computed."""

    __slots__ = ("lock", "strong", "weak")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.strong: tuple[object, ...] = ()
        self.weak: Callable[[], object] = _nothing

    def known(self) -> tuple[object, ...]:
        """The value, or nothing; a weak reference is empty once its last user is gone."""
        value = self.weak()
        return self.strong or (() if value is None else (value,))


def _nothing() -> None:
    return None


class OnceCache:
    """Values by key, until `clear`. Threads that request the same key share one computation."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: dict[Hashable, _Entry] = {}

    def __len__(self) -> int:
        """The number of keys requested since the last `clear`."""
        return len(self._entries)

    def get(self, key: Hashable) -> Any:
        """The value of `key`, or None."""
        entry = self._entries.get(key)
        return next(iter(entry.known()), None) if entry is not None else None

    def get_or_compute(
        self, key: Hashable, compute: Callable[[], _T], *, is_weak: bool = False
    ) -> _T:
        """The value of `key`, computed by the first caller, or the next one if that failed.

        If all requests are `is_weak`, the value is dropped with its last user. `compute` may
        request other keys, but never in a cycle.
        """
        entry = self._entries.get(key)
        if entry is not None and entry.strong:
            return cast("_T", entry.strong[0])
        with self._lock:
            entry = self._entries.setdefault(key, entry or _Entry())
        with entry.lock:
            (value,) = entry.known() or (compute(),)
            if not is_weak:
                entry.strong = (value,)
            elif not entry.strong:
                entry.weak = weakref.ref(value)
            return cast("_T", value)

    def clear(self) -> None:
        """Drops all values; users that hold one keep it."""
        with self._lock:
            self._entries = {}


class _HasCache(Protocol):
    @property
    def cache(self) -> OnceCache: ...


_Owner = TypeVar("_Owner", bound=_HasCache)


def computed_once(
    function: Callable[Concatenate[_Owner, _P], _T],
) -> Callable[Concatenate[_Owner, _P], _T]:
    """The function, which computes one value per first argument, kept in the `cache` of that.

    Other arguments do not change the value.
    """

    @functools.wraps(function)
    def once(owner: _Owner, /, *arguments: _P.args, **options: _P.kwargs) -> _T:
        return owner.cache.get_or_compute(function, lambda: function(owner, *arguments, **options))

    return once


class LatestCache(Generic[_K, _V]):
    """The most recently used values by key: at most `most` of them and `most_bytes` together.

    The latest value stays, however large.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._values: OrderedDict[_K, tuple[_V, int]] = OrderedDict()
        self._bytes = 0
        self._computing: dict[_K, threading.Lock] = {}

    def get(self, key: _K) -> _V | None:
        """The value of `key`, or None."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def put(self, key: _K, value: _V, size: int = 0) -> None:
        """Keeps a value that takes `size` bytes, replacing any value that `key` had."""
        with self._lock:
            self._bytes += size - self._values.pop(key, (None, 0))[1]
            self._values[key] = (value, size)
            while len(self._values) > 1 and (
                len(self._values) > self._most or self._bytes > self._most_bytes
            ):
                self._bytes -= self._values.popitem(last=False)[1][1]

    def get_or_compute(
        self, key: _K, compute: Callable[[], _V], size: Callable[[_V], int] = lambda _: 0
    ) -> _V:
        """The value of `key`, computed unless it is cached; `size` returns the bytes that it takes.

        Threads that request the same key share one computation.
        """
        value = self.get(key)
        if value is not None:
            return value
        with self._lock:
            lock = self._computing.setdefault(key, threading.Lock())
        try:
            with lock:
                value = self.get(key)
                if value is None:
                    value = compute()
                    self.put(key, value, size(value))
                return value
        finally:
            with self._lock:
                self._computing.pop(key, None)
